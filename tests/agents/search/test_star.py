"""Star1 and Star2 leave values as they are: against unpruned expectiminimax, on trees by hand and random ones."""

from __future__ import annotations

import numpy as np
import pytest
from doubles.small_games import CoinRow, DiceRace, Leaf, Node, TreeGame, random_tree
from hypothesis import given, settings
from hypothesis import strategies as st

from zermelo.agents import ExpectiminimaxAgent, StoppedBy, make_agent
from zermelo.agents.algorithms import expectiminimax
from zermelo.envs import CHANCE, Chance, InvalidSettingError

seeds = st.integers(0, 2**32 - 1)
PRUNINGS = ["star1", "star2"]


def zero_sum(*values):
    return [Leaf(value, -value) for value in values]


class TestByHand:
    """Utilities lie between -10 and 10. The first action is worth 2, so the second must promise more than 2."""

    @staticmethod
    def game(*outcomes):
        p = 1 / len(outcomes)
        dice = Node(CHANCE, outcomes, probabilities=[p] * len(outcomes))
        return TreeGame(Node(0, [Leaf(2, -2), dice]), chance=Chance.EXACT, bounds=(-10, 10))

    def test_star1_stops_when_the_rest_cannot_help(self):
        """After -8 and -7 of four: even with two tens the average is 1.25."""
        game = self.game(*zero_sum(-8, -7, 10, 10))
        assert ExpectiminimaxAgent(depth="full", memory_mb=0).search_state(game).nodes == 7
        result = ExpectiminimaxAgent(depth="full", pruning="star1", memory_mb=0).search_state(game)
        assert (result.nodes, result.action, result.value) == (5, 0, 2)
        assert result.action_values == {0: 2}, "a bound is not a value"
        exact = ExpectiminimaxAgent(depth="full", pruning="star1", exact=True).search_state(game)
        assert exact.action_values == {0: 2, 1: 1.25}

    def test_star1_narrows_the_window_below(self):
        """After -8 of two, the other must be worth 12 to reach 2: nothing in it is looked at, though MAX moves."""
        game = self.game(Leaf(-8, 8), Node(1, zero_sum(5, 9, 9)))
        result = ExpectiminimaxAgent(depth="full", pruning="star1", memory_mb=0).search_state(game)
        assert (result.nodes, result.value) == (4, 2)

    def test_star1_cuts_inside_an_outcome(self):
        """After 0 of two, the other must be worth more than 4; MIN has a 3, so its last reply does not matter."""
        game = self.game(Leaf(0, 0), Node(1, zero_sum(3, 9)))
        assert ExpectiminimaxAgent(depth="full", memory_mb=0).search_state(game).nodes == 7
        assert ExpectiminimaxAgent(depth="full", pruning="star1", memory_mb=0).search_state(game).nodes == 6

    def test_star2_probes_before_it_searches(self):
        """MIN can bring both outcomes to 0 with its first reply, and 0 on average is not 2."""
        first = Node(1, zero_sum(0, 9, 8, 7, 6, 5))
        game = self.game(first, Node(1, zero_sum(0, 9, 9, 9, 9, 9)))
        one = ExpectiminimaxAgent(depth="full", pruning="star1", memory_mb=0).search_state(game)
        two = ExpectiminimaxAgent(depth="full", pruning="star2", memory_mb=0).search_state(game)
        assert one.value == two.value == 2
        assert one.nodes == 1 + 1 + 1 + 7 + 2
        assert two.nodes == 1 + 1 + 1 + 2 + 2

    @pytest.mark.parametrize("memory_mb", [0, 1])
    def test_what_a_probe_evaluates_proves_nothing(self, memory_mb):
        """Both probed replies look bad, which is enough to prune, and yet one move deeper they are good."""
        outcomes = [Node(1, [Node(0, zero_sum(9)), Leaf(9, -9)]) for _ in range(2)]
        game = self.game(*outcomes)

        def evaluator(game, state):
            return -8.0, 8.0

        shallow = ExpectiminimaxAgent(pruning="star2", depth=2, evaluator=evaluator, memory_mb=memory_mb)
        result = shallow.search_state(game)
        assert (result.value, result.proven) == (2, False)
        deep = ExpectiminimaxAgent(pruning="star2", depth=3, evaluator=evaluator, memory_mb=memory_mb)
        assert deep.search_state(game).value == 9

    @pytest.mark.parametrize("pruning", PRUNINGS)
    def test_without_bounds_nothing_is_cut_at_chance(self, pruning):
        dice = Node(CHANCE, zero_sum(-8, -7, 10, 10), probabilities=[0.25] * 4)
        game = TreeGame(Node(0, [Leaf(2, -2), dice]), chance=Chance.EXACT)
        assert ExpectiminimaxAgent(depth="full", pruning=pruning, memory_mb=0).search_state(game).nodes == 7


def with_dice(seed, seats, rewards):
    rng = np.random.default_rng(seed)
    root = Leaf(0)
    while isinstance(root, Leaf) or root.mover < 0:
        root = random_tree(rng, 6, seats=seats, rewards=rewards, chance=True)
    return root


@pytest.mark.thorough
@pytest.mark.parametrize("pruning", PRUNINGS)
@given(
    seed=seeds,
    seats=st.sampled_from([1, 2]),
    rewards=st.booleans(),
    exact=st.booleans(),
    sooner=st.booleans(),
    memory_mb=st.sampled_from([0, 64]),
    depth=st.sampled_from([None, 1, 2, 3, 4]),
    deepening=st.booleans(),
    ordering=st.sampled_from(["auto", "fixed"]),
    seed_of_ties=st.integers(0, 3),
)
@settings(max_examples=120)
def test_star_is_expectiminimax(
    pruning, seed, seats, rewards, exact, sooner, memory_mb, depth, deepening, ordering, seed_of_ties
):
    """Rewards on the way, any turn order, evaluations at a depth: values and best actions as without pruning."""
    root = with_dice(seed, seats, rewards)
    bounds = (-9.0, 9.0) if rewards else (-2.0, 2.0)
    game = TreeGame(root, seats=seats, bounds=bounds, terminal_rewards_only=not rewards, chance=Chance.EXACT)
    worth: dict = {}

    def evaluator(game, state):
        draw = np.random.default_rng((seed, len(worth))) if id(state) not in worth else None
        if draw is not None:
            worth[id(state)] = float(draw.choice([-1.5, -0.5, 0.0, 0.5, 1.5]))
        value = worth[id(state)]
        return (value, -value)[:seats]

    common = {"depth": depth or "full", "evaluator": None if depth is None else evaluator, "sooner": sooner}
    full = ExpectiminimaxAgent(**common).search_state(game)
    if depth is None:
        assert full.values_by_seat[0] == pytest.approx(expectiminimax(game, root))
    result = ExpectiminimaxAgent(
        pruning=pruning,
        exact=exact,
        memory_mb=memory_mb,
        deepening=deepening and depth is not None,
        ordering=ordering,
        seed=seed_of_ties,
        **common,
    ).search_state(game)
    assert result.values_by_seat == pytest.approx(full.values_by_seat, abs=1e-12)
    assert full.action_values[result.action] == pytest.approx(full.value, abs=1e-12)
    for action, value in result.action_values.items():
        assert full.action_values[action] == pytest.approx(value, abs=1e-12)
    if exact:
        assert sorted(result.action_values) == sorted(full.action_values)
        assert result.best_actions == full.best_actions


@pytest.mark.thorough
@given(seed=seeds)
@settings(max_examples=25)
def test_pruning_saves_nodes(seed):
    """Regular trees of MAX, dice, MIN, dice; every pruning visits no more than the one before, in sum."""
    rng = np.random.default_rng(seed)

    def grow(depth, mover):
        if depth == 0:
            value = float(rng.uniform(-1, 1))
            return Leaf(value, -value)
        children = [
            Node(CHANCE, [grow(depth - 1, 1 - mover) for _ in range(3)], probabilities=[0.5, 0.3, 0.2])
            for _ in range(3)
        ]
        return Node(mover, children)

    game = TreeGame(grow(3, 0), chance=Chance.EXACT, bounds=(-1, 1))
    found = {
        name: ExpectiminimaxAgent(depth="full", pruning=name, memory_mb=0, ordering="fixed").search_state(game)
        for name in ("none", "star1", "star2")
    }
    assert found["star1"].nodes < found["none"].nodes
    assert found["star1"].value == pytest.approx(found["none"].value, abs=1e-12)
    assert found["star2"].value == pytest.approx(found["none"].value, abs=1e-12)
    assert found["star1"].action == found["star2"].action == found["none"].action


@pytest.mark.parametrize("pruning", PRUNINGS)
def test_without_dice_it_is_alpha_beta(pruning):
    game = CoinRow([3, 1, 4, 1, 5, 9, 2, 6])
    full = ExpectiminimaxAgent(depth="full").search_state(game)
    result = ExpectiminimaxAgent(depth="full", pruning=pruning, exact=True).search_state(game)
    assert result.action_values == full.action_values
    assert result.principal_variation[0] in full.best_actions
    assert result.stopped_by is StoppedBy.COMPLETED


@pytest.mark.parametrize("pruning", PRUNINGS)
@pytest.mark.parametrize("samples", [1, 8])
def test_sampled_dice(pruning, samples):
    full = ExpectiminimaxAgent(depth="full", samples=samples, seed=3).search_state(DiceRace(rolls=2))
    result = ExpectiminimaxAgent(depth="full", samples=samples, seed=3, pruning=pruning, exact=True).search_state(
        DiceRace(rolls=2)
    )
    assert result.action_values == pytest.approx(full.action_values)
    assert result.standard_error == pytest.approx(full.standard_error) or samples == 1
    assert result.is_estimate
    assert not result.proven


@pytest.mark.parametrize("pruning", PRUNINGS)
def test_limits(pruning):
    ends = [Node(1, [Node(0, [Node(1, zero_sum(1))])]) for _ in range(2)]
    dice = Node(CHANCE, ends, probabilities=[0.5, 0.5])
    game = TreeGame(Node(0, [dice, *zero_sum(0)]), chance=Chance.EXACT, bounds=(-2, 2))
    result = ExpectiminimaxAgent(pruning=pruning, nodes=5, evaluator="rewards").search_state(game)
    assert result.nodes <= 5
    seen = []
    agent = ExpectiminimaxAgent(
        pruning=pruning, depth=3, deepening=True, evaluator="rewards", on_iteration=seen.append
    )
    agent.search_state(game)
    assert [each.depth for each in seen] == [1, 2, 3]


def test_settings():
    assert make_agent("expectiminimax(depth=2, pruning=star2)").pruning == "star2"
    with pytest.raises(InvalidSettingError, match="pruning must be one of 'none', 'star1', 'star2', not 'star3'"):
        ExpectiminimaxAgent(depth="full", pruning="star3")
    with pytest.raises(InvalidSettingError, match="exact must be True or False"):
        ExpectiminimaxAgent(depth="full", exact=1)


@pytest.mark.parametrize("name", ["pig(diceoutcomes=3,winscore=10,horizon=12)"])
@pytest.mark.parametrize("pruning", PRUNINGS)
def test_openspiels_pig(name, pruning):
    pyspiel = pytest.importorskip("pyspiel")
    game = pyspiel.load_game(name)
    full = ExpectiminimaxAgent(depth=5, evaluator="rewards").search_state(game)
    result = ExpectiminimaxAgent(depth=5, evaluator="rewards", pruning=pruning, exact=True).search_state(game)
    assert result.action_values == pytest.approx(full.action_values)
