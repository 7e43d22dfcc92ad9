"""Cycles among agents."""

import itertools
import random

import numpy as np
import pytest

from zermelo.evaluation import elo, fit_ratings
from zermelo.evaluation.results import GameCounts
from zermelo.evaluation.stats.ratings.elo import surely_stronger
from zermelo.evaluation.stats.ratings.fit import find_cycles


def _counts(wins):
    counts = GameCounts()
    for (a, b), (w, x) in wins.items():
        counts += GameCounts.match(a, b, w, 0, x)
        counts += GameCounts.match(b, a, x, 0, w)
    return counts


def _ring(names, wins=40, losses=10):
    return dict.fromkeys(zip(names, names[1:] + names[:1], strict=True), (wins, losses))


def test_rock_paper_scissors_is_told():
    table = fit_ratings(_counts(_ring("ABC")))
    assert table.cycles == (("A", "B", "C"),)
    assert any("in a circle: A > B > C > A." in note for note in table.notes)
    assert [p.elo for p in table.players] == pytest.approx([0, 0, 0], abs=1e-6)


def test_a_cycle_that_may_be_chance_is_not_told():
    assert find_cycles(_counts(_ring("ABC", 11, 9))) == ()
    assert find_cycles(_counts(_ring("ABC", 1, 0))) == ()
    assert fit_ratings(_counts(_ring("ABC", 11, 9))).cycles == ()


@pytest.mark.thorough
def test_many_equals_have_no_cycle():
    """Of fifty, some significantly beat each other in a circle by chance alone."""
    generator, counts = np.random.default_rng(0), GameCounts()
    for one, other in itertools.combinations([f"equal{number:02}" for number in range(50)], 2):
        counts += GameCounts.match(one, other, *generator.multinomial(20, [0.45, 0.1, 0.45]).tolist())
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


def test_who_is_surely_stronger_is_told_as_the_interval_tells_it():
    seed = random.randrange(10**6)
    chance, sure = random.Random(seed), 0
    for _ in range(300):
        most = chance.choice([3, 8, 30, 200, 2000])
        counts = [chance.randint(0, most), chance.randint(0, most), chance.randint(1, most)]
        confidence = chance.choice([0.95, 0.99, 0.99999])
        is_sure = surely_stronger(*counts, confidence)
        assert is_sure == (elo(*counts, confidence=confidence).lower > 0.0), f"seed {seed}: {counts}, {confidence}"
        sure += is_sure
    assert 0 < sure < 300
