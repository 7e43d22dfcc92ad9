"""Declarations about games: how environments of others that play the same game are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class EquivalentRules:
    """An environment of others that plays a game whose rules are in this package.

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
