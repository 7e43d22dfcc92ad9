"""Settings of the root: the best few lines, aspiration windows, a time manager."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from doubles.small_games import CoinRow, ConnectK, Leaf, Node, TreeGame

from zermelo.agents import AlphaBetaAgent, ExpectiminimaxAgent, ParanoidAgent
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.tree_search.iterative_deepening import TimeManager
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import DotsAndBoxes
from zermelo.envs.rules.rules_game import RulesGame

EVEN = lambda game, state: (0.0, 0.0)  # noqa: E731 - an evaluation that knows nothing


def coin_rows(count: int) -> list[CoinRow]:
    rng = np.random.default_rng(3)
    return [CoinRow(rng.integers(1, 9, 9).tolist()) for _ in range(count)]


class TestBestLines:
    @pytest.mark.parametrize("count", [2, 3, 9])
    @pytest.mark.parametrize("kind", [AlphaBetaAgent, ParanoidAgent])
    def test_they_have_their_exact_values(self, kind: Any, count: int) -> None:
        game = ConnectK()
        state = game.initial_state()
        for action in (0, 4, 8):
            state = game.result(state, action)
        exact = kind(exact=True, prefer_short_wins=False).search_state(game, state)
        found = kind(best_lines=count, prefer_short_wins=False).search_state(game, state)
        assert len(found.best_lines) == min(count, 6)
        assert found.best_lines[0].action == found.action
        assert found.best_lines[0].principal_variation == found.principal_variation
        values = [line.value for line in found.best_lines]
        assert values == sorted(exact.action_values.values(), reverse=True)[:count]
        for line in found.best_lines:
            assert line.value == exact.action_values[line.action]
            assert line.principal_variation[0] == line.action
            assert line.proven

    def test_one_is_all_that_is_usual(self) -> None:
        assert AlphaBetaAgent(depth="full").search_state(ConnectK(2, 2, 2)).best_lines == ()
        with pytest.raises(InvalidSettingError, match="best_lines must be a whole number of at least 1, not 0"):
            AlphaBetaAgent(depth="full", best_lines=0)

    def test_without_pruning_they_are_known_anyway(self) -> None:
        tree = TreeGame(Node(0, [Leaf(0, 0), Leaf(1, -1), Leaf(0.5, -0.5)]), bounds=(-1, 1))
        found = ExpectiminimaxAgent(depth="full", best_lines=2).search_state(tree)
        assert [(line.action, line.value) for line in found.best_lines] == [(1, 1), (2, 0.5)]


class TestAspiration:
    @pytest.mark.thorough
    @pytest.mark.parametrize("half_width", [1e-9, 0.4, 2, 100])
    def test_it_changes_no_answer(self, half_width: float) -> None:
        for game in coin_rows(12):
            for depth in (3, 9):
                settings: dict[str, Any] = {"depth": depth, "ties": "first", "deepening": True}
                plain = AlphaBetaAgent(**settings).search_state(game)
                narrow = AlphaBetaAgent(**settings, aspiration=half_width).search_state(game)
                assert (narrow.action, narrow.value, narrow.depth) == (plain.action, plain.value, plain.depth)
                assert narrow.proven == plain.proven

    @pytest.mark.thorough
    @pytest.mark.parametrize("half_width", [1e-9, 0.01, 0.3])
    def test_compiled_searches_too(self, half_width: float) -> None:
        game = RulesGame(DotsAndBoxes(2, 2))
        state = game.initial_state()
        for action in (2, 6, 0, 9, 4):
            for depth in (3, 5, 7):
                settings: dict[str, Any] = {"depth": depth, "ties": "first"}
                plain = AlphaBetaAgent(**settings).search_state(game, state)
                narrow = AlphaBetaAgent(**settings, aspiration=half_width).search_state(game, state)
                assert (narrow.action, narrow.value, narrow.depth) == (plain.action, plain.value, plain.depth)
            state = game.result(state, action)

    @pytest.mark.thorough
    def test_a_limit_in_the_middle_gives_what_was_finished(self) -> None:
        """However the last window was, what is answered has its exact value."""
        game = coin_rows(1)[0]
        depths = {d: AlphaBetaAgent(depth=d, ties="first").search_state(game).value for d in range(1, 10)}
        for nodes in range(1, 400, 7):
            found = AlphaBetaAgent(nodes=nodes, ties="first", aspiration=0.5).search_state(game)
            assert found.value in {0.0, depths.get(found.depth), depths.get(found.depth + 1)} or found.depth < 9

    def test_it_saves_nodes_where_values_are_steady(self) -> None:
        game = coin_rows(1)[0]
        nodes = [
            AlphaBetaAgent(depth=9, aspiration=a, memory_mb=0, deepening=True).search_state(game).nodes
            for a in (0, 4)
        ]
        assert nodes[1] < nodes[0]


class TestTimeManager:
    def test_half_the_time_is_usual(self) -> None:
        manager = TimeManager(10, 3, 2)
        assert not manager.is_enough(0, 0.0, 1)
        assert not manager.is_enough(1, 0.0, 4.9)
        assert manager.is_enough(0, 0.0, 5)

    def test_a_clear_move_takes_a_fifth(self) -> None:
        manager = TimeManager(10, 3, 2)
        assert not any(manager.is_enough(1, 0.1, 2) for _ in range(3))
        assert manager.is_enough(1, 0.1, 2)

    def test_a_fall_takes_all(self) -> None:
        manager = TimeManager(10, 3, 2)
        assert not manager.is_enough(1, 0.5, 4)
        assert not manager.is_enough(1, 0.4, 9)
        assert manager.is_enough(1, 0.39, 9), "hardly a fall"

    def test_one_action_takes_no_time(self) -> None:
        assert TimeManager(10, 1, 2).is_enough(0, 0.0, 0)

    @pytest.mark.thorough
    @pytest.mark.parametrize(("manages", "share"), [(False, 1), (True, 0.6)])
    def test_a_search_obeys_it(self, manages: bool, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each look at the clock takes a second."""
        counter = itertools.count()
        monkeypatch.setattr(Budget, "now", staticmethod(lambda: float(next(counter))))
        agent = AlphaBetaAgent(seconds=20_000, evaluator=EVEN, manages_time=manages)
        found = agent.search_state(ConnectK(4, 4, 4, drops=True))
        assert found.stopped_by is StoppedBy.SECONDS
        assert found.nodes <= share * 20_000
        assert found.nodes > 0.1 * 20_000

    def test_it_heeds_the_limit_of_the_search_that_it_is_a_part_of(self, monkeypatch: pytest.MonkeyPatch) -> None:
        nodes = []
        for manages in (False, True):
            counter = itertools.count()
            monkeypatch.setattr(Budget, "now", staticmethod(lambda counter=counter: float(next(counter))))
            agent = AlphaBetaAgent(seconds=1e9, evaluator=EVEN, manages_time=manages)
            agent.search_within(Budget(Limits(seconds=20_000)))
            found = agent.search_state(ConnectK(4, 4, 4, drops=True))
            assert found.stopped_by is StoppedBy.SECONDS
            nodes.append(found.nodes)
        assert 0.1 * nodes[0] < nodes[1] <= 0.6 * nodes[0]
