"""Rules edited in a running process, as in a notebook: compiled code follows as plain Python does."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from zermelo.agents import MCTSAgent, MinimaxAgent
from zermelo.envs import check_rules, perft
from zermelo.envs.errors import RulesError
from zermelo.envs.jit.cache.sources import sources_of

RULES = """
from typing import NamedTuple
import enum
import numpy as np
{above}

class ThreeState(NamedTuple):
    ply: int
    chosen: int

class Base:
    __slots__ = ()
    def scaled(self, number): return number + 1

class Three(Base, NamedTuple("Settings", [("plies", int)])):
    '''Three choices a move; the utility is what is written in ``worth``.'''

    __slots__ = ()

    def num_actions(self): return 3
    def initial_state(self): return ThreeState(0, 0)
    def to_move(self, state): return state.ply % 2
    def legal_actions(self, state, actions):
        for action in range(3):
            actions[action] = action
        return 3
    def result(self, state, action): return ThreeState(state.ply + 1, state.chosen * 3 + action)
    def is_terminal(self, state): return state.ply >= self.plies
    def utility_bounds(self): return (-1000, 1000)
    def utility(self, state, seat):
        value = {worth}
        return value if seat == 0 else -value
"""


@pytest.fixture
def written() -> Iterator[Callable[..., Any]]:
    """Writes rules as a cell of a notebook does, and gives their module."""
    module = types.ModuleType("three_rules")
    sys.modules[module.__name__] = module

    def write(worth: str = "state.chosen % 7 + 1", above: str = "") -> Any:
        exec(RULES.format(worth=worth, above=above), vars(module))
        return module

    yield write
    del sys.modules[module.__name__]


def plain_value(rules: Any) -> float:
    return MinimaxAgent(depth="full", compile="never").search_state(rules).value


def hold_two(function: Any) -> None:
    function.__closure__[0].cell_contents = 2


def add_three(self: Any, number: Any) -> Any:
    return number + 3


PAIR = """
from typing import NamedTuple
class Pair(NamedTuple):
    first: int
    second: int"""
HELPER = "def worth(chosen): return chosen % 7 + 1"
EDITS: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "a helper is written again": (
        "worth(state.chosen)", HELPER, lambda game: exec(HELPER + " + 1", vars(game)),
    ),
    "a helper has other code": (
        "worth(state.chosen)", HELPER,
        lambda game: setattr(game.worth, "__code__", (lambda chosen: chosen % 7 + 2).__code__),
    ),
    "a number of the module is set": ("K + state.chosen % 7", "K = 1", lambda game: setattr(game, "K", 2)),
    "a number becomes a float": (
        "int((K + state.chosen) / 2 * 3)", "K = 1", lambda game: setattr(game, "K", 1.5),
    ),
    "a number that a helper's helper reads": (
        "outer(state.chosen)", "K = 1\ndef inner(x): return x % 7 + K\ndef outer(x): return inner(x)",
        lambda game: setattr(game, "K", 2),
    ),
    "a number of another module": (
        "other.K + state.chosen % 7", "import types\nother = types.ModuleType('other')\nother.K = 1",
        lambda game: setattr(game.other, "K", 2),
    ),
    "an array is changed in place": (
        "int(TABLE[state.chosen % 3])", "TABLE = np.array([1, 2, 3])",
        lambda game: game.TABLE.__setitem__(slice(None), 9),
    ),
    "one number of a long array": (
        "int(TABLE[state.chosen % 3])", "TABLE = np.arange(20_000)",
        lambda game: game.TABLE.__setitem__(0, 9),
    ),
    "an array in a tuple": (
        "int(TABLES[0][state.chosen % 3])", "TABLES = (np.array([1, 2, 3]),)",
        lambda game: game.TABLES[0].__setitem__(0, 9),
    ),
    "a table is exchanged": (
        "TABLE[state.chosen % 3]", "TABLE = (1, 2, 3)", lambda game: setattr(game, "TABLE", (4, 5, 9)),
    ),
    "defaults": (
        "worth(state.chosen)", "def worth(chosen, by=1): return chosen % 7 + by",
        lambda game: setattr(game.worth, "__defaults__", (2,)),
    ),
    "keyword defaults": (
        "worth(state.chosen)", "def worth(chosen, *, by=1): return chosen % 7 + by",
        lambda game: game.worth.__kwdefaults__.update(by=2),
    ),
    "the content of a closure": (
        "worth(state.chosen)",
        "def make(by):\n    def worth(chosen): return chosen % 7 + by\n    return worth\nworth = make(1)",
        lambda game: hold_two(game.worth),
    ),
    "a member of an enumeration": (
        "Worth.ONE.value + state.chosen % 7", "class Worth(enum.Enum): ONE = 1",
        lambda game: exec("class Worth(enum.Enum): ONE = 2", vars(game)),
    ),
    "the value of a member": (
        "Worth.ONE.value + state.chosen % 7", "class Worth(enum.Enum): ONE = 1",
        lambda game: setattr(game.Worth.ONE, "_value_", 2),
    ),
    "a method": (
        "state.chosen", "", lambda game: setattr(game.Three, "utility", lambda self, state, seat: 5 - 10 * seat),
    ),
    "a method of a base": (
        "self.scaled(state.chosen)", "", lambda game: setattr(game.Base, "scaled", add_three),
    ),
    "a method comes between": (
        "self.scaled(state.chosen)", "", lambda game: setattr(game.Three, "scaled", add_three),
    ),
    "a built-in function is written": (
        "abs(state.chosen)", "", lambda game: exec("def abs(number): return number + 4", vars(game)),
    ),
    "defaults of a state": (
        "Pair(state.chosen).second", PAIR + " = 1",
        lambda game: setattr(game.Pair.__new__, "__defaults__", (2,)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_makes_another_version(edit: str, written: Callable[..., Any]) -> None:
    worth, above, change = EDITS[edit]
    game = written(worth, above)
    rules = game.Three(2)
    before, value = sources_of(rules), plain_value(rules)
    assert sources_of(rules) is before
    change(game)
    assert plain_value(rules) != value
    assert sources_of(rules) is not before


def test_what_makes_no_difference_makes_no_version(written: Callable[..., Any]) -> None:
    game = written("worth(state.chosen)", HELPER + "\nother = 1\nchosen = 1\nstate = None")
    rules = game.Three(2)
    before = sources_of(rules)
    exec(HELPER, vars(game))  # the same again
    game.other = 2
    game.chosen, game.state = 7, object()  # variables called like a field and an argument
    game.Three.text = lambda self, state: "for people"
    assert sources_of(rules) is before
    game.Three.is_urgent = lambda self, state: False  # one that compiled code calls
    after = sources_of(rules)
    assert after is not before
    del game.Three.is_urgent
    assert sources_of(rules) is not after


def test_a_read_only_array_is_compared_when_it_was_open_meanwhile(written: Callable[..., Any]) -> None:
    game = written("int(TABLE[state.chosen])", "TABLE = np.arange(20_000)")
    rules = game.Three(2)
    writable = sources_of(rules)
    game.TABLE[3] = 7
    game.TABLE.flags.writeable = False
    assert sources_of(rules) is not writable


@pytest.mark.thorough
@pytest.mark.parametrize(
    "edit",
    ["a helper has other code", "a number of the module is set", "an array is changed in place", "a method",
     "the content of a closure"],
)  # fmt: skip
def test_compiled_searches_follow_an_edit_and_its_undoing(edit: str, written: Callable[..., Any]) -> None:
    worth, above, change = EDITS[edit]
    game = written(worth, above)
    agent = MinimaxAgent(depth="full")
    for _ in range(2):
        result = agent.search_state(game.Three(2))
        assert (result.value, result.compiled) == (plain_value(game.Three(2)), True)
        change(game)


@pytest.mark.thorough
def test_a_cell_that_runs_again_with_fields_in_other_places(written: Callable[..., Any]) -> None:
    values = []
    for places in ("Pair(state.chosen, 100)", "Pair(100, state.chosen)"):
        game = written(
            f"{places}.first",
            "from typing import NamedTuple\nclass Pair(NamedTuple):\n    first: int\n    second: int",
        )
        result = MinimaxAgent(depth="full").search_state(game.Three(2))
        assert result.compiled
        values.append(result.value)
    assert values == [6, 100]


@pytest.mark.thorough
def test_perft_follows_an_edit(written: Callable[..., Any]) -> None:
    game = written()
    assert perft(game.Three(9), 6) == 3**6

    def two_actions(self: Any, state: Any, actions: Any) -> int:
        actions[0], actions[1] = 0, 1
        return 2

    game.Three.legal_actions = two_actions
    assert perft(game.Three(9), 6) == 2**6


@pytest.mark.thorough
def test_a_tree_does_not_outlive_an_edit(written: Callable[..., Any]) -> None:
    game = written("worth(state.chosen)", HELPER)
    agent = MCTSAgent(simulations=2000, seed=1)
    rules = game.Three(2)
    before = agent.search_state(rules)
    game.worth = lambda chosen: -100 if chosen < 6 else 50
    after = agent.search_state(rules)
    assert before.compiled
    assert after.compiled
    assert (after.value, after.action) == (50, 2)


@pytest.mark.thorough
def test_check_rules_compiles_what_was_edited(written: Callable[..., Any]) -> None:
    game = written("worth(state.chosen)", HELPER)
    check_rules(game.Three(2), games=2)
    game.worth = lambda chosen: chosen % 7 + 3
    check_rules(game.Three(2), games=2)
    game.worth = lambda chosen: chosen.nothing
    with pytest.raises(RulesError, match="utility"):
        check_rules(game.Three(2), games=2)
    game.worth = lambda chosen: chosen % 7 + 4
    check_rules(game.Three(2), games=2)


@pytest.mark.thorough
def test_what_did_not_compile_is_tried_again(written: Callable[..., Any]) -> None:
    game = written("other.K + state.chosen % 7", "import types\nother = types.ModuleType('other')")
    for worth in (3, 4):
        with pytest.raises(AttributeError, match="K"):
            MinimaxAgent(depth="full").search_state(game.Three(2))
        game.other.K = worth
        assert MinimaxAgent(depth="full").search_state(game.Three(2)).value == plain_value(game.Three(2))
        del game.other.K


@pytest.mark.thorough
def test_a_large_table_that_is_made_again_is_read_again(written: Callable[..., Any]) -> None:
    above = """
from zermelo.envs.rules.arrays import large_table, load_short
table = large_table("edited", lambda: np.array([1, 2, {last}], np.int16))
"""
    for last in (3, 9):
        game = written("load_short(table(), state.chosen % 3)", above.format(last=last))
        result = MinimaxAgent(depth="full").search_state(game.Three(1))
        assert (result.value, result.compiled) == (last, True)
        check_rules(game.Three(1), games=2)


def test_two_tables_of_one_name_are_refused(written: Callable[..., Any]) -> None:
    above = """
from zermelo.envs.rules.arrays import large_table, load_short
one, two = (large_table("both", lambda: np.zeros(3, np.int16)) for _ in range(2))
"""
    game = written("load_short(one(), 0) + load_short(two(), 0)", above)
    with pytest.raises(RulesError, match="two tables that are both called 'both': give each its own name"):
        sources_of(game.Three(2))


@pytest.mark.parametrize("worth", ["int(T[state.chosen % 3] * 100)", "int((T * 100)[state.chosen % 3])"])
def test_check_rules_says_what_to_write_where_an_arrays_type_overflows(
    worth: str, written: Callable[..., Any]
) -> None:
    game = written(worth, "T = np.array([1, 2, 3], np.int8)")
    with pytest.raises(RulesError, match=r"T \(an array of int8\).*write int\(T\[index\]\) before"):
        check_rules(game.Three(2), games=3)


def test_numbers_of_a_small_type_may_be_read(written: Callable[..., Any]) -> None:
    rules = written("int(T[state.chosen % 3]) * 100", "T = np.array([1, 2, 3], np.int8)").Three(2)
    assert check_rules(rules, games=3) is None  # no difference
