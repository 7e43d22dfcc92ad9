"""A game and the module of its helpers as text, for tests of what edits change."""

from __future__ import annotations

HELPERS = """
import enum
import functools
import operator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

STEP = 1
SHAPE = np.array([1, 2, 3])


def deep(left):
    return left - STEP


def deeper(left):
    return deep(left)


class Side(enum.Enum):
    FIRST = 0
    SECOND = 1


class Pair(NamedTuple):
    low: int
    high: int


@dataclass(frozen=True)
class Limits:
    most: int = 2

    def allows(self, action):
        return action < self.most


class Board:
    def __init__(self):
        self.size = 7

    def __contains__(self, place):
        return 0 <= place < self.size


def wrapping(factor):
    def inner(value, plus=0, *, times=1):
        return (value + plus) * times * factor

    return inner


def claimed(function):
    @functools.wraps(np.sum)
    def outer(value):
        return function(value)

    return outer


def one(value):
    return value


def two(value):
    return value * 1


def five(value):
    return value + 5
"""


GAME = '''
import functools
import operator

import helpers
from helpers import *
from helpers import Board as Field

LEFT = 7
ROWS = [1, 2]
NAMES = {"a": 1}
NESTED = ((1, (2, 3)), 4)
FLAG = 1
PLACES = frozenset({1, 2})
SPAN = range(3)
FIELD = Field()
LIMITS = Limits()
PAIR = Pair(low=1, high=2)
wrapped = wrapping(3)
foreign = claimed(five)
added = functools.partial(operator.add, 4)
low_of = operator.attrgetter("low")
pick = one


@functools.lru_cache(maxsize=None)
def remembered(value):
    return value + 6


class State(NamedTuple):
    left: int
    mover: int = 0

    def __neg__(self):
        return State(self.left, 1 - self.mover)


class Base:
    __slots__ = ()
    most = 2

    def inherited(self):
        return 11

    def extended(self):
        return 12

    @staticmethod
    def fixed():
        return 13

    @classmethod
    def of_class(cls):
        return 14

    @property
    def seen(self):
        return 15


class Parameters(NamedTuple):
    start: int = 7


class Game(Base, Parameters):
    """The game."""

    __slots__ = ()

    def num_actions(self):
        return 2

    def initial_state(self):
        return State(self.start)

    def to_move(self, state):
        return state.mover

    def legal_actions(self, state, actions):
        """Writes them."""
        for action in range(2):  # both
            actions[action] = action
        return 2

    def result(self, state, action):
        left = helpers.deeper(state.left) + LEFT + ROWS[0] + NAMES["a"] + NESTED[0][1][1] + FLAG
        left += wrapped(action) + foreign(action) + added(action) + low_of(PAIR) + pick(action)
        left += remembered(action) + int(helpers.SHAPE[0]) + Side.FIRST.value + self.most + self.inherited()
        left += self.fixed() + self.of_class() + self.seen + self.extended() + (action in PLACES) + SPAN[0]
        left += (3 in FIELD) + LIMITS.allows(action) + getattr(self, f"_by_{action}")() + self._late()
        return -State(left, state.mover)

    def extended(self):
        return super().extended() + 1

    def is_terminal(self, state):
        return state.left <= 0

    def utility(self, state, seat):
        return -1 if seat == state.mover else 1

    def chance_outcomes(self, state, outcomes, probabilities):
        probabilities[0] = 0.25
        return 1

    def key(self, state):
        return state.left * 2 + state.mover

    def symmetric_state(self, state, symmetry):
        return state

    def bounds(self, state):
        return -1, 1

    def table_index(self, state):
        return state.left

    def table_horizon(self, state):
        return 100

    def evaluation(self, state, seat):
        return self._hope()

    def ordering_hint(self, state, action):
        return 3

    def text(self, state):
        return f"{state.left} left"

    def _hope(self):
        return 8

    def _by_0(self):
        return 16

    def _by_1(self):
        return 17

    def _late(self):
        import helpers as late

        try:
            value = late.two(1)
            value += 1
        except KeyError:
            value = 0
        return value + sum(each + 1 for each in ROWS)
'''
