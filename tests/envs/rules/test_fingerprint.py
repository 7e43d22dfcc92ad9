"""Fingerprints of rules in this process: what is changed in it, classes and parameters, the games we ship."""

from __future__ import annotations

import copy
import importlib
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from doubles.edited_rules import GAME, HELPERS

import zermelo.envs
from zermelo.envs import games
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import MNK
from zermelo.envs.games.tables import GAMES
from zermelo.envs.rules.fingerprint import RulesFingerprint, code_digest, fingerprint
from zermelo.envs.rules.rules_game import RulesGame

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
