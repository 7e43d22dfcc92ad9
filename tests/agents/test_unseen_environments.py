"""Agents on environments that nobody has prepared for them."""

from __future__ import annotations

import gymnasium
import pytest
from gymnasium.wrappers import TimeLimit

from zermelo.agents import MCTSAgent, ValueIterationAgent


@pytest.mark.defect(47)
def test_playouts_end_where_the_time_limit_does() -> None:
    env = TimeLimit(gymnasium.make("CliffWalking-v1"), 5)
    env.reset(seed=0)
    result = MCTSAgent(simulations=400, seed=1).search(env)
    assert set(result.action_values) == {0, 1, 2, 3}
    assert result.action != 1  # the cliff: -100
    assert -100 < result.value <= -5


def test_value_iteration_solves_the_table_without_its_time_limit() -> None:
    env = TimeLimit(gymnasium.make("FrozenLake-v1", is_slippery=False), 3)
    env.reset(seed=0)
    assert ValueIterationAgent().search(env).value == pytest.approx(1.0)
