"""What a report counts of a game, read without making the whole record of it: games come by the million.

A summary keeps what it was taken from (a record, or its line of JSON), so that the few games that are to be shown
can be had in full.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from zermelo.evaluation.match.record import Failure, GameRecord, StoredGame


class GameSummary(NamedTuple):
    """A game without its actions and values.

    Attributes:
        source: The record or its line.
        game_id: Its place in a schedule.
        agents: The name of the agent in each seat.
        seed: Of the game.
        rewards: Of each seat.
        end: What ended the game (an ``EndReason``).
        failure: What went wrong, or None.
        opening: How many actions were played before the agents took over.
        seats: Who made each move.
        seconds: What each move took.
        nodes: Of each move that says them, else None; empty if no move does.
        depths: Likewise.
        versions: What it was played with.
    """

    source: GameRecord | str
    game_id: str
    agents: tuple[str, ...]
    seed: int
    rewards: tuple[float, ...]
    end: str
    failure: Failure | None
    opening: int
    seats: Sequence[int]
    seconds: Sequence[float]
    nodes: Sequence[float | None]
    depths: Sequence[float | None]
    versions: Mapping[str, str]

    @classmethod
    def of(cls, record: GameRecord) -> GameSummary:
        """The summary of a record."""
        moves = record.moves
        nodes, depths = [move.nodes for move in moves], [move.depth for move in moves]
        return cls(
            record,
            record.game_id,
            record.agents,
            record.seed,
            record.rewards,
            record.end,
            record.failure,
            len(record.opening),
            [move.seat for move in moves],
            [move.seconds for move in moves],
            () if nodes.count(None) == len(nodes) else nodes,
            () if depths.count(None) == len(depths) else depths,
            record.versions,
        )

    @classmethod
    def from_json(cls, line: str) -> GameSummary:
        """The summary of what ``GameRecord.to_json`` wrote.

        Raises:
            StoreError: The line is no game record, or one of a newer version of this package.
        """
        stored = StoredGame.read(line)
        moves, numbers = stored.moves, stored.numbers
        return cls(
            line,
            stored.game_id,
            stored.agents,
            stored.seed,
            tuple(numbers(stored.rewards)),
            stored.end,
            stored.failure,
            len(stored.opening),
            moves.seat,
            numbers(moves.seconds),
            numbers(moves.nodes),
            numbers(moves.depth),
            stored.versions,
        )

    @property
    def plies(self) -> int:
        """All moves, those of the opening included."""
        return self.opening + len(self.seats)

    @property
    def void(self) -> bool:
        """Whether the game counts for nobody, because the environment itself failed."""
        return self.failure is not None and self.failure.seat is None

    def record(self) -> GameRecord:
        """The whole game."""
        return self.source if isinstance(self.source, GameRecord) else GameRecord.from_json(self.source)
