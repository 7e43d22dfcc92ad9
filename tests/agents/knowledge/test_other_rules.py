"""Books and tables are of the rules that they were made by, and of no others."""

from __future__ import annotations

import importlib
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from zermelo.agents import AlphaBetaAgent, solve
from zermelo.agents.knowledge.books import EXPANDED, PROVEN, SHIPPED, BookPosition, read_book, write_book
from zermelo.agents.knowledge.endgame_kernel import ABSENT
from zermelo.agents.knowledge.endgame_tables import TABLES
from zermelo.envs import games
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.rules import RulesGame, fingerprint
from zermelo.envs.rules.scores import WIN

BONUS: Any = {0: 0}


class State(NamedTuple):
    left: int
    mover: int


def taken(action: int) -> int:
    return 1 + action


class Normal(NamedTuple):
    """Take one or two of seven; who takes the last wins."""

    size: int = 1

    def num_actions(self) -> int:
        return 2

    def initial_state(self) -> State:
        return State(7, 0)

    def to_move(self, state: State) -> int:
        return state.mover

    def legal_actions(self, state: State, actions: Any) -> int:
        actions[0], actions[1] = 0, 1
        return min(state.left, 2)

    def result(self, state: State, action: int) -> State:
        return State(state.left - taken(action), 1 - state.mover)

    def is_terminal(self, state: State) -> bool:
        return state.left <= 0

    def utility(self, state: State, seat: int) -> int:
        return (-1 if seat == state.mover else 1) if not BONUS[0] else (1 if seat == state.mover else -1)

    def key(self, state: State) -> int:
        return 2 * state.left + state.mover


class Misere(Normal):
    """The same, but who takes the last loses."""

    def utility(self, state: State, seat: int) -> int:
        return 1 if seat == state.mover else -1


class Three(Normal):
    """The same, but one may take three."""

    def num_actions(self) -> int:
        return 3

    def legal_actions(self, state: State, actions: Any) -> int:
        actions[0], actions[1], actions[2] = 0, 1, 2
        return min(state.left, 3)


class Numbered(Normal):
    """The same with numbers of positions, of which those of an even number have none."""

    def table_part(self, state: State) -> int:
        return 0

    def table_size(self, part: int) -> int:
        return 16

    def table_index(self, state: State) -> int:
        return 2 * state.left + state.mover

    def table_state(self, part: int, index: int) -> State:
        return State(index // 2, index % 2)

    def table_parts(self, what: str) -> list[list[int]]:
        return [[0]]


class Beyond(Numbered):
    """Numbers that are outside of its table, wherever they are read."""

    def utility(self, state: State, seat: int) -> int:
        return -1 if seat == state.mover else 1

    def table_index(self, state: State) -> int:
        return (2 * state.left + state.mover) * (1 if state.left <= 3 else 1_000_000_000 * (-1) ** state.left)


def write_table(rules: Any, path: Path) -> None:
    """A table of all positions, worked out here, as compiling would take seconds."""
    about = {"gains": False, "asked": {"states": 100}, "repetition": "none"}
    scores = {}
    for left in range(1, 8):
        after = [scores.get(left - 1 - action, -WIN) for action in range(min(left, 2))]
        best = max(-score for score in after)
        scores[left] = best - (1 if best > 0 else -1)
    keys, values = range(2, 16), [scores[key // 2] for key in range(2, 16)]
    none = np.zeros((0, 2), np.int64)
    TABLES.write(path, rules, about, keys=np.array(keys), scores=np.array(values, np.int16), parts=none)


def write_positions(rules: Any, path: Path) -> None:
    """A book of all positions."""
    states = [State(left, mover) for left in range(1, 8) for mover in (0, 1)]
    rows = {rules.key(s): BookPosition(s, 1.0 if s.left % 3 else -1.0, PROVEN | EXPANDED) for s in states}
    write_book(path, rules, {}, rows)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A table and a book of ``Normal``, as settings of agents."""
    folder = tmp_path_factory.mktemp("knowledge")
    write_table(Normal(), folder / "normal.ztable")
    write_positions(Normal(), folder / "normal.zbook")
    return {"tables": str(folder / "normal.ztable"), "book": str(folder / "normal.zbook")}


def answer(rules: Any, **files: str) -> Any:
    return AlphaBetaAgent(depth=1, compile="never", **files).search_state(RulesGame(rules))


@pytest.mark.parametrize("kind", ["tables", "book"])
def test_own_rules_read_their_file(files: dict[str, str], kind: str) -> None:
    found = answer(Normal(), **{kind: files[kind]})
    assert (found.value, found.proven) == (solve(Normal(), compile="never").value, True)


@pytest.mark.parametrize("kind", ["tables", "book"])
@pytest.mark.parametrize("rules", [Misere(), Three(), Normal(True), Normal(2)])
def test_rules_that_are_equal_tuples_are_refused(files: dict[str, str], kind: str, rules: Any) -> None:
    answer(Normal(), **{kind: files[kind]})  # so that the file has been read
    with pytest.raises(InvalidSettingError, match=r"is for Normal, not for|was made by other rules"):
        answer(rules, **{kind: files[kind]})


def test_a_class_of_the_same_name_is_refused(files: dict[str, str]) -> None:
    other = type("Normal", (Misere,), {"__slots__": (), "__qualname__": "Normal"})
    with pytest.raises(InvalidSettingError, match=r"was made by other rules.*make it again with `zermelo table`"):
        answer(other(), tables=files["tables"])
    with pytest.raises(InvalidSettingError, match=r"was made by other rules.*make it again with `zermelo book`"):
        answer(other(), book=files["book"])


CHANGES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "a global": lambda patch: patch.setattr(sys.modules[__name__], "BONUS", {0: 1}),
    "what a global holds": lambda patch: patch.setitem(BONUS, 0, 1),
    "a helper": lambda patch: patch.setattr(sys.modules[__name__], "taken", lambda action: 2 - action),
    "the code of a helper": lambda patch: patch.setattr(taken, "__code__", (lambda action: 2 - action).__code__),
    "a method": lambda patch: patch.setattr(Normal, "utility", Misere.utility),
}


@pytest.mark.parametrize("kind", ["tables", "book"])
@pytest.mark.parametrize("change", CHANGES)
def test_after_a_change_in_this_process_files_are_refused(
    files: dict[str, str], kind: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, game = AlphaBetaAgent(depth=1, compile="never", **{kind: files[kind]}), RulesGame(Normal())
    assert agent.search_state(game).proven
    with monkeypatch.context() as patch:
        CHANGES[change](patch)
        with pytest.raises(InvalidSettingError, match="was made by other rules"):
            agent.search_state(game)
    assert agent.search_state(game).proven


# -- between processes

GAME = """
from typing import NamedTuple

LAST = 1


class State(NamedTuple):
    left: int
    mover: int


def won(seat, mover):
    return -LAST if seat == mover else LAST


class Take(NamedTuple):
    def num_actions(self): return 2
    def initial_state(self): return State(7, 0)
    def to_move(self, state): return state.mover
    def legal_actions(self, state, actions):
        actions[0], actions[1] = 0, 1
        return min(state.left, 2)
    def result(self, state, action): return State(state.left - 1 - action, 1 - state.mover)
    def is_terminal(self, state): return state.left <= 0
    def utility(self, state, seat): return won(seat, state.mover)
    def key(self, state): return 2 * state.left + state.mover
"""
BUILD = """
import numpy as np
from zermelo.agents.knowledge.endgame_tables import TABLES
about = {"gains": False, "asked": {"states": 1}, "repetition": "none"}
none = np.zeros((0, 2), np.int64)
TABLES.write("take.ztable", Take(), about, keys=np.array([14]), scores=np.array([2043], np.int16), parts=none)
"""
READ = """
from zermelo.agents.knowledge.endgame_tables import read_table
from zermelo.envs import ZermeloError
from zermelo.envs.rules import RulesGame
try:
    print(read_table("take.ztable", RulesGame(Take())).probe(Take(), State(7, 0)))
except ZermeloError as error:
    print(error)
"""
FOUND = "TableEntry(value=1, plies=5)"


def run(folder: Path, text: str, *, typed: bool) -> str:
    """What a process prints that has the text as its input, as typed, or from a file."""
    (folder / "script.py").write_text(text)
    asked = [sys.executable, "-" if typed else "script.py"]
    given = text if typed else ""
    return subprocess.run(
        asked, input=given, cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


EDITS = {"LAST = 1": "LAST = -1", "seat == mover": "seat != mover", "State(7, 0)": "State(6, 0)"}


@pytest.mark.thorough
@pytest.mark.parametrize("typed", [True, False])
def test_another_process_reads_the_file_unless_the_rules_were_edited(tmp_path: Path, typed: bool) -> None:
    run(tmp_path, GAME + BUILD, typed=typed)
    assert run(tmp_path, GAME + READ, typed=typed) == FOUND
    assert run(tmp_path, GAME.replace("LAST = 1", "LAST = 1  # a comment") + READ, typed=typed) == FOUND
    for old, new in EDITS.items():
        told = run(tmp_path, GAME.replace(old, new) + READ, typed=typed)
        assert told.startswith("'take.ztable' was made by other rules: those of Take are not the same now: make")


def test_a_file_of_another_python_needs_sources(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exec(compile(GAME, "<stdin>", "exec"), vars(made := types.ModuleType("made")))
    write_table(made.Take(), tmp_path / "take.ztable")
    monkeypatch.setattr(fingerprint, "PYTHON", "cpython 3.99.0 -O0")
    fingerprint._walks.clear()
    assert answer(Normal(), tables=files["tables"]).proven
    TABLES.read(tmp_path / "take.ztable")
    with pytest.raises(InvalidSettingError, match=r"was made with cpython 3\..*without sources.*: make it again"):
        answer(made.Take(), tables=str(tmp_path / "take.ztable"))


# -- what kernels read


@pytest.mark.parametrize("compile", ["never", pytest.param("wait", marks=pytest.mark.thorough)])
def test_numbers_outside_of_a_table_are_not_read(tmp_path: Path, compile: str) -> None:  # noqa: A002
    """The memory beside a table is anything."""
    path, rules = tmp_path / "beyond.ztable", Beyond()
    about = {"gains": False, "asked": {"stones": "9"}, "repetition": "none"}
    scores = np.full(16, ABSENT, np.int16)
    TABLES.write(path, rules, about, scores=scores, parts=np.zeros((1, 2), np.int64), keys=np.zeros(0, np.int64))
    agent = AlphaBetaAgent(depth=2, compile=compile, tables=str(path))
    assert not agent.search_state(RulesGame(rules)).proven


# -- the book of the package


def test_the_book_of_the_package_is_of_the_rules_as_they_are() -> None:
    """After an edit of Connect Four that changes no move, run ``scripts/ship_book.py --check``."""
    for name, path in SHIPPED.items():
        book = read_book(name)
        rules = getattr(games, book.about.game)()
        assert book.about.rules.difference(rules) == "", f"scripts/ship_book.py --check writes {path.name}"
        assert book.about.rules.code == ""  # it counts in all versions of Python


def test_the_book_of_the_package_is_refused_once_the_rules_are_others(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("zermelo.envs.games.connect_four")
    monkeypatch.setattr(module, "has_row", lambda stones, count, height: False)
    with pytest.raises(InvalidSettingError, match=r"connect_four\.zbook' was made "):
        answer(games.ConnectFour(), book="connect_four")
