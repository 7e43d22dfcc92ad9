"""What agents remember: copies, pickled ones too, begin without trees and tables, and draw the same numbers."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from zermelo.agents import make_agent
from zermelo.envs import make


def pickled(agent: Any) -> Any:
    return pickle.loads(pickle.dumps(agent))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
@pytest.mark.parametrize("name", ["alphabeta(depth=2, reuse=true)", "mcts(simulations=20)", "expectimax(depth=1)"])
def test_copies_after_a_search_begin_anew(name: str, copied: Any) -> None:
    agent: Any = make_agent(name.replace(")", ", compile=never)"))
    env = make("zermelo/MNK-v0")
    env.reset(seed=0)
    agent.search(env)
    other, fresh = copied(agent), make_agent(agent.spec())
    assert other.spec() == other.name == agent.spec()
    assert other.limits == agent.limits
    for each in (agent, other, fresh):
        each.reset(7)
    found = [each.search(env) for each in (agent, other, fresh)]
    assert found[0].action == found[1].action == found[2].action
    assert found[0].nodes == found[1].nodes == found[2].nodes


def test_a_copy_has_random_numbers_of_its_own() -> None:
    agent: Any = make_agent("alphabeta(seconds=1)")
    other = copy.copy(agent)
    agent.reset(1)
    other.reset(2)
    assert agent.generator.random() != other.generator.random()
