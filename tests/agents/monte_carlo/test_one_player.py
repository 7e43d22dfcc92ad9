"""Monte Carlo tree search of one player without chance: the best game that was simulated is played again."""

import math

import gymnasium
import pytest

from zermelo.agents import MCTSAgent
from zermelo.agents.monte_carlo.interface import BestPlayout


def played(agent, size="4x4", moves=40):
    """The reward of an episode of FrozenLake that does not slip, and the values on the way."""
    env = gymnasium.make("FrozenLake-v1", is_slippery=False, map_name=size)
    env.reset(seed=0)
    values = []
    for _ in range(moves):
        result = agent.search(env)
        values.append(result.value)
        _, reward, terminated, truncated, _ = env.step(result.env_action)
        if terminated or truncated:
            break
    return reward, values


@pytest.mark.parametrize("seed", range(3))
def test_a_way_to_the_goal_that_was_seen_once_is_gone(seed):
    reward, values = played(MCTSAgent(simulations=100, seed=seed, backend="clone"))
    assert reward == 1
    found = values.index(1)
    assert values[found:] == [1] * len(values[found:]), "what it can play again is no mean, and is not forgotten"


def test_the_principal_variation_reaches_what_the_value_says():
    env = gymnasium.make("FrozenLake-v1", is_slippery=False)
    env.reset(seed=0)
    result = MCTSAgent(simulations=300, seed=1, backend="clone").search(env)
    assert result.value == 1
    total = 0.0
    for action in result.principal_variation:
        total += env.step(action)[1]
    assert total == 1


def test_processes_together_play_the_best_game_of_all():
    agent = MCTSAgent(simulations=200, workers=2, seed=1, backend="clone")
    assert played(agent)[0] == 1


def test_a_line_goes_on_after_its_own_action_alone():
    line = BestPlayout(3.0, (2, 0, 1))
    assert line.after(2) == BestPlayout(3.0, (0, 1))
    assert line.after(1) == BestPlayout(-math.inf, ())
    assert BestPlayout().after(0) == BestPlayout()
