"""Star1 and Star2 leave values as they are: against unpruned expectiminimax, on trees by hand and random ones."""

from __future__ import annotations

import pytest
from doubles.small_games import DiceRace, Leaf, Node, TreeGame
from hypothesis import strategies as st

from zermelo.agents import ExpectiminimaxAgent
from zermelo.envs import CHANCE
from zermelo.envs.game import Chance

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
