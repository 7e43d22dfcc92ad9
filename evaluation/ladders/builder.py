"""Building ladders: agents of growing strength, rated by games against each other (``zermelo ladder``).

1. Climb: searches of growing depth or simulations, each against the last one, up to the time that a move may take,
   or until they grow no stronger.
2. Fill: where neighbours are too far apart, the upper one with a share of random moves, or fewer simulations.
3. Choose rungs that are at most ``gap`` apart, quick ones first.
4. Measure: games go to the pairs that narrow the wide intervals most for their time.

What is decided depends on nothing but the journal of games and the time, so the same command goes on.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from zermelo.agents.base.settings import check_number
from zermelo.agents.level import ladder_key
from zermelo.agents.training.vectors.opponents import MatchResult
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.support.data_files import write_json
from zermelo.envs.support.spec_text import format_spec, parse_spec
from zermelo.evaluation.ladders.games import OPENING, Block, BlockPlayer, Journal
from zermelo.evaluation.ladders.ladder import COVARIANCE
from zermelo.evaluation.ladders.reward_builder import made_now, search_of
from zermelo.evaluation.match.fingerprint import fingerprint
from zermelo.evaluation.match.sources import build_env
from zermelo.evaluation.results import GameCounts
from zermelo.evaluation.stats.ratings.elo import ELO_PER_LOG_ABILITY
from zermelo.evaluation.stats.ratings.fit import fit_ratings
from zermelo.evaluation.stats.ratings.table import RatingTable
from zermelo.evaluation.workers.work import Runner

RANDOM: Final = "random"
TIMED: Final = 4  # games of an agent against itself, which tell the time of a move
COARSE: Final = 128  # games that place an agent beside another
COARSE_SHARE: Final = 0.03  # the share of all time that they may take
BLOCK_SECONDS: Final = 5.0
BLOCK_SHARE: Final = 0.01  # the share of all time that a block takes at most
FLOOR: Final = 0.01  # the share of random moves of tree searches, which otherwise repeat their games
REACH: Final = 300.0  # Elo between the agents of a pair, at most, unless they are neighbours
MISFIT: Final = 15.0  # Elo by which a pair differs from what ratings say, as strength is not transitive
SATURATED: Final = 20.0  # Elo: two steps in a row that gain less end the climb, and rungs are further apart
PARTS: Final = (0.4, 0.7, 1.0)  # shares of the time after which gaps are looked at again
BATCH: Final = 8  # blocks that are decided on together, whatever the number of workers


@dataclass
class LadderBuilder:
    """Builds the ladder of an environment of two players; ``on_block`` is told what goes on."""

    env: str
    journal: Path
    runner: Runner
    gap: float = 100.0  # Elo between neighbours, at most
    width: float = 40.0  # of the intervals of the rungs, in Elo, at most
    move_seconds: float = 1.0  # that the strongest rung may take for a move
    seconds: float = 3600.0  # for all games; where they do not suffice, intervals are wider
    seed: int = 0
    on_block: Callable[[str], None] = lambda sentence: None
    _results: dict[tuple[str, str], MatchResult] = field(default_factory=dict, init=False)
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict, init=False)
    _seconds: dict[tuple[str, str], float] = field(default_factory=dict, init=False)
    _ms: dict[str, float] = field(default_factory=dict, init=False)
    _moves: dict[str, float] = field(default_factory=dict, init=False)
    _spent: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        for name in ("gap", "width", "move_seconds", "seconds"):
            check_number(name, getattr(self, name), lower=0, above=True)
        live = build_env(self.env)[0]
        live.reset(seed=0)
        self._game = ladder_key(live)
        self._method = search_of(self.env)
        if len(getattr(live, "possible_agents", "1")) != 2:
            raise UnsupportedGameError(f"{self.env} has not two players: ladders rate by games of two")
        if self._method not in _STEPS:
            raise UnsupportedGameError(f"there are no ladders for games that `auto` plays by {self._method}")
        parts = json.dumps(fingerprint(live), sort_keys=True)
        self._fingerprint = hashlib.sha256(parts.encode()).hexdigest()[:16]
        self._missing: list[Block] = []
        self._found = self.runner.run(BlockPlayer(self.env, self.seed), self._missing)
        self._journal = Journal(self.journal, f"{self._game}, seed {self.seed}")

    def build(self) -> dict[str, Any]:
        rungs: list[str] = []
        with contextlib.closing(self._found):
            self._climb()
            for share in PARTS:  # once measured, gaps may be wider than they seemed, or narrower
                has_new = self._fill((share - 0.1) * self.seconds)
                if rungs == (rungs := self._chosen()) and not has_new:
                    break
                self._measure(rungs, share * self.seconds)
        table = self.table()
        rows, order = [], _apart({name: table[name].smoothed_elo for name in rungs})
        for name in order:
            rated = table[name]
            rating, lower, upper = (round(value, 1) for value in (rated.smoothed_elo, rated.lower, rated.upper))
            ms = float(f"{self._ms[name]:.2g}")
            rows.append({"agent": name, "elo": rating, "lower": lower, "upper": upper, "ms": ms})
        return {
            "game": self._game, "env": self.env, "fingerprint": self._fingerprint, **made_now(self.seed),
            "opening": OPENING, "games": sum(sum(result[:3]) for result in self._results.values()),
            "minutes": float(f"{self._spent / 60:.2g}"), "rungs": rows,
            COVARIANCE: [
                [round(value, 2) for value in row[: place + 1]]
                for place, row in enumerate(table.covariance(order).tolist())
            ],
        }  # fmt: skip

    def _play(self, pairs: Sequence[tuple[str, str]], games: int | None = None) -> None:
        blocks = []
        for pair in pairs:
            number = self._numbers[pair] = self._numbers.get(pair, -1) + 1
            blocks.append(Block(*pair, games or self._block_size(*pair), number))
        missing = [block for block in blocks if block.key not in self._journal.blocks]
        self._missing += missing
        for played in itertools.islice(self._found, len(missing)):
            self._journal.add(*played)
            self.on_block(f"{sum(block.games for block, _, _ in self._journal.blocks.values()):,} games")
        for asked in blocks:  # with less time it had other sizes
            block, result, seconds = self._journal.blocks[asked.key]
            self._spent += seconds
            pair = block.first, block.second
            if block.first == block.second:
                self._ms[block.first] = 1000 * seconds / max(result.moves, 1)
                self._moves[block.first] = result.moves / block.games
                continue
            before = self._results.get(pair, MatchResult(0, 0, 0, 0))
            self._results[pair] = MatchResult(*map(sum, zip(before, result, strict=True)))
            self._seconds[pair] = self._seconds.get(pair, 0.0) + seconds

    def _game_seconds(self, first: str, second: str) -> float:
        """The time of a game: as seen, or else as the agents' games against themselves let expect."""
        if result := self._results.get((first, second)):
            return self._seconds[first, second] / sum(result[:3])
        moves = (self._moves[first] + self._moves[second]) / 2
        return (self._ms[first] + self._ms[second]) / 2000 * moves + 1e-5

    def _games_for(self, seconds: float, most: int, pair: tuple[str, str]) -> int:
        return 2 * max(8, min(most // 2, int(seconds / self._game_seconds(*pair) / 2)))

    def _block_size(self, *pair: str) -> int:
        return self._games_for(min(BLOCK_SECONDS, BLOCK_SHARE * self.seconds), 2048, (pair[0], pair[1]))

    def _place(self, lower: str, upper: str) -> None:
        self._play([(lower, upper)], self._games_for(COARSE_SHARE * self.seconds, COARSE, (lower, upper)))

    def table(self) -> RatingTable:
        counts = GameCounts()
        for (first, second), (wins, draws, losses, _) in self._results.items():
            counts += GameCounts.match(first, second, wins=2 * wins + draws, losses=2 * losses + draws)
        return fit_ratings(counts, anchor=RANDOM, seat_effects=False, dispersion=2.0)

    def _elo(self) -> dict[str, float]:
        return {player.name: player.smoothed_elo for player in self.table().players}

    def _climb(self) -> None:
        self._play([(RANDOM, RANDOM)], TIMED)
        last, weak, limit = RANDOM, 0, 1000 * self.move_seconds
        ms = growth = 0.0
        for step in _STEPS[self._method]:
            if ms * growth > 2 * limit or self._spent > self.seconds / 3:
                break
            self._play([(step, step)], TIMED)
            growth, ms = self._ms[step] / ms if ms else 1.0, self._ms[step]
            if ms > limit:
                break
            self._place(last, step)
            elo = self._elo()
            weak = weak + 1 if elo[step] - elo[last] < SATURATED else 0
            last = step
            if weak == 2:
                break
        if (spec := parse_spec(last)).name == "noisy":
            pure = str(spec.arguments["agent"])
            self._play([(pure, pure)], TIMED)
            self._place(last, pure)

    def _fill(self, seconds: float) -> bool:
        """Puts agents where gaps are too wide; whether there was any."""
        has_new = False
        while self._spent < seconds:
            elo = self._elo()
            order = self._chosen()
            new = []
            for lower, upper in itertools.pairwise(order):
                if elo[upper] - elo[lower] <= self.gap:
                    continue
                parts = max(math.ceil((elo[upper] - elo[lower]) / self.gap / 0.9), 2)
                target = elo[lower] + (elo[upper] - elo[lower]) * (parts // 2) / parts
                stronger = min((name for name in elo if elo[name] > target), key=self._ms.__getitem__)
                between = _weaker(stronger, target, elo)
                if between is not None and between not in self._ms:
                    new.append((lower, between, upper))
            if not new:
                break
            has_new = True
            self._play([(between, between) for _, between, _ in new], TIMED)
            for lower, between, upper in new:
                self._place(lower, between)
                self._place(between, upper)
        return has_new

    def _chosen(self) -> list[str]:
        """Rungs at most ``gap`` apart where there are such, quick ones first."""
        elo = self._elo()
        order = sorted((name for name in elo if elo[name] > 0), key=elo.__getitem__)
        rungs = [RANDOM]
        while left := [name for name in order if elo[name] > elo[rungs[-1]] + SATURATED]:
            most = max(elo[rungs[-1]] + self.gap, elo[left[0]] + SATURATED)
            near = [name for name in left if elo[name] <= most]
            quick = min(self._ms[name] for name in near)
            rungs.append(max((name for name in near if self._ms[name] <= 3 * quick + 0.01), key=elo.__getitem__))
        return rungs

    def _measure(self, rungs: Sequence[str], seconds: float) -> None:
        while self._spent < seconds:
            table = self.table()
            widths = np.array([table[name].upper - table[name].lower for name in rungs])
            self.on_block(f"{self._spent:.0f} s of games, widest interval {widths.max():.0f}")
            if (widths <= self.width).all():
                return
            elo = np.array([table[name].smoothed_elo for name in rungs])
            self._play(list(self._most_telling(rungs, elo, widths > 0.9 * self.width)))

    def _most_telling(self, rungs: Sequence[str], elo: Any, wide: Any) -> Iterator[tuple[str, str]]:
        """The pairs whose next block narrows the wide intervals most for its time, by the information matrix."""
        count, misfit = len(rungs), (MISFIT / ELO_PER_LOG_ABILITY) ** 2
        order = {name: number for number, name in enumerate(rungs)}
        expected = 1 / (1 + np.exp((elo[:, None] - elo[None, :]) / ELO_PER_LOG_ABILITY))
        weight = expected * (1 - expected)
        games = np.zeros((count, count))
        for (first, second), result in self._results.items():
            if first in order and second in order:
                games[order[first], order[second]] += sum(result[:3])

        def information_of(i: int, j: int) -> float:
            """What the games of a pair tell of the difference, which its misfit limits."""
            independent = games[i, j] * weight[i, j]
            return float(independent / (1 + independent * misfit))

        information = 1e-6 * np.eye(count)
        for i, j in itertools.combinations(range(count), 2):
            edge = np.eye(count)[i] - np.eye(count)[j]
            information += (information_of(i, j) + information_of(j, i)) * np.outer(edge, edge)
        covariance = np.zeros((count, count))
        covariance[1:, 1:] = np.linalg.inv(information[1:, 1:])
        near = [
            (i, j, self._block_size(rungs[i], rungs[j]), self._game_seconds(rungs[i], rungs[j]))
            for i, j in itertools.combinations(range(count), 2)
            if j == i + 1 or abs(elo[i] - elo[j]) <= REACH
        ]
        for _ in range(BATCH):
            best = (-math.inf, 0, 1, 0, 0.0)
            for i, j, block, seconds in near:
                before = information_of(i, j)
                games[i, j] += block
                more = information_of(i, j) - before
                games[i, j] -= block
                change = covariance[:, i] - covariance[:, j]
                gain = more * change**2 / (1 + more * (change[i] - change[j]))
                best = max(best, (float(gain[wide].sum()) / (block * seconds + 0.02), i, j, block, more))
            _, i, j, block, more = best
            games[i, j] += block
            change = covariance[:, i] - covariance[:, j]
            covariance -= more * np.outer(change, change) / (1 + more * (change[i] - change[j]))
            yield rungs[i], rungs[j]


def _noisy(agent: str, epsilon: float) -> str:
    return format_spec("noisy", {"agent": parse_spec(agent), "epsilon": round(epsilon, 4)})


def _simulations(count: int) -> str:
    return format_spec("mcts", {"simulations": count, "reuse": False})


_STEPS: Final[dict[str, list[str]]] = {
    "alphabeta": [_noisy(f"alphabeta(depth={depth})", FLOOR) for depth in (1, *range(2, 30, 2))],
    "expectiminimax": [_noisy(f"expectiminimax(depth={depth})", FLOOR) for depth in range(1, 9)],
    "mcts": [_simulations(4**power) for power in range(3, 9)],
}
"""Agents of growing strength, by the search that ``auto`` takes.

Alpha-beta of odd and of even depths has other strengths, so that ratings of the two together would not hold. Monte
Carlo begins with as many simulations as there are moves to try: in Go on 9x9, 2, 8 and 32 were equally strong.
"""


def _apart(elo: dict[str, float]) -> list[str]:
    """Rungs by their ratings, the weakest first, without those that are hardly above the last one."""
    rungs = [RANDOM]
    for name in sorted(elo, key=elo.__getitem__):
        if elo[name] > elo[rungs[-1]] + SATURATED / 2:
            rungs.append(name)
    return rungs


def _weaker(upper: str, target: float, elo: dict[str, float]) -> str | None:
    """A weaker version of an agent, whose rating is probably the one wanted; None where there is none."""
    above = parse_spec(upper)
    few = [agent for agent in elo if elo[agent] < target and parse_spec(agent).name == "mcts"]
    if above.name == "mcts":
        low = max((parse_spec(agent).arguments["simulations"] for agent in few), default=1)
        high = above.arguments["simulations"]
        share = _share(target, max((elo[agent] for agent in few), default=0.0), elo[upper])
        middle = round(low * (high / low) ** share)
        if low < middle < high:
            return _simulations(middle)
        if low > 1:
            return None
    base, least = str(above.arguments.get("agent", above)), above.arguments.get("epsilon", 0.0)
    weaker = []
    for spec, rating in ((parse_spec(name), rating) for name, rating in elo.items() if rating < target):
        if spec.name == "noisy" and str(spec.arguments["agent"]) == base and spec.arguments["epsilon"] > least:
            weaker.append((spec.arguments["epsilon"], rating))
    most, elo_below = min(weaker, default=(1.0, 0.0))
    if most - least <= 0.01:
        return None
    return _noisy(base, most - (most - least) * _share(target, elo_below, elo[upper]))


def _share(target: float, lower: float, upper: float) -> float:
    return min(max((target - lower) / max(upper - lower, 1.0), 0.15), 0.85)


def write_ladder(ladder: dict[str, Any], path: Path) -> None:
    lists = [name for name in (COVARIANCE, "rungs") if name in ladder]  # a row a line
    head = json.dumps({name: value for name, value in ladder.items() if name not in lists}, indent=1)
    for name in lists:
        rows = ",\n".join(f"  {json.dumps(row)}" for row in ladder[name])
        head = f'{head[:-2]},\n "{name}": [\n{rows}\n ]\n}}'
    write_json(path, head.encode())
