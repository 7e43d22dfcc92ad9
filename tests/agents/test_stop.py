"""``agent.stop()``: a search that another thread ends answers with what it has found."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from doubles.small_games import ConnectK

from zermelo.agents import AlphaBetaAgent, ExpectiminimaxAgent, GreedyAgent, MaxNAgent, MinimaxAgent, ParanoidAgent
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.solving.agents import ValueIterationAgent
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


def test_a_greedy_agent_answers_with_what_it_has_looked_at() -> None:
    asked: list[Any] = []

    def evaluator(game: Any, state: Any) -> tuple[float, float]:
        asked.append(state)
        if len(asked) == 3:
            agent.stop()
        return 0.1, -0.1

    agent = GreedyAgent(evaluator=evaluator, ties="first")
    result = agent.search_state(ConnectK())
    assert (result.stopped_by, len(result.action_values), result.action) == (StoppedBy.INTERRUPT, 3, 0)
    assert agent.search_state(ConnectK()).stopped_by is StoppedBy.DEPTH


def test_value_iteration_ends_before_it_knows_anything() -> None:
    class Stopping(ConnectK):
        def result(self, state: Any, action: int) -> Any:
            agent.stop()
            return super().result(state, action)

    agent = ValueIterationAgent()
    result = agent.search_state(Stopping(2, 2, 2))
    assert (result.stopped_by, result.value, result.proven) == (StoppedBy.INTERRUPT, 0.0, False)
    assert agent.search_state(ConnectK(2, 2, 2)).value == 1
