"""One game between people and agents, as it is played: its moves, what is seen of each position, taking back."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from zermelo.envs.capabilities import SupportsSimultaneousMoves, offers, rules_of
from zermelo.envs.errors import GameOverError, IllegalActionError, InvalidSettingError, UnsupportedGameError
from zermelo.envs.pictures.squares import Coordinates, Squares, find_squares
from zermelo.evaluation.match.live_game import EnvDriver, drive_env, play_known
from zermelo.evaluation.match.record import EndReason, Failure, FailureKind, GameRecord, Move, versions
from zermelo.evaluation.match.sources import build_env
from zermelo.evaluation.match.text import plain
from zermelo.evaluation.positions.drawing import drawing, hides_something, picture_of, with_coordinates
from zermelo.evaluation.positions.moves import game_or_none, read_move, written_moves
from zermelo.evaluation.schedule import checked_seed


class Played(NamedTuple):
    """A move of the game."""

    move: Move
    label: str  # as people write it; empty where nobody says how
    path: list[str]  # the spots that it goes through


class Legal(NamedTuple):
    """A legal move."""

    number: int
    label: str
    paths: list[list[str]]  # the spots to choose for it, in each way to play it


class ShownPosition(NamedTuple):
    """A position as it is shown; ``picture`` is None where it cannot or must not be drawn."""

    text: str
    picture: Callable[[], Any] | None


def _squares_of(game: Any) -> tuple[Squares, Any, Coordinates | None] | None:
    """The squares that a game declares, its rules and the squares' names; None if its picture has no spots."""
    rules = rules_of(game)
    squares = find_squares(rules)
    names = None if squares is None else squares.coordinates(rules)
    return None if squares is None or (names is None and squares.size is not None) else (squares, rules, names)


def surface_of(game: Any) -> dict[str, Any] | None:
    """The spots of a game's picture, row by row, names to write beside it, and whether it may be turned round.

    None where moves are chosen from a list.
    """
    declared = _squares_of(game)
    if declared is None:
        return None
    squares, rules, names = declared
    written = names if squares.labelled and names is not None else Coordinates((), ())
    spots, turns = [*map(asdict, squares.spots(rules, names))], squares.turns and bool(written.columns)
    return {"spots": spots, "columns": written.columns, "rows": written.rows, "turns": turns}


def paths_of(game: Any, seat: int, texts: Sequence[str]) -> list[list[str]]:
    """The spots to choose for a move, one after another, in each way to play it; none for a move without spots."""
    declared = _squares_of(game) if texts[0] else None
    return [] if declared is None else [path for path in declared[0].path(texts, seat) if path]


class Session:
    """A game in progress."""

    def __init__(self, env: str, people: frozenset[int], seed: int = 0) -> None:
        self.env_name = env
        self.people = people
        self.seed = checked_seed(seed)
        self.driver, self.played = self._start(), list[Played]()
        seats = len(self.driver.seat_names)
        if not people <= set(range(seats)):
            raise InvalidSettingError(f"{env} has {seats} seats: there is no seat {max(people) + 1}")
        self.lost_on_time: int | None = None
        self.frames: list[ShownPosition] = []
        self._arrive()

    def _start(self) -> EnvDriver:
        return drive_env(build_env(self.env_name)[0], self.seed)

    def _arrive(self) -> None:
        self._legal: list[Legal] | None = None
        self._mover = self.driver.turn()
        self.game = game_or_none(self.driver.env)
        self.frames.append(self._frame())

    @property
    def mover(self) -> int | None:
        return None if self.lost_on_time is not None else self._mover

    def require_mover(self) -> int:
        if (seat := self.mover) is not None:
            return seat
        late = self.lost_on_time
        why = "" if late is None else f", as the flag of {self.driver.seat_names[late]} fell"
        raise GameOverError(f"the game is over{why}: take a move back, or start a new one")

    @property
    def viewer(self) -> int | None:
        """The seat whose player looks at the board; None where nobody may see what is hidden."""
        if self._mover in self.people:
            return self._mover
        return min(self.people) if len(self.people) == 1 else None

    @property
    def hides(self) -> bool:
        return self.mover is not None and len(self.driver.seat_names) > 1 and hides_something(self.game)

    def _frame(self) -> ShownPosition:
        env, game = self.driver.env, self.game
        if not self.hides:
            # Where something was hidden, text goes on as text.
            picture = None if hides_something(game) and game is not None else picture_of(game, env)
            return ShownPosition(with_coordinates(drawing(game, env), game), picture)
        viewer = self.viewer
        text = "The board is shown when it is your turn." if viewer is None else drawing(game, env, viewer)
        return ShownPosition(text, None)

    def legal(self) -> list[Legal]:
        seat = self.mover
        if seat is None:
            return []
        if self._legal is None:
            self._legal = []
            with contextlib.suppress(UnsupportedGameError):  # too many to list: they can be typed
                for number, texts in written_moves(self.driver.env).items():
                    paths = paths_of(self.game, seat, texts)
                    self._legal.append(Legal(number, texts[0] or str(number), paths))
        return self._legal

    def seen_moves(self) -> list[tuple[int, str]]:
        """The seat and the text of each move, without those that people may not know yet."""
        texts = [(one.move.seat, one.label or str(one.move.action)) for one in self.played]
        game = self.game
        if not self.hides or game is None or not game.traits.simultaneous:
            return texts
        public = 0 if offers(game, SupportsSimultaneousMoves) and game.hides_more() else self._whole_rounds()
        return [
            (seat, text if seat in self.people or place < public else "a hidden move")
            for place, (seat, text) in enumerate(texts)
        ]

    def _whole_rounds(self) -> int:
        """The number of moves that all players know, if they choose at the same time and are asked in turn."""
        movers, seats = [one.move.seat for one in self.played], len(self.driver.seat_names)
        if all(seat == place % seats for place, seat in enumerate(movers)):
            return len(movers) - len(movers) % seats
        return max((place for place, seat in enumerate(movers) if seat in self.people), default=-1) + 1

    def play(self, move: Any, *, seconds: float = 0.0, figures: Sequence[Any] = ()) -> None:
        seat = self.require_mover()
        action = read_move(self.driver, move) if isinstance(move, str) else move
        refusal = self.driver.refusal(action)
        if refusal is not None:
            raise IllegalActionError(refusal)
        label, path = self._written(seat, action)
        self.driver.step(action)
        self.played.append(Played(Move(seat, plain(action), round(seconds, 3), *figures), label, path))
        self._arrive()

    def _written(self, seat: int, action: Any) -> tuple[str, list[str]]:
        if not isinstance(action, int):
            return "", []
        texts = written_moves(self.driver.env, [action])[action]
        paths = paths_of(self.game, seat, texts)
        return texts[0], paths[0] if paths else []

    def take_back(self) -> None:
        mine = [place for place, one in enumerate(self.played) if one.move.seat in self.people]
        if not mine:
            raise GameOverError("there is no move of yours to take back")
        self.go_back_to(mine[-1])

    def go_back_to(self, ply: int) -> None:
        self.driver, self.lost_on_time = self.replayed(ply), None
        del self.played[ply:]
        del self.frames[ply:]
        self._arrive()

    def replayed(self, ply: int) -> EnvDriver:
        driver = self._start()
        if play_known(driver, [one.move.action for one in self.played[:ply]]) is not None:
            raise UnsupportedGameError(
                f"{self.env_name} does not follow its seed: its moves cannot be played again, nor taken back"
            )
        driver.turn()
        return driver

    def swap(self) -> None:
        """People take the seats that they have not."""
        seats = frozenset(range(len(self.driver.seat_names)))
        if len(seats) == 1:
            raise InvalidSettingError(f"{self.env_name} has one seat: there is nothing to swap")
        self.people = seats - self.people or frozenset({0})
        if self.hides:  # the others see other cards
            blank = ShownPosition("Seen from the other seat.", None)
            self.frames = [blank] * (len(self.frames) - 1)
            self._arrive()

    def fall(self, seat: int) -> None:
        self.lost_on_time = seat
        self.frames[-1] = self._frame()

    @property
    def rewards(self) -> list[float]:
        if self.lost_on_time is None:
            return [reward if math.isfinite(reward) else 0.0 for reward in self.driver.rewards]
        return [-1.0 if seat == self.lost_on_time else 1.0 for seat in range(len(self.driver.seat_names))]

    def record(self, agents: Sequence[str]) -> GameRecord:
        """The game as a record; one that is not over is recorded as ended by a limit on moves."""
        end, failure = EndReason.MOVE_LIMIT, None
        if self.lost_on_time is not None:
            end, failure = EndReason.FAILURE, Failure(FailureKind.TIMEOUT, self.lost_on_time, "ran out of time")
        elif self._mover is None:
            end = self.driver.end_reason()
        return GameRecord(
            env=self.env_name, agents=tuple(agents), seat_names=self.driver.seat_names, seed=self.seed,
            rewards=tuple(self.rewards), end=end, failure=failure, moves=tuple(one.move for one in self.played),
            versions=versions(),
        )  # fmt: skip

    def loaded(self, record: GameRecord) -> Session:
        """The game of a record in this environment, with the people where they sit now."""
        other = Session(self.env_name, self.people, record.seed)
        for place, action in enumerate(record.actions):
            recorded = record.moves[place - len(record.opening)] if place >= len(record.opening) else None
            try:
                other.play(tuple(action) if isinstance(action, list) else action)
            except (GameOverError, IllegalActionError) as error:
                raise IllegalActionError(f"move {place + 1} of the file cannot be played: {error}") from error
            if recorded is not None:
                kept = _with_seat(recorded, other.played[-1].move.seat)
                other.played[-1] = other.played[-1]._replace(move=kept)
        return other


def _with_seat(move: Move, seat: int) -> Move:
    """A move of a file, by the seat that does move there, with figures that are numbers."""
    nodes, depth = (one if isinstance(one, int) else None for one in (move.nodes, move.depth))
    value = move.value if move.value is not None and math.isfinite(move.value) else None
    return Move(seat, move.action, min(max(move.seconds, 0.0), 1e9), nodes, depth, value)
