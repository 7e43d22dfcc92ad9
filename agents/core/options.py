"""Choices that several agents offer as settings."""

from __future__ import annotations

import enum
from typing import Any, Final

from zermelo.envs import Chance

FITTED_UNIT: Final = 1 << 16
"""Fitted evaluations are whole in so many parts of a point: in 1024ths, sure wins would look the same."""
MIN_REDUCED_DEPTH: Final = 3
"""Late moves are searched less deep only at nodes with at least so many moves to look ahead."""


class SolveBy(enum.StrEnum):
    """The search that solves a game of two players without chance."""

    AUTO = "auto"
    """Null windows to the end for rules that compile, alpha-beta for other games."""
    ALPHA_BETA = "alpha_beta"
    PROOF_NUMBER = "proof_number"
    """Depth-first proof-number search, for positions in which one side has few answers, such as mates."""


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


class ChancePruning(enum.StrEnum):
    """Pruning where there is chance. It never changes a value."""

    NONE = "none"
    """Nothing: every node down to the depth is visited."""
    STAR1 = "star1"
    """Leaves out outcomes that cannot bring the average of a chance node back into the window."""
    STAR2 = "star2"
    """Star1 after probing one action in each outcome."""


class Ordering(enum.StrEnum):
    """How actions are ordered. It changes how long a search to a depth takes, not what it is worth."""

    AUTO = "auto"
    """The table's action, then killers (actions that cut off a sibling at the same ply), then the game's own
    ``ordering_hint`` if it has one, then history (how often an action cut off anywhere), then ascending."""
    FIXED = "fixed"
    """Ascending, always: what textbooks count nodes with."""


class TieRule(enum.StrEnum):
    """Which of several actions a player takes that are as good for itself but not for the others.

    In max^n the value of a position depends on it: Sturtevant and Bowling, "Robust Game Play Against Unknown
    Opponents", AAMAS (2006). What is still equal is decided for the smallest action number.
    """

    FIRST = "first"
    """The one with the smallest number."""
    PARANOID = "paranoid"
    """The one that is worst for the seat to move at the root."""
    FRIENDLY = "friendly"
    """The one that is best for the seat to move at the root."""
    SPITEFUL = "spiteful"
    """The one that leaves least to all others together."""
    GENEROUS = "generous"
    """The one that leaves most to all others together."""


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
    evaluation, or if another evaluator has an attribute ``before_chance`` that is true. Rewards that come with an
    outcome, and an end of the game, are then not seen. Sampled chance, which has no state before the draw, is
    always averaged.
    """
    if evaluator is None or game.traits.chance is not Chance.EXACT:
        return False
    if setting is not ChanceAtLimit.AUTO:
        return setting is ChanceAtLimit.EVALUATE
    if getattr(evaluator, "spec", lambda: None)() == "game":
        asks = getattr(game, "evaluates_before_chance", None)
        return asks is not None and bool(asks())
    return bool(getattr(evaluator, "before_chance", False))
