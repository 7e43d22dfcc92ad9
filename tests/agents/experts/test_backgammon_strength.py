"""Looking further pays in backgammon: one move ahead beats the baselines, two moves ahead beat one."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from zermelo.evaluation import round_robin
from zermelo.evaluation.stats.score_interval import paired_interval

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"
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


def test_two_moves_ahead_beat_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    chance = importlib.import_module("benchmarks.chance")
    without_luck = chance.games_of_backgammon(TWO, ONE, games=800, workers=2)[:, 1]
    # By 0.030 points a game, which 800 games do not show beside the luck of their rolls.
    assert without_luck.mean() > 1.96 * without_luck.std(ddof=1) / len(without_luck) ** 0.5
