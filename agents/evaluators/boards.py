"""Reading the board out of a state, whatever kind of game holds it.

An evaluation of a board game is written once, over a ``Grid``; the readers here know where each kind of state
keeps its board. A game of another kind joins in by having a method ``grid(state) -> Grid``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from zermelo.envs import Game
from zermelo.envs.games.chess.fen import write_fen
from zermelo.envs.games.chess.rules import ChessRules
from zermelo.envs.games.connect_four import ConnectFour
from zermelo.envs.games.go import Go
from zermelo.envs.games.mnk import MNK
from zermelo.envs.rules.words import count

EMPTY = -1


class Grid(NamedTuple):
    """A board of stones in a game where a line of them wins.

    Attributes:
        cells: Row by row, the seat whose stone is there, or ``EMPTY``.
        in_row: How many stones in a line win.
        drops: Whether stones fall to the lowest empty cell of their column.
    """

    cells: tuple[int, ...]
    rows: int
    columns: int
    in_row: int
    drops: bool


def _env_class(state: Any) -> str:
    """The full name of the class of the environment that a state is a copy of, if it is one."""
    env = getattr(state, "env", None)
    return "" if env is None else f"{type(env).__module__}.{type(env).__qualname__}"


def _pettingzoo_grid(game: Game[Any], state: Any) -> Grid | None:
    name = _env_class(state)
    if name == "pettingzoo.classic.tictactoe.tictactoe.raw_env":
        # Numbered column by column there; a line is a line either way.
        return Grid(tuple([mark - 1 for mark in state.env.board.squares]), 3, 3, 3, False)
    if name == "pettingzoo.classic.connect_four.connect_four.raw_env":
        return Grid(tuple([piece - 1 for piece in state.env.board]), 6, 7, 4, True)
    return None


_STONES = {"x": 0, "o": 1, ".": EMPTY}


def _openspiel_grid(game: Game[Any], state: Any) -> Grid | None:
    inside = openspiel_state(state)
    if inside is None:
        return None
    name = inside.get_game().get_type().short_name
    if name not in ("tic_tac_toe", "connect_four"):
        return None
    rows = str(inside).split()
    cells = tuple([_STONES[stone] for row in rows for stone in row])
    in_row = 3 if name == "tic_tac_toe" else inside.get_game().get_parameters().get("x_in_row", 4)
    return Grid(cells, len(rows), len(rows[0]), in_row, name == "connect_four")


def openspiel_state(state: Any) -> Any | None:
    """The OpenSpiel state that a state is or holds."""
    for candidate in (state, getattr(state, "state", None)):
        if type(candidate).__module__.partition(".")[0] == "pyspiel" and hasattr(candidate, "get_game"):
            return candidate
    return None


def _rules_grid(game: Game[Any], state: Any) -> Grid | None:
    """The boards of our own rules, which people's text shows row by row."""
    rules = getattr(game, "rules", None) if game.traits.seats == 2 else None
    if type(rules) is MNK:
        rows, columns, in_row = rules.n, rules.m, rules.k
    elif type(rules) is ConnectFour:
        rows, columns, in_row = rules.rows, rules.columns, 4
    else:
        return None
    cells = tuple([_STONES[mark] for mark in rules.text(state).lower().split()])
    return Grid(cells, rows, columns, in_row, type(rules) is ConnectFour)


def _own_grid(game: Game[Any], state: Any) -> Grid | None:
    grid = getattr(game, "grid", None)
    found: Grid | None = grid(state) if callable(grid) else None
    return found


_READERS: tuple[Callable[[Game[Any], Any], Grid | None], ...] = (
    _own_grid,
    _rules_grid,
    _pettingzoo_grid,
    _openspiel_grid,
)


def read_grid(game: Game[Any], state: Any) -> Grid | None:
    """The board of stones in a state, or None if it has none that is known here."""
    for reader in _READERS:
        grid = reader(game, state)
        if grid is not None:
            return grid
    return None


def chess_board(game: Game[Any], state: Any) -> Any | None:
    """The python-chess board in a state of chess, or None."""
    rules = getattr(game, "rules", None)
    if isinstance(rules, ChessRules):
        import chess

        return chess.Board(write_fen(state))
    return state.env.board if _env_class(state) == "pettingzoo.classic.chess.chess.raw_env" else None


def lines_of(rows: int, columns: int, length: int) -> tuple[tuple[int, ...], ...]:
    """Every straight line of so many cells, as indices into ``Grid.cells``: across, down and both diagonals."""
    return tuple(
        tuple((row + i * down) * columns + column + i * right for i in range(length))
        for row in range(rows)
        for column in range(columns)
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
        if row + (length - 1) * down < rows and 0 <= column + (length - 1) * right < columns
    )


class GoScore(NamedTuple):
    """What Black, seat 0, is ahead by: in area, the komi counted, and in stones."""

    area: float
    stones: float


def go_score(game: Game[Any], state: Any) -> GoScore | None:
    """The score of a position of Go, as it would be if the game ended."""
    rules = getattr(game, "rules", None)
    if isinstance(rules, Go):
        return GoScore(rules.margin(state) - rules.komi, float(count(state.black) - count(state.white)))
    if _env_class(state) == "pettingzoo.classic.go.go.raw_env":
        position = state.env._go
        return GoScore(float(position.score()), float(position.board.sum()))
    return None
