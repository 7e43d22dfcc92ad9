"""Pondering in processes of their own: counted, charged to nobody, and over with the game."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from doubles.processes import works

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.registration.make import make
from zermelo.evaluation import round_robin
from zermelo.evaluation.tournament import run
from zermelo.evaluation.workers.isolated_agent import IsolatedAgent
from zermelo.evaluation.workers.settings import AgentLimits

pytestmark = pytest.mark.skipif(os.name != "posix", reason="agents' own processes need fork")

FOUR = "classic/connect_four-v3"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_it_works_until_the_game_is_over_and_no_longer() -> None:
    env = make(FOUR)
    env.reset(seed=0)
    agent = IsolatedAgent("alphabeta(nodes=3000)", "it", AgentLimits(isolate="all", ponder=True))
    try:
        agent.get_ready(0, env)
        agent.act(env)
        assert agent._process is not None
        pid = agent._process.pid
        assert works(pid)
        agent.rest()
        assert not works(pid, seconds=0.15)
    finally:
        agent.close()


@pytest.mark.thorough
def test_moves_say_whether_they_were_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "default_threads", lambda: 2)
    limits = AgentLimits(ponder=True, clock="60")
    agents = ["alphabeta(depth=4)", "alphabeta(depth=3, seed=1)"]
    [game] = round_robin(FOUR, agents, games=1, isolation=limits, progress=False).records
    found = {move.expected for move in game.moves}
    assert found == {True, False, None}
    assert [move.expected for move in game.moves[:2]] == [None, None]


def test_it_takes_free_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "default_threads", lambda: 3)
    with pytest.raises(InvalidSettingError, match="use at most 1 workers"):
        round_robin(FOUR, ["random", "greedy"], workers=2, isolation=AgentLimits(ponder=True), progress=False)
    with pytest.raises(InvalidSettingError, match="ponder cannot be enforced with isolate='none'"):
        AgentLimits(isolate="none", ponder=True)
