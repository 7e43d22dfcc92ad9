"""Files of runs, games and models, damaged at random: read, or refused in one sentence, and nothing is started.

Those of knowledge, such as books and tables, are in ``tests/agents/knowledge/test_damaged_knowledge.py``.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from doubles.damage import damage
from doubles.watched_starts import watched

from zermelo.agents import make_agent
from zermelo.envs import ZermeloError
from zermelo.envs.games import Nim
from zermelo.evaluation import GameRecord, read_standings
from zermelo.evaluation.board.saving import load_game, saved_game
from zermelo.evaluation.cli import main
from zermelo.evaluation.match.record import EndReason, Move
from zermelo.evaluation.storage.curves import read_curve
from zermelo.evaluation.tournament.opening_files import read_openings

ENV = "zermelo/Nim-v0(heaps=[1, 2])"
RUN = ["tournament", ENV, "random", "greedy", "--seed", "1", "--out", "run", "--games"]
ROW: dict[str, Any] = {
    "step": 10, "games": 4, "rating": 12.5, "lower": -10.0, "upper": None, "score": 0.5, "env": ENV, "ladder": "x",
    "rungs": [{"agent": "random", "elo": 0.0}, {"agent": "greedy", "elo": None}], "scoring": "wins",
    "mean_reward": 0.1, "reward_interval": [None, 0.5],
}  # fmt: skip
SEEDS = 2_000
QUICK = 80


def command(*arguments: str) -> Callable[[Path], object]:
    """A command, in the folder of the damaged file."""

    def run(path: Path) -> None:
        said, shown = io.StringIO(), io.StringIO()
        given = [part.format(path=path.name) for part in arguments]
        with (
            contextlib.redirect_stderr(said),
            contextlib.redirect_stdout(shown),
            pytest.raises(SystemExit) as ended,
        ):
            main(given)
        text = said.getvalue()
        assert "Traceback" not in text
        assert ended.value.code == 0 or (ended.value.code == 2 and "zermelo: " in text), (ended.value.code, text)
        if ended.value.code:
            raise ZermeloError(text)

    return run


def agent(spec: str) -> Callable[[Path], object]:
    return lambda path: make_agent(spec.format(path=str(path)))


def saved(env: str) -> Callable[[Path], object]:
    return lambda path: load_game(path.read_bytes().decode("utf-8", "replace"), env)


FOLDER = [
    command("standings", "run"),
    command("standings", "run", "--json"),
    command("report", "run", "--max-games", "2", "-o", "page.html"),
    command("export", "run", "--format", "json", "-o", "tables"),
    command("judge", "run", "--nodes", "20"),
    command("compare", "run", "random", "greedy"),
    command(*RUN, "4"),
    lambda _: str(read_standings("run")),
]
READERS: dict[str, list[Callable[[Path], object]]] = {
    "run/games.sqlite": FOLDER,
    "run/games.jsonl": FOLDER,
    "run/judge.json": FOLDER[2:3],
    "run/judge.jsonl": FOLDER[2:3],
    "run/lock": FOLDER[6:7],
    "curve.jsonl": [read_curve, command("report", "--training", "{path}", "-o", "page.html")],
    "openings.txt": [
        lambda path: [*read_openings(path, Nim)],
        command("tournament", ENV, "random", "greedy", "--openings", "{path}", "--games", "2"),
    ],
    "game.json": [saved(ENV)],
    "game.pgn": [saved("zermelo/Chess-v0"), saved("classic/chess-v6")],
    "game.sgf": [saved("zermelo/Go-v0(size=5)"), saved("classic/go-v5(board_size=5)")],
    "model.onnx": [agent("onnx(path={path!r})"), agent("greedy(evaluator=onnx(path={path!r}))")],
    "model.pt": [agent("torch(path={path!r})")],
    "model.zip": [agent("sb3(path={path!r}, algorithm=PPO)")],
}
ALONE = {"run/games.jsonl"}
"""Files that are read only where others are missing."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one file of each kind."""
    folder = tmp_path_factory.mktemp("whole")
    with contextlib.chdir(folder):
        command(*RUN, "2")(folder)
        command("judge", "run", "--nodes", "100")(folder)
        Path("curve.jsonl").write_text(f"{json.dumps(ROW)}\n{json.dumps(ROW | {'step': 20})}\n")
        Path("openings.txt").write_text("# two\n0\n2\n")
        names = {"agents": ("a", "b"), "seat_names": ("player_0", "player_1")}
        game: dict[str, Any] = {**names, "seed": 0, "rewards": (0.0, 0.0), "end": EndReason.MOVE_LIMIT}
        game |= {"moves": (Move(0, 0, 0.1, 3, 1, 0.5),), "versions": {"python": "3"}}
        Path("game.json").write_text(saved_game(GameRecord(env=ENV, **game), "json", finished=False))
        Path("game.pgn").write_text('[Event "?"]\n[Result "*"]\n\n1. e4 e5 2. Nf3 (2. d4 exd4) Nc6 *\n')
        Path("game.sgf").write_text("(;GM[1]SZ[5]KM[7.5];B[aa];W[bb](;B[cc])(;B[dd]))")
        for name in ("model.onnx", "model.pt", "model.zip"):
            Path(name).write_bytes(b"PK\x03\x04" + bytes(range(256)))
        Path("trap").write_text("#!/bin/sh\ntouch ran\n")
        Path("trap").chmod(0o755)
        Path("beside.py").write_text("open('ran', 'w').close()\ndef env(): ...\nFEATURES = {}\n")
    return folder


def check(seed: int, whole: Path, folder: Path) -> str:
    """Damages one file and reads it; says whether it was refused."""
    chance = random.Random(seed)
    name = chance.choice([*READERS, *["run/games.sqlite"] * 5])
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(whole, folder)
    path = folder / name
    if name in ALONE:
        (folder / "run/games.sqlite").unlink()
    damage(path, chance)
    read = chance.choice(READERS[name])
    with contextlib.chdir(folder), watched() as started:
        outcome = "refused"
        try:
            read(path)
            outcome = "read"
        except ZermeloError:
            pass
        except BaseException as error:
            pytest.fail(f"seed {seed}, {name}: {type(error).__name__}: {error}")
    assert not started, (seed, name)
    assert not (folder / "ran").exists(), (seed, name)
    return outcome


@pytest.mark.parametrize("first", range(0, QUICK, 10))
def test_damaged_files_are_read_or_refused_in_a_sentence(first: int, whole: Path, tmp_path: Path) -> None:
    outcomes = {check(seed, whole, tmp_path / "damaged") for seed in range(first, first + 10)}
    assert outcomes <= {"read", "refused"}


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_two_thousand_damaged_files(whole: Path, tmp_path: Path) -> None:
    outcomes = [check(seed, whole, tmp_path / "damaged") for seed in range(SEEDS)]
    assert outcomes.count("refused") > SEEDS // 10  # they were damaged
    assert outcomes.count("read") > SEEDS // 10


@pytest.mark.parametrize("name", sorted({*READERS} - {"model.onnx", "model.pt", "model.zip"}))
def test_whole_files_are_read(name: str, whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "copy")
    path = tmp_path / "copy" / name
    with contextlib.chdir(tmp_path / "copy"), watched() as started:
        for read in READERS[name]:
            read(path)
    assert not started
    assert path.exists()
