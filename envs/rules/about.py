"""Declarations about games: how they are listed, and which environments play the same game.

A game's module says it where the game is written; environments, lists and searches read it here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

_Thing = TypeVar("_Thing", bound=Callable[..., Any])


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
class EquivalentRules:
    """An environment of somebody else's that plays a game we have rules of.

    Attributes:
        rules: The rules, with their parameters, or a function of such an environment that gives them.
        read: The state of the rules that such an environment is in, or None if the rules cannot be in it. Of
            rules with ``repetition_key`` it brings its past (``zermelo.envs.rules.history.with_past``).
        symmetry: The symmetry through which text and actions are shown as the environment has them.
        scale: What a point of the rules' utility is in the environment's rewards; other than 1 only where
            something is hidden, as no compiled search knows of it.
    """

    rules: Any
    read: Callable[[Any], Any | None]
    symmetry: int = 0
    scale: float = 1.0


@dataclass(frozen=True, kw_only=True)
class OpenSpielRules:
    """Rules of one of OpenSpiel's games that number its actions and chance outcomes in another way.

    Attributes:
        rules: The rules.
        to_openspiel: OpenSpiel's number of an action or outcome at a state.
        from_openspiel: The other way; if not given, the one of the state's that has that number.
    """

    rules: Any
    to_openspiel: Callable[[Any, int], int]
    from_openspiel: Callable[[Any, int], int] | None = None


LISTED: dict[type, Listed] = {}
EQUIVALENT: dict[str, EquivalentRules] = {}
"""By the full name of the environment's class."""
OPENSPIEL: dict[str, Callable[..., Any]] = {}
"""By the short name of OpenSpiel's game: called with its parameters (``openspiel_rules``)."""


def _declares(table: dict[Any, Any], entry: Callable[[Any], tuple[Any, Any]]) -> Callable[[_Thing], _Thing]:
    """A decorator that enters a class or a function into a table, by the key and value that follow from it."""

    def add(thing: _Thing) -> _Thing:
        key, value = entry(thing)
        table[key] = value
        return thing

    return add


def listed(*, players: str = "2", kind: str = "board", gymnasium: str = "") -> Callable[[_Thing], _Thing]:
    """Lists a class of rules as the environment ``zermelo/<class>-v0``."""
    return _declares(LISTED, lambda rules_class: (rules_class, Listed(players, kind, gymnasium)))


def equivalent_rules(
    env_class: str, rules: Any, *, symmetry: int = 0, scale: float = 1.0
) -> Callable[[_Thing], _Thing]:
    """Declares a function as the one that reads the state of these rules off an environment of that class."""
    return _declares(EQUIVALENT, lambda read: (env_class, EquivalentRules(rules, read, symmetry, scale)))


def openspiel_rules(short_name: str) -> Callable[[_Thing], _Thing]:
    """Declares the rules of one of OpenSpiel's games, as a function of that game's parameters.

    It returns rules, ``OpenSpielRules`` where numbers differ, or None where no rules fit. A class of rules whose
    parameters have the same names is such a function.
    """
    return _declares(OPENSPIEL, lambda make: (short_name, make))
