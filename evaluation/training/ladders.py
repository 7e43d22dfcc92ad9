"""Building ladders: agents of growing strength, rated by games against each other (``zermelo ladder``).

1. Climb: searches of growing depth or simulations, each against ``random`` and against the last one, up to the
   time that a move may take, or until they grow no stronger.
2. Fill: where neighbours are too far apart, the upper one with a share of random moves, or fewer simulations.
3. Choose rungs that are at most ``gap`` apart, quick ones first.
4. Measure: games go to the pairs that narrow the wide intervals most for their time.

Every block of games is a task with a seed of its own, and is written to a journal. What is decided depends on
nothing but the journal, so the same command goes on where a run has ended.
"""

from __future__ import annotations

import datetime
import hashlib
import itertools
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.agents import AutoAgent
from zermelo.agents.core.options import Compile
from zermelo.agents.core.settings import check_number
from zermelo.agents.learning.vector_opponents import Match, MatchResult
from zermelo.agents.players.level import Rung, ladder_key
from zermelo.envs import InvalidSettingError, UnsupportedGameError
from zermelo.envs.spec_text import Spec, format_spec, parse_spec
from zermelo.evaluation.errors import EnvironmentFailureError, StoreError
from zermelo.evaluation.match.env_driver import drive_env
from zermelo.evaluation.match.fingerprint import fingerprint
from zermelo.evaluation.match.record import versions
from zermelo.evaluation.match.sources import build_env, env_name
from zermelo.evaluation.results import GameCounts
from zermelo.evaluation.runners.work import Loss, Runner
from zermelo.evaluation.sandbox import Isolate, Isolation
from zermelo.evaluation.schedule import derived_seed
from zermelo.evaluation.stats.ratings import RatingTable, fit_ratings
from zermelo.evaluation.stats.ratings.elo import ELO_PER_LOG_ABILITY
from zermelo.evaluation.storage.files import replace_text
from zermelo.evaluation.tournament.run import round_robin
from zermelo.evaluation.training.anchors import openings_for

RANDOM: Final = "random"
OPENING: Final = 2
"""Random moves at the start of a game."""
PROBE: Final = 16
"""Games against ``random``, which tell the time of a move."""
COARSE: Final = 128
"""Games that place an agent."""
BLOCK_SECONDS: Final = 5.0
FLOOR: Final = 0.02
"""The share of random moves of tree searches, which otherwise play the same games again and again."""
SATURATED: Final = 20.0
"""Elo: two steps in a row that gain less end the climb, and rungs are further apart."""
BATCH: Final = 8
"""Blocks that are decided on together, whatever the number of workers, so that this changes nothing."""


class Block(NamedTuple):
    """Games of two agents, as many from either seat; ``number`` counts the blocks of this pair."""

    first: str
    second: str
    games: int
    number: int


@dataclass(frozen=True)
class BlockPlayer:
    """Plays blocks: the work of a runner."""

    env: str
    seed: int
    hang_seconds: float | None = None

    def run(self, block: Block, on_turn: Callable[[int], None] | None = None) -> tuple[Block, MatchResult, float]:
        """The result of a block, and the processor time that its games took."""
        seed = derived_seed(self.seed, block.first, block.second, block.number)
        try:
            match = Match(self.env, block.first, block.second, block.games // 2, opening=OPENING)
        except (InvalidSettingError, UnsupportedGameError):
            started = time.process_time()
            return block, self._one_by_one(block, seed), time.process_time() - started
        started = time.process_time()
        return block, match.play(seed), time.process_time() - started

    def _one_by_one(self, block: Block, seed: int) -> MatchResult:
        """The games of agents or environments that do not compile."""
        driver = drive_env(build_env(self.env)[0], seed)
        standings = round_robin(
            self.env, [block.first, block.second], games=block.games, seed=seed, progress=False,
            openings=openings_for(driver.env, len(driver.seat_names), seed) or None,
            isolation=Isolation(isolate=Isolate.NONE),
        )  # fmt: skip
        if failure := next((record.failure for record in standings.records if record.failure), None):
            raise EnvironmentFailureError(f"{block.first} against {block.second}: {failure.message}")
        row = standings.row(block.first)
        return MatchResult(row.wins, row.draws, row.losses, sum(each.moves for each in standings.rows))

    def lost(self, block: Block, loss: Loss) -> tuple[Block, MatchResult, float]:
        """Ends the run: a block of this package's own agents has no reason to end its process."""
        raise EnvironmentFailureError(
            f"a worker ended (exit code {loss.exit_code}) in the games of {block.first} against {block.second}: "
            "the same command goes on"
        )

    def close(self) -> None:
        """Nothing is left open."""


@dataclass
class Journal:
    """The blocks that were played, in a file of JSON lines."""

    path: Path
    key: str
    blocks: dict[Block, tuple[MatchResult, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.path.exists():
            return
        head, *lines = self.path.read_text(encoding="utf-8").split("\n")
        whole = lines[:-1]  # a kill may have cut the last one
        try:
            if head and json.loads(head) != self.key:
                raise StoreError(f"{self.path} has the games of another ladder ({head}): choose another file")
            for line in whole:
                first, second, games, number, *result, seconds = json.loads(line)
                self.blocks[Block(first, second, games, number)] = MatchResult(*result), seconds
        except (ValueError, TypeError) as error:
            raise StoreError(f"{self.path} is damaged, or no journal of games: move it away") from error
        replace_text(self.path, [f"{line}\n" for line in [head, *whole]] if head else [])

    def add(self, block: Block, result: MatchResult, seconds: float) -> None:
        """Writes a block; what is decided later sees the time as the file has it."""
        seconds = round(seconds, 6)
        self.blocks[block] = result, seconds
        is_new = not self.path.exists() or not self.path.stat().st_size
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(self.key)}\n" * is_new)
            file.write(json.dumps([*block, *result, seconds]) + "\n")


@dataclass
class LadderBuilder:
    """Builds the ladder of an environment; see the module's text.

    Args:
        env: The name of an environment of two players.
        journal: Where the games are kept.
        runner: Plays them.
        gap, width: Elo between neighbours, and of the 95 % intervals of the rungs, at most.
        move_seconds: Time that the strongest rung may take for a move.
        seconds: Time for all games; intervals are wider where it does not suffice.
        seed: Decides the games.
        on_block: Called with a sentence on what goes on.
    """

    env: str
    journal: Path
    runner: Runner
    gap: float = 100.0
    width: float = 40.0
    move_seconds: float = 1.0
    seconds: float = 3600.0
    seed: int = 0
    on_block: Callable[[str], None] = lambda said: None
    _results: dict[tuple[str, str], MatchResult] = field(default_factory=dict, init=False)
    _numbers: dict[tuple[str, str], int] = field(default_factory=dict, init=False)
    _ms: dict[str, float] = field(default_factory=lambda: {RANDOM: 0.0}, init=False)
    _moves: float = field(default=1.0, init=False)
    _spent: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        for name in ("gap", "width", "move_seconds", "seconds"):
            check_number(name, getattr(self, name), lower=0, above=True)
        live = build_env(self.env)[0]
        live.reset(seed=0)
        self._game = ladder_key(live)
        self._method = AutoAgent(nodes=50, compile=Compile.NEVER).search(live).method.partition(":")[0]
        if len(getattr(live, "possible_agents", "1")) != 2:
            raise UnsupportedGameError(f"{self.env} has not two players: ladders rate by games of two")
        if self._method not in _STEPS:
            raise UnsupportedGameError(
                f"{self.env} hides something or pays amounts, so Elo says little: compare mean rewards against "
                f"fixed baselines (zermelo tournament {self.env} random ...)"
            )
        parts = json.dumps(fingerprint(live), sort_keys=True)
        self._fingerprint = hashlib.sha256(parts.encode()).hexdigest()[:16]
        self._journal = Journal(self.journal, f"{self._game}, seed {self.seed}")

    def build(self) -> dict[str, Any]:
        """The ladder, as its file holds it."""
        self._climb()
        rungs: list[str] = []
        while self._fill() or not rungs:  # measured, gaps may be wider than they seemed
            rungs = self._chosen()
            self._measure(rungs)
        table = self.table()
        rows = []
        for name in rungs:
            rated = table[name]
            elo, lower, upper = (round(value, 1) for value in (rated.smoothed_elo, rated.lower, rated.upper))
            rows.append(Rung(name, elo, lower, upper, float(f"{self._ms[name]:.2g}")))
        rows.sort(key=lambda row: row.elo)
        return {
            "game": self._game,
            "env": self.env,
            "fingerprint": self._fingerprint,
            "versions": versions(),
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "seed": self.seed,
            "opening": OPENING,
            "games": sum(result.wins + result.draws + result.losses for result in self._results.values()),
            "rungs": [row._asdict() for row in rows],
        }

    # -- games

    def _play(self, pairs: Sequence[tuple[str, str]], games: int | None = None) -> None:
        blocks = []
        for pair in pairs:
            number = self._numbers[pair] = self._numbers.get(pair, -1) + 1
            blocks.append(Block(*pair, games or self._block_size(*pair), number))
        missing = [block for block in blocks if block not in self._journal.blocks]
        for found in self.runner.run(BlockPlayer(self.env, self.seed), missing) if missing else ():
            self._journal.add(*found)
            self.on_block(f"{sum(block.games for block in self._journal.blocks):,} games")
        for block in blocks:
            result, seconds = self._journal.blocks[block]
            pair = block.first, block.second
            before = self._results.get(pair, MatchResult(0, 0, 0, 0))
            self._results[pair] = MatchResult(*map(sum, zip(before, result, strict=True)))
            self._spent += seconds
            self._moves = result.moves / block.games
            if block.first == RANDOM and block.second not in self._ms:
                self._ms[block.second] = 2000 * seconds / max(result.moves, 1)

    def _game_seconds(self, first: str, second: str) -> float:
        return (self._ms[first] + self._ms[second]) * self._moves / 2000 + 1e-5

    def _block_size(self, first: str, second: str) -> int:
        return 2 * max(8, min(1024, int(BLOCK_SECONDS / self._game_seconds(first, second) / 2)))

    def table(self) -> RatingTable:
        """The ratings of all agents, draws counting half."""
        counts = GameCounts()
        for (first, second), (wins, draws, losses, _) in self._results.items():
            counts += GameCounts.match(first, second, wins=2 * wins + draws, losses=2 * losses + draws)
        return fit_ratings(counts, anchor=RANDOM, seat_effects=False, dispersion=2.0)

    def _elo(self) -> dict[str, float]:
        return {player.name: player.smoothed_elo for player in self.table().players}

    # -- candidates

    def _climb(self) -> None:
        last, weak = RANDOM, 0
        for step in _STEPS[self._method]:
            self._play([(RANDOM, step)], PROBE)
            if self._ms[step] > 1000 * self.move_seconds or self._spent > self.seconds / 2:
                del self._ms[step], self._results[RANDOM, step]
                break
            if last != RANDOM:
                self._play([(last, step)], COARSE)
            elo = self._elo()
            weak = weak + 1 if elo[step] - elo[last] < SATURATED else 0
            last = step
            if weak == 2:
                break
        if (spec := parse_spec(last)).name == "noisy":
            pure = str(spec.arguments["agent"])
            self._play([(RANDOM, pure)], PROBE)
            self._play([(last, pure)], COARSE)

    def _fill(self) -> bool:
        """Puts agents where gaps are too wide; whether there was any."""
        has_new = False
        while self._spent < 0.75 * self.seconds:
            elo = self._elo()
            order = self._chosen()
            new = []
            for lower, upper in itertools.pairwise(order):
                between = _between(lower, upper, elo) if elo[upper] - elo[lower] > self.gap else None
                if between is not None and between not in self._ms:
                    new.append((lower, between, upper))
            if not new:
                break
            has_new = True
            self._play([(RANDOM, between) for _, between, _ in new], PROBE)
            self._play([(lower, between) for lower, between, _ in new], COARSE)
            self._play([(between, upper) for _, between, upper in new], COARSE)
        return has_new

    def _chosen(self) -> list[str]:
        """Rungs at most ``gap`` apart where there are such, quick ones first."""
        elo = self._elo()
        order = sorted((name for name in elo if elo[name] > 0), key=elo.__getitem__)
        rungs = [RANDOM]
        while left := [name for name in order if elo[name] > elo[rungs[-1]] + SATURATED]:
            near = [name for name in left if elo[name] <= elo[rungs[-1]] + 0.9 * self.gap] or left[:1]
            quick = min(self._ms[name] for name in near)
            rungs.append(max((name for name in near if self._ms[name] <= 3 * quick + 0.01), key=elo.__getitem__))
        return rungs

    # -- measuring

    def _measure(self, rungs: Sequence[str]) -> None:
        while self._spent < self.seconds:
            table = self.table()
            if all(table[name].upper - table[name].lower <= self.width for name in rungs[1:]):
                return
            elo = np.array([table[name].smoothed_elo for name in rungs]) / ELO_PER_LOG_ABILITY
            pairs = list(self._most_telling(rungs, elo))
            self._play(pairs)
            worst = max(table[name].upper - table[name].lower for name in rungs[1:])
            self.on_block(f"{self._spent:.0f} s of games, widest interval {worst:.0f}")

    def _most_telling(self, rungs: Sequence[str], strengths: Any) -> Iterator[tuple[str, str]]:
        """The pairs whose next block narrows the wide intervals most for its time, by the information matrix."""
        count = len(rungs)
        place = {name: number for number, name in enumerate(rungs)}
        one = np.eye(count)
        expected = 1 / (1 + np.exp(strengths[:, None] - strengths[None, :]))
        weight = expected * (1 - expected)
        information = 1e-6 * np.eye(count)
        for (first, second), result in self._results.items():
            if first in place and second in place:
                i, j = place[first], place[second]
                edge = one[i] - one[j]
                information += (sum(result[:3]) * weight[i, j]) * np.outer(edge, edge)
        covariance = np.zeros((count, count))
        covariance[1:, 1:] = np.linalg.inv(information[1:, 1:])
        wanted = (self.width / 2 / 1.96 / ELO_PER_LOG_ABILITY) ** 2
        for _ in range(BATCH):
            wide = np.diag(covariance) > 0.9 * wanted
            best: tuple[float, int, int] = (-math.inf, 0, 1)
            for i in range(count):
                for j in range(i + 1, count):
                    games = self._block_size(rungs[i], rungs[j]) * weight[i, j]
                    change = covariance[:, i] - covariance[:, j]
                    gain = games * change**2 / (1 + games * (change[i] - change[j]))
                    seconds = self._block_size(rungs[i], rungs[j]) * self._game_seconds(rungs[i], rungs[j]) + 0.02
                    best = max(best, (float(gain[wide].sum()) / seconds, i, j))
            _, i, j = best
            games = self._block_size(rungs[i], rungs[j]) * weight[i, j]
            change = covariance[:, i] - covariance[:, j]
            covariance -= games * np.outer(change, change) / (1 + games * (change[i] - change[j]))
            yield rungs[i], rungs[j]


def _noisy(agent: str, epsilon: float) -> str:
    return format_spec("noisy", {"agent": parse_spec(agent), "epsilon": round(epsilon, 4)})


def _simulations(count: int) -> str:
    return format_spec("mcts", {"simulations": count, "reuse": False})


_STEPS: Final[dict[str, list[str]]] = {
    "alphabeta": [_noisy(f"alphabeta(depth={depth})", FLOOR) for depth in range(1, 30)],
    "expectiminimax": [_noisy(f"expectiminimax(depth={depth})", FLOOR) for depth in range(1, 9)],
    "mcts": [_simulations(2**power) for power in range(1, 18)],
}
"""Agents of growing strength, by the search that ``auto`` takes."""


def _between(lower: str, upper: str, elo: dict[str, float]) -> str | None:
    """An agent whose strength is probably between those of two others; None where there is none."""
    above, below = parse_spec(upper), parse_spec(lower)
    if above.name == "mcts":
        few = below.arguments.get("simulations", 1) if below.name == "mcts" else 1
        many = above.arguments["simulations"]
        middle = round(math.sqrt(few * many))
        return _simulations(middle) if few < middle < many else None
    base, least = str(above.arguments.get("agent", above)), above.arguments.get("epsilon", 0.0)
    weaker = [
        spec.arguments["epsilon"]
        for name in elo
        if elo[name] <= elo[lower] and _is_noisy(spec := parse_spec(name), base)
    ]
    most = min([epsilon for epsilon in weaker if epsilon > least], default=1.0)
    # Where noise tells little at first, as with many moves to choose from, halves in a logarithmic scale find it.
    return _noisy(base, (least + most) / 2) if most - least > 0.01 else None


def _is_noisy(spec: Spec, base: str) -> bool:
    return spec.name == "noisy" and str(spec.arguments["agent"]) == base


def write_ladder(ladder: dict[str, Any], path: Path) -> None:
    """Writes a ladder's file."""
    replace_text(path, [json.dumps(ladder, indent=1) + "\n"])


def name_of(env: str) -> str:
    """The name of an environment's ladder file."""
    return env_name(env).rpartition("/")[2].partition("(")[0].partition("-v")[0].lower()
