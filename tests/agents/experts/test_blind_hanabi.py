"""Random playouts are blind in Hanabi: the search says so, and names the agent that is made for the game."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from zermelo.agents import make_agent
from zermelo.envs.errors import BlindSearchWarning
from zermelo.envs.registration.make import make


def started(name: str) -> Any:
    env = make(name)
    env.reset(seed=1)
    return env


def test_random_playouts_of_hanabi_are_blind() -> None:
    env = started("classic/hanabi-v5")
    agent = make_agent("ismcts(simulations=300)")
    with pytest.warns(BlindSearchWarning, match="plays hanabi_v5 at random: use 'hanabi'"):
        found = agent.search(env)
    assert len(set(found.action_values.values())) == 1
    assert "use 'hanabi'" in found.note
    assert found.note in str(found)
    assert found.to_dict()["note"] == found.note


def test_it_is_said_once() -> None:
    env = started("classic/hanabi-v5")
    agent = make_agent("ismcts(simulations=300)")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        agent.search(env)
        agent.search(env)
    assert [each.category for each in caught] == [BlindSearchWarning]


@pytest.mark.parametrize("agent", ["ismcts(simulations=300, playout_moves=0)", "hanabi"])
def test_what_sees_a_difference_says_nothing(agent: str) -> None:
    assert make_agent(agent).search(started("classic/hanabi-v5")).note == ""
