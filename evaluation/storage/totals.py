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
from typing import Any, Final, NamedTuple

from zermelo.evaluation.match.record import FailureKind, GameRecord
from zermelo.evaluation.schedule import game_order
from zermelo.evaluation.storage.deals import DealKey, DealTotal, count_deal

_LONGEST: Final = 1e9
"""Seconds that a move counts for at most."""
PRIOR: Final = 10
"""Pairs that speak for games of a pair being independent."""


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


class GameTally(NamedTuple):
    """What totals keep of one game.

    Attributes:
        finish: How it ended.
        returned: The return of a single player that did not fail, else None.
        line: 63 bits of a hash of its actions and rewards.
        moves: How many moves each seat made.
        microseconds: How long they took, for each seat.
        rewards: In millionths, so that sums are the same in any order; empty if the game failed or one is infinite
            or huge.
    """

    finish: Finish
    returned: float | None
    line: int
    moves: tuple[int, ...]
    microseconds: tuple[int, ...]
    rewards: tuple[int, ...] = ()

    @classmethod
    def of(cls, record: GameRecord) -> GameTally:
        """The tally of a record."""
        seats = len(record.agents)
        moves, microseconds = [0] * seats, [0] * seats
        for move in record.moves:
            moves[move.seat] += 1
            microseconds[move.seat] += round(min(max(move.seconds, 0.0), _LONGEST) * 1_000_000)
        text = repr((record.actions, record.rewards)).encode()
        line = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) >> 1
        returned = record.rewards[0] if seats == 1 and record.failure is None else None
        counts = record.failure is None and max(map(abs, record.rewards)) < 1e9
        rewards = tuple(round(reward * 1_000_000) for reward in record.rewards) if counts else ()
        return cls(Finish.of(record), returned, line, tuple(moves), tuple(microseconds), rewards)


@dataclass
class GroupTotal:
    """The games of one finish.

    Attributes:
        games: How many.
        moves: By each seat.
        microseconds: Of those moves, by seat.
        distinct: How many of them differ in an action or a reward.
        first: Sorts the groups by their first games.
        first_id: The id of the first game.
        message: Of the first game's failure.
        rewards: The sum of each seat's, in millionths; None if they are not known or not all finite.
        lowest: The least that each seat earned in one of the games, likewise.
        highest: The most, likewise.
    """

    games: int
    moves: Sequence[int]
    microseconds: Sequence[int]
    distinct: int
    first: tuple[int, ...]
    first_id: str = ""
    message: str = ""
    rewards: Sequence[int] | None = None
    lowest: Sequence[int] | None = None
    highest: Sequence[int] | None = None

    def earn(self, rewards: Sequence[int]) -> None:
        """Adds what one more game paid; nothing is known any more if ``rewards`` is empty."""
        if self.rewards is None or self.lowest is None or self.highest is None or not rewards:
            self.rewards = self.lowest = self.highest = None
            return
        self.rewards = [*map(sum, zip(self.rewards, rewards, strict=True))]
        self.lowest = [*map(min, self.lowest, rewards)]
        self.highest = [*map(max, self.highest, rewards)]


@dataclass
class GameTotals:
    """Any number of games, counted.

    Attributes:
        groups: By finish.
        returns: Of a single player, how often it had each return, by agent.
        pairs: With two seats, pairs of games with the seats exchanged, by the agents and the places in the two.
            A pair is there when both games are.
        openings: How many different openings the games of a line-up may have begun with.
        deals: With two seats or more, what the games of a rotation paid together, by who played them.
    """

    groups: dict[Finish, GroupTotal] = field(default_factory=dict)
    returns: dict[str, Counter[float]] = field(default_factory=dict)
    pairs: Counter[tuple[Finish, Finish]] = field(default_factory=Counter)
    openings: int = 1
    deals: dict[DealKey, DealTotal] = field(default_factory=dict)
    _lines: dict[Finish, set[int]] = field(default_factory=dict, repr=False, compare=False)
    _open: dict[str, tuple[GameTally, ...]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, records: Iterable[GameRecord]) -> GameTotals:
        """The totals of the records, which are read once and not kept."""
        totals, halves = cls(), dict[str, tuple[str, Finish]]()
        openings = set[tuple[Any, ...]]()
        for record in records:
            openings.add(record.opening)
            totals.openings = len(openings)
            tally = GameTally.of(record)
            totals.add(record, tally)
            rotation, _, turn = record.game_id.rpartition(".")
            if len(record.agents) == 2 and rotation and not record.void:
                other = halves.pop(rotation, None)
                if other is None:
                    halves[rotation] = (turn, tally.finish)
                else:
                    first, second = sorted([other, (turn, tally.finish)])
                    totals.pairs[first[1], second[1]] += 1
        return totals

    def add(self, record: GameRecord, tally: GameTally, *, distinct: bool = True) -> None:
        """Counts one game; with ``distinct`` also how many differ, which takes memory for each of them."""
        finish, order = tally.finish, game_order(record.game_id)
        message = "" if record.failure is None else record.failure.message
        group = self.groups.get(finish)
        if group is None:
            paid = tally.rewards or None
            group = GroupTotal(
                0, tally.moves, tally.microseconds, 0, order, record.game_id, message, paid, paid, paid
            )
            self.groups[finish] = group
        else:
            group.earn(tally.rewards)
            group.moves = [*map(sum, zip(group.moves, tally.moves, strict=True))]
            group.microseconds = [*map(sum, zip(group.microseconds, tally.microseconds, strict=True))]
            if order < group.first:
                group.first, group.first_id, group.message = order, record.game_id, message
        group.games += 1
        if distinct:
            lines = self._lines.setdefault(finish, set())
            lines.add(tally.line)
            group.distinct = len(lines)
        if tally.returned is not None:
            self.returns.setdefault(finish.agents[0], Counter())[tally.returned] += 1
        if len(finish.agents) > 1 and not finish.void:
            self._deal(record.game_id.rpartition(".")[0], tally)

    def _deal(self, rotation: str, tally: GameTally) -> None:
        """Counts a game as part of its deal, of which others may be there already."""
        before = self._open.pop(rotation, ())
        if before:
            count_deal(self.deals, [game.finish for game in before], [game.rewards for game in before], -1)
        games = (*before, tally)
        count_deal(self.deals, [game.finish for game in games], [game.rewards for game in games])
        if rotation and len(games) < len(tally.finish.agents):
            self._open[rotation] = games

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

    def pairs_of(self, first: str, second: str) -> tuple[int, int, int, int, int, int]:
        """How often the first one's scores in a pair of games with the second were LL, LD, WL, DD, WD, WW."""
        low, high = sorted((first, second))
        counts = self.pair_counts().get((low, high), (0, 0, 0, 0, 0, 0))
        if first == low:
            return counts
        ll, ld, wl, dd, wd, ww = counts
        return ww, wd, wl, dd, ld, ll

    @property
    def dispersion(self) -> float:
        """The variance of pairs of games from one opening, as a share of what it is where games are independent.

        From a lopsided opening both agents win with the better side, so that pairs vary less than single games.
        Counts of games divided by this give intervals of pairs (the dispersion of quasi-likelihood: McCullagh and
        Nelder 1989, section 4.5; it is the pentanomial variance over the trinomial one). A few pairs say little of
        it: it is drawn towards 1 as by ten more. 1 without openings, and with other than two seats.
        """
        if self.openings < 2:
            return 1.0
        table: dict[tuple[str, ...], list[tuple[int, int, int]]] = {}
        for (one, two), games in self.pairs.items():
            if one.agents == two.agents[::-1] and one.agents[0] != one.agents[1]:
                name = min(one.agents)
                first, second = sorted((one, two), key=lambda finish: finish.agents)
                table.setdefault(first.agents, []).append((_points(first, name), _points(second, name), games))
        seen = expected = 0.0
        for rows in table.values():
            count = sum(games for _, _, games in rows)
            means = [sum(row[seat] * row[2] for row in rows) / count for seat in (0, 1)]
            for *points, games in rows:
                off = [points[seat] - means[seat] for seat in (0, 1)]
                seen += games * sum(off) ** 2
                expected += games * (off[0] ** 2 + off[1] ** 2)
        pairs = sum(games for rows in table.values() for _, _, games in rows)
        return (pairs * seen / expected + PRIOR) / (pairs + PRIOR) if expected else 1.0

    def _played(self) -> dict[tuple[str, ...], tuple[int, int]]:
        """Of each line-up its games that did not fail, and how many of them differ."""
        found: dict[tuple[str, ...], tuple[int, int]] = {}
        for finish, group in self.in_order():
            if finish.failure is None and len(finish.agents) > 1:
                games, distinct = found.get(finish.agents, (0, 0))
                found[finish.agents] = (games + group.games, distinct + group.distinct)
        return found

    def repeating(self) -> frozenset[tuple[str, ...]]:
        """Line-ups whose games only repeat each other, as those of agents without chance do.

        From one opening such agents always play the same game, so there are no more different games than openings.
        Where chance plays, some game would have come out otherwise.
        """
        played = self._played().items()
        return frozenset(agents for agents, (games, distinct) in played if distinct <= self.openings < games)

    def repeats(self) -> list[tuple[tuple[str, ...], int, int]]:
        """Pairings of which no seating gave anything but repetitions: agents, games, different games."""
        repeating, pairings = self.repeating(), dict[frozenset[str], list[tuple[tuple[str, ...], int, int]]]()
        for agents, (games, distinct) in self._played().items():
            pairings.setdefault(frozenset(agents), []).append((agents, games, distinct))
        return [
            (seatings[0][0], sum(games for _, games, _ in seatings), sum(distinct for _, _, distinct in seatings))
            for seatings in pairings.values()
            if any(agents in repeating for agents, _, _ in seatings)
            and all(agents in repeating or games <= self.openings for agents, games, _ in seatings)
        ]


def _points(finish: Finish, agent: str) -> int:
    """Half points of one of two agents: 2, 1 or 0."""
    mine, theirs = finish.places if finish.agents[0] == agent else finish.places[::-1]
    return 1 + (mine < theirs) - (mine > theirs)
