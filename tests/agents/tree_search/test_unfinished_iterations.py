"""What a search answers that a limit stopped in the middle of an iteration: never what it has just seen lose."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from doubles.small_games import CoinRow, Leaf, Node, TreeGame

from zermelo.agents import AlphaBetaAgent, ExpectiminimaxAgent, MaxNAgent, MinimaxAgent, ParanoidAgent
from zermelo.agents.base import budget
from zermelo.agents.base.limits import StoppedBy
from zermelo.envs import UnsupportedGameError
from zermelo.envs.games import Hexapawn
from zermelo.envs.rules.rules_game import RulesGame

PLAIN: dict[str, Any] = {"ordering": "fixed", "memory_mb": 0}


def by_name(game: Any, state: Any) -> tuple[float, float]:
    return float(state.name), -float(state.name)


def quiet(value: float, name: str = "0") -> Node:
    """A state of the opponent, after which all evaluations are the same."""
    return Node(1, [Node(0, [Leaf(0, 0)] * 2, name=str(value))] * 3, name=name)


def losing(name: str) -> Node:
    """A state of the opponent, who wins with the first action."""
    return Node(1, [Leaf(-1, 1), Leaf(1, -1), Leaf(1, -1)], name=name)


class TestLostMoves:
    """One move deep action 0 looks best, and two moves deep it loses."""

    tree = TreeGame(Node(0, [losing("0.5"), quiet(0.2, "0.1"), quiet(0.3, "-0.1")]), bounds=(-1, 1))

    @pytest.mark.parametrize(
        ("nodes", "action", "value", "depth"),
        [
            (4, 0, 0.5, 1),  # one move deep, finished
            (6, 0, 0.5, 1),  # two moves deep, the first action is not done
            (8, 1, 0.1, 1),  # it is, and loses: of the others one move deep is all that is known
            (12, 1, 0.2, 1),  # the second is done too
            (15, 2, 0.3, 2),  # all are
        ],
    )
    @pytest.mark.parametrize("agent", [AlphaBetaAgent, ParanoidAgent])
    def test_the_next_best_is_played(self, agent: Any, nodes: int, action: int, value: float, depth: int) -> None:
        result = agent(nodes=nodes, evaluator=by_name, **PLAIN).search_state(self.tree)
        if nodes < 15:
            assert (result.action, result.value, result.depth) == (action, value, depth)
            assert result.best_actions == (action,)
            assert result.principal_variation[0] == action
        assert not result.proven

    def test_max_n_too(self) -> None:
        result = MaxNAgent(nodes=8, evaluator=by_name, **PLAIN).search_state(self.tree)
        assert result.action == 1
        assert not result.proven

    @pytest.mark.parametrize("agent", [AlphaBetaAgent, MinimaxAgent, ExpectiminimaxAgent])
    def test_exact_values_stay_but_for_those_known_for_good(self, agent: Any) -> None:
        exact = {"exact": True, **PLAIN} if agent is AlphaBetaAgent else {}
        result = agent(nodes=9, evaluator=by_name, **exact).search_state(self.tree)
        assert (result.action, result.value, result.proven) == (1, 0.1, False)
        assert dict(result.action_values) == {0: -1, 1: 0.1, 2: -0.1}

    def test_it_is_played_where_the_others_lose_too(self) -> None:
        tree = TreeGame(
            Node(0, [losing("0.5"), Leaf(-1, 1), Leaf(-1, 1)]),
            bounds=(-1, 1),
        )
        result = AlphaBetaAgent(nodes=6, evaluator=by_name, **PLAIN).search_state(tree)
        late = AlphaBetaAgent(nodes=8, evaluator=by_name, **PLAIN).search_state(tree)
        assert (result.action, result.value, result.proven) == (0, 0.5, False)
        assert (late.action, late.value, late.proven) == (0, -1, True)

    def test_what_was_not_looked_at_is_better_than_a_loss(self) -> None:
        tree = TreeGame(Node(0, [Leaf(-1, 1), quiet(0.0), quiet(0.0)]), bounds=(-1, 1))
        result = AlphaBetaAgent(nodes=2, evaluator=by_name, **PLAIN).search_state(tree)
        assert (result.action, result.value, result.proven, result.depth) == (1, 0, False, 0)
        assert result.best_actions == (1,)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("agent", "compiled"),
    [
        (MinimaxAgent, True),
        (AlphaBetaAgent, False),
        (MinimaxAgent, False),
        pytest.param(AlphaBetaAgent, True, marks=pytest.mark.slow),
    ],
)
def test_a_loss_is_told_only_where_it_is_proven(agent: Any, compiled: bool) -> None:
    game = RulesGame(Hexapawn())
    settings: dict[str, Any] = {} if compiled else {"evaluator": lambda game, state: game.evaluation(state)}
    for opening in itertools.islice(itertools.permutations(range(3), 2), 4):
        state = game.initial_state()
        for number in opening:
            state = game.result(state, game.legal_actions(state)[number % len(game.legal_actions(state))])
        for nodes in range(1, 120, 3):
            result = agent(nodes=nodes, **settings).search_state(game, state)
            assert result.proven or result.value > -1, (opening, nodes)


class Corridor(CoinRow):
    """It never ends, and nobody has a choice."""

    def is_terminal(self, state: Any) -> bool:
        return False

    def legal_actions(self, state: Any) -> list[int]:
        return [0]

    def result(self, state: Any, action: int) -> Any:
        return state[0] + 1, 0, 0, 0.0


@pytest.mark.parametrize("limit", [{"nodes": 10_000}, {"seconds": 600}])
@pytest.mark.parametrize("agent", [AlphaBetaAgent, MinimaxAgent, ExpectiminimaxAgent])
def test_a_game_too_long_to_follow_costs_no_finished_iteration(
    agent: Any, limit: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "MAX_PLIES", 20)
    result = agent(**limit, evaluator=lambda game, state: (0.0, 0.0)).search_state(Corridor([1]))
    assert (result.depth, result.stopped_by, result.proven) == (20, StoppedBy.DEPTH, False)
    with pytest.raises(UnsupportedGameError, match="goes on for more than"):
        agent(depth="full").search_state(Corridor([1]))
