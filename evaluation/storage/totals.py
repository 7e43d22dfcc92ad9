"""Games counted by line-up and finish: all that a table of standings needs, however many games there were.

The totals of many games take as much memory as there are different line-ups and finishes. They do not depend on
the order of the games: counts and times are whole numbers. They are made from records (``GameTotals.of``), or
counted in a database by whoever knows its tables.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from zermelo.evaluation.match.record import FailureKind, GameRecord
from zermelo.evaluation.schedule import game_order

__all__ = ["Finish", "GameTotals", "GroupTotal", "Summary"]


class Finish(NamedTuple):
    """Who sat where, and how the game ended for them.

    Attributes:
        agents: By seat.
        places: With two seats or more the place of each seat: 0 for the most reward, equal places for equal
            rewards; who failed is last and the others share the first place. Empty if the game counts for nobody.
        failure: What went wrong, or None.
        failed_seat: Whose fault it was, or None.
    """

    agents: tuple[str, ...]
    places: tuple[int, ...]
    failure: FailureKind | None = None
    failed_seat: int | None = None

    @classmethod
    def of(cls, record: GameRecord) -> Finish:
        """The finish of a record."""
        failure = record.failure
        offender = None if failure is None else failure.seat
        if record.void:
            places: tuple[int, ...] = ()
        elif offender is not None:
            places = tuple(int(seat == offender) for seat in range(len(record.agents)))
        else:
            ranks = {reward: place for place, reward in enumerate(sorted(set(record.rewards), reverse=True))}
            places = tuple(ranks[reward] for reward in record.rewards)
        return cls(record.agents, places, None if failure is None else failure.kind, offender)

    @property
    def void(self) -> bool:
        """Whether the game counts for nobody."""
        return self.failure is not None and self.failed_seat is None


class Summary(NamedTuple):
    """What totals keep of one game.

    Attributes:
        finish: How it ended.
        returned: The return of a single player that did not fail, else None.
        line: 63 bits of a hash of its actions and rewards.
        moves: How many moves each seat made.
        microseconds: How long they took, for each seat.
    """

    finish: Finish
    returned: float | None
    line: int
    moves: tuple[int, ...]
    microseconds: tuple[int, ...]

    @classmethod
    def of(cls, record: GameRecord) -> Summary:
        """The summary of a record."""
        seats = len(record.agents)
        moves, microseconds = [0] * seats, [0] * seats
        for move in record.moves:
            moves[move.seat] += 1
            microseconds[move.seat] += round(move.seconds * 1_000_000)
        text = repr((record.actions, record.rewards)).encode()
        line = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) >> 1
        returned = record.rewards[0] if seats == 1 and record.failure is None else None
        return cls(Finish.of(record), returned, line, tuple(moves), tuple(microseconds))


@dataclass
class GroupTotal:
    """The games of one finish.

    Attributes:
        games: How many.
        moves: By each seat.
        microseconds: Of those moves, by seat.
        least_line: The least of the hashes of their actions; with ``greatest_line`` it says whether all are one
            and the same game.
        greatest_line: The greatest.
        first: Sorts the groups by their first games.
        first_id: The id of the first game.
        message: Of the first game's failure.
    """

    games: int
    moves: Sequence[int]
    microseconds: Sequence[int]
    least_line: int
    greatest_line: int
    first: tuple[int, ...]
    first_id: str = ""
    message: str = ""


@dataclass
class GameTotals:
    """Any number of games, counted.

    Attributes:
        groups: By finish.
        returns: Of a single player, how often it had each return, by agent.
        pairs: With two seats, pairs of games with the seats exchanged, by the agents and the places in the two.
            A pair is there when both games are.
    """

    groups: dict[Finish, GroupTotal] = field(default_factory=dict)
    returns: dict[str, Counter[float]] = field(default_factory=dict)
    pairs: Counter[tuple[Finish, Finish]] = field(default_factory=Counter)

    @classmethod
    def of(cls, records: Iterable[GameRecord]) -> GameTotals:
        """The totals of the records, which are read once and not kept."""
        totals, halves = cls(), dict[str, tuple[str, Finish]]()
        for record in records:
            summary = Summary.of(record)
            totals.add(record, summary)
            rotation, _, turn = record.game_id.rpartition(".")
            if len(record.agents) == 2 and rotation and not record.void:
                other = halves.pop(rotation, None)
                if other is None:
                    halves[rotation] = (turn, summary.finish)
                else:
                    first, second = sorted([other, (turn, summary.finish)])
                    totals.pairs[first[1], second[1]] += 1
        return totals

    def add(self, record: GameRecord, summary: Summary) -> None:
        """Counts one game."""
        finish, order = summary.finish, game_order(record.game_id)
        message = "" if record.failure is None else record.failure.message
        group = self.groups.get(finish)
        if group is None:
            group = GroupTotal(
                0, summary.moves, summary.microseconds, summary.line, summary.line, order, record.game_id, message
            )
            self.groups[finish] = group
        else:
            group.moves = [*map(sum, zip(group.moves, summary.moves, strict=True))]
            group.microseconds = [*map(sum, zip(group.microseconds, summary.microseconds, strict=True))]
            group.least_line = min(group.least_line, summary.line)
            group.greatest_line = max(group.greatest_line, summary.line)
            if order < group.first:
                group.first, group.first_id, group.message = order, record.game_id, message
        group.games += 1
        self.add_return(finish, summary.returned)

    def add_return(self, finish: Finish, returned: float | None) -> None:
        """Counts what a single player earned, unless that is None."""
        if returned is not None:
            self.returns.setdefault(finish.agents[0], Counter())[returned] += 1

    @property
    def games(self) -> int:
        """How many games were counted, void ones included."""
        return sum(group.games for group in self.groups.values())

    @property
    def void(self) -> int:
        """How many of them count for nobody."""
        return sum(group.games for finish, group in self.groups.items() if finish.void)

    def in_order(self) -> list[tuple[Finish, GroupTotal]]:
        """The groups by their first games."""
        return sorted(self.groups.items(), key=lambda item: item[1].first)

    def pair_counts(self) -> Mapping[tuple[str, str], tuple[int, int, int, int, int, int]]:
        """Of every two agents that met, how often the first one's scores in a pair were LL, LD, WL, DD, WD, WW."""
        columns = {0: 0, 1: 1, 2: 2, 3: 4, 4: 5}
        table: dict[tuple[str, str], list[int]] = {}
        for (one, two), games in self.pairs.items():
            first, second = sorted(one.agents)
            if one.agents != two.agents[::-1] or first == second:
                continue
            points = [_points(finish, first) for finish in (one, two)]
            column = 3 if points == [1, 1] else columns[sum(points)]
            table.setdefault((first, second), [0] * 6)[column] += games
        return {pair: (n[0], n[1], n[2], n[3], n[4], n[5]) for pair, n in sorted(table.items())}

    def repeats(self) -> list[tuple[tuple[str, ...], int, int]]:
        """Pairings of which every seating gave one and the same game again and again: agents, games, lines."""
        seatings: dict[frozenset[str], dict[tuple[str, ...], list[int]]] = {}
        for finish, group in self.in_order():
            if finish.failure is not None or len(finish.agents) < 2:
                continue
            lines = seatings.setdefault(frozenset(finish.agents), {})
            seen = lines.setdefault(finish.agents, [0, group.least_line, group.greatest_line])
            seen[0] += group.games
            seen[1] = min(seen[1], group.least_line)
            seen[2] = max(seen[2], group.greatest_line)
        found = []
        for lines in seatings.values():
            several = any(games > 1 for games, _, _ in lines.values())
            if several and all(least == greatest for _, least, greatest in lines.values()):
                found.append((next(iter(lines)), sum(games for games, _, _ in lines.values()), len(lines)))
        return found


def _points(finish: Finish, agent: str) -> int:
    """Half points of one of two agents: 2, 1 or 0."""
    mine, theirs = finish.places if finish.agents[0] == agent else finish.places[::-1]
    return 1 + (mine < theirs) - (mine > theirs)
