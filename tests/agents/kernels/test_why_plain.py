"""Results say whether a search ran compiled, and why not where it could have."""

from __future__ import annotations

from typing import Any

import pytest
from doubles.small_games import ConnectK

from zermelo.agents import AlphaBetaAgent, AutoAgent, MCTSAgent, SearchResult, make_agent
from zermelo.envs.games import MNK, Hex
from zermelo.envs.rules import RulesGame

GAME = RulesGame(MNK(m=3, n=3, k=3))


def own(game: Any, state: Any) -> tuple[float, float]:
    return 0.0, 0.0


def quiet(*_: Any) -> None:
    pass


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        (AlphaBetaAgent(depth=2), ""),
        (MCTSAgent(simulations=50), ""),
        (AutoAgent(nodes=500), ""),
        (AlphaBetaAgent(depth=2, evaluator=own), "evaluator='rewards'"),
        (AlphaBetaAgent(depth=2, evaluator="playout"), "the evaluator playout is plain Python"),
        (MCTSAgent(simulations=50, evaluator=own), "evaluator='rewards'"),
        (AlphaBetaAgent(stop_test=lambda game, state, ply: ply > 1), "stop test"),
        (AlphaBetaAgent(depth=2, on_node=quiet), "watched"),
        (MCTSAgent(simulations=50, on_simulation=quiet), "watched"),
        (AlphaBetaAgent(depth=2, compile="never"), "compile='never'"),
        (make_agent("expectimax(depth=2)"), "has no compiled form"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_what_could_be_compiled_and_is_not(agent: Any, reason: str) -> None:
    result: SearchResult = agent.search_state(GAME)
    assert result.compiled == (not reason)
    assert reason in result.why_plain
    assert bool(result.why_plain) == bool(reason)


def test_what_cannot_be_compiled_needs_no_reason() -> None:
    result = AlphaBetaAgent(depth=2).search_state(ConnectK())
    assert (result.compiled, result.why_plain) == (False, "")


def test_without_an_evaluation_alpha_beta_is_compiled_all_the_same() -> None:
    result = AlphaBetaAgent(nodes=20_000).search_state(RulesGame(Hex(4, 4)))
    assert (result.compiled, result.evaluator) == (True, "rewards")


def test_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert AlphaBetaAgent(depth=2).search_state(GAME).why_plain == "NUMBA_DISABLE_JIT is set"
