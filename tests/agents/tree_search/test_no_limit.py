"""Searches that nobody has given a limit."""

from __future__ import annotations

from typing import Any

import pytest
from doubles.small_games import ConnectK

from zermelo.agents import AlphaBetaAgent, MinimaxAgent, make_agent
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.tree_search import agent as tree_agent
from zermelo.envs.errors import InvalidSettingError

DEEPENING = ("alphabeta", "expectiminimax", "maxn", "paranoid", "bestreply")


@pytest.mark.parametrize("kind", DEEPENING)
def test_it_ends_after_a_second(kind: str) -> None:
    result = make_agent(kind).search_state(ConnectK(7, 7, 5, drops=True))  # type: ignore[attr-defined]
    assert result.stopped_by is StoppedBy.SECONDS
    assert result.seconds < 5
    assert result.depth >= 1


@pytest.mark.parametrize("kind", DEEPENING)
def test_a_game_that_is_solved_sooner_is_solved(kind: str) -> None:
    result = make_agent(kind).search_state(ConnectK(2, 2, 2))  # type: ignore[attr-defined]
    assert (result.stopped_by, result.proven, result.value) == (StoppedBy.COMPLETED, True, 1)


@pytest.mark.parametrize("settings", ["depth=full", "seconds=None", "depth=None, seconds=None", "deepening=False"])
def test_the_whole_tree_is_asked_for_by_name(settings: str) -> None:
    agent: Any = make_agent(f"alphabeta({settings})")
    assert agent.limits.seconds is agent.limits.depth is None
    assert make_agent(agent.spec()).spec() == agent.spec()  # type: ignore[attr-defined]
    assert agent.search_state(ConnectK(2, 3, 2)).depth == 4, "the only iteration goes to every end"


@pytest.mark.parametrize("limit", [{"depth": 3}, {"nodes": 300}, {"stop_test": lambda game, state, ply: ply > 2}])
def test_any_other_limit_will_do(limit: dict[str, Any]) -> None:
    assert AlphaBetaAgent(**limit).limits.seconds is None


def test_a_wrong_depth_is_refused() -> None:
    with pytest.raises(InvalidSettingError, match="depth must be a whole number"):
        AlphaBetaAgent(depth="deep")


@pytest.mark.slow
@pytest.mark.parametrize("agent", [MinimaxAgent(), AlphaBetaAgent(depth="full")], ids=lambda agent: agent.kind)
def test_a_long_search_of_the_whole_tree_says_so(
    agent: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tree_agent, "_LONG", 1e-4)
    agent.search_state(ConnectK(3, 4, 3, drops=True))
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"zermelo: {agent.name} searches the whole tree of")
    assert f"{agent.kind}(seconds=1)" in line
