"""What results do not tell of a policy: how often its moves are optimal, and how much it can be exploited."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from zermelo.agents.core.checks import check_whole
from zermelo.envs import as_game
from zermelo.evaluation.analysis.exploitability import agents_exploited
from zermelo.evaluation.analysis.judge import Judge
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.sources import EnvSource
from zermelo.evaluation.training.ladder import POLICY


@dataclass(frozen=True)
class Accuracy:
    """A policy against perfect play.

    Attributes:
        share: Of optimal moves among those that mattered; nan without any.
        interval: Its 95 % confidence interval.
        moves: How many mattered and could be judged.
        notes: Sentences that a reader of the numbers should know.
    """

    share: float = math.nan
    interval: tuple[float, float] = (0.0, 1.0)
    moves: int = 0
    notes: tuple[str, ...] = ()


def check_judged(env: Any, nodes: int) -> None:
    """Refuses, before any game is played, what cannot be judged.

    Raises:
        InvalidSettingError: ``nodes`` is not at least 1.
        UnsupportedGameError: There is no perfect play in this live environment to compare with.
    """
    check_whole("judge_nodes", nodes, lower=1)
    Judge(nodes=nodes).check_game(as_game(env))


def accuracy_of(records: Iterable[GameRecord], source: EnvSource, nodes: int) -> Accuracy:
    """The policy's moves in these games against perfect play; see ``zermelo.evaluation.analysis.judge``."""
    judge = Judge(source, nodes=nodes, agents=[POLICY])
    for record in records:
        judge.add(record)
    if not judge.games:
        return Accuracy()
    table = judge.table()
    line = table.agent(POLICY)
    return Accuracy(line.mattered_share, line.mattered_interval, line.total.mattered, table.notes)


def exploitability_of(agent: Any, source: EnvSource) -> float:
    """What a player could gain that knew the policy, on average over the seats.

    Raises:
        UnsupportedGameError: The game does not say what its players know, or is too large.
        InvalidSettingError: What the policy plays is not known without playing.
    """
    return agents_exploited(source, {POLICY: agent}).agents[0].exploitability
