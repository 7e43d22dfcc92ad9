"""The layout of a drawn tree: children side by side, a parent centred above them.

Subtrees are pushed together until their outlines touch: Reingold and Tilford, "Tidier drawings of trees", IEEE
Transactions on Software Engineering 7 (1981). Parts have widths of their own, which the usual libraries for Python
do not know of; the page is laid out by d3-hierarchy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Part(Generic[T]):
    """Something to be drawn, and what hangs below it.

    Attributes:
        what: What it is.
        left, right: How far it reaches to either side of where it stands.
        children: What hangs below it, from left to right.
        x, level: Where it stands, once that is known; the leftmost part of the tree begins at 0.
    """

    what: T
    left: float
    right: float
    children: list[Part[T]] = field(default_factory=list)
    x: float = 0.0
    level: int = 0

    def all(self) -> list[Part[T]]:
        """It and all below it, parents first."""
        found = [self]
        for part in found:
            found += part.children
        return found


def lay_out(root: Part[T], gap: float) -> float:
    """Gives every part its place, with a gap between neighbours.

    Returns:
        The width of the whole tree.
    """
    parts = root.all()
    for part in parts:
        for child in part.children:
            child.level = part.level + 1
    outlines: dict[int, tuple[list[float], list[float]]] = {}
    for part in reversed(parts):  # x is relative to the parent until all are known
        lefts, rights = _side_by_side(part.children, [outlines.pop(id(child)) for child in part.children], gap)
        outlines[id(part)] = [-part.left, *lefts], [part.right, *rights]
    lefts, rights = outlines[id(root)]
    root.x = -min(lefts)
    for part in parts:
        for child in part.children:
            child.x += part.x
    return root.x + max(rights)


def _side_by_side(
    children: Sequence[Part[T]], outlines: Sequence[tuple[list[float], list[float]]], gap: float
) -> tuple[list[float], list[float]]:
    """Places children relative to the middle between the first and the last; the outline of all of them."""
    all_lefts: list[float] = []
    all_rights: list[float] = []
    for child, (lefts, rights) in zip(children, outlines, strict=True):
        touching = (right - left for right, left in zip(all_rights, lefts, strict=False))
        child.x = max((distance + gap for distance in touching), default=0.0)
        shifted = [child.x + right for right in rights]
        all_lefts += [child.x + left for left in lefts[len(all_lefts) :]]
        all_rights[: len(shifted)] = shifted
    middle = (children[0].x + children[-1].x) / 2 if children else 0.0
    for child in children:
        child.x -= middle
    return [left - middle for left in all_lefts], [right - middle for right in all_rights]
