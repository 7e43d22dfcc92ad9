"""The first difference between two values of the kinds that environments show."""

from __future__ import annotations

from typing import Any

import numpy as np

from zermelo.envs.clone.state_key import state_key
from zermelo.envs.errors import CloneError

__all__ = ["first_difference"]


def first_difference(first: Any, second: Any, where: str = "") -> tuple[str, Any, Any] | None:
    """Where two values differ, and the two parts there; None if they are the same.

    Types count for arrays (dtype and shape), not for numbers: 1 and 1.0 are the same, and nan is itself.
    """
    if isinstance(first, dict) and isinstance(second, dict):
        if list(first) != list(second):
            return f"{where} (its keys)", list(first), list(second)
        pairs = [(f"{where}[{key!r}]", first[key], second[key]) for key in first]
    elif isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return _array_difference(first, second, where)
    elif isinstance(first, list | tuple) and isinstance(second, list | tuple):
        if len(first) != len(second):
            return where, first, second
        pairs = [(f"{where}[{i}]", a, b) for i, (a, b) in enumerate(zip(first, second, strict=True))]
    else:
        return None if _equal(first, second) else (where, first, second)
    for place, a, b in pairs:
        found = first_difference(a, b, place)
        if found is not None:
            return found
    return None


def _array_difference(first: Any, second: Any, where: str) -> tuple[str, Any, Any] | None:
    if not (isinstance(first, np.ndarray) and isinstance(second, np.ndarray)):
        return where, first, second
    if first.dtype != second.dtype or first.shape != second.shape:
        return f"{where} (its shape and dtype)", (first.shape, str(first.dtype)), (second.shape, str(second.dtype))
    if first.dtype.hasobject:
        return first_difference(first.tolist(), second.tolist(), where)
    if first.tobytes() == second.tobytes():
        return None
    for index in np.ndindex(first.shape):
        if not _equal(first[index], second[index]):
            place = f"{where}[{', '.join(map(str, index))}]" if index else where
            return place, first[index], second[index]
    return None


def _equal(first: Any, second: Any) -> bool:
    if first is second:
        return True
    try:
        if bool(first == second):
            return True
        if bool(first != first and second != second):  # nan
            return True
    except (TypeError, ValueError):  # a comparison that has no one answer
        pass
    if type(first) is not type(second) or any("__eq__" in base.__dict__ for base in type(first).__mro__[:-1]):
        return False
    try:  # objects that only know themselves are compared by what they hold
        return state_key(first) == state_key(second)
    except CloneError:
        return True
