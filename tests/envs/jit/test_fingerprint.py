"""What machine code is told apart by: everything that decides it, and nothing else."""

import collections
import enum
import functools
import math
import types
from typing import NamedTuple

import numpy as np
import pytest

from zermelo.envs import games, perft
from zermelo.envs.games import ConnectFour, Kalah
from zermelo.envs.jit.cache.code_cache import code_file
from zermelo.envs.jit.cache.sources import digest_of
from zermelo.envs.jit.kernel import Kernel
from zermelo.envs.jit.perft_kernel import leaves, leaves_kernel
from zermelo.envs.rules.contract import DEFAULTS
from zermelo.envs.support.code_parts import UncomparableError


class CountState(NamedTuple):
    left: int
    mover: int


def make(most):
    """Take one to ``most`` from a heap of six."""

    class Take(NamedTuple):
        start: int = 6

        def num_actions(self):
            return most

        def initial_state(self):
            return CountState(self.start, 0)

        def to_move(self, state):
            return state.mover

        def legal_actions(self, state, actions):
            for taken in range(min(most, state.left)):
                actions[taken] = taken
            return min(most, state.left)

        def result(self, state, action):
            return CountState(state.left - action - 1, 1 - state.mover)

        def is_terminal(self, state):
            return state.left == 0

        def utility(self, state, seat):
            return -1 if seat == state.mover else 1

    return Take


def digest(rules_class):
    return digest_of(rules_class, type(rules_class().initial_state()), leaves_kernel())


def with_helper(source, **names):
    """A rules class one of whose methods is written in some source, which sees these names."""
    space = dict(names)
    exec(source, space)
    return type("Take", (make(3),), {"__slots__": (), "to_move": space["to_move"]})


def module(**names):
    made = types.ModuleType("helper")
    vars(made).update(names)
    return made


def compiled(source, **names):
    numba = pytest.importorskip("numba")
    space = dict(names)
    exec(source, space)
    return numba.njit(space["helper"])


def steps(value):
    return enum.IntEnum("Step", {"ONE": value})


def middle(value):
    numbers = np.zeros(5000, np.int64)
    numbers[2500] = value
    return numbers


def caught(value):
    """A function with a function in its closure that has a number in its own."""

    def inner():
        return value

    def outer():
        return inner()

    return outer


def fields(value):
    """A named tuple of 1 and 2, whose field ``by`` has the value."""
    return collections.namedtuple("Pair", "by other" if value == 1 else "other by")(1, 2)


def wrapped(value, of):
    """A function that says it is another one."""
    return functools.wraps(of)(caught(value))


class Named(int):
    def __repr__(self):
        return "a number"


READS = "def to_move(self, state): return state.mover + {}"
CHANGES = {
    "a constant of another module": lambda value: with_helper(
        READS.format("helper.STEP"), helper=module(STEP=value)
    ),
    "a constant of a module in a module": lambda value: with_helper(
        READS.format("helper.deep.STEP"), helper=module(deep=module(STEP=value))
    ),
    "a member of an enumeration": lambda value: with_helper(READS.format("Step.ONE"), Step=steps(value)),
    "a compiled helper": lambda value: with_helper(
        READS.format("helper()"), helper=compiled(f"def helper(): return {value}")
    ),
    "what a compiled helper reads": lambda value: with_helper(
        READS.format("helper()"), helper=compiled("def helper(): return STEP", STEP=value)
    ),
    "the middle of a long array": lambda value: with_helper(
        READS.format("array[state.left]"), array=middle(value)
    ),
    "a closure in a closure": lambda value: with_helper(READS.format("helper()"), helper=caught(value)),
    "a tuple": lambda value: with_helper(READS.format("steps[0]"), steps=(value, 0)),
    "a default": lambda value: with_helper(f"def to_move(self, state, by={value}): return state.mover + by"),
    "fields in other places": lambda value: with_helper(READS.format("pair.by"), pair=fields(value)),
    "fields of a pair in a tuple": lambda value: with_helper(READS.format("pairs[0].by"), pairs=(fields(value),)),
    "a function called like one of Python's": lambda value: with_helper(
        READS.format("helper()"), helper=wrapped(value, math.floor)
    ),
    "a function called like one of NumPy's": lambda value: with_helper(
        READS.format("helper()"), helper=wrapped(value, np.sum)
    ),
    "a number with a text of its own": lambda value: with_helper(READS.format("STEP"), STEP=Named(value)),
    "the default of a state's field": lambda value: with_helper(
        READS.format("Pair(1).other"), Pair=collections.namedtuple("Pair", "by other", defaults=[value])
    ),
    "what a lambda reads": lambda value: with_helper(READS.format("(lambda: STEP)()"), STEP=value),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_code_reads_tells_it_apart(change):
    old, same, new = (CHANGES[change](value) for value in (1, 1, 2))
    assert digest(old) == digest(same)
    assert digest(old) != digest(new)


def test_a_number_put_into_a_library_tells_apart(monkeypatch):
    rules = with_helper(READS.format("math.step"), math=math)
    found = []
    for step in (1, 2):
        monkeypatch.setattr(math, "step", step, raising=False)
        found.append(digest(rules))
    assert found[0] != found[1]


def test_classes_of_one_name_are_told_apart_by_their_closures():
    assert digest(make(3)) == digest(make(3))
    assert digest(make(3)) != digest(make(4))


def test_the_types_of_fields_tell_apart():
    def fields(kind):
        annotations = {"start": kind}
        made = type("Take", (make(3),), {"__slots__": (), "__annotations__": annotations})
        return digest(made)

    assert fields("int") == fields("int")
    assert fields("int") != fields("bool")


def test_an_edit_in_one_game_is_none_in_another(monkeypatch):
    before = digest(Kalah), digest(ConnectFour)
    monkeypatch.setattr(Kalah, "utility", lambda self, state, seat: 0)
    assert digest(Kalah) != before[0]
    assert digest(ConnectFour) == before[1]


def test_what_stands_in_for_a_method_counts_where_it_does(monkeypatch):
    before = digest(Kalah), digest(make(3))
    assert hasattr(Kalah, "bounds")
    monkeypatch.setitem(DEFAULTS, "bounds", lambda self, state: (-2, 2))
    assert digest(Kalah) == before[0]
    assert digest(make(3)) != before[1]


@pytest.mark.parametrize("rules", [getattr(games, name) for name in games.__all__])
def test_machine_code_of_every_game_can_be_kept(rules):
    assert digest(rules) == digest(rules)


def test_methods_that_are_not_compiled_do_not_count():
    told = type("Take", (make(3),), {"__slots__": (), "text": lambda self, state: str(state)})
    assert digest(told) == digest(type("Take", (make(3),), {"__slots__": ()}))


def test_what_cannot_be_compared_is_named_and_the_code_not_kept(capsys):
    rules_class = with_helper(READS.format("thing.step"), thing=object())
    with pytest.raises(UncomparableError, match="thing, of type object"):
        digest(rules_class)
    rules = rules_class()
    assert code_file(rules, rules.initial_state(), Kernel(leaves, ("int64",) * 4)) is None
    assert "they depend on thing, of type object" in capsys.readouterr().err


@pytest.mark.thorough
def test_rules_made_by_one_function_are_counted_by_their_own_code(tmp_path, monkeypatch):
    monkeypatch.setenv("ZERMELO_CACHE_DIR", str(tmp_path))
    # Sequences of six numbers up to 3, and up to 4, that add up to no more than 12.
    assert [perft(make(most)(12), 6) for most in (3, 4)] == [435, 756]
    assert len(list(tmp_path.rglob("*.bin"))) == 2


class CellsState(NamedTuple):
    left: int
    cells: tuple[int, ...]


class Cells(NamedTuple):
    """As many actions as the state has cells, and so many cells as the rules say."""

    count: int

    def num_actions(self) -> int:
        return self.count

    def initial_state(self) -> CellsState:
        return CellsState(6, (1,) * self.count)

    def to_move(self, state: CellsState) -> int:
        return state.left % 2

    def legal_actions(self, state: CellsState, actions: list[int]) -> int:
        for action in range(len(state.cells)):
            actions[action] = action
        return len(state.cells)

    def result(self, state: CellsState, action: int) -> CellsState:
        return CellsState(state.left - 1, state.cells)

    def is_terminal(self, state: CellsState) -> bool:
        return state.left == 0

    def utility(self, state: CellsState, seat: int) -> int:
        return 0


@pytest.mark.thorough
def test_states_of_more_numbers_have_code_of_their_own():
    assert [perft(Cells(count), 6) for count in (2, 3, 2)] == [2**6, 3**6, 2**6]
