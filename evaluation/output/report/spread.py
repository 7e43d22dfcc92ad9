"""Quantiles of numbers that are not kept: memory does not grow with them."""

from __future__ import annotations

import math
from collections import Counter
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Spread"]

_BINS: Final = 8
"""Bins of a ``Spread`` for each doubling: a quantile is right to within 5 %."""
_ZERO: Final = -200 * _BINS
"""The bin of 0."""


class Spread:
    """Count, mean, extremes and quantiles of numbers that are at least 0."""

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.greatest = 0.0
        self._bins = Counter[int]()

    def add(self, values: ArrayLike) -> None:
        """Counts any number of numbers."""
        numbers = np.asarray(values, dtype=float).ravel()
        if not numbers.size:
            return
        self.count += numbers.size
        self.total += float(numbers.sum())
        self.greatest = max(self.greatest, float(numbers.max()))
        places = np.full(numbers.shape, _ZERO)
        positive = numbers > 0
        places[positive] = np.floor(_BINS * np.log2(numbers[positive]))
        for place, count in zip(*np.unique(places, return_counts=True), strict=True):
            self._bins[int(place)] += int(count)

    @property
    def mean(self) -> float:
        """The exact mean; nan without numbers."""
        return self.total / self.count if self.count else math.nan

    def quantile(self, share: float) -> float:
        """The number below which that share lies, to within 5 %; nan without numbers."""
        left = share * self.count
        for place in sorted(self._bins):
            left -= self._bins[place]
            if left <= 0:
                return 0.0 if place == _ZERO else min(self.greatest, float(2.0 ** ((place + 0.5) / _BINS)))
        return math.nan
