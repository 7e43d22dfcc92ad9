"""Counterfactual regret minimization over a game in sequence form.

At each information state a player keeps, for each action, how much it regrets not to have always played it there,
and plays actions in proportion to positive regrets. What two opposed players do on average comes ever nearer to an
equilibrium. Zinkevich, Johanson, Bowling and Piccione, "Regret minimization in games with incomplete information",
NIPS (2007).
"""

from __future__ import annotations

import enum
from typing import Final

import numpy as np

from zermelo.agents.solving.equilibrium.sequence_form import Floats, SeatForm, SequenceForm

_ALPHA: Final = 1.5
_BETA: Final = 0.0
_GAMMA: Final = 2.0
"""Brown and Sandholm's recommendation."""


class Variant(enum.StrEnum):
    """Variants of CFR, by the weight of earlier iterations."""

    CFR = "cfr"
    """All alike."""
    PLUS = "plus"
    """CFR+: regrets never fall below zero, and later policies weigh more. Tammelin, "Solving large imperfect
    information games using CFR+", arXiv:1407.5042 (2014)."""
    DISCOUNTED = "discounted"
    """Earlier regrets fade, bad ones faster, and so do earlier policies. Brown and Sandholm, "Solving
    imperfect-information games via discounted regret minimization", AAAI (2019)."""
    EXTERNAL_SAMPLING = "external_sampling"
    """CFR over a sample of chance and of the opponents' actions, for games too large to be written out
    (``sampling``)."""


class CFR:
    """Regrets and average policies, iteration by iteration; players are updated in turn.

    Args:
        form: The game.
        variant: Which of the variants that see the whole game.

    Attributes:
        iterations: How many have been made.
    """

    def __init__(self, form: SequenceForm, variant: Variant) -> None:
        self.form, self.variant = form, variant
        self.iterations = 0
        self._regrets = [np.zeros(seat.size - 1) for seat in form.seats]
        self._sums = [np.zeros(seat.size) for seat in form.seats]
        self._behaviours = [seat.uniform() for seat in form.seats]
        self._plans = [seat.plan(each) for seat, each in zip(form.seats, self._behaviours, strict=True)]

    def iterate(self, count: int) -> None:
        """Runs ``count`` more iterations."""
        for _ in range(count):
            self.iterations += 1
            for seat, form in enumerate(self.form.seats):
                if len(form.keys):
                    self._update(seat, form)

    def _update(self, seat: int, form: SeatForm) -> None:
        values = self.form.sequence_values(seat, self._plans)
        behaviour, regrets, sums = self._behaviours[seat], self._regrets[seat], self._sums[seat]
        # 1. From the last decisions to the first: the value of each decision, which adds to what led there.
        for level in reversed(form.levels):
            lower, upper = level.sequences.start, level.sequences.stop
            here = values[lower:upper]
            worth = np.add.reduceat(behaviour[lower - 1 : upper - 1] * here, level.starts)
            regrets[lower - 1 : upper - 1] += here - worth[level.owners]
            np.add.at(values, level.parents, worth)
        # 2. What was played counts for the average; earlier iterations fade.
        sums += self._plans[seat] * (self.iterations if self.variant is Variant.PLUS else 1.0)
        if self.variant is Variant.PLUS:
            np.maximum(regrets, 0.0, out=regrets)
        elif self.variant is Variant.DISCOUNTED:
            positive, negative = (self.iterations**power for power in (_ALPHA, _BETA))
            regrets *= np.where(regrets > 0, positive / (positive + 1), negative / (negative + 1))
            sums *= (self.iterations / (self.iterations + 1)) ** _GAMMA
        # 3. Regret matching.
        self._behaviours[seat] = form.normalized(np.maximum(regrets, 0.0))
        self._plans[seat] = form.plan(self._behaviours[seat])

    def average(self) -> list[Floats]:
        """The average behaviour of each player. S - 1 each."""
        return [form.normalized(sums[1:]) for form, sums in zip(self.form.seats, self._sums, strict=True)]
