"""Results of games as values: they are counted from records, they add up, and they have two sides.

Memory grows with the number of different line-ups and results, not with the number of games.
"""

from __future__ import annotations

import functools
import math
import numbers
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, TypeAlias

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.calls import checked_call
from zermelo.evaluation.match.record import FailureKind, GameRecord
from zermelo.evaluation.match.score import half_points, ranks_of

PairCounts: TypeAlias = tuple[int, int, int, int, int, int]
"""Pairs of games with the seats exchanged, by one agent's results: LL, LD, WL, DD, WD, WW."""
_PAIR_NAMES: Final = ("LL", "LD", "WL", "DD", "WD", "WW")
_PAIRS: Final = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))  # half points of the two games, ascending
_MOST: Final = 10**9  # games, of which a single one still changes a share
_TWO_SEATS: Final = {1.0: (0, 1), 0.5: (0, 0), 0.0: (1, 0)}
_Key: TypeAlias = tuple[tuple[str, ...], tuple[int, ...]]


class Observed(NamedTuple):
    """Games, or pairs of games with the seats exchanged, by one agent's score."""

    scores: tuple[float, ...]  # the possible ones in ascending order, from 0 to 1
    times: tuple[int, ...]  # how often each came
    counts: tuple[int, ...]  # as they were given
    games_each: int  # 2 for pairs


def observed(wins: Any, draws: Any, losses: Any, pairs: Sequence[Any] | None = None) -> Observed:
    """Games that were won, drawn and lost, or pairs of them: LL, LD, WL, DD, WD, WW."""
    if pairs is None:
        counts = _counts((wins, draws, losses), ("wins", "draws", "losses"))
        return Observed((0.0, 0.5, 1.0), counts[::-1], counts, 1)
    if wins or draws or losses:
        raise InvalidSettingError(
            "give either wins, draws and losses or pairs, not both: the pairs' games are counted in the pairs"
        )
    if len(pairs) != 6:
        raise InvalidSettingError(
            f"pairs must be six counts, those of LL, LD, WL, DD, WD and WW, not {len(pairs)}: {tuple(pairs)!r}"
        )
    ll, ld, wl, dd, wd, ww = counts = _counts(pairs, [f"pairs ({name})" for name in _PAIR_NAMES])
    return Observed((0.0, 0.25, 0.5, 0.75, 1.0), (ll, ld, wl + dd, wd, ww), counts, 2)


def _counts(counts: Sequence[Any], names: Sequence[str]) -> tuple[int, ...]:
    for name, count in zip(names, counts, strict=True):
        whole = not isinstance(count, bool) and hasattr(count, "__index__")
        if (not whole and not (isinstance(count, float) and count.is_integer())) or count < 0:
            raise InvalidSettingError(f"{name} must be a whole number of at least 0, not {count!r}")
        if count > _MOST:
            raise InvalidSettingError(f"{name} must be at most {_MOST:,}: one game more would change nothing")
    return tuple(map(int, counts))


@dataclass(frozen=True)
class HeadToHead:
    """Games of one agent against another, from its point of view; ``+`` adds games.

    With more than two seats a game is won by who finishes ahead of the other. ``pairs`` are the pairs of games
    with the seats exchanged among them.
    """

    wins: int = 0
    draws: int = 0
    losses: int = 0
    pairs: PairCounts = (0, 0, 0, 0, 0, 0)

    def __add__(self, other: HeadToHead) -> HeadToHead:
        ll, ld, wl, dd, wd, ww = map(sum, zip(self.pairs, other.pairs, strict=True))
        pairs = (ll, ld, wl, dd, wd, ww)
        return HeadToHead(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses, pairs)

    def flip(self) -> HeadToHead:
        """The other agent's score."""
        ll, ld, wl, dd, wd, ww = self.pairs
        return HeadToHead(self.losses, self.draws, self.wins, (ww, wd, wl, dd, ld, ll))

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def mean(self) -> float:
        """Points per game, 0 to 1; nan without games."""
        return (self.wins + self.draws / 2) / self.games if self.games else math.nan


@checked_call
class GameCounts:
    """How often each line-up finished in each way; an immutable value.

    Args:
        results: For each game either ``(players, scores)``, with one name and one number per seat, in seat order,
            names that are numbers counting as their text,
            a greater score being better and equal scores a tie; or, for two seats, ``(first, second, score)`` with
            the first one's score 1, 0.5 or 0. They are read one at a time.

    Raises:
        InvalidSettingError: A result has neither form, or a score is nan.
    """

    def __init__(self, results: Iterable[Sequence[Any]] = ()) -> None:
        self._counts: Counter[_Key] = Counter(map(_key, results))

    @classmethod
    def of(cls, results: Mapping[_Key, int]) -> GameCounts:
        """Counts by ``(players, ranks)``, rank 0 being the best."""
        counts = cls()
        counts._counts = Counter({key: games for key, games in results.items() if games})
        return counts

    @classmethod
    def match(cls, first: str, second: str, wins: int = 0, draws: int = 0, losses: int = 0) -> GameCounts:
        """Games that ``first`` won, drew and lost from the first of two seats."""
        games = zip(((0, 1), (0, 0), (1, 0)), observed(wins, draws, losses).counts, strict=True)
        names = str(name_of(first) or first), str(name_of(second) or second)
        return cls.of({(names, ranks): count for ranks, count in games})

    def __add__(self, other: GameCounts) -> GameCounts:
        return GameCounts.of(self._counts + other._counts)

    @functools.cached_property
    def _sorted(self) -> list[tuple[tuple[str, ...], tuple[int, ...], int]]:
        return [(*key, self._counts[key]) for key in sorted(self._counts)]

    def items(self) -> Iterator[tuple[tuple[str, ...], tuple[int, ...], int]]:
        """``(players, ranks, games)`` in sorted order; rank 0 is the best, and equal ranks are ties."""
        return iter(self._sorted)

    @property
    def players(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(sorted({name for players, _ in self._counts for name in players}))

    @property
    def games(self) -> int:
        """Number of games."""
        return self._counts.total()

    def head_to_head(self) -> dict[tuple[str, str], HeadToHead]:
        """The score of each player against each other one that it met, by (player, other)."""
        table: dict[tuple[str, str], list[int]] = {}
        for players, ranks, games in self.items():
            for a, rank_a in zip(players, ranks, strict=True):
                for b, rank_b in zip(players, ranks, strict=True):
                    if a != b:
                        place = 0 if rank_a < rank_b else 1 if rank_a == rank_b else 2
                        table.setdefault((a, b), [0, 0, 0])[place] += games
        return {pair: HeadToHead(wins, draws, losses) for pair, (wins, draws, losses) in table.items()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GameCounts) and self._counts == other._counts

    def __repr__(self) -> str:
        return f"<GameCounts: {self.games} games of {len(self.players)} players>"


def _key(result: Any) -> _Key:
    parts = list(result) if isinstance(result, Iterable) and not isinstance(result, str) else []
    if len(parts) == 3 and all(name_of(part) is not None for part in parts[:2]):
        first, second, score = parts
        ranks: Any = _TWO_SEATS.get(score) if score.__hash__ else None
        if ranks is None or isinstance(first, str) != isinstance(second, str):
            raise InvalidSettingError(
                f"a result (first, second, score) needs names and a score of 1, 0.5 or 0, not {result!r}"
            )
        return (str(name_of(first)), str(name_of(second))), ranks
    players, scores = (
        (list(part) if _is_row(part) else None for part in parts) if len(parts) == 2 else (None, None)
    )
    if players is None or scores is None:
        raise InvalidSettingError(f"a result must be (players, scores) or (first, second, score), not {result!r}")
    if len(players) < 2 or len(players) != len(scores):
        raise InvalidSettingError(
            f"a game needs at least two players and one score for each, not {players!r} with {scores!r}"
        )
    if any(not isinstance(score, numbers.Real) or math.isnan(score) for score in scores):
        raise InvalidSettingError(f"scores must be numbers, not {scores!r} for {players!r}")
    names = tuple(map(str, map(name_of, players)))
    if len({isinstance(name, str) for name in players}) > 1 or None in map(name_of, players):
        raise InvalidSettingError(f"players must be all names, or all numbers, not {players!r}")
    return names, ranks_of(scores)


def _is_row(part: Any) -> bool:
    return isinstance(part, Iterable) and hasattr(part, "__len__") and not isinstance(part, str)


def name_of(given: Any) -> str | None:
    """The name of a player, who may be called by a whole number; None for what is neither."""
    if isinstance(given, str):
        return str(given)
    if isinstance(given, bool) or not isinstance(given, numbers.Real) or not float(given).is_integer():
        return None
    return str(given.__index__() if isinstance(given, numbers.Integral) else int(float(given)))


class Result(NamedTuple):
    """The agents of a game by seat, and how it ended for each.

    Attributes:
        ranks: With two seats or more the rank of each seat: 0 for the most reward, equal ranks for equal rewards;
            the seat that failed is last and the others share the first rank. Empty if the game is void.
        failed_seat: The seat that is charged with the failure, or None.
    """

    agents: tuple[str, ...]
    ranks: tuple[int, ...]
    failure: FailureKind | None = None
    failed_seat: int | None = None

    @classmethod
    def of(cls, game: GameRecord) -> Result:
        """The result of a recorded game."""
        failure = game.failure
        if failure is None:
            return cls(game.agents, ranks_of(game.rewards))
        ranks = () if failure.seat is None else ranks_of([0.0] * len(game.agents), failure.seat)
        return cls(game.agents, ranks, failure.kind, failure.seat)

    @property
    def void(self) -> bool:
        """Whether the game counts for nobody."""
        return self.failure is not None and self.failed_seat is None

    def half_points(self, agent: str) -> int:
        return half_points(self.ranks)[self.agents.index(agent)]


@dataclass(frozen=True)
class ResultCount:
    """The games of one result; sequences are by seat.

    Rewards are in millionths, and None if they are not known or not all finite.
    """

    games: int
    moves: Sequence[int]
    microseconds: Sequence[int]  # of those moves
    distinct: int  # how many of the games differ in an action or a reward
    first: int  # sorts the groups by their first games
    first_id: str = ""
    message: str = ""  # of the first game's failure
    rewards: Sequence[int] | None = None  # sums
    lowest: Sequence[int] | None = None  # in one of the games
    highest: Sequence[int] | None = None


@dataclass
class Deals:
    """Rotations of the seats whose games ended in one way: one deal each where chance deals.

    Lists are in the order of the agents' names, in millionths, and without games that failed.
    """

    count: int
    sums: list[int]  # what each agent earned in all of them
    squares: list[int]  # sums of the squares of what each agent earned in one rotation
    distinct: int = 0  # how many of them differ; counted where games are copies (``Results.copies``)


class Copies(NamedTuple):
    """Games of the same agents that only repeat each other, as those of deterministic agents do."""

    agents: tuple[str, ...]
    games: int
    distinct: int  # how many of them differ


Rotation: TypeAlias = tuple[Result, ...]
"""The results of a rotation's games in order, without void ones; of more than two seats they have no ranks."""
RoundResults: TypeAlias = Mapping[Result, int]
"""How many games of a round had each result."""


@checked_call
@dataclass(frozen=True)
class Results:
    """Any number of games, counted.

    Attributes:
        groups: By result.
        returns: Of a single player, how often it had each return, by agent.
        rotations: With two seats or more, the rotations by the results of their games.
        openings: How many different openings the games of a line-up may have begun with.
        rounds: The results of each round, in tournaments that are played in rounds.
    """

    groups: Mapping[Result, ResultCount] = field(default_factory=dict)
    returns: Mapping[str, Counter[float]] = field(default_factory=dict)
    rotations: Mapping[Rotation, Deals] = field(default_factory=dict)
    openings: int = 1
    rounds: Sequence[RoundResults] = ()

    @property
    def games(self) -> int:
        """Number of games, void ones included."""
        return sum(group.games for group in self.groups.values())

    @property
    def void(self) -> int:
        """Number of games that count for nobody."""
        return sum(group.games for result, group in self.groups.items() if result.void)

    def in_order(self) -> list[tuple[Result, ResultCount]]:
        """The groups by their first games."""
        return sorted(self.groups.items(), key=lambda item: item[1].first)

    @functools.cached_property
    def copies(self) -> Mapping[frozenset[str], Copies]:
        """The games of those agents whose games are copies: from no seating do more differ than have openings."""
        seatings = defaultdict[frozenset[str], dict[tuple[str, ...], list[int]]](dict)
        for result, group in self.in_order():
            if not result.void and len(result.agents) > 1:
                counts = seatings[frozenset(result.agents)].setdefault(result.agents, [0, 0])
                counts[:] = counts[0] + group.games, counts[1] + group.distinct
        copies = {}
        for names, by_seating in seatings.items():
            games, distinct = zip(*by_seating.values(), strict=True)
            if max(distinct) <= self.openings < max(games):
                copies[names] = Copies(next(iter(by_seating)), sum(games), sum(distinct))
        return copies

    @functools.cached_property
    def once(self) -> Results:
        """The same games, of which ``copies`` count once; means and intervals are made of them."""
        if not self.copies:
            return self
        groups, rotations = dict(self.groups), dict(self.rotations)
        for result, one in self.groups.items():
            if frozenset(result.agents) in self.copies and not result.void:
                paid = None if one.rewards is None else _scaled(one.rewards, one.distinct, one.games)
                groups[result] = replace(one, games=one.distinct, rewards=paid)
        for rotation, deals in self.rotations.items():
            if (n := deals.distinct) and agents_of(rotation) in self.copies:
                sums, squares = (_scaled(amounts, n, deals.count) for amounts in (deals.sums, deals.squares))
                rotations[rotation] = Deals(n, sums, squares, n)
        return replace(self, groups=groups, rotations=rotations)

    @functools.cached_property
    def failed_always(self) -> tuple[str, ...]:
        """Agents that failed in every game but those that another lost by a failure, by their first failures."""
        failed, finished = dict[str, None](), set[str]()
        for result, _ in self.in_order():
            if result.failed_seat is not None:
                failed[result.agents[result.failed_seat]] = None
            elif not result.void:
                finished.update(result.agents)
        return tuple(name for name in failed if name not in finished)

    @functools.cached_property
    def judged(self) -> Results:
        """The games that ratings and verdicts are made of: ``once``, without agents that failed in every game.

        Who beats those shows nothing.
        """
        return self.once._of(lambda result: not {*self.failed_always} & {*result.agents})

    @functools.cached_property
    def finished(self) -> Results:
        """The games that no agent lost by a failure."""
        return self._of(lambda result: result.failure is None)

    def _of(self, is_wanted: Callable[[Result], bool]) -> Results:
        groups = {result: group for result, group in self.groups.items() if is_wanted(result)}
        dealt = {rotation: deals for rotation, deals in self.rotations.items() if all(map(is_wanted, rotation))}
        return replace(self, groups=groups, rotations=dealt)

    def counts(self) -> GameCounts:
        """The games of two seats or more that are not void."""
        counts = Counter[_Key]()
        for result, group in self.groups.items():
            if not result.void and len(result.agents) > 1:
                counts[result.agents, result.ranks] += group.games
        return GameCounts.of(counts)

    def pairs(self) -> Iterator[tuple[Result, Result, int]]:
        """Finishes of two games of two different agents with the seats exchanged, and how often that came."""
        for rotation, deals in self.rotations.items():
            if len(rotation) == 2 and len(rotation[0].agents) == 2:
                one, two = rotation
                if one.agents == two.agents[::-1] and one.agents[0] != one.agents[1]:
                    yield one, two, deals.count

    def head_to_head(self) -> dict[tuple[str, str], HeadToHead]:
        """The score of each agent against each other one that it met, with pairs, by (agent, other)."""
        table = self.counts().head_to_head()
        for one, two, count in self.pairs():
            for agent, other in (one.agents, two.agents):
                low, high = sorted(result.half_points(agent) for result in (one, two))
                ll, ld, wl, dd, wd, ww = (count * (kind == (low, high)) for kind in _PAIRS)
                table[agent, other] += HeadToHead(pairs=(ll, ld, wl, dd, wd, ww))
        return table

    def between(self, first: str, second: str) -> HeadToHead:
        """The score of one agent against another."""
        return self.head_to_head().get((first, second), HeadToHead())


def agents_of(rotation: Rotation) -> frozenset[str]:
    """The agents of a rotation."""
    return frozenset(name for result in rotation for name in result.agents)


def _scaled(sums: Sequence[int], part: int, whole: int) -> list[int]:
    return [round(amount * part / whole) for amount in sums]
