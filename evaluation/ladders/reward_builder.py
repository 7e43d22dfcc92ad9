"""Ladders by mean reward, for games that pay amounts and games that a team plays.

Each candidate plays with a fixed agent, the baseline, in all other seats. Rungs are the one that earns most, and
those that surely earn less than the rung above.
"""

from __future__ import annotations

import datetime
import itertools
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from zermelo.agents.auto import AutoAgent
from zermelo.agents.base.settings import Compile, check_number
from zermelo.agents.level import Rung, Unit, ladder_key
from zermelo.envs.errors import UnsupportedGameError
from zermelo.evaluation.ladders.ladder import play_here
from zermelo.evaluation.match.record import versions
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.match.sources import build_env
from zermelo.evaluation.schedule import derived_seed

CANDIDATES: Final = {
    "ismcts": ("random", "ismcts(simulations=20)", "ismcts(simulations=200)", "cfr(most_states=20000)"),
    "holdem": ("random", "ismcts(simulations=20)", "holdem"),
    "backward_induction": ("random", "backward_induction"),
    "simultaneous_mcts": ("random", "simultaneous_mcts(simulations=20)", "simultaneous_mcts(simulations=200)"),
    "hanabi": ("random", "noisy(agent=hanabi, epsilon=0.1)", "noisy(agent=hanabi, epsilon=0.03)", "hanabi"),
}
"""Agents, by the search that ``auto`` takes."""
BASELINES: Final = {"hanabi": "hanabi"}  # instead of ``random``, beside which no team earns anything
FEW: Final = 8  # games that tell how long a game takes
MOST: Final = 4_000  # games of a candidate


@dataclass(frozen=True)
class RewardLadderBuilder:
    """Builds a ladder by mean reward, as ``LadderBuilder`` does; ``method`` is the search that ``auto`` takes."""

    env: str
    method: str
    move_seconds: float = 1.0
    seconds: float = 3600.0
    seed: int = 0
    on_block: Callable[[str], None] = lambda sentence: None

    def __post_init__(self) -> None:
        for name in ("move_seconds", "seconds"):
            check_number(name, getattr(self, name), lower=0, above=True)

    def build(self) -> dict[str, Any]:
        live = build_env(self.env)[0]
        live.reset(seed=0)
        baseline, started = BASELINES.get(self.method, "random"), time.process_time()
        measured = list(self._measured(baseline))
        rungs: list[Rung] = []
        for rung in sorted((rung for rung, _ in measured), key=lambda rung: -rung.lower):
            if not rungs or rung.upper < rungs[-1].rating:
                rungs.append(rung)
        if len(rungs) < 2:
            raise UnsupportedGameError(
                f"no agent earns surely more than others with {baseline} in {self.env}: it has no levels"
            )
        return {
            "game": ladder_key(live), "env": self.env, **made_now(self.seed), "unit": str(Unit.REWARD),
            "baseline": baseline, "games": sum(games for _, games in measured),
            "minutes": float(f"{(time.process_time() - started) / 60:.2g}"),
            "rungs": [
                {"agent": row.agent, "reward": row.rating, "lower": row.lower, "upper": row.upper, "ms": row.ms}
                for row in reversed(rungs)
            ],
        }  # fmt: skip

    def _measured(self, baseline: str) -> Iterator[tuple[Rung, int]]:
        agents = CANDIDATES[self.method]
        for agent in agents:
            if agent == baseline == "random":
                yield Rung(agent, 0.0, 0.0, 0.0, 0.0), 0
                continue
            seed = derived_seed(self.seed, agent, baseline)
            try:
                self._row(agent, baseline, 2, seed)  # compiles what it needs
                started = time.process_time()
                row = self._row(agent, baseline, FEW, seed)
                each = (time.process_time() - started) / FEW
                if row.seconds_per_move > self.move_seconds:
                    continue
                games = int(min(MOST, self.seconds / len(agents) / each)) // FEW * FEW
                self.on_block(f"{agent}: {games} games")
                row = self._row(agent, baseline, max(games, FEW), seed + 1)
            except UnsupportedGameError:
                continue
            mean, (lower, upper) = row.mean_reward, row.reward_interval
            if math.isfinite(mean + lower + upper):
                mean, lower, upper = (round(value, 3) for value in (mean, lower, upper))
                yield Rung(agent, mean, lower, upper, float(f"{1000 * row.seconds_per_move:.2g}")), row.games

    def _row(self, agent: str, baseline: str, games: int, seed: int) -> Any:
        agents = {"it": agent, "baseline": baseline}
        standings = play_here(self.env, agents, games=games, seed=seed, score=Scoring.REWARDS)
        if failures := list(itertools.chain.from_iterable(each.failures for each in standings.rows)):
            raise UnsupportedGameError(f"{agent} failed: {failures[0]}")
        return standings.row("it")


def made_now(seed: int) -> dict[str, Any]:
    """What a ladder's file says of how it was made."""
    return {"versions": versions(), "date": datetime.datetime.now(datetime.UTC).date().isoformat(), "seed": seed}


def search_of(env: str) -> str:
    live = build_env(env)[0]
    live.reset(seed=0)
    return AutoAgent(nodes=50, compile=Compile.NEVER).search(live).method.partition(":")[0]
