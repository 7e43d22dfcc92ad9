"""The arrays of many games that are played at once, as their kernel and Python share them.

``N`` games, ``S`` seats, ``A`` actions that players have. Each array lies in one piece, a game behind the other,
so threads can have a share of the games each.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from zermelo.agents.compiled.layout import SharedRecord, fields_of

NEXT_STEP: Final = 0
SAME_STEP: Final = 1
DISABLED: Final = 2


class Games(SharedRecord):
    """Addresses of the arrays, and what all games have in common."""

    # The games' states.
    states: int  # (N, state_words) int64: the words of the state
    state_words: int
    position_words: int  # how many of them are the position; the rest is what is known of the past
    stacks: int  # (N, 2 * longest) int64: keys of the past, for rules with repetition
    stack_words: int
    random: int  # (N,) int64: the counter of random numbers
    seats: int  # (N,) int64: the learner's seat, or -1 where all seats learn
    episodes: int  # (N,) int64: how many games have begun
    moves: int  # (N,) int64: moves made in this game, by anybody
    over: int  # (N,) int8: whether the game is over and waits for a reset
    # What a step is given, and answers.
    actions: int  # (N,) int64
    movers: int  # (N,) int64: the seat to move
    rewards: int  # (N, S) float64
    terminated: int  # (N,) int8
    truncated: int  # (N,) int8
    illegal: int  # (N,) int8
    masks: int  # (N, A) int8
    observations: int  # (N, observed) int8, or int64 where a number has more than one byte
    final: int  # the same, of games that ended, where they begin again in the same step
    # What all games have in common.
    seat_count: int
    choices: int  # A
    observed: int
    longest: int  # after so many moves a game is truncated
    seat_rule: int  # the learner's seat; -1 for each in turn, -2 for any
    resets: int  # when a game that is over begins again
    illegal_reward: float
    # How opponents choose, and a few words for that, a thread's own.
    simulations: int
    width: int
    scratch: int


Games._fields_ = fields_of(Games)

GAMES: Final = np.dtype(Games)  # the layout, as Numba is told of it
