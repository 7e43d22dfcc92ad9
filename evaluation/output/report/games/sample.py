"""Which games a report shows when it cannot show all: failures, upsets, and a fair sample of every line-up.

Games come one at a time, and the choice does not depend on the order in which workers finished them: each game has
a priority that is a hash of the seed and its id, and in every stratum (the failures of one kind by one agent; one
result of one line-up) those of the smallest priority are kept. A fixed number of moves is kept at most.
"""

from __future__ import annotations

import hashlib
import heapq
import itertools
import math
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from zermelo.evaluation.match.record import GameRecord, StoredGame

REASONS: Final = ("failure", "upset", "sample")
"""Why a game is shown, the most important first."""
_MOVES_KEPT: Final = 200_000
_RECORD_WEIGHT: Final = 10
"""Size of a record without moves, in moves."""


@dataclass(frozen=True)
class ShownGame:
    """A game to show, and why this one."""

    record: GameRecord
    reason: str


class _Kept(NamedTuple):
    minus_priority: int
    number: int
    line: str
    weight: int
    failed: bool


class GameSample:
    """Takes all games, keeps some.

    Args:
        wanted: How many games to show at most.
        seed: Decides the sample.
    """

    def __init__(self, wanted: int, seed: int = 0) -> None:
        self.wanted = wanted
        self._seed = seed
        self._strata: dict[Hashable, list[_Kept]] = {}
        self._depth = wanted
        self._weight = 0
        self._number = itertools.count()

    def add(self, game: StoredGame, line: str) -> None:
        """Considers a game, and its line of JSON."""
        if not self.wanted:
            return
        stratum = self._strata.setdefault(_stratum(game), [])
        minus_priority = -_priority(self._seed, game)
        if len(stratum) >= self._depth and minus_priority <= stratum[0].minus_priority:
            return
        weight = len(game.moves.seat) + len(game.opening) + _RECORD_WEIGHT
        kept = _Kept(minus_priority, next(self._number), line, weight, game.failure is not None)
        heapq.heappush(stratum, kept)
        self._weight += kept.weight
        self._trim(stratum)
        while self._weight > _MOVES_KEPT and self._lighten():
            pass

    def _trim(self, stratum: list[_Kept]) -> None:
        while len(stratum) > self._depth:
            self._weight -= heapq.heappop(stratum).weight

    def _lighten(self) -> bool:
        """Keeps fewer games of each stratum, and at last fewer strata; False if one game is left."""
        if self._depth > 1:
            self._depth = max(1, min(self._depth, max(map(len, self._strata.values()))) // 2)
            for stratum in self._strata.values():
                self._trim(stratum)
            return True
        if len(self._strata) < 2:
            return False
        names = sorted(self._strata, key=lambda name: self._importance(self._strata[name]))
        for name in names[: max(1, len(names) // 4)]:  # several at once, so that this is seldom needed
            self._weight -= sum(kept.weight for kept in self._strata.pop(name))
        return True

    def _importance(self, stratum: list[_Kept]) -> tuple[bool, int]:
        return stratum[0].failed, stratum[0].minus_priority

    def chosen(self, ratings: Mapping[str, float]) -> list[ShownGame]:
        """The games to show, in the order of importance: failures, then upsets, then the others.

        Failures and upsets get a third of the places each where there are that many, and what is left over.

        Args:
            ratings: The agents' ratings, all finite, to tell upsets from.
        """
        strata = [
            [GameRecord.from_json(kept.line) for kept in sorted(stratum, reverse=True)]
            for _, stratum in sorted(self._strata.items(), key=lambda item: repr(item[0]))
        ]
        failures: list[list[GameRecord]] = []
        upsets: list[tuple[float, list[GameRecord]]] = []
        by_line_up = defaultdict[tuple[str, ...], list[GameRecord]](list)
        for records in strata:
            record = records[0]
            if record.failure is not None:
                failures.append(records)
                continue
            gap = _surprise(record, ratings)
            if gap > 0:
                upsets.append((gap, records))
            by_line_up[record.agents].extend(records)
        upsets.sort(key=lambda pair: -pair[0])
        for records in by_line_up.values():
            records.sort(key=lambda record: _priority(self._seed, record))
        return self._filled(failures, [records for _, records in upsets], list(by_line_up.values()))

    def _filled(
        self,
        failures: Sequence[list[GameRecord]],
        upsets: Sequence[list[GameRecord]],
        others: Sequence[list[GameRecord]],
    ) -> list[ShownGame]:
        shown: list[ShownGame] = []
        seen: set[Hashable] = set()
        failing, upsetting, remaining = (_in_turn(groups, seen) for groups in (failures, upsets, others))
        third = math.ceil(self.wanted / 3)
        for reason, records, places in (
            ("failure", failing, third),
            ("upset", upsetting, third),
            ("sample", remaining, self.wanted),
            ("failure", failing, self.wanted),
            ("upset", upsetting, self.wanted),
        ):
            places = min(places, self.wanted - len(shown))
            shown.extend(ShownGame(record, reason) for record in itertools.islice(records, places))
        return sorted(shown, key=lambda game: REASONS.index(game.reason))


def _priority(seed: int, game: GameRecord | StoredGame) -> int:
    text = f"{seed} {game.game_id} {game.seed}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def _stratum(game: StoredGame) -> tuple[Hashable, ...]:
    failure = game.failure
    if failure is not None:
        return ("failure", "" if failure.seat is None else game.agents[failure.seat], failure.kind)
    rewards = game.numbers(game.rewards)
    # With one seat every return would be a stratum of its own.
    result = tuple([reward == max(rewards) for reward in rewards]) if len(rewards) > 1 else ()
    return (game.agents, result)


def _surprise(record: GameRecord, ratings: Mapping[str, float]) -> float:
    """By how much the best of those who did not win is rated above the best of those who did."""
    best = max(record.rewards)
    groups: dict[bool, list[float]] = {True: [], False: []}
    for name, reward in zip(record.agents, record.rewards, strict=True):
        groups[reward == best].append(ratings.get(name, 0.0))
    return max(groups[False]) - max(groups[True]) if groups[False] else 0.0


def _in_turn(groups: Sequence[list[GameRecord]], seen: set[Hashable]) -> Iterator[GameRecord]:
    """A game of every group, then another of every group, and so on, without those that were seen.

    Deterministic agents repeat games: the same moves are shown once.
    """
    waiting = [iter(group) for group in groups]
    while waiting:
        for group in tuple(waiting):
            for record in group:
                same = (record.agents, repr(record.actions), record.rewards, record.failure is None)
                if same not in seen:
                    seen.add(same)
                    yield record
                    break
            else:
                waiting.remove(group)
