"""max^n, paranoid and best-reply search: on trees that can be checked by hand, and on random ones with oracles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from doubles.small_games import Leaf, Node, TreeGame
from hypothesis import given, settings
from hypothesis import strategies as st

from zermelo.agents import (
    BestReplyAgent,
    ExpectiminimaxAgent,
    MaxNAgent,
    ParanoidAgent,
)
from zermelo.agents.textbook import best_reply, max_n, paranoid
from zermelo.agents.tree_search.settings import TieRule
from zermelo.envs import CHANCE, UnsupportedGameError
from zermelo.envs.game import Chance, RewardSum

seeds = st.integers(0, 2**32 - 1)
BOUNDS = (-30.0, 30.0)


def three(mover, children, **options):
    """A state of three players in which nothing has been paid."""
    return Node(mover, children, utility=(0, 0, 0), **options)


def tree_of(root, *, seats=3, **options):
    options.setdefault("reward_sum", RewardSum.GENERAL)
    options.setdefault("bounds", BOUNDS)
    return TreeGame(root, seats=seats, **options)


class TestRussellAndNorvig:
    """Artificial Intelligence: A Modern Approach, 4th ed., figure 5.4: players A, B and C move once each."""

    ROOT = three(
        0,
        [
            three(1, [three(2, [Leaf(1, 2, 6), Leaf(4, 2, 3)]), three(2, [Leaf(6, 1, 2), Leaf(7, 4, 1)])]),
            three(1, [three(2, [Leaf(5, 1, 1), Leaf(1, 5, 2)]), three(2, [Leaf(7, 7, 1), Leaf(5, 4, 5)])]),
        ],
    )

    @pytest.mark.parametrize("agent", [MaxNAgent(depth="full"), MaxNAgent(depth="full", memory_mb=0, exact=True)])
    def test_values_of_every_node(self, agent):
        game = tree_of(self.ROOT)
        left, right = self.ROOT.children
        expected = {
            left.children[0]: (1, 2, 6),
            left.children[1]: (6, 1, 2),
            right.children[0]: (1, 5, 2),
            right.children[1]: (5, 4, 5),
            left: (1, 2, 6),
            right: (1, 5, 2),
            self.ROOT: (1, 2, 6),  # to A both actions are worth 1, and the first is taken
        }
        for node, values in expected.items():
            assert max_n(game, node) == values
            assert agent.search_state(game, node).values_by_seat == values
        assert agent.search_state(game).action == 0
        assert MaxNAgent(depth="full", tie_rule="spiteful").search_state(game).values_by_seat == (1, 5, 2)


class TestSmallTree:
    """A tree made for these tests: three players, two actions each, values that a pencil checks."""

    ROOT = three(
        0,
        [
            three(
                1,
                [three(2, [Leaf(4, 1, 4), Leaf(1, 7, 1)]), three(2, [Leaf(3, 2, 4), Leaf(5, 3, 1)])],
                name="left",
            ),
            three(
                1,
                [three(2, [Leaf(2, 4, 3), Leaf(1, 6, 2)]), three(2, [Leaf(6, 1, 2), Leaf(2, 3, 4)])],
                name="right",
            ),
        ],
    )

    def test_paranoid_expects_the_worst(self):
        game = tree_of(self.ROOT)
        assert paranoid(game, self.ROOT, 0) == 1
        result = ParanoidAgent(depth="full", exact=True).search_state(game)
        assert result.action_values == {0: 1, 1: 1}
        assert result.value == 1
        assert ParanoidAgent(depth="full").search_state(game, self.ROOT.children[0]).value == 2

    def test_best_reply_lets_one_opponent_choose(self):
        """On the left, seat 1 keeps to its first action and seat 2 gives 1; on the right likewise 1."""
        game = tree_of(self.ROOT)
        result = BestReplyAgent(depth="full", exact=True).search_state(game)
        assert result.action_values == {0: 1, 1: 1}
        late = three(
            0, [three(1, [three(2, [Leaf(4, 0, 0), Leaf(4, 0, 0)]), three(2, [Leaf(4, 0, 0), Leaf(0, 0, 0)])])]
        )
        assert paranoid(tree_of(late), late, 0) == 0
        assert BestReplyAgent(depth="full").search_state(tree_of(late)).value == 4, (
            "it takes two opponents to hurt"
        )


class TestTies:
    """Sturtevant: a player that does not care decides what the others get."""

    TIE = three(0, [three(1, [Leaf(1, 5, 4), Leaf(4, 5, 1)]), three(1, [Leaf(3, 4, 3), Leaf(2, 4, 0)])])

    @pytest.mark.parametrize(
        ("rule", "values", "action"),
        [
            ("first", (3, 4, 3), 1),
            ("paranoid", (2, 4, 0), 1),
            ("friendly", (4, 5, 1), 0),
            ("generous", (3, 4, 3), 1),
            ("spiteful", (2, 4, 0), 1),
        ],
    )
    def test_the_rule_decides(self, rule, values, action):
        game = tree_of(self.TIE)
        assert max_n(game, self.TIE, rule) == values
        result = MaxNAgent(depth="full", tie_rule=rule).search_state(game)
        assert (result.values_by_seat, result.action) == (values, action)

    def test_root_ties_are_drawn_among_those_that_are_the_same_for_all(self):
        root = three(0, [Leaf(1, 0, 0), Leaf(2, 0, 1), Leaf(2, 1, 0), Leaf(2, 0, 1)])
        chosen = {MaxNAgent(depth="full", seed=seed).search_state(tree_of(root)).action for seed in range(20)}
        assert chosen == {1, 3}
        assert MaxNAgent(depth="full", ties="first").search_state(tree_of(root)).best_actions == (1, 2, 3)

    def test_wins_sooner_and_losses_later_where_nothing_else_differs(self):
        late = three(1, [three(2, [Leaf(2, -1, -1)])])
        root = three(0, [late, Leaf(2, -1, -1), Leaf(-1, 2, -1)])
        options = {"constant": 0.0, "reward_sum": RewardSum.ZERO, "bounds": (-1, 2)}
        assert MaxNAgent(depth="full").search_state(tree_of(root, **options)).plies == 1
        assert MaxNAgent(depth="full").search_state(tree_of(root, **options)).action == 1
        assert (
            MaxNAgent(depth="full", prefer_short_wins=False, ties="first")
            .search_state(tree_of(root, **options))
            .action
            == 0
        )
        lost = three(0, [Leaf(-1, 2, -1), three(1, [Leaf(-1, 2, -1)])])
        assert MaxNAgent(depth="full").search_state(tree_of(lost, **options)).action == 1


@pytest.mark.thorough
@given(seed=seeds, seats=st.integers(3, 4), rewards=st.booleans(), rule=st.sampled_from(list(TieRule)))
@settings(max_examples=60)
def test_shallow_pruning_only_saves(seed, seats, rewards, rule):
    """Korf 1991; with bounds as tight as can be, so that it does prune."""
    rng = np.random.default_rng(seed)

    def grow(depth, mover):
        if depth == 0:
            winner = int(rng.integers(seats))
            return Leaf(*(6.0 * (seat == winner) for seat in range(seats)))
        return Node(mover, [grow(depth - 1, (mover + 1) % seats) for _ in range(3)], utility=[0.0] * seats)

    game = tree_of(grow(5, 0), seats=seats, constant=6.0, reward_sum=RewardSum.CONSTANT, bounds=(0.0, 6.0))
    plain = MaxNAgent(depth="full", shallow=False, tie_rule=rule, memory_mb=0).search_state(game)
    pruned = MaxNAgent(depth="full", tie_rule=rule, memory_mb=0).search_state(game)
    assert pruned.values_by_seat == plain.values_by_seat
    assert pruned.nodes <= plain.nodes


def test_shallow_pruning_does_prune():
    """Seat 1 keeps 7 of 9 for itself, so at most 2 are left for seat 0, which has 3 already."""
    root = three(0, [Leaf(3, 3, 3), three(1, [Leaf(1, 7, 1), Leaf(0, 9, 0), Leaf(2, 0, 7)])])
    game = tree_of(root, constant=9.0, reward_sum=RewardSum.CONSTANT, bounds=(0, 9))
    assert MaxNAgent(depth="full", shallow=False).search_state(game).nodes == 6
    result = MaxNAgent(depth="full").search_state(game)
    assert (result.nodes, result.values_by_seat) == (4, (3, 3, 3))
    assert result.action_values == {0: 3}, "what is left of 9 is a bound, not a value"
    assert MaxNAgent(depth="full", exact=True).search_state(game).action_values == {0: 3, 1: 0}


class TestSumsThatEvaluationsBreak:
    @pytest.fixture
    def game(self):
        leaf = Leaf(2, 2, 2)
        deep = [three(2, [leaf]) for _ in range(4)]
        root = three(0, [three(1, deep[:2]), three(1, deep[2:])])
        self.worth = dict(zip(map(id, deep), [(1, 1, 1), (1, 2, 5), (3, 6, 6), (3, 1, 6)], strict=True))
        return tree_of(root, constant=6.0, reward_sum=RewardSum.CONSTANT, bounds=(0, 6))

    def evaluator(self, game, state):
        return self.worth[id(state)]

    def test_then_nothing_is_pruned(self, game):
        result = MaxNAgent(depth=2, evaluator=self.evaluator).search_state(game)
        assert result.values_by_seat == (3, 6, 6)


class Pips:
    """Three players add 1 or 2 to a count in turn; who reaches the goal wins 3 from the others. One may pass."""

    def __init__(self, goal):
        self.goal = goal
        self.traits = tree_of(Node(0, [])).traits

    def initial_state(self):
        return 0, 0

    def to_move(self, state):
        return state[1]

    def legal_actions(self, state):
        return (1, 2)

    def chance_outcomes(self, state):
        return []

    def result(self, state, action):
        return state[0] + action, (state[1] + 1) % 3

    def pass_turn(self, state):
        return state[0], (state[1] + 1) % 3

    def is_terminal(self, state):
        return state[0] >= self.goal

    def utility(self, state):
        if state[0] < self.goal:
            return (0.0, 0.0, 0.0)
        return tuple(2.0 if seat == (state[1] - 1) % 3 else -1.0 for seat in range(3))

    def key(self, state):
        return state

    def to_env_action(self, state, action):
        return action


@pytest.mark.parametrize("goal", range(1, 12))
def test_best_reply_where_turns_can_be_skipped(goal):
    """Schadd and Winands 2011: exactly one opponent moves between two moves of the player that searches."""
    game = Pips(goal)

    def oracle(count, mine):
        if count >= goal:  # somebody of the others got there, or the searcher did
            return -1.0 if mine else 2.0
        values = [oracle(count + step, not mine) for step in (1, 2)]
        return max(values) if mine else min(values)

    assert BestReplyAgent(depth="full").search_state(game).value == oracle(0, True)
    assert best_reply(game, (0, 0), 0) == oracle(0, True)


@pytest.mark.thorough
@pytest.mark.parametrize("backend", ["auto", "clone"])
def test_three_agents_play_a_live_environment(backend):
    from zermelo.envs import make

    env = make("zermelo/DotsAndBoxes-v0", rows=1, columns=2, players=3)
    env.reset(seed=0)
    agents = [
        agent(depth=1, backend=backend, evaluator="rewards")
        for agent in (MaxNAgent, ParanoidAgent, BestReplyAgent)
    ]
    moves = 0
    while env.agents:
        seat = env.possible_agents.index(env.agent_selection)
        over = env.terminations[env.agent_selection] or env.truncations[env.agent_selection]
        env.step(None if over else agents[seat].act(env))
        moves += not over
    assert moves == 7


def test_dice_for_three_are_averaged():
    root = three(0, [three(CHANCE, [Leaf(4, 0, 0), Leaf(0, 4, 0)], probabilities=[0.75, 0.25]), Leaf(2, 1, 1)])
    game = tree_of(root, chance=Chance.EXACT)
    for agent in (MaxNAgent(depth="full"), ParanoidAgent(depth="full"), BestReplyAgent(depth="full")):
        result = agent.search_state(game)
        assert result.values_by_seat == (3.0, 1.0, 0.0)
        assert result.principal_variation == (0,)
    with pytest.raises(UnsupportedGameError, match="use 'maxn', 'paranoid' or 'mcts'"):
        ExpectiminimaxAgent(depth="full").search_state(game)


def test_sampled_chance_is_an_estimate():
    from doubles.small_games import DiceRace

    for agent in (
        MaxNAgent(depth="full", samples=16),
        ParanoidAgent(depth="full", samples=16),
        BestReplyAgent(depth="full", samples=16),
    ):
        result = agent.search_state(DiceRace(rolls=2))
        assert result.is_estimate
        assert not result.proven
        assert result.standard_error is not None
        assert 0 < result.value < 12
    assert math.isnan(
        MaxNAgent(depth="full", samples=1).search_state(DiceRace(rolls=1)).standard_error or math.nan
    )
