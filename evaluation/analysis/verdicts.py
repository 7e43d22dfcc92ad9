"""Verdicts on the moves of games, kept as a line of JSON a game.

Actions are numbered as ``Game.result`` takes them, and values are for the player who moved, in the game's own
rewards.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from zermelo.envs.files import read_file
from zermelo.evaluation.analysis.judgement import Mark
from zermelo.evaluation.errors import StoreError


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
            stored = msgspec.json.decode(line, type=_Stored)
            return cls(stored.game, stored.seed, tuple(_move(*row) for row in stored.moves))
        except (ValueError, RecursionError) as error:
            raise StoreError(f"not what the judge found of a game ({error}): {line[:80]!r}") from error


class _Stored(msgspec.Struct):
    game: str
    seed: int
    moves: list[tuple[int, int, Mark, list[tuple[float, list[int]]]]]


def _move(ply: int, played: int, mark: Mark, groups: Sequence[tuple[float, Sequence[int]]]) -> MoveVerdict:
    values = {action: value for value, actions in groups for action in actions}
    if played not in values:
        raise ValueError("a move without a value")
    return MoveVerdict(ply, played, mark, values)


def read_verdicts(path: Path, wanted: Collection[str]) -> dict[str, GameVerdict]:
    """The verdicts of the wanted games, by id, as far as the file has them; none if there is no file.

    Raises:
        StoreError: The file cannot be read, or is no file of verdicts.
    """
    try:
        lines = read_file(path).decode("utf-8", "replace").splitlines()
        return {verdict.game_id: verdict for verdict in _each(lines, path) if verdict.game_id in wanted}
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror or error}; run `zermelo judge` again") from error


def _each(lines: Sequence[str], path: Path) -> Iterator[GameVerdict]:
    for number, line in enumerate(lines, start=1):
        try:
            yield GameVerdict.from_json(line)
        except StoreError as error:
            raise StoreError(f"{path}, line {number}: {error}; run `zermelo judge` again") from error
