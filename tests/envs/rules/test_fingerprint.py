"""Fingerprints of rules: other after every edit that may change the game, the same after others."""

from __future__ import annotations

import copy
import importlib
import json
import subprocess
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import zermelo.envs
from zermelo.envs import games
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import MNK
from zermelo.envs.games.tables import GAMES
from zermelo.envs.rules.fingerprint import RulesFingerprint, code_digest, fingerprint
from zermelo.envs.rules.rules_game import RulesGame

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
EDITS = {
    "an action": ("range(2):  # both", "range(1):"),
    "the result": ("-State(left, state.mover)", "-State(left, 0)"),
    "the end": ("state.left <= 0", "state.left < 0"),
    "the utility": ("-1 if seat == state.mover else 1", "1 if seat == state.mover else -1"),
    "a probability": ("0.25", "0.5"),
    "the number of actions": ("num_actions(self):\n        return 2", "num_actions(self):\n        return 3"),
    "the key": ("state.left * 2 +", "state.left * 3 +"),
    "a symmetry": ("        return state\n", "        return -state\n"),
    "a bound": ("return -1, 1", "return 0, 1"),
    "the number of a position": ("        return state.left\n", "        return state.left + 1\n"),
    "how a table is read": ("return 100", "return 200"),
    "a method that is gone": ("    def table_horizon(self, state):\n        return 100\n", ""),
    "a method that is new": ("    def bounds(", "    def seats(self):\n        return 3\n\n    def bounds("),
    "a method of another name": ("def bounds(", "def _bounds("),
    "a global number": ("LEFT = 7", "LEFT = 8"),
    "the type of a global": ("FLAG = 1", "FLAG = True"),
    "another type of a global": ("FLAG = 1", "FLAG = 1.0"),
    "a list": ("ROWS = [1, 2]", "ROWS = [1, 3]"),
    "a list that is a tuple": ("ROWS = [1, 2]", "ROWS = (1, 2)"),
    "a dictionary": ('{"a": 1}', '{"a": 2}'),
    "a nested tuple": ("(2, 3)", "(2, 4)"),
    "a set": ("frozenset({1, 2})", "frozenset({1, 3})"),
    "a range": ("range(3)", "range(4)"),
    "a closure": ("wrapping(3)", "wrapping(4)"),
    "a partial": ("operator.add, 4", "operator.add, 5"),
    "the function of a partial": ("operator.add, 4", "operator.mul, 4"),
    "an attribute getter": ('attrgetter("low")', 'attrgetter("high")'),
    "an alias": ("pick = one", "pick = two"),
    "a function with a cache": ("value + 6", "value + 7"),
    "a function that says it is NumPy's": ("value + 5", "value + 6"),
    "the order of fields of a state": ("    left: int\n    mover: int = 0", "    mover: int\n    left: int = 0"),
    "a default of a state": ("mover: int = 0", "mover: int = 1"),
    "the type of a field": ("left: int", "left: float"),
    "an operator of a state": ("State(self.left, 1 - self.mover)", "State(self.left, self.mover)"),
    "the default of a parameter": ("start: int = 7", "start: int = 8"),
    "a class attribute": ("most = 2", "most = 3"),
    "an inherited method": ("return 11", "return 21"),
    "a method by super()": ("return 12", "return 22"),
    "a static method": ("return 13", "return 23"),
    "a class method": ("return 14", "return 24"),
    "a property": ("return 15", "return 25"),
    "a base class that is gone": ("class Game(Base, Parameters)", "class Game(Parameters)"),
    "a method by getattr": ("return 17", "return 27"),
    "a generator": ("each + 1 for", "each + 2 for"),
    "what an except covers": ("            value += 1\n        except KeyError:\n            value = 0\n",
                              "        except KeyError:\n            value = 0\n        value += 1\n"),
    "a named tuple's order in a constant": ("Pair(low=1, high=2)", "Pair(low=2, high=1)"),
    "a function of a function in another module": ("return left - STEP", "return left - STEP - 1"),
    "a global of another module": ("STEP = 1", "STEP = 2"),
    "an array": ("[1, 2, 3]", "[1, 2, 4]"),
    "the type of an array": ("np.array([1, 2, 3])", "np.array([1, 2, 3], np.int8)"),
    "an enumeration": ("FIRST = 0", "FIRST = 2"),
    "the fields of a constant": ("    low: int\n    high: int", "    high: int\n    low: int"),
    "a default of a dataclass": ("most: int = 2", "most: int = 1"),
    "a method of an object": ("action < self.most", "action <= self.most"),
    "an operator of an object": ("0 <= place < self.size", "0 < place < self.size"),
    "an attribute of an object": ("self.size = 7", "self.size = 8"),
    "a default argument": ("plus=0", "plus=1"),
    "a default by keyword": ("times=1", "times=2"),
    "a nested function": ("(value + plus) * times", "(value - plus) * times"),
    "what a decorator does": ("return function(value)", "return function(value) + 1"),
    "a function imported when it is called": ("return value * 1", "return value * 2"),
}  # fmt: skip
"""Edits after which it may be another game: what is replaced, once, in one of the two files."""
COSMETIC = {
    "a comment": ("  # both", "  # all"),
    "lines": ("class Game(", "\n\n# The game\nclass Game("),
    "spaces": ("state.left <= 0", "state.left  <=  0"),
    "a docstring": ('"""Writes them."""', '"""Writes all of them."""'),
    "the docstring of the class": ('"""The game."""', '"""A game.\n\n    It is short.\n    """'),
    "an evaluation": ("return self._hope()", "return self._hope() + 1"),
    "the order of moves": ("return 3\n\n    def text", "return 4\n\n    def text"),
    "a picture": ('f"{state.left} left"', 'f"{state.left} are left"'),
    "what nothing reads": ("LEFT = 7", "UNREAD = 3\nLEFT = 7"),
}
"""Edits after which it is the same game."""
ASK = """
import importlib, json, sys
from zermelo.envs.rules.fingerprint import fingerprint
found = {}
for folder in sys.argv[1:]:
    sys.path[0] = folder
    for module in ("helpers", "game"):
        sys.modules.pop(module, None)
    own = fingerprint(importlib.import_module("game").Game())
    found[folder] = own.code, own.sources
assert "numba" not in sys.modules
print(json.dumps(found))
"""


def edited(old: str, new: str) -> tuple[str, str]:
    texts = (HELPERS.replace(old, new), GAME) if HELPERS.count(old) else (HELPERS, GAME.replace(old, new, 1))
    assert texts != (HELPERS, GAME), old
    return texts


@pytest.fixture(scope="module")
def digests(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """The digests by code and by sources of the game after each edit, as another process finds them."""
    versions = {name: edited(*edit) for name, edit in (EDITS | COSMETIC).items()} | {"": (HELPERS, GAME)}
    folders = {}
    for name, texts in versions.items():
        folders[name] = tmp_path_factory.mktemp("game")
        for file, text in zip(("helpers.py", "game.py"), texts, strict=True):
            (folders[name] / file).write_text(text)
    asked = [sys.executable, "-c", ASK, *map(str, folders.values())]
    found = json.loads(subprocess.run(asked, capture_output=True, check=True, text=True).stdout)
    return {name: tuple(found[str(folder)]) for name, folder in folders.items()}


@pytest.mark.parametrize("by", ["code", "sources"])
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_changes_both_digests(digests: dict[str, tuple[str, str]], edit: str, by: str) -> None:
    here, there = (digests[name][by == "sources"] for name in ("", edit))
    assert here != there
    assert here
    assert there


@pytest.mark.parametrize("by", ["code", "sources"])
@pytest.mark.parametrize("edit", COSMETIC)
def test_other_edits_change_none(digests: dict[str, tuple[str, str]], edit: str, by: str) -> None:
    assert digests[edit][by == "sources"] == digests[""][by == "sources"]


# -- in one process


@pytest.fixture
def game(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """The module of the game, as if typed at a prompt: without a file."""
    return loaded(monkeypatch)


def loaded(monkeypatch: pytest.MonkeyPatch, text: str = GAME) -> types.ModuleType:
    made = types.ModuleType("game")
    for module, source in ((types.ModuleType("helpers"), HELPERS), (made, text)):
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(compile(source, "<stdin>", "exec"), vars(module))
    return made


def set_array(game: Any) -> None:
    game.helpers.SHAPE[0] = 5


def set_cell(game: Any) -> None:
    game.wrapped.__closure__[0].cell_contents = 9


def set_code(game: Any) -> None:
    game.helpers.deep.__code__ = game.helpers.two.__code__


def delete_method(game: Any) -> None:
    del game.Game.table_horizon


CHANGES: dict[str, Callable[[Any], Any]] = {
    "a global": lambda game: setattr(game, "LEFT", 8),
    "a global of another module": lambda game: setattr(game.helpers, "STEP", 2),
    "a list": lambda game: game.ROWS.append(4),
    "an item of a list": lambda game: game.ROWS.__setitem__(0, 4),
    "a dictionary": lambda game: game.NAMES.update(a=2),
    "an array": set_array,
    "a closure": set_cell,
    "the code of a function": set_code,
    "a default": lambda game: setattr(game.wrapped, "__defaults__", (7,)),
    "a default by keyword": lambda game: game.wrapped.__kwdefaults__.update(times=7),
    "a method": lambda game: setattr(game.Game, "utility", lambda self, state, seat: 0),
    "a method that is new": lambda game: setattr(game.Game, "seats", lambda self: 2),
    "a method that is gone": delete_method,
    "a method of a base": lambda game: setattr(game.Base, "inherited", lambda self: 0),
    "a class attribute": lambda game: setattr(game.Base, "most", 5),
    "a method of a state": lambda game: setattr(game.State, "__neg__", lambda self: self),
    "a method of an object": lambda game: setattr(game.Field, "__contains__", lambda self, place: True),
    "an attribute of an object": lambda game: setattr(game.FIELD, "size", 3),
    "a helper": lambda game: setattr(game, "pick", game.two),
    "a function of another module": lambda game: setattr(game.helpers, "two", game.one),
    "a builtin that is hidden": lambda game: setattr(game, "int", float),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_in_this_process_is_seen(game: types.ModuleType, change: str) -> None:
    rules = game.Game()
    before = code_digest(rules)
    assert code_digest(rules) == before
    CHANGES[change](game)
    assert code_digest(rules) != before


def test_what_is_typed_again_is_the_same(game: types.ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    before = code_digest(game.Game())
    assert code_digest(loaded(monkeypatch).Game()) == before


def test_a_reloaded_module_has_its_new_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name, text in (("helpers", HELPERS), ("game", GAME)):
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
    module = importlib.import_module("game")
    before = code_digest(module.Game())
    (tmp_path / "game.py").write_text(GAME.replace("return 11", "return 2121"))
    importlib.invalidate_caches()
    importlib.reload(module)
    assert code_digest(module.Game()) != before
    assert fingerprint(module.Game()).sources == ""  # its file is younger than this process
    (tmp_path / "game.py").write_text(GAME)
    importlib.reload(module)
    assert code_digest(module.Game()) == before
    for name in ("helpers", "game"):
        monkeypatch.delitem(sys.modules, name)


# -- classes and parameters


class State(NamedTuple):
    left: int


class Normal(NamedTuple):
    """A game with a parameter, of which equal ones may be of several types."""

    size: Any = 1

    def initial_state(self) -> State:
        return State(7)

    def utility(self, state: State, seat: int) -> int:
        return 1


class Misere(Normal):
    """Equal to ``Normal`` as a tuple."""

    def utility(self, state: State, seat: int) -> int:
        return -1


class Same(Normal):
    """The same game by another name."""


def test_equal_tuples_of_other_classes_have_other_digests() -> None:
    assert Normal() == Misere() == Same()
    assert len({code_digest(rules) for rules in (Normal(), Misere(), Same())}) == 3


def test_equal_parameters_of_other_types_have_other_digests() -> None:
    same = [1, True, 1.0, np.int64(1), np.float64(1), 1 + 0j, np.True_]
    same += [(each,) for each in same]
    assert len({code_digest(Normal(size)) for size in same}) == len(same)


def test_what_is_set_on_the_rules_themselves_counts() -> None:
    rules: Any = Misere()
    before = code_digest(rules)
    rules.bonus = 3
    assert code_digest(rules) != before


def test_a_lambda_has_code_and_no_source() -> None:
    class Short(Normal):
        utility = lambda self, state, seat: 2  # noqa: E731

    class Shorter(Normal):
        utility = lambda self, state, seat: 3  # noqa: E731

    Shorter.__qualname__ = Short.__qualname__
    assert fingerprint(Short()).sources == ""
    assert code_digest(Short()) != code_digest(Shorter())


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (threading.Lock(), "of type lock"),
        ({object()}, "a set of objects"),
        (lambda: eval("1"), r"calls eval\(\)"),
        (lambda: importlib.import_module("json"), None),
        (open(__file__).close, "TextIOWrapper"),  # noqa: SIM115
    ],
)
def test_what_cannot_be_compared_is_named(thing: Any, words: str | None) -> None:
    class Odd(Normal):
        def result(self, state: State, action: int) -> Any:
            return thing

    if words is None:
        assert code_digest(Odd())  # the module that it names is Python's own
        return
    with pytest.raises(InvalidSettingError, match=f"Odd depends on .*{words}.*: write them without it"):
        code_digest(Odd())


def nested(depth: int) -> list[Any]:
    outer: list[Any] = []
    for _ in range(depth):
        outer = [outer]
    return outer


NESTED = nested(100_000)


def test_what_is_nested_too_deeply_is_refused() -> None:
    class Deep(Normal):
        def result(self, state: State, action: int) -> Any:
            return NESTED

    with pytest.raises(InvalidSettingError, match="Deep depends on objects inside one another"):
        code_digest(Deep())


def test_modules_that_load_names_late_are_read() -> None:
    class Late(Normal):
        def result(self, state: State, action: int) -> Any:
            return zermelo.envs.CHANCE

    class Later(Normal):
        def result(self, state: State, action: int) -> Any:
            return zermelo.envs.Chance

    Later.__qualname__ = Late.__qualname__
    assert code_digest(Late()) != code_digest(Later())


def test_rules_of_another_python_are_compared_by_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    own = fingerprint(games.ConnectFour())
    assert RulesFingerprint("other", own.code, own.sources).difference(games.ConnectFour()) == ""
    assert "by other rules" in RulesFingerprint("other", own.code, "0" * 32).difference(games.ConnectFour())
    assert "without sources" in RulesFingerprint("other", own.code, "").difference(games.ConnectFour())
    typed = loaded(monkeypatch).Game()
    assert fingerprint(typed).sources == ""
    assert "whose source is not at hand" in RulesFingerprint("other", "", own.sources).difference(typed)


# -- the games of this package


@pytest.mark.parametrize("name", GAMES)
def test_every_game_of_this_package_has_both_digests_which_play_does_not_change(name: str) -> None:
    rules = getattr(games, name)()
    before = fingerprint(rules)
    assert before.code
    assert before.sources
    game, state = RulesGame(rules), rules.initial_state()
    for _ in range(20):
        chances = [each for each, _ in game.chance_outcomes(state)] if game.to_move(state) < 0 else None
        actions = chances or game.legal_actions(state)
        if not actions:
            break
        state = game.result(state, actions[len(actions) // 2])
    assert fingerprint(type(rules)._make(rules)) == before


def test_a_copy_of_rules_changes_nothing() -> None:
    """Python writes a list of slots into the class of what is copied or pickled for the first time."""

    class Fresh(MNK):
        pass

    before = fingerprint(Fresh())
    copy.copy(Fresh())
    assert "__slotnames__" in vars(Fresh)
    assert fingerprint(Fresh()) == before
