"""The arrays of games that are played by tree search with a network, as their kernels and Python share them.

A game has one leaf that waits for the network. Arrays are annotated as those of ``vector_layout``.
"""

from __future__ import annotations

from typing import Annotated, Final

import numpy as np

from zermelo.agents.compiled.layout import SharedRecord, fields_of

ROOT: Final = -1
"""In ``plies``: the root itself waits for the network."""


class Trees(SharedRecord):
    """Addresses of the arrays, and what all games have in common."""

    # The games, as ``states_kernel`` has them.
    states: Annotated[int, np.int64, "games", "state_words"]
    state_words: int
    position_words: int
    stacks: Annotated[int, np.int64, "games", "stack_words"]
    stack_words: int
    spares: Annotated[int, np.int64, "games", "state_words"]  # what may be written to
    random: Annotated[int, np.int64, "games"]  # the counter of random numbers
    openings: Annotated[int, np.int64, "games"]  # how many random moves are still to come
    moves: Annotated[int, np.int64, "games"]  # how many moves the game has had
    # The tree of each game's move.
    arenas: Annotated[int, np.int64, "games", "arena_words"]
    arena_words: int
    tops: Annotated[int, np.int64, "games"]  # the end of what is used of it
    roots: Annotated[int, np.int64, "games"]  # the root's address
    values: Annotated[int, np.float64, "games"]  # what the network says of the root, to its player, from 0 to 1
    done: Annotated[int, np.int64, "games"]  # simulations so far
    paths: Annotated[int, np.int64, "games", "path_words"]  # the way to the leaf that waits
    path_words: int
    plies: Annotated[int, np.int64, "games"]  # how many edges lead there, or ``ROOT``
    # What the network is asked, and answers.
    observations: Annotated[int, np.int8, "games", "observed"]
    observed: int
    logits: Annotated[int, np.float64, "games", "choices"]
    answers: Annotated[int, np.float64, "games"]  # the value of the leaf to its player, from -1 to 1
    choices: int  # action numbers
    # What a call of the kernel has brought about.
    decided: Annotated[int, np.int8, "games"]  # whether a move was chosen by a search
    sample_states: Annotated[int, np.int64, "games", "state_words"]  # the state it was chosen in
    sample_actions: Annotated[int, np.int64, "games", "width"]  # the actions there, -1 behind them
    sample_policies: Annotated[int, np.float64, "games", "width"]  # their improved policy
    sample_values: Annotated[int, np.float64, "games"]  # the value under it to the player, from -1 to 1
    sample_movers: Annotated[int, np.int64, "games"]  # that player's seat
    ended: Annotated[int, np.int8, "games"]  # whether the game has ended
    outcomes: Annotated[int, np.float64, "games"]  # then the first seat's utility, from -1 to 1
    # How to search.
    width: int  # the most actions of a state
    simulations: int
    considered: int
    visits_due: int  # (considered + 1, simulations) int64: how many visits the action has that is simulated next
    visit_weight: float
    value_weight: float
    random_plies: int
    longest: int


class Batch(SharedRecord):
    """Positions to learn from, on their way to the network: ``B`` of them, with up to ``width`` actions each."""

    states: int  # (B, state_words) int64
    state_words: int
    position_words: int
    symmetries: int  # (B,) int64: through which symmetry each is seen
    actions: int  # (B, width) int64, -1 behind the last
    policies: int  # (B, width) float64
    width: int
    observations: int  # (B, observed) int8
    observed: int
    targets: int  # (B, choices) float64: the policy of each action number, -1 where it is not legal
    choices: int


Trees._fields_ = fields_of(Trees)
Batch._fields_ = fields_of(Batch)

TREES: Final = np.dtype(Trees)  # the layouts, as Numba is told of them
BATCH: Final = np.dtype(Batch)
