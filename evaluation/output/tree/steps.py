"""A search as a list of steps, each at one node."""

from __future__ import annotations

import enum
from typing import NamedTuple

from zermelo.evaluation.output.tree.model import SearchPass


class StepKind(enum.StrEnum):
    """What a step does."""

    ENTER = "enter"
    """The search comes to a node."""
    LEAF = "leaf"
    """The search comes to a node, and its value is known at once."""
    CUT = "cut"
    """The rest of a node is cut off."""
    LEAVE = "leave"
    """The search leaves a node with its value."""
    SIMULATION = "simulation"
    """A simulation is made; the node is where it ended."""


class Step(NamedTuple):
    """One step.

    Attributes:
        number: From 1.
        kind: What it does.
        node: The number of the node.
        path: The moves that lead to the node from the root.
        window: Its window after the step; None where the search uses none.
        known: Between which values it lies after the step; None where nothing is known, and in max^n.
        values: Every seat's value after the step, in max^n; of a simulation what it brought.
        not_searched: What is cut off.
    """

    number: int
    kind: StepKind
    node: int
    path: tuple[str, ...]
    window: tuple[float, float] | None = None
    known: tuple[float, float] | None = None
    values: tuple[float, ...] = ()
    not_searched: tuple[str, ...] = ()


def kinds_of(searched: SearchPass) -> list[tuple[StepKind, int]]:
    """The kind and the node of every step."""
    found: dict[int, tuple[StepKind, int]] = {}
    for number, node in enumerate(searched.nodes):
        if searched.outcomes:
            found |= dict.fromkeys(node.visits, (StepKind.SIMULATION, number))  # the deepest comes last
            continue
        again = [span.step for span in node.windows if span.step > node.entered]
        found |= {step: (StepKind.ENTER, number) for step in again if node.probed and step not in found}
        if node.cut is not None:
            found[node.cut.step] = StepKind.CUT, number
        if node.left is not None:
            found[node.left] = StepKind.LEAVE, number
        found[node.entered] = StepKind.LEAF if node.left == node.entered else StepKind.ENTER, number
    return [found[step] for step in sorted(found)]


def steps_of(searched: SearchPass) -> tuple[Step, ...]:
    """The steps of a search in order."""
    found = []
    for number, (kind, place) in enumerate(kinds_of(searched), start=1):
        node = searched.nodes[place]
        window, known = node.window_at(number), node.known_at(number)
        cut = node.cut.not_searched if node.cut is not None and kind is StepKind.CUT else ()
        is_simulation = kind is StepKind.SIMULATION
        found.append(
            Step(
                number,
                kind,
                place,
                _path(searched, place),
                None if window is None else (window.low, window.high),
                None if known is None else (known.low, known.high),
                searched.outcomes[number - 1] if is_simulation else node.values_at(number),
                cut,
            )
        )
    return tuple(found)


def _path(searched: SearchPass, number: int) -> tuple[str, ...]:
    path: list[str] = []
    while number > 0:
        node = searched.nodes[number]
        path.append(node.move)
        number = node.parent
    return tuple(reversed(path))
