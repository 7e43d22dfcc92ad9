"""The manager of time at the root."""

from __future__ import annotations

import itertools

import pytest
from doubles.small_games import ConnectK

from zermelo.agents import AlphaBetaAgent
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.clock import GameClock
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.tree_search.iterative_deepening import TimeManager

EVEN = lambda game, state: (0.0, 0.0)  # noqa: E731 - an evaluation that knows nothing


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

    def test_a_search_obeys_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each look at the clock takes a second."""
        counter = itertools.count()
        monkeypatch.setattr(Budget, "now", staticmethod(lambda: float(next(counter))))
        agent = AlphaBetaAgent(evaluator=EVEN)
        clock = GameClock(left=(100_000, 1), seat=0)
        agent.tell_clock(clock)
        found = agent.search_state(ConnectK(4, 4, 4, drops=True))
        assert found.stopped_by is StoppedBy.SECONDS
        assert 0.1 * clock.share().most < found.nodes <= 0.6 * clock.share().most
