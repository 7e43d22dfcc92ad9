"""A tree over copies keeps within its memory: states are dropped, and made again by replay."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from doubles.strange_envs import Pick

from zermelo.agents import MCTSAgent
from zermelo.agents.monte_carlo.kept_states import KeptStates


class Heavy(Pick):
    """A game whose copies have 256 KiB each."""

    def __init__(self) -> None:
        super().__init__(rounds=6)
        self.memory = np.zeros(1 << 15)

    def step(self, action: Any) -> None:
        """Writes to the memory, so that it belongs to the copy."""
        self.memory[0] += 1
        super().step(action)


@pytest.fixture
def heavy() -> Heavy:
    env = Heavy()
    env.reset(seed=0)
    return env


def test_it_keeps_within_its_memory_and_finds_the_same(heavy: Heavy) -> None:
    settings: dict[str, Any] = {"simulations": 300, "seed": 1, "solver": False}
    found, peaks = [], []
    for megabytes in (200, 8):
        agent = MCTSAgent(memory_mb=megabytes, **settings)
        agent.prepare(heavy)
        agent.reset(1)
        tracemalloc.start()
        found.append(agent.search(heavy))
        peaks.append(tracemalloc.get_traced_memory()[1] / 2**20)
        tracemalloc.stop()
    assert found[0].stats["simulations"] == found[1].stats["simulations"] == 300
    assert found[0].visits == found[1].visits
    assert found[0].value == found[1].value
    assert found[0].nodes == found[1].nodes
    assert peaks[1] < 12 < peaks[0]


def test_a_state_that_cannot_be_made_again_is_left_out(heavy: Heavy, monkeypatch: pytest.MonkeyPatch) -> None:
    restored = []
    restore = KeptStates.restore

    def failing(search: Any, path: list[Any], node: Any) -> Any:
        restored.append(node)
        if len(restored) == 3:
            with monkeypatch.context() as patch:
                patch.setattr("zermelo.agents.monte_carlo.kept_states.child_of", lambda *_: None)
                return restore(search, path, node)
        return restore(search, path, node)

    monkeypatch.setattr(KeptStates, "restore", failing)
    result = MCTSAgent(simulations=200, memory_mb=4, seed=1, solver=False).search(heavy)
    assert len(restored) > 3
    assert result.env_action in range(heavy.action_space("one").n)
