"""Experts: what is known of single games, a folder of ``zermelo.agents.experts`` each.

A folder's ``__init__`` has an ``Expert`` named ``EXPERT`` and imports nothing heavy.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

EXPERTS: Final = ("backgammon", "go", "hanabi", "poker")
"""The one list of the folders."""


class Recommendation(NamedTuple):
    """The class of the agent that ``auto`` should play by, and the reason, as results give it."""

    kind: type[Any]
    reason: str


@dataclass(frozen=True)
class Expert:
    """What a folder adds to the rest of the package.

    Attributes:
        agents, programs, evaluators: Agents, those that start a program, and evaluators, by the names that specs
            give them, as ``"module:Class"`` in ``zermelo.agents``.
        recommended: Called with game, state and whether there is time to compile; what ``auto`` plays there, or
            None.
        evaluator: Called with game and state; the evaluation of this game, or None.
    """

    agents: Mapping[str, str] = field(default_factory=dict)
    programs: Mapping[str, str] = field(default_factory=dict)
    evaluators: Mapping[str, str] = field(default_factory=dict)
    recommended: Callable[[Any, Any, bool], Recommendation | None] = lambda game, state, may_compile: None
    evaluator: Callable[[Any, Any], Any] = lambda game, state: None


@functools.cache  # without a key: the package's folders stay the same
def experts() -> tuple[Expert, ...]:
    """The experts that are there."""
    return tuple(importlib.import_module(f"zermelo.agents.experts.{name}").EXPERT for name in EXPERTS)


def by_name(kind: str) -> dict[str, str]:
    """All names of a kind (``"agents"``, ``"programs"``, ``"evaluators"``), with the places of their classes."""
    return {name: place for expert in experts() for name, place in getattr(expert, kind).items()}


def class_at(place: str) -> Any:
    """The class that ``"module:Class"`` in ``zermelo.agents`` names."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(f"zermelo.agents.{module}"), name)
