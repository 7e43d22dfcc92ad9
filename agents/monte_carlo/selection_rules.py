"""Selection rules of Monte Carlo tree search: which action a simulation follows inside the tree.

A rule is a bonus, which is added to the value of each action, from 0 to 1; the action with the highest sum is
followed. It is written twice, for the plain search and for the compiled one, with the same operations in the same
order, so that both search the same tree. Random numbers are drawn for one action after the other.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from typing import Final, NamedTuple

from zermelo.agents.base.playouts import RandomNumbers
from zermelo.agents.monte_carlo.compiled.record import INVERSE, PRIOR, VISITED, MonteCarloRecord
from zermelo.envs.jit.memory import load, load_float


class Selection(enum.StrEnum):
    """Which action a simulation follows inside the tree."""

    UCT = "uct"
    """UCB1 at every node: mean value, and a bonus for what was tried less. Kocsis and Szepesvari, "Bandit based
    Monte-Carlo planning", ECML (2006)."""
    PUCT = "puct"
    """A bonus in proportion to a prior probability, all the same without a config. Silver et al., "Mastering the
    game of Go without human knowledge", Nature 550 (2017)."""


class PlainRule(NamedTuple):
    """A rule in plain Python."""

    weight: Callable[[int], float]
    """Of a node's visits, or in information sets of how often an action was there: common to its bonuses."""
    bonus: Callable[[float, int, float, float, RandomNumbers], float]
    """Of that weight, an action's visits and prior probability, ``exploration``, and random numbers."""


class CompiledRule(NamedTuple):
    """A rule as a variant of kernels (``zermelo.envs.jit.Kernel``)."""

    weight: Callable[[int], float]
    bonus: Callable[[int, float, MonteCarloRecord], float]
    """Of an edge's address, that weight, and the record; ``kernels.random_numbers`` has random numbers."""
    by_means: bool = False  # the loop over means may stand in for it, where values are nothing else


class SelectionRule(NamedTuple):
    """A selection rule, and what it needs of the tree."""

    plain: PlainRule
    compiled: CompiledRule | None = None  # None has it searched in plain Python only
    has_prior: bool = False  # actions have prior probabilities
    untried: float = 1.0  # the value of an action that was not tried, from 0 to 1
    tries_first: bool = True  # each action is tried once before any is chosen, where nothing else is known of them
    openspiel: str = ""  # OpenSpiel's name of it; empty if it has none


def uct_weight(visits: int) -> float:
    """The weight of UCB1."""
    return math.sqrt(math.log(visits + 1))


def uct_bonus(weight: float, visits: int, prior: float, exploration: float, random: RandomNumbers) -> float:
    """The bonus of UCB1."""
    return exploration * weight * (1.0 / math.sqrt(max(visits, 1)))


def uct_edge_bonus(edge: int, weight: float, search: MonteCarloRecord) -> float:
    """The bonus of UCB1, compiled."""
    return search.exploration * weight * (load_float(edge, INVERSE) if load(edge, VISITED) > 0 else 1.0)


def puct_weight(visits: int) -> float:
    """The weight of PUCT."""
    return math.sqrt(visits + 1)


def puct_bonus(weight: float, visits: int, prior: float, exploration: float, random: RandomNumbers) -> float:
    """The bonus of PUCT."""
    return exploration * prior * weight / (1 + visits)


def puct_edge_bonus(edge: int, weight: float, search: MonteCarloRecord) -> float:
    """The bonus of PUCT, compiled."""
    prior = load_float(edge + 8 * search.more, PRIOR)
    return search.exploration * prior * weight / (1 + load(edge, VISITED))


def set_weight(available: int) -> float:
    """The weight of UCB1 in information sets."""
    return math.log(available)


def set_bonus(weight: float, visits: int, prior: float, exploration: float, random: RandomNumbers) -> float:
    """The bonus of UCB1 in information sets."""
    return exploration * math.sqrt(weight / visits)


RULE: Final = CompiledRule(uct_weight, uct_edge_bonus, by_means=True)
"""The rule that a kernel is compiled for stands in its place."""

RULES: Final[dict[Selection, SelectionRule]] = {
    Selection.UCT: SelectionRule(PlainRule(uct_weight, uct_bonus), RULE, openspiel="UCT"),
    Selection.PUCT: SelectionRule(
        PlainRule(puct_weight, puct_bonus),
        CompiledRule(puct_weight, puct_edge_bonus),
        has_prior=True,
        untried=0.5,
        tries_first=False,
        openspiel="PUCT",
    ),
}

INFORMATION_SETS: Final = SelectionRule(PlainRule(set_weight, set_bonus))
"""UCB1 for information sets (``information_sets.plain``), where an action is not there in every deal."""
