"""Looking further pays in backgammon: one move ahead beats the baselines, two moves ahead beat one."""

from __future__ import annotations

import pytest

from zermelo.evaluation import round_robin
from zermelo.evaluation.stats.score_interval import paired_interval

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

ENV = "zermelo/Backgammon-v0"
ONE, TWO = "expectiminimax(depth=1)", "expectiminimax(depth=2)"


def beats(stronger: str, weaker: str, games: int) -> bool:
    """Whether the 95 % interval of the score excludes one half."""
    row = round_robin(ENV, [stronger, weaker], games=games, seed=1, progress=False).row(stronger)
    assert not row.failures
    return paired_interval(row.wins, row.draws, row.losses)[0] > 0.5


@pytest.mark.parametrize("baseline", ["random", "greedy(evaluator=rewards)"])
def test_one_move_ahead_beats_the_baselines(baseline: str) -> None:
    assert beats(ONE, baseline, 30)


def test_two_moves_ahead_beat_one() -> None:
    assert beats(TWO, ONE, 800)  # it wins about 55 of 100
