"""Sums over rows of arrays, for evaluations by networks: NumPy's in plain Python, loops when compiled."""

from __future__ import annotations

from typing import Any

import numpy as np


def row_sum(sums: Any, rows: Any, numbers: Any, factors: Any, count: int) -> None:
    """Writes the sum of the first ``count`` rows of those numbers, each times its factor, with 32 bits."""
    sums[:] = factors[:count] @ rows[numbers[:count]]


def row_product(values: Any, rows: Any, row: int) -> int:
    """The inner product of values and a row, with 64 bits; negative values count as 0."""
    return int(np.maximum(values, 0).astype(np.int64) @ rows[row].astype(np.int64))
