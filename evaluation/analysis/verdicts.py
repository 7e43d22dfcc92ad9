"""What the judge found of each move of a game, kept as a line of JSON a game.

Actions are numbered as ``Game.result`` takes them, and values are for the player who moved, in the game's own
rewards.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zermelo.evaluation.analysis.judgement import Mark
from zermelo.evaluation.errors import StoreError

__all__ = ["GameVerdict", "MoveVerdict", "read_verdicts"]


@dataclass(frozen=True)
class MoveVerdict:
    """A judged move.

    Attributes:
        ply: Its place in ``GameRecord.actions``.
        played: The action.
        mark: What the judge thinks of it.
        values: The exact value of every legal action.
    """

    ply: int
    played: int
    mark: Mark
    values: Mapping[int, float]

    @property
    def groups(self) -> list[tuple[float, list[int]]]:
        """The values that there are, the best first, each with its actions."""
        ranked = sorted(self.values, key=lambda action: (-self.values[action], action))
        return [(value, [*same]) for value, same in itertools.groupby(ranked, key=self.values.__getitem__)]


@dataclass(frozen=True)
class GameVerdict:
    """The judged moves of a game, in order.

    Attributes:
        game_id: The game's place in its schedule.
        seed: The game's.
        moves: Those that could be judged; forced moves are not.
    """

    game_id: str
    seed: int
    moves: tuple[MoveVerdict, ...]

    def to_json(self) -> str:
        """One line of JSON."""
        moves = [[move.ply, move.played, str(move.mark), move.groups] for move in self.moves]
        data = {"game": self.game_id, "seed": self.seed, "moves": moves}
        return json.dumps(data, allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, line: str) -> GameVerdict:
        """Reads what ``to_json`` wrote.

        Raises:
            StoreError: It did not write this.
        """
        try:
            data = json.loads(line)
            moves = tuple(_move(*row) for row in data["moves"])
            return cls(str(data["game"]), int(data["seed"]), moves)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise StoreError(f"not what the judge found of a game ({error!r}): {line[:80]!r}") from error


def _move(ply: Any, played: Any, mark: Any, groups: Any) -> MoveVerdict:
    values = {int(action): float(value) for value, actions in groups for action in actions}
    if int(played) not in values or not all(map(math.isfinite, values.values())):
        raise ValueError("a move without a value")
    return MoveVerdict(int(ply), int(played), Mark(mark), values)


def read_verdicts(path: Path, wanted: Collection[str]) -> dict[str, GameVerdict]:
    """The verdicts of the wanted games, by id, as far as the file has them; none if there is no file.

    Raises:
        StoreError: The file cannot be read, or is no file of verdicts.
    """
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            verdicts = (verdict for verdict in _each(file, path) if verdict.game_id in wanted)
            return {verdict.game_id: verdict for verdict in verdicts}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}; run `zermelo judge` again") from error


def _each(lines: Iterator[str], path: Path) -> Iterator[GameVerdict]:
    for number, line in enumerate(lines, start=1):
        try:
            yield GameVerdict.from_json(line)
        except StoreError as error:
            raise StoreError(f"{path}, line {number}: {error}; run `zermelo judge` again") from error
