"""What was seen of an environment is known to the next process, for what is made alike, until sources change."""

from __future__ import annotations

import functools
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from doubles.odd_boards import Board, at
from gymnasium.utils import EzPickle

from zermelo.envs import as_game
from zermelo.envs.adapters import adapting
from zermelo.envs.support.files import read_checked, write_checked
from zermelo.envs.support.forked import can_fork
from zermelo.envs.traits import origin as origins
from zermelo.envs.traits.findings import Findings, Seen, recall, remember, see
from zermelo.envs.traits.origin import Origin, origin_of

CODE = """
import sys, warnings
sys.path[:0] = {paths!r}
warnings.simplefilter("ignore")
import mine
from zermelo.envs import as_game
from zermelo.envs.adapters import adapting
played = []
play = adapting._play
adapting._play = lambda *given, **named: played.append(1) or play(*given, **named)
env = mine.Mine({size})
env.reset(seed=0)
game = as_game(env)
print(len(played), game.traits.reward_sum, game.traits.source("reward_sum").name)
"""
MINE = """
from doubles.awkward_lifetimes import CountToSix
class Mine(CountToSix):
    def start(self, *given):
        {line}
        return super().start(*given)
"""
NAMED = {
    "at the top": ("import helper", "helper.PAY"),
    "inside a function": ("", "__import__('helper').PAY"),
    "by importlib": ("import importlib", "importlib.import_module('helper').PAY"),
    "in a package": ("from pack import inner", "inner.PAY"),
    "from a package, inside a function": ("", "exec('pass'); from pack.inner import PAY"),
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("ZERMELO_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "mine.py").write_text(MINE.format(line="pass"))
    paths = [str(tmp_path), str(Path(__file__).parents[2])]

    def run(size: int = 6) -> str:
        code = CODE.format(paths=paths, size=size)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    return run


SHOWN = "zero_sum ASSUMED"


@pytest.mark.thorough
def test_the_next_process_begins_at_once_and_edited_sources_are_looked_at_anew(run: Any, tmp_path: Path) -> None:
    assert run() == f"1 {SHOWN}"
    assert run() == f"0 {SHOWN}"
    (tmp_path / "mine.py").write_text(MINE.format(line="pass  # edited"))
    assert run() == f"1 {SHOWN}"
    for file in (tmp_path / "cache").rglob("*.json"):
        file.write_bytes(file.read_bytes()[:-20])  # a disk was full
    assert run() == f"1 {SHOWN}"


@pytest.mark.thorough
@pytest.mark.parametrize("how", NAMED)
def test_an_edit_of_a_module_that_the_class_names_is_seen(how: str, run: Any, tmp_path: Path) -> None:
    before, line = NAMED[how]
    (tmp_path / "mine.py").write_text(f"{before}\n{MINE.format(line=line)}")
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    for place in ("helper.py", "pack/inner.py"):
        (tmp_path / place).write_text("PAY = 1\n")
    assert run() == f"1 {SHOWN}"
    for place in ("helper.py", "pack/inner.py"):
        (tmp_path / place).write_text("PAY = 22\n")
    assert run() == f"1 {SHOWN}"


def plays(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that gets one item more each time that something is played."""
    played: list[int] = []
    real = adapting.remember
    monkeypatch.setattr(adapting, "remember", lambda *given: played.append(1) or real(*given))
    return played


@pytest.mark.skipif(not can_fork(), reason="plays in this process")
def test_one_class_is_played_once_however_often_it_is_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fresh(Board):
        def start(self) -> None:
            self.map = [[self.seed] * 3, {"seed": self.seed}]

    played = plays(monkeypatch)
    env = at(Fresh, ())
    for seed in range(20):
        env.reset(seed=seed)
        as_game(env)
    other = Fresh()
    other.reset(seed=7)
    as_game(other)
    assert len(played) == 1


class Made(Board, EzPickle):
    """Keeps how it was made."""

    def __init__(self, how: Any = None) -> None:
        EzPickle.__init__(self, how)
        super().__init__()
        self.how = how


def made(value: Any) -> Origin:
    return origin_of(Made(value))


def paying(amount: float) -> Callable[[], float]:
    return lambda: amount


def pay(amount: float, times: int = 1) -> float:
    return amount * times


class Payer:
    def __init__(self, amount: float) -> None:
        self.amount = amount

    def pay(self) -> float:
        return self.amount

    def take(self) -> float:
        return -self.amount


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 2),
        (1, 1.0),
        (True, 1),
        ("a", b"a"),
        ([1, 2], (1, 2)),
        ({"a": 1}, {"a": 2}),
        (lambda: 1, lambda: 2),
        (paying(1), paying(2)),
        (functools.partial(pay, 1), functools.partial(pay, 2)),
        (functools.partial(pay, 1), functools.partial(pay, 1, times=2)),
        (Payer(1).pay, Payer(1).take),
        (lambda x=1: x, lambda x=2: x),
        (Payer(1), Payer(2)),
        ({1, 2}, {1, 3}),
    ],
)
def test_what_an_environment_was_made_with_tells_origins_apart(one: Any, other: Any) -> None:
    assert made(one) != made(other)
    assert made(one) == made(one)


def test_play_changes_no_origin() -> None:
    env = at(Board, ())
    before = origin_of(env)
    env.step(4)
    env.reset(seed=3)
    assert origin_of(env) == before


@pytest.mark.parametrize("name", ["MountainCar-v0", "CartPole-v1", "Acrobot-v1"])
def test_gymnasiums_own_environments_have_a_file_too(name: str) -> None:
    env = gymnasium.make(name)
    file = origin_of(env).file()
    assert file is not None
    assert file != origin_of(gymnasium.make("Pendulum-v1")).file()


def test_a_large_compiled_module_is_known_by_its_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = tmp_path / "rules_in_c.so"
    built.write_bytes(bytes(5 << 20))
    module = types.ModuleType("rules_in_c")
    module.__file__ = str(built)
    monkeypatch.setitem(sys.modules, "rules_in_c", module)

    def file() -> Path | None:  # of a new class, as classes are looked at once
        return Origin((type("OfC", (), {"__module__": "rules_in_c"}),), "").file()

    before = file()
    assert before is not None
    assert file() == before
    built.write_bytes(bytes(6 << 20))
    assert file() != before


def test_classes_of_one_factory_are_told_apart_on_disk() -> None:
    def factory(amount: int) -> type[Board]:
        class Factored(Board):
            def note(self) -> None:
                self.amount = amount

        return Factored

    files = [origin_of(factory(amount)()).file() for amount in (1, 2, 1)]
    assert files[0] == files[2] != files[1]


def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Origin, Path]:
    monkeypatch.setattr(origins, "cache_root", lambda: tmp_path)
    origin = origin_of(type("Kept", (Board,), {"__module__": Board.__module__})())
    remember(origin, Findings(seen={"chance": Seen("sampled", "a step drew a random number")}, games=3))
    (file,) = tmp_path.rglob("Kept-*")
    return origin, file


@pytest.mark.parametrize(
    "change",
    [
        lambda text: b"",
        lambda text: b"{}",
        lambda text: b"[[]]",
        lambda text: b"[" * 3000,
        lambda text: text.replace(b'"seen":{', b'"seen":{"mood":{"value":"bad","text":""},'),
        lambda text: text.replace(b'"sampled"', b'"maybe"'),
        lambda text: text.replace(b'"sampled"', b"[[]]"),
        lambda text: text.replace(b'"games":3', b'"games":1e99'),
        lambda text: text.replace(b'"games":3', b'"games":NaN'),
        lambda text: text.replace(b'"games":3', b'"games":null'),
        lambda text: text.replace(b'"ignored_paths":{', b'"ignored_paths":{"a":7,'),
        lambda text: text.replace(b'"patience":null', b'"patience":"long"'),
    ],
)
def test_findings_of_another_schema_show_nothing(
    change: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin, file = kept(tmp_path, monkeypatch)
    whole = read_checked(file, 1 << 20)
    assert whole is not None
    write_checked(file, change(whole))
    again = Origin((type("Kept", (Board,), {"__module__": Board.__module__}),), origin.made)
    assert again.file() == file
    found = recall(again)
    assert found is None or not found.seen


def test_what_was_seen_stays_seen_and_reaches_other_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin, _ = kept(tmp_path, monkeypatch)
    see(origin, "reward_sum", "general_sum", "a step paid (1, 1)")
    remember(origin, Findings(games=5))  # by somebody who did not see it
    twin = Origin((type("Kept", (Board,), {"__module__": Board.__module__}),), origin.made)
    for one in (origin, twin):
        found = recall(one)
        assert found is not None
        assert found.games == 5
        assert found.seen.keys() == {"chance", "reward_sum"}
        assert found.seen["reward_sum"].is_late


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Unwritten(Board):
        pass

    (tmp_path / "file").write_text("")
    monkeypatch.setattr(origins, "cache_root", lambda: tmp_path / "file")
    assert as_game(at(Unwritten, ())).traits.seats == 2
