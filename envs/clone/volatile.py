"""Attributes that differ between two copies that did the same: clocks, counters, identifiers."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.generators import is_source
from zermelo.envs.clone.kinds import SHARED, fields_of, full_name, layout_of
from zermelo.envs.clone.libraries import is_space
from zermelo.envs.clone.state_key import NOT_AT_ALL, digest

_MOST: Final = 20_000
"""Pairs of parts that are looked at."""
_SEQUENCES: Final = (list, tuple)


def volatile_attributes(one: Any, other: Any) -> dict[str, dict[str, str]]:
    """The attributes that differ, by the full names of classes, as ``state_key`` takes them for its ``without``.

    Of containers only the values of those types are left out that differ.
    """
    found: dict[str, dict[str, set[str]]] = {}
    seen: set[int] = set()
    waiting: list[tuple[Any, Any, str, str]] = [(one, other, "", "")]
    while waiting and len(seen) < _MOST:
        first, second, owner, name = waiting.pop()
        kind = type(first)
        if kind in SHARED or issubclass(kind, np.ndarray | np.generic):
            if kind is not type(second) or digest(first) != digest(second):
                found.setdefault(owner, {}).setdefault(name, set()).add(full_name(kind))
            continue
        if id(first) in seen or is_source(first) or is_space(kind):
            continue
        seen.add(id(first))
        if kind is not type(second) and original_class(kind) is not original_class(type(second)):
            _leave_out(found, owner, name)
        elif kind is dict and list(first) == list(second):
            waiting += [(first[key], second[key], owner, name) for key in first]
        elif kind in _SEQUENCES and len(first) == len(second):
            waiting += [(a, b, owner, name) for a, b in zip(first, second, strict=True)]
        elif layout_of(kind).base is object:
            cls, mine, others = full_name(original_class(kind)), fields_of(first), fields_of(second)
            for attribute in mine.keys() & others.keys():
                waiting.append((mine[attribute], others[attribute], cls, attribute))
            for attribute in mine.keys() ^ others.keys():
                _leave_out(found, cls, attribute)
        elif digest(first) != digest(second):
            _leave_out(found, owner, name)
    return {
        cls: {
            name: NOT_AT_ALL if NOT_AT_ALL in types else ",".join(sorted(types)) for name, types in names.items()
        }
        for cls, names in found.items()
        if cls
    }


def _leave_out(found: dict[str, dict[str, set[str]]], owner: str, name: str) -> None:
    found.setdefault(owner, {}).setdefault(name, set()).add(NOT_AT_ALL)
