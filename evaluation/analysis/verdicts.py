"""Verdicts on the moves of games, kept as a line of JSON a game.

Actions are numbered as ``Game.result`` takes them, and values are for the player who moved, in the game's own
rewards.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from zermelo.envs.files import read_file
from zermelo.evaluation.analysis.judgement import Mark
from zermelo.evaluation.errors import StoreError


class MoveVerdict(msgspec.Struct, frozen=True, array_like=True):
    """A judged move.

    Attributes:
        ply: Its index in ``GameRecord.actions``.
        played: The action.
        mark: What the judge thinks of it.
        groups: The exact values of legal actions, the best first, each with its actions.
    """

    ply: int
    played: int
    mark: Mark
    groups: list[tuple[float, list[int]]]

    @classmethod
    def of(cls, ply: int, played: int, mark: Mark, values: Mapping[int, float]) -> MoveVerdict:
        """The verdict on a move, by the exact value of every legal action."""
        ranked = sorted(values, key=lambda action: (-values[action], action))
        groups = itertools.groupby(ranked, key=values.__getitem__)
        return cls(ply, played, mark, [(value, [*same]) for value, same in groups])

    def __post_init__(self) -> None:
        if self.played not in self.values:
            raise ValueError("a move without a value")

    @property
    def values(self) -> Mapping[int, float]:
        """The exact value of every legal action."""
        return {action: value for value, actions in self.groups for action in actions}


class GameVerdict(msgspec.Struct, frozen=True, rename={"game_id": "game"}):
    """The judged moves of a game, in order.

    Attributes:
        game_id: The game's id in its schedule.
        seed: The game's.
        moves: Those that could be judged; forced moves are not.
    """

    game_id: str
    seed: int
    moves: tuple[MoveVerdict, ...]

    def to_json(self) -> str:
        """One line of JSON."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, line: str) -> GameVerdict:
        """Reads what ``to_json`` wrote.

        Raises:
            StoreError: It did not write this.
        """
        try:
            return msgspec.json.decode(line, type=cls)
        except (ValueError, RecursionError) as error:
            raise StoreError(f"not what the judge found of a game ({error}): {line[:80]!r}") from error


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
