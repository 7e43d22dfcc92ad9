"""What is said of a game beside its rules: how it is listed, and whose environments play the same game.

A game's module says it where the game is written; environments, lists and searches read it here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["LISTED", "TWINS", "Listed", "Twin", "listed", "twin"]

_Class = TypeVar("_Class", bound=type)


@dataclass(frozen=True)
class Listed:
    """A line in the list of environments.

    Attributes:
        players: How many play, as text: ``2``, ``2-6``.
        kind: What kind of game it is, in a few words.
        gymnasium: ``"module:name"`` of its Gymnasium environment, which has ``rules`` and ``position``; if any.
    """

    players: str
    kind: str
    gymnasium: str


@dataclass(frozen=True)
class Twin:
    """An environment of somebody else's that plays a game we have rules of.

    Attributes:
        rules: The rules, with their parameters.
        read: The state of the rules that such an environment is in, or None if the rules cannot be in it. Of
            rules with ``repetition_key`` it brings its past (``zermelo.envs.rules.history.with_past``).
        symmetry: The symmetry through which text and actions are shown as the environment has them.
    """

    rules: Any
    read: Callable[[Any], Any | None]
    symmetry: int = 0


LISTED: dict[type, Listed] = {}
TWINS: dict[str, Twin] = {}
"""By the full name of the environment's class."""


def listed(*, players: str = "2", kind: str = "board", gymnasium: str = "") -> Callable[[_Class], _Class]:
    """Lists a class of rules as the environment ``zermelo/<class>-v0``."""

    def add(rules_class: _Class) -> _Class:
        LISTED[rules_class] = Listed(players, kind, gymnasium)
        return rules_class

    return add


_Read = TypeVar("_Read", bound=Callable[[Any], Any])


def twin(env_class: str, rules: Any, *, symmetry: int = 0) -> Callable[[_Read], _Read]:
    """Declares a function as the one that reads the state of these rules off an environment of that class."""

    def add(read: _Read) -> _Read:
        TWINS[env_class] = Twin(rules, read, symmetry)
        return read

    return add
