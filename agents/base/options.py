"""Choices that several agents offer as settings."""

from __future__ import annotations

import enum
from typing import Any, Final

from zermelo.envs.game import Chance

FITTED_UNIT: Final = 1 << 16
"""Fitted evaluations are whole in so many parts of a point: in 1024ths, sure wins would look the same."""


class Compile(enum.StrEnum):
    """When rules are compiled that are not yet: once for each machine."""

    WAIT = "wait"
    """Before the search, whose clock starts afterwards."""
    BACKGROUND = "background"
    """While searches run in plain Python."""
    NEVER = "never"
    """Not at all: searches run in plain Python."""


class Ties(enum.StrEnum):
    """Which of several best actions is played."""

    RANDOM = "random"
    """Any of them, drawn from the agent's seed."""
    FIRST = "first"
    """The one with the smallest number."""


class ChanceAtLimit(enum.StrEnum):
    """How a chance state at the depth limit gets its value."""

    AUTO = "auto"
    """The choice of the evaluation; by default the average."""
    EVALUATE = "evaluate"
    """The chance state is evaluated, say after a move and before the dice are thrown: so do most programs for
    backgammon (Hauk, Buro and Schaeffer, Computers and Games 2004), and OpenSpiel."""
    AVERAGE = "average"
    """Its outcomes are evaluated, and averaged: half a move more, at many times the cost."""


def evaluates_chance(setting: ChanceAtLimit, game: Any, evaluator: Any) -> bool:
    """True if chance states at the depth limit are evaluated as they are, with an evaluator or None.

    With ``"auto"`` they are if the game has a method ``evaluates_before_chance()`` that says so, for its own
    evaluation, or if another evaluator has an attribute ``before_chance`` that is true. Rewards and ends that come
    with an outcome are then not seen. Sampled chance is always averaged.
    """
    if evaluator is None or game.traits.chance is not Chance.EXACT:
        return False
    if setting is not ChanceAtLimit.AUTO:
        return setting is ChanceAtLimit.EVALUATE
    if getattr(evaluator, "spec", lambda: None)() == "game":
        asks = getattr(game, "evaluates_before_chance", None)
        return asks is not None and bool(asks())
    return bool(getattr(evaluator, "before_chance", False))
