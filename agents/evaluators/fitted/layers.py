"""Planes that overlap: where several pieces stand on one cell, or planes say several things of it.

Planes are parted into layers such that in none of them two planes are ever set on the same cell. In a layer a cell
then holds one *mark* or none: a plane, or several that count as one because the game goes on alike when they are
exchanged (two pieces of one kind, each with a plane of its own).
"""

from __future__ import annotations

import math
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

Layers: TypeAlias = tuple[tuple[tuple[int, ...], ...], ...]
"""Layers of marks of planes."""
_MOST_TOGETHER: Final = 40
"""If a cell can be filled in no more ways, all layers together are one board; otherwise each is one."""


def layers_of(seen: npt.NDArray[Any], planes: tuple[int, ...]) -> Layers:
    """Planes in layers, each in the first one where nothing of it was seen on the same cell.

    Args:
        seen: What players observed; shape (states, rows, columns, all planes).
        planes: Those that tell cells apart.

    Returns:
        One layer if no two planes overlap.
    """
    flat = (seen[..., planes] != 0).reshape(-1, len(planes)).astype(np.float64)
    overlaps = flat.T @ flat > 0
    layers: list[list[int]] = []
    for place in range(len(planes)):
        for layer in layers:
            if not overlaps[place, layer].any():
                layer.append(place)
                break
        else:
            layers.append([place])
    return tuple(tuple((planes[place],) for place in layer) for layer in layers)


def boards_of(layers: Layers) -> list[int]:
    """How many kinds of cells there are on each board that windows are looked at on."""
    kinds = [len(layer) + 1 for layer in layers]
    return [math.prod(kinds)] if math.prod(kinds) <= _MOST_TOGETHER else kinds


def kinds_on(seen: npt.NDArray[Any], layers: Layers) -> npt.NDArray[np.int64]:
    """The kind of each cell of each board; shape (states, boards * cells)."""
    states = len(seen)
    found = []
    for layer in layers:
        marks = np.stack([(seen[..., mark] != 0).any(axis=-1).reshape(states, -1) for mark in layer], axis=-1)
        found.append(np.where(marks.any(axis=2), marks.argmax(axis=2) + 1, 0))
    if len(boards_of(layers)) == len(layers):
        return np.concatenate(found, axis=1)
    together, step = np.zeros_like(found[0]), 1
    for kinds, layer in zip(found, layers, strict=True):
        together += step * kinds
        step *= len(layer) + 1
    return together


def merged(layers: Layers, alike: list[tuple[int, int]]) -> Layers:
    """The layers with such pairs of planes as one mark; pairs of planes in different layers stay apart."""
    found = []
    for layer in layers:
        marks = [set(mark) for mark in layer]
        for one, other in alike:
            holding = [mark for mark in marks if one in mark or other in mark]
            if len(holding) == 2 and {one, other} <= holding[0] | holding[1]:
                holding[0] |= holding[1]
                marks = [mark for mark in marks if mark is not holding[1]]
        found.append(tuple(tuple(sorted(mark)) for mark in marks))
    return tuple(found)
