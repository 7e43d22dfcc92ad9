"""Settings and memory of one thread of a compiled Monte Carlo tree search."""

from __future__ import annotations

import functools
import math
from typing import Final

import numpy as np
import numpy.typing as npt

from zermelo.agents.compiled import layout
from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.table import spare_block
from zermelo.agents.core.monte_carlo import (
    EDGE_WORDS,
    MAX_PLAYOUT_STEPS,
    SELECTIONS,
    Selection,
    TreeForm,
)
from zermelo.agents.core.recursion import MAX_PLIES
from zermelo.envs.jit.history import starter

_LONGEST: Final = MAX_PLIES + MAX_PLAYOUT_STEPS
"""Moves of a simulation, where rules know the past."""


@functools.cache
def _weights() -> npt.NDArray[np.float64]:
    """sqrt(log(n + 1)) for each count n, then 1 / sqrt(n): by the functions that the plain search calls."""
    counts = range(layout.COUNTED)
    logarithms = [math.sqrt(math.log(count + 1)) for count in counts]
    return np.array(logarithms + [1.0 / math.sqrt(max(count, 1)) for count in counts])


def make_search(tree: TreeForm, words: int, *, evaluates: bool = False) -> Search:
    """The numbers and the memory of one thread.

    Args:
        tree: The search, over a game of rules.
        words: For its nodes and edges; a little more where that is too few for the root.
        evaluates: Whether the rules' own evaluation judges leaves.
    """
    game, config = tree.game, tree.config
    traits, width = game.traits, max(game.max_legal_actions, 1)
    lower, upper = traits.utility_bounds
    size = game.num_moves
    search = Search()
    search.start = starter(game.rules, _LONGEST)
    search.actions, search.width = size, width
    search.seats, search.num_values = traits.seats, tree.num_values
    search.total = int(traits.constant)
    search.max_ply, search.pause = MAX_PLIES, layout.NO_LIMIT
    search.solves = config.solver and tree.num_values == 1
    search.adapts = not tree.by_bounds
    search.low, search.high = (lower, upper) if tree.by_bounds else (math.inf, -math.inf)
    search.unit = 1.0 / (upper - lower) if tree.by_bounds else 0.0
    search.lower_value, search.upper_value = tree.bounds
    search.expected = traits.constant / 2 if tree.num_values < traits.seats else traits.middle
    search.lower_evaluation, search.upper_evaluation = game.rules_bounds
    search.selection = SELECTIONS.index(config.selection)
    search.tries_first = config.selection is not Selection.PUCT and not (config.rave or tree.has_priors)
    search.node_words, search.edge_words = tree.node_words, tree.edge_words
    search.more = EDGE_WORDS + tree.num_values
    search.hold("weights", _weights())
    search.is_plain = tree.by_bounds and not (config.rave or tree.has_priors)
    search.exploration, search.rave = config.exploration, config.rave
    search.evaluated = evaluates
    search.has_evaluation = hasattr(game.rules, "evaluation")
    search.has_priors = tree.has_priors
    search.guides = hasattr(game.rules, "playout_action")
    search.playouts = config.playouts
    search.playout_moves = layout.NO_LIMIT if tree.playout_moves is None else tree.playout_moves
    search.hold("rows", np.zeros(2 * width, np.int64))
    search.hold("looks", np.zeros(2 * width, np.int64))
    search.hold("lines", np.zeros(2 * (MAX_PLIES + 2), np.int64))
    search.hold("scratch", np.zeros(max(tree.num_values, 1), np.int64))
    search.hold("history", np.full(size if config.rave else 1, -1, np.int64))
    size = max(words, 64 + tree.edge_words * width)
    spare = spare_block("arena", size)
    search.hold("arena", np.empty(size, np.int64) if spare is None else spare)
    search.arena_top = search.arena
    search.arena_end = search.arena + 8 * len(search.held["arena"])
    return search
