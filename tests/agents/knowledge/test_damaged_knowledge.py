"""Damaged files of knowledge, whether checksums fit or not: refused in a sentence, or as good as whole."""

from __future__ import annotations

import collections
import contextlib
import json
import random
import shutil
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doubles.damaged_knowledge import damage_knowledge
from doubles.watched_starts import watched

from zermelo.agents import make_agent, solve
from zermelo.agents.evaluators.fitted_linear import Features, FittedLinear
from zermelo.agents.evaluators.network import NetworkOrigin, PlaneNetwork, plane_words
from zermelo.agents.evaluators.registry import load_evaluation
from zermelo.agents.experts.poker.agent import PokerPolicy, _loaded
from zermelo.agents.knowledge_building.build_table import build_table
from zermelo.agents.knowledge_building.grow_book import grow_book
from zermelo.agents.level import Levels
from zermelo.agents.solutions.policy_table import PolicyTable
from zermelo.agents.solving.solve_policy import solve_policy
from zermelo.envs import ZermeloError
from zermelo.envs.games import MNK, Chess, Hexapawn, Kalah, Nim
from zermelo.envs.rules import RulesGame
from zermelo.envs.support.data_files import write_json

SEEDS, QUICK = 2_000, 100
MOST_MEMORY = 40 << 20
"""Bytes that reading any damaged file may take; the whole ones hold less than 1 MiB, the bombs up to 300."""
SMALL_KALAH = Kalah(3, 1)
GAMES: dict[str, Any] = {"kalah.ztable": SMALL_KALAH, "mnk.ztable": MNK(3, 2, 2), "mnk.zbook": MNK(3, 2, 2)}


def answer(name: str, setting: str) -> tuple[Any, ...]:
    """What a search says with a file's help or without, as far as the file must not change it."""
    agent = make_agent(f"alphabeta(depth=full, compile=never, ties=first{setting})")
    agent.reset(0)
    found = agent.search_state(GAMES[name])
    return found.value, found.proven


def table(path: Path) -> object:
    return answer(path.name, f", tables={str(path)!r}")


def book(path: Path) -> object:
    return answer(path.name, f", book={str(path)!r}")


def grown(path: Path) -> None:
    grow_book(GAMES[path.name], path, positions=1)


def polyglot(path: Path) -> None:
    make_agent(f"alphabeta(depth=1, compile=never, book={str(path)!r})").search_state(Chess())


def agent(spec: str) -> Callable[[Path], object]:
    return lambda path: make_agent(spec.format(path=str(path)))


READERS: dict[str, list[Callable[[Path], object]]] = {
    "kalah.ztable": [table],
    "mnk.ztable": [table],
    "mnk.zbook": [book, book, grown],
    "openings.bin": [polyglot],
    "ladder.json": [Levels.read, agent("level(40, file={path!r})")],
    "policy.jsonl": [PolicyTable.load, agent("policytable(path={path!r})")],
    "policy.jsonl.gz": [PolicyTable.load],
    "mixed.jsonl": [PolicyTable.load],
    "network.json": [load_evaluation, agent("greedy(evaluator={path!r})")],
    "values.json": [load_evaluation, agent("greedy(evaluator={path!r})")],
    "limit.npz": [PokerPolicy.load],
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one file of each kind, and with what must not be started."""
    folder = tmp_path_factory.mktemp("whole")
    build_table(SMALL_KALAH, folder / "kalah.ztable", stones=6)
    build_table(MNK(3, 2, 2), folder / "mnk.ztable", states=1_000)
    grow_book(MNK(3, 2, 2), folder / "mnk.zbook", positions=20)
    rungs = [
        {"agent": spec, "elo": elo, "lower": elo, "upper": elo, "ms": 0.1}
        for spec, elo in (("random", 0), ("noisy(agent=greedy, epsilon=0.5)", 50), ("alphabeta(depth=2)", 100))
    ]
    ladder = {"game": str(Hexapawn()), "env": "zermelo/Hexapawn-v0", "perfect": {"elo": 120.5}, "rungs": rungs}
    write_json(folder / "ladder.json", json.dumps(ladder).encode())
    for name in ("policy.jsonl", "policy.jsonl.gz"):
        solve_policy(Nim((1, 2)), plan="full").save(folder / name)
    mixed = {"0 0": (None, {0: 0.5, 1: 0.5})}
    PolicyTable(game="Kuhn", entries=mixed, is_hidden=True, values=(0.0, 0.0)).save(folder / "mixed.jsonl")
    small_network().save(str(folder / "network.json"), NetworkOrigin("zermelo/MNK-v0", str(MNK()), 1, 5))
    FittedLinear(Features("observation"), np.linspace(0, 1, 20)).save(str(folder / "values.json"))
    _loaded.cache_clear()
    shutil.copy(Path(sys.modules[PokerPolicy.__module__].__file__ or "").with_name("limit.npz"), folder)
    (folder / "openings.bin").write_bytes(np.random.default_rng(0).bytes(160))
    (folder / "trap").write_text("#!/bin/sh\ntouch ran\n")
    (folder / "trap").chmod(0o755)
    (folder / "beside.py").write_text("open('ran', 'w').close()\ndef env(): ...\nFEATURES = {}\n")
    return folder


def small_network() -> PlaneNetwork:
    words = plane_words(RulesGame(MNK()), [MNK().initial_state()]).shape[2]
    columns = np.arange(128 * words, dtype=np.int32).reshape(2, 64 * words)
    first, outputs = np.ones((128 * words, 16), np.int16), np.ones((2, 32), np.int16)
    return PlaneNetwork(columns, first, np.zeros(16, np.int16), outputs, np.zeros(2, np.int64), (4,))


def check(seed: int, whole: Path, folder: Path, expected: dict[str, object]) -> tuple[str, str, str]:
    """Damages one file and reads it; the file, the way, and whether it was refused."""
    chance = random.Random(seed)
    name = [*READERS][seed % len(READERS)]
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder)
    how = damage_knowledge(folder / name, chance)
    read = chance.choice(READERS[name])
    with contextlib.chdir(folder), watched() as started:
        tracemalloc.start()
        try:
            found, outcome = read(folder / name), "read"
        except ZermeloError as error:
            outcome, text = "refused", str(error)
            assert "\n" not in text, (seed, name, how, text)
            assert len(text) < 3_000, (seed, name, how, text)
        except BaseException as error:
            pytest.fail(f"seed {seed}, {name}, {how}: {type(error).__name__}: {error}")
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
    assert not started, (seed, name, how)
    assert not (folder / "ran").exists(), (seed, name, how)
    assert peak < MOST_MEMORY, (seed, name, how, peak)
    if outcome == "read" and read in (table, book):
        assert found == expected[name], (seed, name, how)
    return name, how, outcome


@pytest.fixture(scope="module")
def expected() -> dict[str, object]:
    """The answers of searches without a file."""
    return {name: answer(name, "") for name in GAMES}


@pytest.mark.parametrize("first", range(0, QUICK, 20))
def test_damaged_knowledge_is_refused_in_a_sentence(
    first: int, whole: Path, expected: dict[str, object], tmp_path: Path
) -> None:
    outcomes = {check(seed, whole, tmp_path / "damaged", expected)[2] for seed in range(first, first + 20)}
    assert outcomes <= {"read", "refused"}


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_two_thousand_damaged_files_of_knowledge(
    whole: Path, expected: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = collections.Counter(check(seed, whole, tmp_path / "damaged", expected) for seed in range(SEEDS))
    with capsys.disabled():
        print()
        for (name, how, outcome), count in sorted(found.items()):
            print(f"{count:5} {name:16} {how:16} {outcome}")
        print(f"{SEEDS} files: 0 tracebacks, 0 starts, 0 other answers, less than {MOST_MEMORY >> 20} MiB each")
    assert sum(count for (*_, outcome), count in found.items() if outcome == "refused") > SEEDS // 2


@pytest.mark.parametrize("name", READERS)
def test_whole_knowledge_is_read(name: str, whole: Path, expected: dict[str, object], tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "copy")
    for read in READERS[name]:
        found = read(tmp_path / "copy" / name)
        if read in (table, book):
            assert found == expected[name]


def test_a_table_says_the_same_as_a_solver(whole: Path, expected: dict[str, object]) -> None:
    assert expected["kalah.ztable"] == (solve(SMALL_KALAH).value, True)
