"""The searches on trees that can be checked by hand, and on random ones against the textbook's recursion."""

from __future__ import annotations

import math
from types import MappingProxyType

import numpy as np
import pytest
from doubles.small_games import AIMA_5_2, CoinRow, ConnectK, Leaf, Node, TreeGame, random_tree, uniform_tree
from hypothesis import given, settings
from hypothesis import strategies as st

from zermelo.agents import AlphaBetaAgent, ExpectiminimaxAgent, MinimaxAgent, StoppedBy
from zermelo.agents.algorithms import alpha_beta, expectiminimax, minimax
from zermelo.envs import Chance

PLAIN = {"window": "full", "sooner": False, "ordering": "fixed", "memory_mb": 0, "ties": "first"}
seeds = st.integers(0, 2**32 - 1)


class TestFigure52:
    """Russell and Norvig, 4th ed., figure 5.2: MAX at A, MIN at B, C and D."""

    def test_values_of_every_node(self):
        game = TreeGame(AIMA_5_2)
        values = {node.name: minimax(game, node) for node in (AIMA_5_2, *AIMA_5_2.children)}
        assert values == {"A": 3, "B": 3, "C": 2, "D": 2}

    @pytest.mark.parametrize(("node", "action", "value"), [(0, 0, -3), (1, 0, -2), (2, 2, -2)])
    def test_min_plays_b1_c1_d3(self, node, action, value):
        result = MinimaxAgent().search_state(TreeGame(AIMA_5_2), AIMA_5_2.children[node])
        assert (result.action, result.value) == (action, value)
        assert result.values_by_seat == (-value, value)

    @pytest.mark.parametrize(
        "agent", [MinimaxAgent(), AlphaBetaAgent(depth="full", exact=True), ExpectiminimaxAgent(depth="full")]
    )
    def test_root(self, agent):
        result = agent.search_state(TreeGame(AIMA_5_2))
        assert result.action == 0
        assert result.env_action == "action 0"
        assert result.value == 3
        assert result.values_by_seat == (3, -3)
        assert result.action_values == {0: 3, 1: 2, 2: 2}
        assert result.best_actions == (0,)
        assert result.principal_variation == (0, 0)
        assert result.proven
        assert result.plies == 2
        assert result.depth == 2
        assert result.stopped_by is StoppedBy.COMPLETED

    def test_minimax_visits_every_leaf_in_order(self):
        game = TreeGame(AIMA_5_2)
        result = MinimaxAgent().search_state(game)
        assert result.nodes == 13
        assert game.leaves == ["3", "12", "8", "2", "4", "6", "14", "5", "2"]

    def test_alpha_beta_prunes_the_other_leaves_of_c(self):
        game = TreeGame(AIMA_5_2)
        result = AlphaBetaAgent(depth="full", **PLAIN).search_state(game)
        assert game.leaves == ["3", "12", "8", "2", "14", "5", "2"]
        assert result.nodes == 11
        assert result.action_values == {0: 3}, "2 is only a bound for the pruned action 1"

    def test_textbook_alpha_beta_prunes_the_same(self):
        game = TreeGame(AIMA_5_2)
        assert alpha_beta(game, AIMA_5_2) == 3
        assert game.leaves == ["3", "12", "8", "2", "14", "5", "2"]

    def test_fail_soft(self):
        game = TreeGame(AIMA_5_2)
        assert alpha_beta(game, AIMA_5_2, 6, 10) == 5, "an upper bound below alpha, not alpha itself"
        assert alpha_beta(game, AIMA_5_2, -10, 1) == 3, "a lower bound above beta, not beta itself"


def test_after_a_win_in_one_other_bounds_are_not_taken_for_values():
    """The second action is only known to be no better than a win in two; it is a draw."""
    game = TreeGame(Node(0, [Leaf(1, -1), Node(1, [Leaf(0, 0)])]), bounds=(-1, 1))
    assert AlphaBetaAgent(depth="full").search_state(game).action_values == {0: 1}
    assert AlphaBetaAgent(depth="full", exact=True).search_state(game).action_values == {0: 1, 1: 0}
    mirrored = TreeGame(Node(1, [Leaf(-1, 1), Node(0, [Leaf(0, 0)])]), bounds=(-1, 1))
    assert AlphaBetaAgent(depth="full").search_state(mirrored).action_values == {0: 1}


@pytest.mark.parametrize(("branching", "depth"), [(2, 6), (3, 4), (3, 5), (4, 4), (5, 3)])
def test_perfect_ordering_visits_the_critical_tree(branching, depth):
    """Knuth and Moore 1975: b^ceil(d/2) + b^floor(d/2) - 1 leaves."""

    def perfected(node):
        if isinstance(node, Leaf):
            return node
        children = [perfected(child) for child in node.children]
        children.sort(key=lambda child: minimax(plain, child), reverse=node.mover == 0)
        return Node(node.mover, children)

    plain = TreeGame(AIMA_5_2)
    tree = perfected(uniform_tree(branching, depth, np.random.default_rng(branching * 10 + depth)))
    game = TreeGame(tree)
    AlphaBetaAgent(depth="full", **PLAIN).search_state(game)
    assert len(set(game.leaves)) == len(game.leaves)
    assert len(game.leaves) == branching ** math.ceil(depth / 2) + branching ** (depth // 2) - 1


def tree_from(seed, **options):
    rng = np.random.default_rng(seed)
    root = random_tree(rng, 6, **options)
    while isinstance(root, Leaf) or root.mover < 0:
        root = random_tree(rng, 6, **options)
    return root


def every_setting(constant_bounds):
    return [
        {
            "sooner": sooner,
            "memory_mb": table,
            "ties": ties,
            "window": window,
            "ordering": ordering,
            "exact": exact,
        }
        for sooner, table, ties, window, ordering, exact in (
            (True, 64, "random", "bounds", "auto", False),
            (True, 64, "first", "bounds", "auto", True),
            (True, 0, "random", "full", "fixed", False),
            (False, 64, "first", "full", "auto", False),
            (False, 64, "random", "bounds", "fixed", True),
            (False, 0, "first", "bounds", "fixed", False),
        )
    ]


@pytest.mark.thorough
@given(seed=seeds, constant=st.sampled_from([0.0, 1.0, -3.0]), rewards=st.booleans(), setting=st.integers(0, 5))
@settings(max_examples=100)
def test_alpha_beta_is_minimax_on_any_tree(seed, constant, rewards, setting):
    """Turns in any order, a constant sum, rewards before the end, transpositions by value: the same values."""
    root = tree_from(seed, constant=constant, rewards=rewards)
    # Ends are worth -2 to 2 and rewards -1 to 1 on each of up to 6 moves, for either seat of the constant sum.
    bounds = (-8.0 - abs(constant), 8.0 + abs(constant))
    game = TreeGame(root, constant=constant, bounds=bounds, terminal_rewards_only=not rewards)
    settings_ = every_setting(bounds)[setting]
    result = AlphaBetaAgent(depth="full", **settings_).search_state(game)
    mover = root.mover
    values = [minimax(game, child) if mover == 0 else constant - minimax(game, child) for child in root.children]
    assert result.value == max(values)
    assert result.values_by_seat[0] == minimax(game, root)
    assert sum(result.values_by_seat) == constant
    assert result.proven
    assert values[result.action] == max(values)
    assert all(values[action] == value for action, value in result.action_values.items())
    if settings_["exact"]:
        assert dict(result.action_values) == dict(enumerate(values))
    full = MinimaxAgent(sooner=settings_["sooner"], ties=settings_["ties"]).search_state(game)
    assert full.value == result.value
    assert dict(full.action_values) == dict(enumerate(values))
    if settings_["ties"] == "first":
        assert full.action == result.action
    assert full.plies == result.plies or rewards or result.value == constant / 2


def distance_oracle(game, state, middle):
    """(value, promptness) by brute force: of wins the shortest, of losses the longest."""
    if isinstance(state, Leaf):
        return state.utility[0], 0

    def later(score):
        value, promptness = score
        return value, promptness - (value > middle) + (value < middle)

    scores = [later(distance_oracle(game, child, middle)) for child in state.children]
    return max(scores) if state.mover == 0 else min(scores)


@pytest.mark.thorough
@given(seed=seeds, constant=st.sampled_from([0.0, 1.0]), table=st.sampled_from([0, 64]))
@settings(max_examples=100)
def test_wins_come_sooner_and_losses_later(seed, constant, table):
    root = tree_from(seed, constant=constant)
    game = TreeGame(root, constant=constant, bounds=(-3.0, 4.0))
    value, promptness = distance_oracle(game, root, constant / 2)
    for agent in (
        AlphaBetaAgent(depth="full", memory_mb=table),
        MinimaxAgent(),
        ExpectiminimaxAgent(depth="full", memory_mb=table),
    ):
        result = agent.search_state(game)
        assert result.values_by_seat[0] == value
        if value != constant / 2:
            assert result.plies == abs(promptness), agent.name


@pytest.mark.thorough
@given(seed=seeds, seats=st.sampled_from([1, 2]), rewards=st.booleans(), table=st.sampled_from([0, 64]))
@settings(max_examples=100)
def test_expectiminimax_is_the_textbooks_on_any_tree(seed, seats, rewards, table):
    root = tree_from(seed, seats=seats, rewards=rewards, chance=True)
    game = TreeGame(root, seats=seats, chance=Chance.EXACT, terminal_rewards_only=not rewards)
    result = ExpectiminimaxAgent(depth="full", memory_mb=table).search_state(game)
    sign = 1 if root.mover == 0 else -1
    values = [sign * expectiminimax(game, child) for child in root.children]
    assert result.value == pytest.approx(max(values), abs=1e-12)
    assert list(result.action_values.values()) == pytest.approx(values, abs=1e-12)
    assert result.proven
    assert not result.is_estimate


@given(
    seed=seeds, depth=st.integers(1, 4), table=st.sampled_from([0, 64]), deepening=st.sampled_from([None, False])
)
@settings(max_examples=100)
def test_alpha_beta_is_minimax_at_any_depth(seed, depth, table, deepening):
    """With an evaluation at the depth limit, too, neither table nor ordering nor deepening changes a value."""
    root = tree_from(seed)
    game = TreeGame(root, bounds=(-2.5, 2.5))

    def evaluator(game, state):
        value = (len(state.children) - 2) * 0.25
        return value, -value

    shared = {"depth": depth, "evaluator": evaluator, "ties": "first"}
    pruned = AlphaBetaAgent(memory_mb=table, deepening=deepening, exact=True, **shared).search_state(game)
    full = MinimaxAgent(**shared).search_state(game)
    assert pruned.action_values == full.action_values
    assert (pruned.action, pruned.value) == (full.action, full.value)
    # Alpha-beta may prove more: a proven bound on a sibling is enough. What is proven is true of the whole tree.
    assert pruned.proven or not full.proven
    for result in (pruned, full):
        if result.proven:
            assert result.values_by_seat[0] == minimax(game, root)
            if result.plies is not None and result.value != 0:
                assert result.plies == abs(distance_oracle(game, root, 0.0)[1])


def noise(game, state):
    """An evaluation with no sense and few different values, of rewards to come only, as keys see the state."""
    value = (hash(game.key(state)) % 7 - 3) / 8
    return value, -value


@pytest.mark.thorough
@given(seed=seeds, depth=st.integers(1, 6), memory_mb=st.sampled_from([0, 0.02, 64]), exact=st.booleans())
@settings(max_examples=30)
@pytest.mark.parametrize("kind", ["coins", "stones"])
def test_transpositions_change_no_value_at_any_depth(kind, seed, depth, memory_mb, exact):
    """Where many move orders lead to one state, looking it up gives what searching it to that depth would."""
    rng = np.random.default_rng(seed)
    game = CoinRow(rng.integers(1, 6, 9).tolist()) if kind == "coins" else ConnectK(4, 4, 3, drops=True)
    state = game.initial_state()
    for _ in range(int(rng.integers(0, 5))):
        following = game.result(state, int(rng.choice(game.legal_actions(state))))
        state = state if game.is_terminal(following) else following
    shared = {"depth": depth, "evaluator": noise, "ties": "first"}
    pruned = AlphaBetaAgent(memory_mb=memory_mb, exact=exact, **shared).search_state(game, state)
    full = MinimaxAgent(**shared).search_state(game, state)
    averaged = ExpectiminimaxAgent(memory_mb=memory_mb, **shared).search_state(game, state)
    assert (pruned.action, pruned.value) == (full.action, full.value) == (averaged.action, averaged.value)
    assert averaged.action_values == full.action_values
    if not pruned.proven:
        assert all(full.action_values[action] == value for action, value in pruned.action_values.items())
    assert pruned.plies == full.plies or not full.proven or full.value == 0 or kind == "coins"
    if exact:
        assert pruned.action_values == full.action_values


class TestFigure513:
    """Russell and Norvig, 4th ed., figure 5.13: with dice more than the order of the evaluations matters.

    Every leaf is an unfinished state that is only evaluated; ``"A"`` to ``"D"`` are worth 1, 2, 3 and 4.
    """

    WORTH = MappingProxyType(dict(zip("ABCD", (1.0, 2.0, 3.0, 4.0), strict=True)))

    @staticmethod
    def min_node(name):
        return Node(1, [Node(0, [Leaf(0, 0)], name=name) for _ in range(2)])

    def tree(self, *, dice):
        left, right = (("B", "C"), ("A", "D"))
        if not dice:  # the lower one of each pair is what MIN chooses
            return Node(
                0, [Node(1, [Node(0, [Leaf(0, 0)], name=name) for name in pair]) for pair in (left, right)]
            )
        pairs = [[self.min_node(name) for name in pair] for pair in (left, right)]
        return Node(0, [Node(-1, pair, probabilities=[0.9, 0.1]) for pair in pairs])

    def choice(self, agent, worth, *, dice):
        game = TreeGame(
            self.tree(dice=dice), chance=Chance.EXACT if dice else Chance.NONE, bounds=(-1000.0, 1000.0)
        )

        def evaluator(game, state):
            value = worth.get(state.name, 0.0)  # other states are met while the search deepens
            return value, -value

        result = agent(evaluator).search_state(game)
        return result.action, result.value

    @pytest.mark.parametrize("pruning", ["none", "star1", "star2"])
    def test_expectiminimax_needs_a_linear_transformation(self, pruning):
        def agent(evaluator):
            return ExpectiminimaxAgent(depth=2, evaluator=evaluator, pruning=pruning)

        assert self.choice(agent, self.WORTH, dice=True) == (0, pytest.approx(0.9 * 2 + 0.1 * 3))
        linear = {name: 7 + 3 * value for name, value in self.WORTH.items()}
        assert self.choice(agent, linear, dice=True) == (0, pytest.approx(7 + 3 * 2.1))
        ordered = dict(zip("ABCD", (1.0, 20.0, 30.0, 400.0), strict=True))
        assert self.choice(agent, ordered, dice=True) == (1, pytest.approx(0.9 * 1 + 0.1 * 400))

    @pytest.mark.parametrize("kind", [MinimaxAgent, AlphaBetaAgent, ExpectiminimaxAgent])
    def test_minimax_needs_only_the_order(self, kind):
        def agent(evaluator):
            return kind(depth=2, evaluator=evaluator)

        ordered = dict(zip("ABCD", (1.0, 20.0, 30.0, 400.0), strict=True))
        assert self.choice(agent, self.WORTH, dice=False) == (0, 2)
        assert self.choice(agent, ordered, dice=False) == (0, 20)
