"""Whoever searches answers in time on environments whose steps are slow and whose games are long, and says why it
has not seen more: what judged the leaves, and how long that took.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from doubles.toy_envs import Clock, SlowEnv
from oracles.contract import KINDS

from zermelo.agents import SearchResult, make_agent
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import StoppedBy
from zermelo.envs import as_game

pytestmark = pytest.mark.filterwarnings("ignore:.* is searched on assumptions")  # nobody sees its end in 10 s
SEARCHES = [kind for kind in KINDS if kind not in ("greedy", "value_iteration")]


@pytest.fixture(scope="module")
def known() -> Any:
    """A slow environment that has been looked at already."""
    env = SlowEnv()
    env.reset(seed=0)
    as_game(env)
    return env


@pytest.fixture
def slow(known: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The same, and a clock that only its steps advance."""
    monkeypatch.setattr(Budget, "now", staticmethod(lambda: Clock.now))
    return known


def searched(kind: str, env: Any, seconds: float, **settings: Any) -> SearchResult:
    agent: Any = dataclasses.replace(make_agent(kind), name="", seconds=seconds, **settings)
    result: SearchResult = agent.search(env)
    return result


@pytest.mark.parametrize("kind", SEARCHES)
def test_they_answer_in_time(kind: str, slow: Any) -> None:
    """Not one step more than was under way when the time was up, or than the action that is searched needs."""
    result = searched(kind, slow, 0.05)
    assert result.seconds <= 0.05 + 2 * 0.02
    assert result.stopped_by is StoppedBy.SECONDS
    assert result.action in (0, 1, 2)
    assert not result.proven


@pytest.mark.parametrize("kind", SEARCHES)
def test_they_say_what_a_leaf_costs(kind: str, slow: Any) -> None:
    """A game takes 500 moves of 20 ms. The evaluator plays them all; simulations are cut, and there are many."""
    if kind in ("mcts", "auto"):
        result = searched(kind, slow, 45.0)
        assert result.evaluator == "playouts"
        assert 0 < result.leaf_seconds < 1, "seconds"
        assert result.simulations >= 50
    else:
        result = searched(kind, slow, 45.0, evaluator="playout")
        assert result.evaluator == "playout"
        assert 5 < result.leaf_seconds < 90, "seconds"
    assert result.seconds <= 45.1


@pytest.mark.parametrize("kind", [*SEARCHES, "greedy"])
def test_they_name_their_evaluator(kind: str, known: Any) -> None:
    if kind == "auto":
        chosen: Any = make_agent("auto(nodes=20)")
        assert chosen.search(known).evaluator == "playouts"
        return
    limits = {} if kind == "greedy" else {"nodes": 20}
    agent: Any = dataclasses.replace(make_agent(kind), name="", evaluator="rewards", **limits)
    assert agent.search(known).evaluator == "rewards"
