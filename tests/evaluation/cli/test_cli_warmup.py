"""``zermelo warmup``: a line a game, and the next process need not compile."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = str(Path(sys.executable).with_name("zermelo"))
LINE = r"{}:  alphabeta \S+ s  minimax \S+ s  mcts \S+ s  solve \S+ s  perft \S+ s  \(together \S+ s\)\n"


@pytest.mark.thorough
def test_a_line_for_each_game(cli):
    result = cli("warmup", "classic/tictactoe-v3", "zermelo/Pig-v0", "FrozenLake-v1")
    assert result.exit_code == 0, result.output
    pig = r"zermelo/Pig-v0:  expectiminimax \S+ s  mcts \S+ s  \(together \S+ s\)\n"
    expected = LINE.format("classic/tictactoe-v3") + pig
    assert re.fullmatch(expected + "FrozenLake-v1: nothing to compile\n", result.stdout)


def test_environments_or_all(cli):
    result = cli("warmup", "zermelo/Nim-v0", "--all")
    assert result.exit_code == 2
    assert result.stderr == "zermelo: give environments or --all, not both\n"


@pytest.mark.slow
def test_cold_becomes_warm(tmp_path: Path) -> None:
    env = {**os.environ, "ZERMELO_CACHE_DIR": str(tmp_path)}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([PROGRAM, *words], capture_output=True, text=True, env=env, check=True, timeout=250)

    cold = run("warmup", "zermelo/Chomp-v0")
    assert re.fullmatch(LINE.format("zermelo/Chomp-v0"), cold.stdout)
    assert "compiling the rules of Chomp for this machine (once)" in cold.stderr
    for words in (["warmup", "zermelo/Chomp-v0"], ["search", "zermelo/Chomp-v0", "alphabeta(depth=2)"]):
        assert "compiling" not in run(*words).stderr
