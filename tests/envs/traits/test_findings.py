"""What was found out about an environment is known to the next process, and only as long as it holds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from doubles.odd_boards import Board, at

from zermelo.envs import as_game
from zermelo.envs.game import Chance, Information
from zermelo.envs.support.files import read_checked, write_checked
from zermelo.envs.traits import findings, random_play

CODE = """
import sys, warnings
sys.path[:0] = {paths!r}
warnings.simplefilter("ignore")
import gymnasium
import mine
from zermelo.envs import as_game
from zermelo.envs.game import Chance, Information
from zermelo.envs.support.files import read_checked, write_checked
from zermelo.envs.traits import of_copies
played = []
infer = of_copies.infer
of_copies.infer = lambda *given: played.append(1) or infer(*given)
env = mine.Mine({size})
env.reset(seed=0)
game = as_game(env)
print(len(played), game.traits.reward_sum, game.traits.source("reward_sum"), game.traits.guessed != ())
"""
MINE = """
from doubles.awkward_lifetimes import CountToSix
class Mine(CountToSix):
    pass
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("ZERMELO_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "mine.py").write_text(MINE)
    paths = [str(tmp_path), str(Path(__file__).parents[2])]

    def run(size: int = 6) -> str:
        code = CODE.format(paths=paths, size=size)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    return run


def test_the_next_process_begins_at_once_and_edited_sources_are_looked_at_anew(run: Any, tmp_path: Path) -> None:
    shown = "zero_sum inferred from random play True"
    assert run() == f"1 {shown}"
    assert run() == f"0 {shown}"
    assert run(size=9) == f"1 {shown}"  # another configuration
    assert run(size=9) == run() == f"0 {shown}"
    (tmp_path / "mine.py").write_text(MINE + "\n# edited\n")
    assert run() == f"1 {shown}"
    assert run() == f"0 {shown}"
    for file in (tmp_path / "cache").rglob("*.json"):
        file.write_bytes(file.read_bytes()[:-20])  # a disk was full
    assert run() == f"1 {shown}"


def test_what_is_found_serves_another_environment_of_the_same_configuration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Fresh(Board):
        pass

    first = as_game(at(Fresh, ())).traits
    monkeypatch.setattr(random_play._Play, "run", lambda self: pytest.fail("played again"))
    assert as_game(at(Fresh, (4,))).traits == first


@pytest.mark.parametrize(
    "change",
    [
        lambda text: b"",
        lambda text: b"{}",
        lambda text: b"[[]]",
        lambda text: b"[" * 3000,
        lambda text: text.replace(b'"inferred":{', b'"inferred":{"mood":1,'),
        lambda text: text.replace(b'"inferred":{', b'"inferred":{"reward_sum":"maybe",'),
        lambda text: text.replace(b'"inferred":{', b'"inferred":{"reward_sum":[[]],'),
        lambda text: text.replace(b'"inferred":{', b'"inferred":{"utility_bounds":[1,"x"],'),
        lambda text: text.replace(b'"assumed":{', b'"assumed":{"simultaneous":{"a":NaN},'),
        lambda text: text.replace(b'"assumed":{', b'"assumed":{"constant":null,'),
        lambda text: text.replace(b'"games":', b'"games":1e'),
        lambda text: text.replace(b'"constants":{', b'"constants":{"a":7,'),
    ],
)
def test_findings_of_another_schema_count_as_missing(
    change: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings, "cache_root", lambda: tmp_path)
    findings._file_of.cache_clear()
    env = at(Board, ())
    found = findings.Findings(inferred={"chance": Chance.NONE}, assumed={"information": Information.PERFECT})
    findings.remember(env, found)
    (file,) = tmp_path.rglob("Board-*")
    whole = read_checked(file, 1 << 20)
    assert whole is not None
    for content, expected in ((whole, found), (change(whole), None)):
        write_checked(file, content)
        monkeypatch.setattr(findings, "_memory", {})
        assert findings.recall(env) == expected
    findings._file_of.cache_clear()


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Unwritten(Board):
        pass

    (tmp_path / "file").write_text("")
    monkeypatch.setattr(findings, "cache_root", lambda: tmp_path / "file")
    assert not as_game(at(Unwritten, ())).traits.assumed
