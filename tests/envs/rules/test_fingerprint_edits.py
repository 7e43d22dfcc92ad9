"""Fingerprints of rules in other processes: other after edits that may change the game, the same after others."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from doubles.edited_rules import GAME, HELPERS

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
