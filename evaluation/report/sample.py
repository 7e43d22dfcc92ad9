"""Which games a report shows when it cannot show all: failures, upsets, and a fair sample of every line-up.

In the report of an attack, games in which asking the policy won more come before them.

Each game has a priority that is a hash of the seed and its id, and in every stratum (the failures of one kind by
one agent; one result of one line-up) those of the highest priority are kept, as many as there is room for.
"""

from __future__ import annotations

import hashlib
import heapq
import itertools
import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from zermelo.evaluation.analysis.attack import NAMED
from zermelo.evaluation.match.record import GameRecord

REASONS: Final = ("asked", "failure", "upset", "sample")  # why a game is shown, the most important first
_MOST_ASKED: Final = 1_000  # games in which asking won more that are kept: many are repeated
_ROOM: Final = 200_000  # moves of the records that are kept; a record itself counts as ten


@dataclass(frozen=True)
class ShownGame:
    """A game to show, and why this one."""

    record: GameRecord
    reason: str


class _Kept(NamedTuple):
    priority: int
    line: str
    size: int


class _Stratum(NamedTuple):
    """Games of one kind: with a failure those of one agent, else those of one line-up and result."""

    agents: tuple[str, ...]
    won: tuple[bool, ...]
    failure: str


class GameSample:
    """Takes all games, keeps some; ``asked`` are the ids of those in which asking a policy won more."""

    def __init__(self, wanted: int, seed: int = 0, asked: Iterable[str] = ()) -> None:
        self._wanted, self._seed = wanted, seed
        self._asked = dict[str, _Kept | None].fromkeys(itertools.islice(asked, _MOST_ASKED))
        self._strata = defaultdict[_Stratum, list[_Kept]](list)
        self._depth = wanted
        self._size = 0

    def add(self, game: GameRecord, line: str) -> None:
        if not self._wanted:
            return
        text = f"{self._seed} {game.game_id} {game.seed}"
        priority = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
        size = len(game.moves) + len(game.opening) + 10
        kept = _Kept(priority, line, size)
        if game.game_id in self._asked:
            self._asked[game.game_id] = kept
            return
        heapq.heappush(stratum := self._strata[_stratum(game)], kept)
        self._size += size
        self._trim(stratum)
        while self._size > _ROOM and (self._depth > 1 or len(self._strata) > 1):
            self._make_room()

    def _trim(self, stratum: list[_Kept]) -> None:
        while len(stratum) > self._depth:
            self._size -= heapq.heappop(stratum).size

    def _make_room(self) -> None:
        """Keeps half as many games of each stratum, or a quarter fewer strata where each has one."""
        if self._depth > 1:
            self._depth = max(1, min(self._depth, max(map(len, self._strata.values()))) // 2)
            for stratum in self._strata.values():
                self._trim(stratum)
            return
        names = sorted(self._strata, key=lambda name: (bool(name.failure), self._strata[name][0].priority))
        for name in names[: max(1, len(names) // 4)]:
            self._size -= sum(kept.size for kept in self._strata.pop(name))

    def chosen(self, ratings: Mapping[str, float]) -> list[ShownGame]:
        """The games to show: where asking won more, failures and upsets, up to a third each, then the others."""
        failures, upsets = list[list[_Kept]](), list[tuple[float, list[_Kept]]]()
        line_ups = defaultdict[tuple[str, ...], list[_Kept]](list)
        for name in sorted(self._strata):
            games = sorted(self._strata[name], reverse=True)
            if name.failure:
                failures.append(games)
                continue
            if (gap := _surprise(name, ratings)) > 0:
                upsets.append((gap, games))
            line_ups[name.agents] += games
        upsets.sort(key=lambda upset: -upset[0])
        others = (sorted(games, reverse=True) for games in line_ups.values())
        seen = set[Hashable]()
        asked = [filter(None, self._asked.values())]
        groups: dict[str, Iterable[Iterable[_Kept]]]
        groups = {"asked": asked, "failure": failures, "upset": (games for _, games in upsets), "sample": others}
        waiting = {reason: _in_turn(games, seen, NAMED * (reason == "asked")) for reason, games in groups.items()}
        third, games_shown = math.ceil(self._wanted / 3), list[ShownGame]()
        places_of = (self._wanted, third, third, *[self._wanted] * 5)
        for reason, places in zip((*REASONS, *REASONS), places_of, strict=True):
            records = itertools.islice(waiting[reason], min(places, self._wanted - len(games_shown)))
            games_shown += (ShownGame(record, reason) for record in records)
        return sorted(games_shown, key=lambda game: REASONS.index(game.reason))


def _stratum(game: GameRecord) -> _Stratum:
    failure = game.failure
    if failure is not None:
        return _Stratum(() if failure.seat is None else (game.agents[failure.seat],), (), failure.kind)
    # With one seat every return would be a stratum of its own.
    won = tuple(reward == max(game.rewards) for reward in game.rewards) if len(game.rewards) > 1 else ()
    return _Stratum(game.agents, won, "")


def _surprise(stratum: _Stratum, ratings: Mapping[str, float]) -> float:
    """By how much the best of those who did not win is rated above the best of those who did."""
    rated = [(won, ratings.get(name, 0.0)) for name, won in zip(stratum.agents, stratum.won, strict=False)]
    winners, losers = ([rating for won, rating in rated if won is wanted] for wanted in (True, False))
    return max(losers) - max(winners) if winners and losers else 0.0


def _in_turn(groups: Iterable[Iterable[_Kept]], seen: set[Hashable], named: int = 0) -> Iterator[GameRecord]:
    """Yields a game of every group, then another of every group, and so on, each with the same moves once.

    The first games, as many as are ``named``, are there in any case: what was dealt differs where moves do not.
    """
    found = 0
    waiting = [iter(group) for group in groups]
    while waiting:
        for group in tuple(waiting):
            for kept in group:
                record = GameRecord.from_json(kept.line)
                same = (record.agents, repr(record.actions), record.rewards, record.failure is None)
                if same not in seen or found < named:
                    found += 1
                    seen.add(same)
                    yield record
                    break
            else:
                waiting.remove(group)
