"""Cycles among agents and the Nash average."""

import itertools
import math

import numpy as np
import pytest

from zermelo.envs import InvalidSettingError
from zermelo.evaluation import GameCounts, fit_ratings
from zermelo.evaluation.stats.ratings import find_cycles, logit_matrix, nash_average

CYCLE = np.array([[0.0, 4.6, -4.6], [-4.6, 0.0, 4.6], [4.6, -4.6, 0.0]])


def _counts(wins):
    counts = GameCounts()
    for (a, b), (w, x) in wins.items():
        counts.add_match(a, b, w, 0, x)
        counts.add_match(b, a, x, 0, w)
    return counts


def _ring(names, wins=40, losses=10):
    return dict.fromkeys(zip(names, names[1:] + names[:1], strict=True), (wins, losses))


def test_rock_paper_scissors_is_told():
    table = fit_ratings(_counts(_ring("ABC")))
    assert table.cycles == (("A", "B", "C"),)
    assert table.nash.shares == pytest.approx({"A": 1 / 3, "B": 1 / 3, "C": 1 / 3})
    assert any("A > B > C > A" in note and "none beats: A 33 %, B 33 %, C 33 %." in note for note in table.notes)
    assert [p.elo for p in table.players] == pytest.approx([0, 0, 0], abs=1e-6)


def test_a_cycle_that_may_be_chance_is_not_told():
    assert find_cycles(_counts(_ring("ABC", 11, 9))) == ()
    assert find_cycles(_counts(_ring("ABC", 1, 0))) == ()
    assert fit_ratings(_counts(_ring("ABC", 11, 9))).nash is None


def test_many_equals_have_no_cycle():
    """Of fifty, some significantly beat each other in a circle by chance alone."""
    generator, counts = np.random.default_rng(0), GameCounts()
    for one, other in itertools.combinations([f"equal{number:02}" for number in range(50)], 2):
        counts.add_match(one, other, *generator.multinomial(20, [0.45, 0.1, 0.45]).tolist())
    assert find_cycles(counts) == ()


def test_a_line_has_no_cycle():
    wins = dict.fromkeys(itertools.combinations("ABCDE", 2), (40, 10))
    assert find_cycles(_counts(wins)) == ()


def test_all_triangles_and_longer_cycles_are_found():
    assert find_cycles(_counts(_ring("ABCDE"))) == (("A", "B", "C", "D", "E"),)
    wins = _ring("CAB") | {(x, "D"): (40, 10) for x in "ABC"}
    assert find_cycles(_counts(wins)) == (("A", "B", "C"),)
    two = _ring("ABC") | _ring("XYZW")
    assert find_cycles(_counts(two)) == (("A", "B", "C"), ("W", "X", "Y", "Z"))


def test_nash_of_a_cycle_and_its_copies():
    """Balduzzi et al. 2018, section 4: invariant to redundant copies, interpretable, and unique."""
    assert nash_average(CYCLE, "ABC").ratings == pytest.approx({"A": 0, "B": 0, "C": 0})
    copied = CYCLE[np.ix_([0, 1, 2, 2], [0, 1, 2, 2])]
    shares = nash_average(copied, "ABCD").shares
    assert shares == pytest.approx({"A": 1 / 3, "B": 1 / 3, "C": 1 / 6, "D": 1 / 6}, abs=1e-6)


def test_the_best_of_a_line_takes_all():
    # Log odds of abilities 2, 1 and 0.
    line = np.subtract.outer([2.0, 1.0, 0.0], [2.0, 1.0, 0.0])
    nash = nash_average(line, ("top", "middle", "bottom"))
    assert nash.shares == pytest.approx({"top": 1, "middle": 0, "bottom": 0})
    unit = 400 / math.log(10)
    assert nash.ratings == pytest.approx({"top": 0, "middle": -unit, "bottom": -2 * unit})


def test_equals_share_and_a_dominated_agent_has_none():
    assert nash_average(np.zeros((3, 3)), "ABC").shares == pytest.approx(dict.fromkeys("ABC", 1 / 3))
    payoff = np.zeros((4, 4))
    payoff[:3, :3] = CYCLE
    payoff[:3, 3], payoff[3, :3] = 1.0, -1.0
    nash = nash_average(payoff, "ABCD")
    assert nash.shares["D"] == 0
    assert nash.ratings["D"] == pytest.approx(-400 / math.log(10))


@pytest.mark.parametrize(("seed", "size"), [(0, 4), (1, 7), (2, 12), (3, 25)])
def test_it_is_an_equilibrium_and_no_other_has_more_entropy(seed, size):
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    payoff = np.round(rng.normal(size=(size, size)))  # Rounded, so that several equilibria are common.
    payoff -= payoff.T
    names = [f"p{k}" for k in range(size)]
    shares = np.array(list(nash_average(payoff, names).shares.values()))
    assert shares.sum() == pytest.approx(1.0)
    assert (payoff @ shares).max() < 1e-5

    def entropy(p):
        return -sum(x * math.log(x) for x in p if x > 0)

    for _ in range(10):
        other = linprog(
            rng.normal(size=size), A_ub=payoff, b_ub=np.zeros(size), A_eq=np.ones((1, size)), b_eq=[1.0]
        ).x
        assert entropy((other + shares) / 2) <= entropy(shares) + 1e-5


def test_logit_matrix():
    counts = _counts({("A", "B"): (30, 10)})
    counts.add_match("C", "A", 0, 4, 0)
    matrix = logit_matrix(counts)
    assert matrix[0, 1] == pytest.approx(math.log(60.5 / 20.5))
    assert matrix[0, 2] == 0
    assert np.array_equal(matrix, -matrix.T)
    assert np.array_equal(logit_matrix(counts, ("B", "A")), matrix[np.ix_([1, 0], [1, 0])])


@pytest.mark.parametrize(
    ("matrix", "players"),
    [(np.zeros((2, 3)), "AB"), (np.ones((2, 2)), "AB"), (np.zeros((2, 2)), "ABC"), ([[math.nan]], "A")],
)
def test_payoffs_that_are_none_are_refused(matrix, players):
    with pytest.raises(InvalidSettingError, match="payoff matrix"):
        nash_average(matrix, players)


def test_confidence_is_checked():
    with pytest.raises(InvalidSettingError, match="confidence"):
        find_cycles(GameCounts(), confidence=2)
