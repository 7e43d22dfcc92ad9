"""The arrays of many games that are played at once, as their kernels and Python share them.

An array's field is annotated with the type of its numbers and the names of its axes (``vector_games.GameArrays``).
Each array lies in one piece, a game behind the other, so threads can have a share of the games each.
"""

from __future__ import annotations

from typing import Annotated, Final

import numpy as np

from zermelo.agents.compiled.layout import SharedRecord, fields_of

PARTS: Final = 1_000_000
"""Shares of random moves are counted in millionths."""
ROOT: Final = -1
"""In ``plies``: the root itself waits for the network."""


class States(SharedRecord):
    """The games' states and observations, and what all games have in common."""

    states: Annotated[int, np.int64, "games", "state_words"]  # the words of the state
    state_words: int
    position_words: int  # how many of them are the position; the rest is what is known of the past
    stacks: Annotated[int, np.int64, "games", "stack_words"]  # keys of the past, for rules with repetition
    stack_words: int
    random: Annotated[int, np.int64, "games"]  # the counter of random numbers
    moves: Annotated[int, np.int64, "games"]  # moves made in this game, by anybody
    observations: Annotated[int, np.int8, "games", "observed"]  # int64 where a number has more than one byte
    observed: int
    choices: int  # the actions that players have
    width: int  # the most actions of a state
    longest: int  # moves after which a game is over


class Games(States):
    """Games of a learner against opponents."""

    seats: Annotated[int, np.int64, "games"]  # the learner's seat, or -1 where all seats learn
    episodes: Annotated[int, np.int64, "games"]  # how many games have begun
    over: Annotated[int, np.int8, "games"]  # whether the game is over and waits for a reset
    # A step's input and results.
    actions: Annotated[int, np.int64, "games"]
    movers: Annotated[int, np.int64, "games"]  # the seat to move
    rewards: Annotated[int, np.float64, "games", "seat_count"]
    terminated: Annotated[int, np.int8, "games"]
    truncated: Annotated[int, np.int8, "games"]
    illegal: Annotated[int, np.int8, "games"]
    masks: Annotated[int, np.int8, "games", "choices"]
    final: Annotated[int, np.int8, "games", "observed"]  # of games that ended, where they begin again in this step
    # Common to all games.
    seat_count: int
    seat_rule: int  # the learner's seat; -1 for each in turn, -2 for any, -3 for all
    same_step: int  # whether a game that is over begins again in the same step, not in the next one
    illegal_reward: float
    rounds: int  # games after which a place stays empty; 0 for none
    opening: int  # random moves that games begin with
    # How opponents choose, and a few words for that, a thread's own.
    simulations: int
    noise: int  # the share of random moves, in ``PARTS``
    scratch: int


class Trees(States):
    """Games that a network plays against itself by tree search; each has one leaf that waits for the network."""

    spares: Annotated[int, np.int64, "games", "state_words"]  # what may be written to
    openings: Annotated[int, np.int64, "games"]  # how many random moves are still to come
    # The tree of each game's move.
    arenas: Annotated[int, np.int64, "games", "arena_words"]
    arena_words: int
    tops: Annotated[int, np.int64, "games"]  # the end of what is used of it
    roots: Annotated[int, np.int64, "games"]  # the root's address
    values: Annotated[int, np.float64, "games"]  # the network's value of the root, to its player, from 0 to 1
    done: Annotated[int, np.int64, "games"]  # simulations so far
    paths: Annotated[int, np.int64, "games", "path_words"]  # the way to the leaf that waits
    path_words: int
    plies: Annotated[int, np.int64, "games"]  # how many edges lead there, or ``ROOT``
    # The network's answer.
    logits: Annotated[int, np.float64, "games", "choices"]
    answers: Annotated[int, np.float64, "games"]  # the value of the leaf to its player, from -1 to 1
    # Results of a call of the kernel.
    decided: Annotated[int, np.int8, "games"]  # whether a move was chosen by a search
    sample_states: Annotated[int, np.int64, "games", "state_words"]  # the state it was chosen in
    sample_actions: Annotated[int, np.int64, "games", "width"]  # the actions there, -1 behind them
    sample_policies: Annotated[int, np.float64, "games", "width"]  # their improved policy
    sample_values: Annotated[int, np.float64, "games"]  # the value under it to the player, from -1 to 1
    sample_movers: Annotated[int, np.int64, "games"]  # that player's seat
    ended: Annotated[int, np.int8, "games"]  # whether the game has ended
    outcomes: Annotated[int, np.float64, "games"]  # then the first seat's utility, from -1 to 1
    # How to search.
    simulations: int
    considered: int
    visits_due: int  # (considered + 1, simulations) int64: how many visits the action has that is simulated next
    visit_weight: float
    value_weight: float
    random_plies: int


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


Games._fields_ = [*fields_of(States), *fields_of(Games)]
Trees._fields_ = [*fields_of(States), *fields_of(Trees)]
Batch._fields_ = fields_of(Batch)

GAMES, TREES, BATCH = np.dtype(Games), np.dtype(Trees), np.dtype(Batch)
"""The layouts, as Numba reads them."""
