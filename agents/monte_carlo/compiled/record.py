"""The record and the variant of compiled Monte Carlo tree search, and the words of its nodes and edges.

The tree lies in one arena, of words of eight bytes. A node: visits; the address of its edges, or 0; how many there
are, or -1 for a finished state; the player to move; proven lower and upper bound; how many actions were tried;
whether something was proven of a child. A finished state's outcome is its bounds where one seat's is kept, else it
follows.

An edge: action; the address of the child, or 0; visits; what the player to move got on average, from 0 to 1;
1 / sqrt(visits); the sum of outcomes of each seat that is kept. Only where a setting or chance needs them, from
``search.more`` on: prior, or of an outcome its probability; all moves as first, visits and sum; how many
simulations the action began with, lost if negative. Small edges are fast: a simulation reads all
those of the nodes on its way.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from zermelo.agents.kernels.layout import ValueRecord, laid_out

VISITS, EDGES, COUNT, MOVER, LOWER, UPPER, TRIED, HAS_PROVEN_CHILD = range(8)
ACTION, CHILD, VISITED, MEAN, INVERSE, BELOW, TOTALS = range(7)
PRIOR, AMAF_VISITS, AMAF_TOTAL, VIRTUAL = range(4)  # from ``search.more`` on
EXPANDING: Final = 1
"""In ``EDGES`` while a thread gives a node its edges."""
NODE_WORDS: Final = 8
EDGE_WORDS: Final = 6
"""Words of every node, and of every edge besides one for each value kept."""
MORE_EDGE_WORDS: Final = 4
"""Further words of an edge where chance or a setting needs them."""


class MonteCarloVariant(NamedTuple):
    """The record of the Monte Carlo tree search kernel."""

    network: bool = False  # a network evaluates positions, in place of the rules


WITH: Final = MonteCarloVariant()
"""The variant that a kernel is compiled for stands in its place (``zermelo.envs.jit.Kernel``)."""


@laid_out
class MonteCarloRecord(ValueRecord):
    """One thread's numbers in a Monte Carlo tree search."""

    __slots__ = ()

    stamp: int  # the simulation that goes on; no two threads have the same
    threads: int
    solves: int
    node_words: int
    edge_words: int
    more: int  # where in an edge the words are that not all have
    weights: int  # the address of sqrt(log(n + 1)) for n below ``COUNTED``; then of 1 / sqrt(n)
    is_plain: int  # whether values are means, without anything added
    adapts: int  # whether values are measured by the outcomes so far, not by the bounds of utility
    pause: int  # no simulation begins after so many nodes
    tries_first: int  # whether each action is tried once before any is compared
    counts_losses: int
    has_prior: int  # whether actions have prior probabilities
    untried: float  # the value of an action that was not tried
    playouts: int
    playout_moves: int
    has_evaluation: int
    guides: int
    has_priors: int  # whether actions begin with what the rules say of them
    looks: int  # the address of outcomes and probabilities after an action that is only looked at
    arena_top: int
    tree_nodes: int
    low: float
    high: float
    unit: float  # 1 / (high - low)
    exploration: float
    rave: float
