"""The arrays of many games that are played at once, as their kernel and Python share them.

An array's field is annotated with the type of its numbers and the names of its axes (``vector_games.GameArrays``).
Each array lies in one piece, a game behind the other, so threads can have a share of the games each.
"""

from __future__ import annotations

from typing import Annotated, Final

import numpy as np

from zermelo.agents.compiled.layout import SharedRecord, fields_of


class Games(SharedRecord):
    """Addresses of the arrays, and what all games have in common."""

    # The games' states.
    states: Annotated[int, np.int64, "games", "state_words"]  # the words of the state
    state_words: int
    position_words: int  # how many of them are the position; the rest is what is known of the past
    stacks: Annotated[int, np.int64, "games", "stack_words"]  # keys of the past, for rules with repetition
    stack_words: int
    random: Annotated[int, np.int64, "games"]  # the counter of random numbers
    seats: Annotated[int, np.int64, "games"]  # the learner's seat, or -1 where all seats learn
    episodes: Annotated[int, np.int64, "games"]  # how many games have begun
    moves: Annotated[int, np.int64, "games"]  # moves made in this game, by anybody
    over: Annotated[int, np.int8, "games"]  # whether the game is over and waits for a reset
    # What a step is given, and answers.
    actions: Annotated[int, np.int64, "games"]
    movers: Annotated[int, np.int64, "games"]  # the seat to move
    rewards: Annotated[int, np.float64, "games", "seat_count"]
    terminated: Annotated[int, np.int8, "games"]
    truncated: Annotated[int, np.int8, "games"]
    illegal: Annotated[int, np.int8, "games"]
    masks: Annotated[int, np.int8, "games", "choices"]
    observations: Annotated[int, np.int8, "games", "observed"]  # int64 where a number has more than one byte
    final: Annotated[int, np.int8, "games", "observed"]  # of games that ended, where they begin again in this step
    # What all games have in common.
    seat_count: int
    choices: int  # the actions that players have
    observed: int
    longest: int  # after so many moves a game is truncated
    seat_rule: int  # the learner's seat; -1 for each in turn, -2 for any
    same_step: int  # whether a game that is over begins again in the same step, not in the next one
    illegal_reward: float
    # How opponents choose, and a few words for that, a thread's own.
    simulations: int
    width: int
    scratch: int


Games._fields_ = fields_of(Games)

GAMES: Final = np.dtype(Games)  # the layout, as Numba is told of it
