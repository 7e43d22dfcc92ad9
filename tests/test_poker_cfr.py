"""CFR over public trees: Kuhn poker, whose value is known, and plain as compiled code."""

from __future__ import annotations

import itertools

import numpy as np
import poker_cfr
import pytest
from poker_cfr import DealArrays, PublicTreeCFR, exploitability_on

from zermelo.agents.experts.poker.betting import FIXED, SHOWDOWN, PublicTree

KUHN = PublicTree(
    movers=np.array([0, 1, 1, 0, SHOWDOWN, FIXED, SHOWDOWN, FIXED, SHOWDOWN]),
    rounds=np.zeros(9, np.int64),
    firsts=np.array([0, 2, 4, 6, 8, 8, 8, 8, 8]),
    children=np.array([1, 2, 4, 3, 5, 6, 7, 8]),  # check or bet; check or bet; fold or call; fold or call
    actions=np.array([0, 1, 0, 1, 0, 1, 0, 1]),
    payoffs=np.array([0, 0, 0, 0, 1, 1, 2, -1, 2.0]),
)
PAIRS = np.array(list(itertools.permutations(range(3), 2)))
CARDS = DealArrays(PAIRS[:, :, None], np.sign(PAIRS[:, 0] - PAIRS[:, 1]))


def solved(iterations: int, *, tremble: float = 0.0) -> tuple[PublicTreeCFR, float]:
    """Regrets after some iterations, and the average payoff of seat 0."""
    cfr = PublicTreeCFR(KUHN, [3], tremble=tremble)
    generator = np.random.default_rng(1)
    values = []
    for _ in range(iterations // 1000):
        drawn = generator.integers(6, size=1000)
        cfr.iterate(DealArrays(CARDS.types[drawn], CARDS.outcomes[drawn]))
        values.append(cfr.value)
    return cfr, float(np.mean(values))


def test_the_value_of_kuhn_poker() -> None:
    cfr, value = solved(300_000)
    shares = cfr.average()
    assert exploitability_on(KUHN, [3], shares, CARDS) < 0.01
    assert value == pytest.approx(-1 / 18, abs=0.01)
    starts, size = KUHN.entries([3])
    assert size == len(shares) == 24
    king_bet_into = shares[starts[2] + 2 * 2 :][:2]
    assert king_bet_into == pytest.approx([0, 1], abs=0.01)


def test_uniform_play_is_exploited_as_by_hand() -> None:
    """Against uniform play in Kuhn poker a best response gets 1/2 as first and 5/12 as second."""
    uniform = np.full(24, 0.5)
    assert exploitability_on(KUHN, [3], uniform, CARDS) == pytest.approx((1 / 2 + 5 / 12) / 2)


def test_plain_code_does_what_compiled_code_does(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, value = solved(2_000, tremble=0.1)
    monkeypatch.setattr(poker_cfr, "can_compile", lambda: False)
    plain, plain_value = solved(2_000, tremble=0.1)
    np.testing.assert_allclose(plain.average(), compiled.average())
    assert plain_value == pytest.approx(value)
