"""Opening books, as agents read them: positions with values, some of them proven; and Polyglot's of chess."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.knowledge.endgame_tables import canonical_key, row_of
from zermelo.agents.knowledge.files import KnowledgeFile, KnowledgeHeader, Shapes, check_ascending, chunks
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.jit.memory import load_state
from zermelo.envs.rules.contract import method_or_default
from zermelo.envs.rules.history import without_past
from zermelo.envs.rules.words import flatten_state
from zermelo.envs.support.array_files import Arrays, Form
from zermelo.envs.support.data_files import FileKind, ShortText, in_a_sentence
from zermelo.envs.support.files import opened
from zermelo.envs.support.installing import optional_import

SHIPPED: Final[Mapping[str, Path]] = {"connect_four": Path(__file__).with_name("connect_four.zbook")}
"""The books of this package by their names; ``scripts/ship_book.py`` writes them."""
_POLYGLOT: Final = FileKind("Polyglot book", "name a book of chess in Polyglot's format")
PROVEN, EXPANDED, FOLLOWED = 1, 2, 4  # flags; the last is shifted by the seat whose strategy leads here
_MARGIN: Final = 0.02  # share of the range of utilities by which a move may be worse than the best
_MOST_FLAGS: Final = PROVEN | EXPANDED | FOLLOWED | FOLLOWED << 1


class BookHeader(KnowledgeHeader, frozen=True, kw_only=True):
    """The header of a book's file."""

    bounds: tuple[float, float]  # of the utility, which values are within
    agent: ShortText = ""  # which judged positions that were not proven
    nodes: int = 0  # that the proof of a position might visit
    exact: bool = False  # True if it has strategies that are proven


class BookMove(NamedTuple):
    """A move of a book, and its value for the player to move."""

    action: int
    value: float
    proven: bool
    followed: bool = False  # the book goes on after it for that player


class BookPosition(NamedTuple):
    """A position of a book, its value for the player to move, and its flags."""

    state: Any
    value: float
    flags: int


@dataclass(frozen=True, eq=False)
class Book:
    """Positions of one game, a row each, and the header of their file."""

    path: str
    about: BookHeader
    keys: NDArray[np.int64]  # ascending
    values: NDArray[np.float32]  # for the player to move
    flags: NDArray[np.uint8]  # PROVEN; EXPANDED if all moves are in the book; FOLLOWED << seat
    states: NDArray[np.int64]  # as words

    def __len__(self) -> int:
        return len(self.keys)

    def probe(self, game: Any, state: Any) -> int | None:
        return row_of(self.keys, game.rules, without_past(state))

    def moves(self, game: Any, state: Any) -> list[BookMove]:
        """All moves of a position, or those that are known, if one of them keeps its proven value; else none."""
        row = self.probe(game, state)
        if row is None or not self.flags[row] & (EXPANDED | PROVEN):
            return []
        mover, moves = game.to_move(state), list[BookMove]()
        for action in game.legal_actions(state):
            child = game.result(state, action)
            if game.is_terminal(child):
                moves.append(BookMove(int(action), float(game.utility(child)[mover]), True))
            elif (after := self.probe(game, child)) is not None:
                value, flags = float(self.values[after]), int(self.flags[after])
                value = value if game.to_move(child) == mover else game.traits.constant - value
                moves.append(BookMove(int(action), value, bool(flags & PROVEN), bool(flags & FOLLOWED << mover)))
        is_kept = any(move.proven and move.value == self.values[row] for move in moves)
        return moves if self.flags[row] & EXPANDED or is_kept else []


def good_moves(game: Any, moves: list[BookMove]) -> list[BookMove]:
    """Moves that keep a proven value, if possible where the book goes on, else those nearly as good as best."""
    best = max(move.value for move in moves)
    lower, upper = game.traits.utility_bounds
    proven = [move for move in moves if move.proven and move.value == best]
    if proven and (all(move.proven for move in moves) or best == upper):
        return [move for move in proven if move.followed] or proven
    return [move for move in moves if move.value >= best - _MARGIN * (upper - lower)]


def book_answer(path: str, game: Any, state: Any, generator: np.random.Generator) -> dict[str, Any] | None:
    """One of the book's good moves in a position, at random, for ``Request.result``; None if it has none."""
    if path.endswith(".bin"):
        return _polyglot_answer(path, game, state, generator)
    book = read_book(path, game)
    moves = book.moves(game, state)
    if not moves:
        return None
    good = good_moves(game, moves)
    chosen, top = good[int(generator.integers(len(good)))], game.traits.utility_bounds[1]
    return {
        "action": chosen.action,
        "value": chosen.value,
        "values_by_seat": game.traits.values_by_seat(game.to_move(state), chosen.value),
        "action_values": {move.action: move.value for move in moves},
        "proven_actions": tuple(move.action for move in moves if move.proven),
        "policy": {move.action: 1 / len(good) for move in good},
        "proven": chosen.proven and (all(move.proven for move in moves) or chosen.value == top),
        "method": f"book: {os.path.basename(path)}",
    }


def read_book(path: str | os.PathLike[str], game: Any = None) -> Book:
    """The book in a file, or of this package (``SHIPPED``), read once as long as the file is the same.

    Refuses what is damaged, or, unless ``game`` is None, of another game.
    """
    return BOOKS.read(SHIPPED.get(os.fspath(path), path), game)


def _check_shapes(about: BookHeader, shapes: Shapes, rules: Any) -> None:
    if len({shape[0] for shape in shapes.values()}) != 1:
        raise ValueError("its arrays do not fit together")
    if rules is None:
        return
    words, expected = shapes["states"][1], _words(rules)
    if words != expected:
        raise ValueError(f"it has states of {words} numbers, and those of {about.game} have {expected}")
    if about.bounds != (bounds := _bounds(rules)):
        raise ValueError(f"it is for utilities from {about.bounds}, not from {bounds}")


def _book(path: str, about: BookHeader, arrays: Arrays, rules: Any) -> Book:
    book = Book(path, about, arrays["keys"], arrays["values"], arrays["flags"], arrays["states"])
    check_ascending(book.keys)
    lower, upper = about.bounds
    for values, flags in chunks(book.values, book.flags):
        if not ((values >= lower) & (values <= upper)).all() or (flags > _MOST_FLAGS).any():
            raise ValueError("it has values or flags that no position has")
    return book


BOOKS: Final = KnowledgeFile(
    FileKind("opening book", "make it again with `zermelo book`, or name another file"),
    BookHeader,
    {"keys": Form("<i8", 1), "values": Form("<f4", 1), "flags": Form("|u1", 1), "states": Form("<i8", 2)},
    _check_shapes,
    _book,
)


def _words(rules: Any) -> int:
    return len(flatten_state(without_past(rules.initial_state())))


def _bounds(rules: Any) -> tuple[float, float]:
    lower, upper = method_or_default(rules, "utility_bounds")()
    return float(lower), float(upper)


def open_book(path: Path, game: Any, like: Any, *, exact: bool) -> dict[int, BookPosition]:
    """The positions of the book in a file by key, if there is one; strategies must be asked for (``exact``)."""
    if not path.exists():
        return {}
    book = read_book(path, game)
    if book.about.exact and not exact:
        raise InvalidSettingError(
            f"{str(path)!r} has proven strategies: grow it with exact, or begin another book"
        )
    rows = {
        int(key): BookPosition(load_state(like, state.ctypes.data), float(value), int(flags))
        for key, state, value, flags in zip(book.keys, book.states, book.values, book.flags, strict=True)
    }
    if any(canonical_key(game.rules, row.state) != key for key, row in rows.items()):
        raise InvalidSettingError(f"{str(path)!r} has positions under keys of others: {BOOKS.kind.remedy}")
    return rows


def write_book(path: Path, rules: Any, about: dict[str, Any], positions: Mapping[int, BookPosition]) -> Book:
    """Writes a book, and reads it back."""
    rows = sorted(positions.items())
    states = np.array([flatten_state(position.state) for _, position in rows], np.int64)
    BOOKS.write(
        path,
        rules,
        {"bounds": _bounds(rules), **about},
        keys=np.array([key for key, _ in rows], np.int64),
        values=np.array([position.value for _, position in rows], np.float32),
        flags=np.array([position.flags for _, position in rows], np.uint8),
        states=states.reshape(len(rows), _words(rules)),
    )
    return read_book(path)


def book_lines(path: str, game: Any, state: Any, *, count: int, plies: int, seed: int) -> list[tuple[int, ...]]:
    """At most ``count`` lines of good moves from a position, each as far as the book goes."""
    generator = np.random.default_rng(seed)
    lines: dict[tuple[int, ...], None] = {}
    for _ in range(20 * count):
        here, line = state, list[int]()
        while len(line) < plies and not game.is_terminal(here):
            answer = book_answer(path, game, here, generator)
            if answer is None:
                break
            line.append(answer["action"])
            here = game.result(here, answer["action"])
        if line and not game.is_terminal(here):
            lines[tuple(line)] = None
        if len(lines) == count:
            break
    return list(lines)


def outline(path: str, game: Any, state: Any, *, depth: int, name: Any) -> Iterator[str]:
    """The book as an indented tree, a move a line; ``name(game, state, action)`` writes a move."""
    book = read_book(path, game)

    def lines(here: Any, ply: int) -> Iterator[str]:
        moves = book.moves(game, here) if ply < depth else []
        good = {move.action for move in good_moves(game, moves)} if moves else set()
        for move in sorted(moves, key=lambda move: (-move.value, move.action)):
            mark, source = "*" if move.action in good else " ", "proven" if move.proven else "estimated"
            yield f"{'  ' * ply}{mark} {name(game, here, move.action)}  {move.value:+.3f} {source}"
            child = game.result(here, move.action)
            if move.action in good and not game.is_terminal(child):
                yield from lines(child, ply + 1)

    yield from lines(state, 0)


def _polyglot_answer(path: str, game: Any, state: Any, generator: np.random.Generator) -> dict[str, Any] | None:
    from zermelo.envs.games.chess.fen import write_fen
    from zermelo.envs.games.chess.state import ChessState

    if not isinstance(state, ChessState):
        raise InvalidSettingError(f"{path!r} is a Polyglot book, which is for chess, not for {game.traits.name}")
    wanted = "python-chess, which Polyglot books need,"
    chess, polyglot = (optional_import(name, wanted, "classic") for name in ("chess", "chess.polyglot"))
    with in_a_sentence(path, _POLYGLOT):
        with opened(path) as file:  # it waits for no pipe, and its size is that of entries
            if os.fstat(file.fileno()).st_size % 16:
                raise ValueError("its size is not that of whole entries")
        with polyglot.open_reader(path) as reader:
            weights = {entry.move.uci(): entry.weight for entry in reader.find_all(chess.Board(write_fen(state)))}
    rules = game.rules
    by_name = {rules.action_aliases(state, action)[0]: int(action) for action in game.legal_actions(state)}
    shares = {by_name[move]: weight for move, weight in weights.items() if move in by_name and weight > 0}
    if not shares:
        return None
    total = sum(shares.values())
    policy = {action: weight / total for action, weight in shares.items()}
    chosen = int(generator.choice(list(policy), p=list(policy.values())))
    return {
        "action": chosen,
        "value": 0.0,
        "values_by_seat": (0.0, 0.0),
        "policy": policy,
        "is_estimate": True,
        "method": f"book: {os.path.basename(path)}",
    }
