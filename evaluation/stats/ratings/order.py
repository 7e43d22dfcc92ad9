"""Directions in which parameters may run off to infinity without a loss of likelihood.

In these directions no alternative that was chosen falls below another of its set. Where each such condition
compares two parameters, the conditions are the edges of a graph, and a difference of two parameters may grow
without end unless a path of edges leads from the lower to the upper (L. R. Ford, 1957, Amer. Math. Monthly 64:28).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from zermelo.evaluation.stats.ratings.choices import Choices, Vector

_EQUAL = 1e-12


class Order:
    """Which parameters cannot fall below which; an edge leads from the one above to the one below."""

    def __init__(self, edges: Iterable[tuple[int, int]], size: int, is_fixed: npt.NDArray[np.bool_]) -> None:
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import connected_components

        above, below = np.array(sorted(edges), int).reshape(-1, 2).T
        self._graph = csr_matrix((np.ones(len(above)), (above, below)), (size, size))
        self._tied = connected_components(self._graph, connection="strong")[1]
        self._is_fixed = is_fixed
        self._below = functools.cache(self._found_below)

    @classmethod
    def of(cls, choices: Choices, is_fixed: npt.NDArray[np.bool_]) -> Order | None:
        """The order of the parameters that are not fixed; None where a condition compares more than two."""
        features, sizes, counts = choices.given
        fixed = {*np.flatnonzero(is_fixed).tolist()}
        free = [{key: value for key, value in one.items() if key not in fixed} for one in features]
        edges, start = set[tuple[int, int]](), 0
        for size in sizes:
            group = range(start, start + size)
            for chosen, other in itertools.product([one for one in group if counts[one] > 0.0], group):
                edge = _compared(free[chosen], free[other])
                if edge is None:
                    return None
                edges.update([edge] if edge else [])
            start += size
        return cls(edges, choices.parameters, is_fixed)

    def directions(self, contrast: Vector) -> Sequence[bool]:
        """Whether a combination may rise and may fall without end; no for both where that is not known."""
        parts = [np.flatnonzero((side > _EQUAL) & ~self._is_fixed) for side in (contrast, -contrast)]
        if not all(len({*self._tied[part].tolist()}) == 1 for part in parts):
            return False, False
        upper, lower = (int(part[0]) for part in parts)
        return upper not in self._below(lower), lower not in self._below(upper)

    def _found_below(self, parameter: int) -> frozenset[int]:
        from scipy.sparse.csgraph import breadth_first_order

        return frozenset(breadth_first_order(self._graph, parameter, return_predecessors=False).tolist())


def _compared(chosen: dict[int, float], other: dict[int, float]) -> tuple[int, int] | tuple[()] | None:
    """The two parameters of which the first must not fall below the second; None if they are not two."""
    differences = {key: chosen.get(key, 0.0) - other.get(key, 0.0) for key in {*chosen, *other}}
    left = {key: value for key, value in differences.items() if abs(value) > _EQUAL}
    if len(left) == 2 and abs(sum(left.values())) < _EQUAL:
        return max(left, key=left.__getitem__), min(left, key=left.__getitem__)
    return None if left else ()
