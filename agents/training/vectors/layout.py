"""The arrays of many games that are played at once, as their kernels and Python share them.

An array's field is annotated with the type of its numbers and the names of its axes (``games.GameArrays``).
Each array lies in one piece, a game behind the other, so threads can have a share of the games each.
"""

from __future__ import annotations

from typing import Annotated, Final

import numpy as np

from zermelo.agents.kernels.layout import SharedRecord, fields_of

PARTS: Final = 1_000_000  # shares of random moves are counted in millionths


class Games(SharedRecord):
    """Games of a learner against opponents."""

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


Games._fields_ = fields_of(Games)
