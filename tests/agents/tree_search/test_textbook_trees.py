"""The searches on trees that can be checked by hand, and on random ones against the textbook's recursion."""

from __future__ import annotations

import math
from types import MappingProxyType

import numpy as np
import pytest
from doubles.small_games import AIMA_5_2, Leaf, Node, TreeGame, random_tree, uniform_tree
from hypothesis import given, settings
from hypothesis import strategies as st

from zermelo.agents import AlphaBetaAgent, ExpectiminimaxAgent, MinimaxAgent
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.textbook import alpha_beta, expectiminimax, minimax
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.game import Chance
from zermelo.envs.registration.make import make
from zermelo.envs.trees import tree_game

PLAIN = {"window": "full", "prefer_short_wins": False, "ordering": "fixed", "memory_mb": 0, "ties": "first"}
seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("search", [minimax, alpha_beta, expectiminimax])
def test_what_is_no_game_is_answered_by_what_makes_one(search):
    nested = [[3, 12, 8], [2, 4, 6], [14, 5, 2]]
    game = tree_game(nested)
    assert search(game, game.initial_state()) == 3
    for other in (nested, "aima-5.2", make("zermelo/MNK-v0")):
        with pytest.raises(
            InvalidSettingError, match=rf"{search.__name__} needs a Game, .*tree_game.*as_game\(env\)"
        ):
            search(other, None)
    with pytest.raises(
        InvalidSettingError, match="depth must be a whole number of moves of at least 0, not 'full'"
    ):
        search(game, game.initial_state(), depth="full")


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


class TestFigure513:
    """Russell and Norvig, 4th ed., figure 5.13: with dice more than the order of the evaluations matters.

    Every leaf is an unfinished state that is only evaluated; ``"A"`` to ``"D"`` are worth 1, 2, 3 and 4.
    """

    WORTH = MappingProxyType(dict(zip("ABCD", (1.0, 2.0, 3.0, 4.0), strict=True)))

    @staticmethod
    def min_node(name):
        return Node(1, [Node(0, [Leaf(0, 0)], name=name) for _ in range(2)])

    def choice(self, pruning, worth):
        pairs = [[self.min_node(name) for name in pair] for pair in (("B", "C"), ("A", "D"))]
        tree = Node(0, [Node(-1, pair, probabilities=[0.9, 0.1]) for pair in pairs])
        game = TreeGame(tree, chance=Chance.EXACT, bounds=(-1000.0, 1000.0))

        def evaluator(game, state):
            value = worth.get(state.name, 0.0)  # other states are met while the search deepens
            return value, -value

        result = ExpectiminimaxAgent(depth=2, evaluator=evaluator, pruning=pruning).search_state(game)
        return result.action, result.value

    @pytest.mark.parametrize("pruning", ["none", "star1", "star2"])
    def test_expectiminimax_needs_a_linear_transformation(self, pruning):
        assert self.choice(pruning, self.WORTH) == (0, pytest.approx(0.9 * 2 + 0.1 * 3))
        linear = {name: 7 + 3 * value for name, value in self.WORTH.items()}
        assert self.choice(pruning, linear) == (0, pytest.approx(7 + 3 * 2.1))
        ordered = dict(zip("ABCD", (1.0, 20.0, 30.0, 400.0), strict=True))
        assert self.choice(pruning, ordered) == (1, pytest.approx(0.9 * 1 + 0.1 * 400))
