"""Limits by depth, nodes and time; what a stopped search answers; watching a search; what the table may hold."""

from __future__ import annotations

import itertools
import threading
import tracemalloc

import numpy as np
import pytest
from doubles.small_games import ConnectK, Leaf, Node, TreeGame

from zermelo.agents import AlphaBetaAgent, ExpectiminimaxAgent, GreedyAgent, MinimaxAgent
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.evaluators.playout import PlayoutEvaluator
from zermelo.agents.tree_search.interface import Bound
from zermelo.agents.tree_search.transposition_table import Entry, TranspositionTable

SMALL = ConnectK(4, 4, 4, drops=True)
EVEN = lambda game, state: (0.0, 0.0)  # noqa: E731 - an evaluation that knows nothing


@pytest.fixture
def ticks(monkeypatch):
    """A clock that goes on by one second each time it is read."""
    counter = itertools.count()
    monkeypatch.setattr(Budget, "now", staticmethod(lambda: float(next(counter))))


@pytest.fixture
def node_ticks(monkeypatch):
    """A clock that goes on by one second at each node."""
    visit, seconds = Budget.visit, itertools.count(1)
    monkeypatch.setattr(Budget, "now", staticmethod(lambda: 0.0))

    def ticking(self, ply):
        now = float(next(seconds))
        monkeypatch.setattr(Budget, "now", staticmethod(lambda: now))
        return visit(self, ply)

    monkeypatch.setattr(Budget, "visit", ticking)


class TestNodes:
    def test_first_move_is_the_most_promising(self):
        class Hinted(ConnectK):
            def ordering_hint(self, state, action):
                return float(action == 2)

        assert AlphaBetaAgent(nodes=1).search_state(Hinted(4, 4, 4, drops=True)).action == 2


class TestUnfinishedIteration:
    """Depth 1 likes action 0; depth 2 shows that it loses something, and that action 1 is better."""

    tree = TreeGame(
        Node(
            0,
            [
                Node(1, [Node(0, [Leaf(0, 0)] * 2, name="-0.5")] * 3, name="0.5"),
                Node(1, [Node(0, [Leaf(0, 0)] * 2, name="0.25")] * 3, name="0.1"),
                Node(1, [Node(0, [Leaf(0, 0)] * 2, name="0.75")] * 3, name="-0.1"),
            ],
        ),
        bounds=(-1, 1),
    )

    @staticmethod
    def by_name(game, state):
        return float(state.name), -float(state.name)

    @pytest.mark.parametrize(
        ("nodes", "action", "value", "depth"),
        [
            (4, 0, 0.5, 1),  # depth 1 finished
            (6, 0, 0.5, 1),  # the first action is not done at depth 2
            (9, 0, -0.5, 1),  # it is, and counts for -0.5 now
            (13, 1, 0.25, 1),  # the second is done, and better
            (17, 2, 0.75, 2),  # all are
        ],
    )
    def test_what_counts(self, nodes, action, value, depth):
        agent = AlphaBetaAgent(nodes=nodes, evaluator=self.by_name, ordering="fixed", memory_mb=0)
        result = agent.search_state(self.tree)
        assert (result.action, result.value, result.depth) == (action, value, depth)
        assert result.action_values[action] == value

    def test_exact_values_come_from_one_iteration(self):
        agent = AlphaBetaAgent(nodes=13, evaluator=self.by_name, exact=True)
        result = agent.search_state(self.tree)
        assert dict(result.action_values) == {0: 0.5, 1: 0.1, 2: -0.1}
        assert (result.action, result.value) == (0, 0.5)

    def test_a_win_found_on_the_way_is_proven(self):
        tree = TreeGame(
            Node(0, [Node(1, [Leaf(0, 0), Leaf(0, 0)]), Node(1, [Leaf(1, -1)]), Node(1, [Leaf(0, 0)] * 9)]),
            bounds=(-1, 1),
        )
        result = AlphaBetaAgent(nodes=11, evaluator=EVEN, ordering="fixed", memory_mb=0).search_state(tree)
        assert (result.action, result.value, result.proven, result.plies) == (1, 1, True, 2)


class TestSeconds:
    def test_clock_is_read_at_every_node(self, node_ticks):
        """Each node costs a second here, so the search cannot have run for longer than it was given."""
        result = AlphaBetaAgent(seconds=500.0, evaluator=EVEN).search_state(SMALL)
        assert result.stopped_by is StoppedBy.SECONDS
        assert 400 < result.nodes <= 500
        assert result.depth >= 3

    def test_clock_is_read_within_playouts(self, ticks):
        """A playout reads it before every move, so one evaluation of a thousand games cannot hold it up."""
        result = AlphaBetaAgent(seconds=500.0, evaluator=PlayoutEvaluator(games=1000)).search_state(SMALL)
        assert result.stopped_by is StoppedBy.SECONDS
        assert result.seconds < 510
        assert result.action in range(4)

    @pytest.mark.parametrize("agent", [AlphaBetaAgent, MinimaxAgent, ExpectiminimaxAgent])
    def test_a_tiny_limit_still_gives_an_action(self, agent):
        result = agent(seconds=1e-9).search_state(SMALL)
        assert (result.action, result.stopped_by, result.nodes) == (0, StoppedBy.SECONDS, 0)

    def test_time_counts_from_the_call(self, monkeypatch, ticks):
        """What comes before the search itself (copying, checking) is part of the time."""
        pettingzoo = pytest.importorskip("pettingzoo")
        env = pettingzoo.make("aec", "classic/connect_four-v3")
        env.reset(seed=0)
        assert AlphaBetaAgent(seconds=2.0, proof_share=0).search(env).nodes <= 1
        assert AlphaBetaAgent(seconds=2.0, backend="clone").search(env).nodes <= 1
        # What is seen at once: a short search, and what is left of an earlier proof. A millisecond or two.
        assert AlphaBetaAgent(seconds=2.0).search(env).nodes <= 4000


class TestDepth:
    @pytest.mark.parametrize("agent", [AlphaBetaAgent, MinimaxAgent, ExpectiminimaxAgent])
    def test_depth_and_what_stopped_it(self, agent):
        result = agent(depth=3, evaluator=EVEN).search_state(SMALL)
        assert (result.depth, result.stopped_by, result.proven, result.plies) == (3, StoppedBy.DEPTH, False, None)

    def test_a_win_ends_deepening(self):
        game = ConnectK()
        state = game.initial_state()
        for action in (0, 3, 1, 4):
            state = game.result(state, action)
        result = AlphaBetaAgent(depth=5, evaluator=EVEN).search_state(game, state)
        assert (result.action, result.value, result.plies, result.depth) == (2, 1, 1, 1)
        assert (result.proven, result.stopped_by) == (True, StoppedBy.COMPLETED)

    def test_cutoff(self):
        """States with three stones or more are evaluated, wherever the depth limit is."""
        seen = []

        def stop_test(game, state, ply):
            seen.append(ply)
            return sum(cell >= 0 for cell in state[0]) >= 3

        result = AlphaBetaAgent(stop_test=stop_test, evaluator=EVEN).search_state(ConnectK())
        assert max(seen) == 3
        assert result.depth == 3
        assert not result.proven
        assert MinimaxAgent(stop_test=stop_test, evaluator=EVEN).search_state(ConnectK()).nodes == 1 + 9 + 72 + 504

    def test_deepening_stops_where_the_cutoff_does(self):
        result = AlphaBetaAgent(
            stop_test=lambda game, state, ply: ply >= 2, evaluator=EVEN, nodes=10**6
        ).search_state(SMALL)
        assert result.stopped_by is StoppedBy.COMPLETED
        assert not result.proven


class TestWatching:
    def test_every_iteration_is_shown(self):
        seen = []
        AlphaBetaAgent(depth=4, evaluator=EVEN, on_iteration=seen.append).search_state(SMALL)
        assert [result.depth for result in seen] == [1, 2, 3, 4]
        assert [result.nodes for result in seen] == sorted(result.nodes for result in seen)
        assert all(result.action in range(4) for result in seen)

    def test_false_ends_the_search(self):
        agent = AlphaBetaAgent(depth=9, evaluator=EVEN, on_iteration=lambda result: result.depth < 3)
        result = agent.search_state(SMALL)
        assert (result.depth, result.stopped_by) == (3, StoppedBy.INTERRUPT)

    def test_watching_changes_nothing(self):
        plain = AlphaBetaAgent(depth=4, evaluator=EVEN)
        watched = AlphaBetaAgent(depth=4, evaluator=EVEN, on_iteration=lambda result: None)
        assert [plain.search_state(SMALL).action for _ in range(9)] == [
            watched.search_state(SMALL).action for _ in range(9)
        ]


class TestTies:
    @pytest.mark.thorough
    def test_first_is_the_smallest_number_whatever_the_order(self):
        class Hinted(ConnectK):
            def ordering_hint(self, state, action):
                return float(action)

        for settings in ({}, {"exact": True}, {"memory_mb": 0}, {"ordering": "fixed"}):
            assert AlphaBetaAgent(depth="full", ties="first", **settings).search_state(Hinted()).action == 0

    @pytest.mark.thorough
    def test_random_draws_from_all_best_actions(self):
        """After X in the centre, every corner holds and no side does."""
        game = ConnectK()
        state = game.result(game.initial_state(), 4)
        searcher = AlphaBetaAgent(depth="full", seed=1)
        actions = [searcher.search_state(game, state).action for _ in range(25)]
        assert set(actions) == {0, 2, 6, 8}

    @pytest.mark.parametrize("agent", [AlphaBetaAgent, MinimaxAgent, ExpectiminimaxAgent, GreedyAgent])
    def test_seeds(self, agent, monkeypatch):
        monkeypatch.setattr(Budget, "now", staticmethod(lambda: 0.0))  # no search is cut short
        tree = TreeGame(Node(0, [Leaf(1, -1), Leaf(0, 0), Leaf(1, -1), Leaf(1, -1)]))
        searcher = agent(seed=1)
        actions = [searcher.search_state(tree).action for _ in range(60)]
        assert set(actions) == {0, 2, 3}
        searcher.reset()
        more = [searcher.search_state(tree).action for _ in range(60)]
        assert more != actions, "without a seed, random numbers go on"
        searcher.reset(1)
        assert [searcher.search_state(tree).action for _ in range(60)] == actions
        other = agent()
        other.reset(1)
        assert [other.search_state(tree).action for _ in range(60)] == actions
        assert {agent(ties="first").search_state(tree).action for _ in range(9)} == {0}


class TestQuiescence:
    """MAX can take a pawn at once, but then loses a queen one move beyond the horizon."""

    tree = Node(
        0,
        [
            Node(1, [Node(0, [Leaf(0, 0)], name="-0.9"), Node(0, [Leaf(0, 0)], name="0.1")], name="0.1"),
            Node(1, [Node(0, [Leaf(0, 0)], name="0"), Node(0, [Leaf(0, 0)], name="0")], name="0"),
        ],
    )

    class Noisy(TreeGame):
        def is_noisy(self, state, action):
            return bool(state.name) and action == 0

    @pytest.mark.parametrize(("quiescence", "action", "value"), [(0, 0, 0.1), (1, 1, 0.0), (8, 0, 0.0)])
    def test_sees_the_reply(self, quiescence, action, value):
        by_name = TestUnfinishedIteration.by_name  # with a second move of MAX's own both actions are worth 0
        agent = AlphaBetaAgent(depth=1, quiescence=quiescence, evaluator=by_name, ties="first")
        result = agent.search_state(self.Noisy(self.tree, bounds=(-1, 1)))
        assert (result.action, result.value, result.proven) == (action, value, False)

    def test_only_where_the_game_offers_it(self):
        agent = AlphaBetaAgent(depth=1, evaluator=TestUnfinishedIteration.by_name)
        assert agent.search_state(TreeGame(self.tree, bounds=(-1, 1))).value == 0.1


class TestTable:
    @pytest.mark.thorough
    @pytest.mark.alone
    @pytest.mark.parametrize("megabytes", [0.25, 2])
    def test_memory_stays_within_the_bound(self, megabytes):
        table = TranspositionTable(megabytes)
        for thread in threading.enumerate():  # memory of kernels that still compile would be counted too
            if thread.name == "zermelo-background":
                thread.join()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for number in range(12_000):
            key = (number, "position", tuple(range(number, number + 6)))
            table.store(key, Entry(float(number), Bound.EXACT, (number / 7, number / 3), number, False))
        peak = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.stop()
        assert peak < megabytes * 2**20
        assert len(table) > 0.25 * megabytes * 2**20 / 700, "most of the budget is used"

    def test_keys_may_hold_anything_hashable(self):
        table, thing = TranspositionTable(1), object()
        entry = Entry(1, Bound.EXACT, (0.0, 0), 0, True)
        for key in (thing, (object, thing), frozenset({thing}), np.dtype(np.int8), np, None):
            table.store(key, entry)
            assert table.probe(key) is entry

    def test_the_longest_unused_goes(self):
        table = TranspositionTable(0.25)
        entry = Entry(1, Bound.EXACT, (0.0, 0), 0, True)
        table.store("kept", entry)
        table.store("lost", entry)
        for number in range(5000):
            table.store(number, entry)
            assert table.probe("kept") is entry
        assert table.probe("lost") is None

    def test_nothing_fits_into_nothing(self):
        table = TranspositionTable(0)
        table.store("key", Entry(1, Bound.EXACT, (0.0, 0), 0, True))
        table.store("other", Entry(1, Bound.EXACT, (0.0, 0), 0, True))
        assert len(table) <= 1
