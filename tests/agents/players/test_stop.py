"""``agent.stop()``: a search that another thread ends answers with what it has found."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from doubles.small_games import ConnectK

from zermelo.agents import AlphaBetaAgent, ExpectiminimaxAgent, MaxNAgent, MinimaxAgent, ParanoidAgent, StoppedBy
from zermelo.envs.games import ConnectFour
from zermelo.envs.rules.rules_game import RulesGame

EVEN = lambda game, state: (0.0, 0.0)  # noqa: E731 - an evaluation that knows nothing


@pytest.mark.parametrize("kind", [AlphaBetaAgent, MinimaxAgent, ExpectiminimaxAgent, ParanoidAgent, MaxNAgent])
def test_a_plain_search_ends_at_the_next_node(kind: Any) -> None:
    seen: list[Any] = []

    def watch(result: Any) -> None:
        seen.append(result)
        if result.depth == 3:
            agent.stop()

    agent = kind(seconds=1000, evaluator=EVEN, on_iteration=watch)
    result = agent.search_state(ConnectK(4, 4, 4, drops=True))
    assert (result.stopped_by, result.depth, result.nodes) == (StoppedBy.INTERRUPT, 3, seen[-1].nodes)
    assert result.action == seen[-1].action
    seen.clear()
    again = agent.search_state(ConnectK(4, 4, 4, drops=True))
    assert again.depth == 3, "the first stop is over"


def test_a_compiled_search_ends_soon() -> None:
    agent = AlphaBetaAgent(seconds=1000, proof_share=0, on_iteration=lambda result: begun.set())
    begun, found = threading.Event(), []
    thread = threading.Thread(target=lambda: found.append(agent.search_state(RulesGame(ConnectFour()))))
    thread.start()
    assert begun.wait(300)
    agent.stop()
    thread.join(30)
    assert not thread.is_alive()
    assert found[0].stopped_by is StoppedBy.INTERRUPT
    assert found[0].depth >= 1
