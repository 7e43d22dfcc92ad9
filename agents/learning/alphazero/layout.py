"""The arrays of games that are played by tree search with a network, as their kernels and Python share them.

``N`` games, ``A`` actions, ``W`` the most actions of a state. A game has one leaf that waits for the network.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from zermelo.agents.compiled.layout import SharedRecord, fields_of

ROOT: Final = -1
"""In ``plies``: the root itself waits for the network."""


class Trees(SharedRecord):
    """Addresses of the arrays, and what all games have in common."""

    # The games, as ``states_kernel`` has them.
    states: int  # (N, state_words) int64
    state_words: int
    position_words: int
    stacks: int  # (N, stack_words) int64
    stack_words: int
    spares: int  # (N, state_words) int64: what may be written to
    random: int  # (N,) int64: the counter of random numbers
    openings: int  # (N,) int64: how many random moves are still to come
    moves: int  # (N,) int64: how many moves the game has had
    # The tree of each game's move.
    arenas: int  # (N, arena_words) int64
    arena_words: int
    tops: int  # (N,) int64: the end of what is used of it
    roots: int  # (N,) int64: the root's address
    values: int  # (N,) float64: what the network says of the root, to its player, from 0 to 1
    done: int  # (N,) int64: simulations so far
    paths: int  # (N, path_words) int64: the way to the leaf that waits
    path_words: int
    plies: int  # (N,) int64: how many edges lead there, or ``ROOT``
    # What the network is asked, and answers.
    observations: int  # (N, observed) int8
    observed: int
    logits: int  # (N, A) float64
    answers: int  # (N,) float64: the value of the leaf to its player, from -1 to 1
    choices: int  # A
    # What a call of the kernel has brought about.
    decided: int  # (N,) int8: whether a move was chosen by a search
    sample_states: int  # (N, state_words) int64: the state it was chosen in
    sample_actions: int  # (N, W) int64: the actions there, -1 behind them
    sample_policies: int  # (N, W) float64: their improved policy
    sample_values: int  # (N,) float64: the value under it to the player, from -1 to 1
    sample_movers: int  # (N,) int64: that player's seat
    ended: int  # (N,) int8: whether the game has ended
    outcomes: int  # (N,) float64: then the first seat's utility, from -1 to 1
    # How to search.
    width: int  # W
    simulations: int
    considered: int
    visits_due: int  # (considered + 1, simulations) int64: how many visits the action has that is simulated next
    visit_weight: float
    value_weight: float
    random_plies: int
    longest: int


class Batch(SharedRecord):
    """Positions to learn from, on their way to the network: ``B`` of them."""

    states: int  # (B, state_words) int64
    state_words: int
    position_words: int
    symmetries: int  # (B,) int64: through which symmetry each is seen
    actions: int  # (B, W) int64, -1 behind the last
    policies: int  # (B, W) float64
    width: int
    observations: int  # (B, observed) int8
    observed: int
    targets: int  # (B, A) float64: the policy of each action number, -1 where it is not legal
    choices: int


Trees._fields_ = fields_of(Trees)
Batch._fields_ = fields_of(Batch)

TREES: Final = np.dtype(Trees)  # the layouts, as Numba is told of them
BATCH: Final = np.dtype(Batch)
