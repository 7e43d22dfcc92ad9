"""Where two records of an environment differ, and which differences only say when they were made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, TypeAlias

import numpy as np

from zermelo.envs.clone.state_key import state_key
from zermelo.envs.errors import CloneError

Place: TypeAlias = tuple[Any, ...]
"""Keys and indices that lead from a record to a value."""
Difference: TypeAlias = tuple[Place, Any, Any]


def differences(first: Any, second: Any, place: Place = ()) -> list[Difference]:
    """All places at which two values differ, with both parts; none where they cannot be compared."""
    try:
        if state_key([first]) == state_key([second]):
            return []
    except CloneError:
        return []
    parts = _parts(first, second)
    found = [one for key, a, b in parts for one in differences(a, b, (*place, key))]
    return found or [(place, first, second)]


def first_difference(first: Any, second: Any, but: Set[Place] = frozenset()) -> tuple[str, Any, Any] | None:
    """The first difference of two records and what it is of, such as ``infos['a']``; places in ``but`` aside."""
    found = next((found for found in differences(first, second) if found[0] not in but), None)
    if found is None:
        return None
    names = list(found[0])
    while names and isinstance(names[-1], tuple):  # the number in an array says less than the array
        names.pop()
    if len(names) < len(found[0]):
        found = found[0], _at(first, names), _at(second, names)
    return place_name(names), found[1], found[2]


def place_name(place: Sequence[Any]) -> str:
    """A place as code writes it: ``infos['a']``."""
    return "".join([*map(str, place[:1]), *(f"[{name!r}]" for name in place[1:])])


def clocks(found: Mapping[Place, list[tuple[Any, Any]]]) -> frozenset[Place] | None:
    """The places that differ between two plays of one game, if all are clocks or the like; None if one is not.

    An info may hold what it likes, but for a mask of legal actions. In an observation only a fraction that never
    gets less counts as a clock: a random number does, and a counter has no fractions.
    """
    return frozenset(found) if all(_is_clock(place, pairs) for place, pairs in found.items()) else None


def _is_clock(place: Place, pairs: list[tuple[Any, Any]]) -> bool:
    if "action_mask" in place:
        return False
    if place[0] in ("info", "infos") or place[:2] == ("last", 4):
        return True
    if place[0] not in ("observation", "observations") and place[:2] != ("last", 0):
        return False
    return all(map(_never_goes_back, zip(*pairs, strict=True)))


def _never_goes_back(values: Iterable[Any]) -> bool:
    numbers = [float(value) for value in values if isinstance(value, float | np.floating)]
    is_fraction = bool(numbers) and not any(map(float.is_integer, filter(math.isfinite, numbers)))
    return is_fraction and numbers == sorted(numbers)


def _parts(first: Any, second: Any) -> Iterable[tuple[Any, Any, Any]]:
    """Keys or indices of two containers of one form, with what each of them has there."""
    if isinstance(first, dict) and isinstance(second, dict) and list(first) == list(second):
        return [(key, first[key], second[key]) for key in first]
    if type(first) is not type(second):
        return []
    if isinstance(first, list | tuple) and len(first) == len(second):
        return zip(range(len(first)), first, second, strict=True)
    if isinstance(first, np.ndarray) and first.shape == second.shape and first.dtype == second.dtype:
        places = [] if first.dtype.hasobject else map(tuple, np.argwhere(np.atleast_1d(first != second)).tolist())
        return [(place, first[place], second[place]) for place in places if first.ndim]
    return []


def _at(value: Any, place: Iterable[Any]) -> Any:
    for name in place:
        value = value[name]
    return value
