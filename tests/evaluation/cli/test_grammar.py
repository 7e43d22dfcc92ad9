"""One grammar for all commands: ENV, agents, limits, JSON, and help that fits a terminal; compiling ahead."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from zermelo.agents.base.limits import Limits
from zermelo.evaluation.cli import app
from zermelo.evaluation.cli.arguments import limited

TOY = "doubles.toy_envs:ToyEnv"
GOOD, LAST = "doubles.bad_agents:Good", "doubles.bad_agents:Last"


@pytest.mark.parametrize(
    ("agents", "limits", "expected"),
    [
        (["alphabeta"], {"depth": 3}, ["alphabeta(depth=3)"]),
        (["random", "mcts", "alphabeta(ties='first')"], {"seconds": 0.1}, None),
        (["alphabeta(depth=2)", "minimax"], {"depth": 3}, ["alphabeta(depth=2)", "minimax(depth=3)"]),
        (["a.module:Agent", "mcts"], {"simulations": 5}, ["a.module:Agent", "mcts(simulations=5)"]),
    ],
)
def test_limits_go_to_agents_that_have_them(agents, limits, expected):
    expected = expected or ["random", "mcts(seconds=0.1)", "alphabeta(ties='first', seconds=0.1)"]
    assert limited(agents, Limits(**limits)) == expected


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["search", "zermelo/MNK-v0", "random", "--depth", "3"], "--depth limits none of these agents (random)"),
        (["search", "zermelo/MNK-v0", "alphabeta(depth=2)", "--depth", "3"], "or give their own"),
        (["tournament", TOY, GOOD, LAST, "--seconds", "1"], "--seconds limits none of these agents"),
        (["search", "zermelo/MNK-v0", "alphabeta", "--depth", "0"], "depth"),
    ],
)
def test_limits_that_no_agent_takes(cli, words, said):
    result = cli(*words)
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        (["search", "zermelo/MNK-v0", "alphabeta", "--depth", "2"], {"env", "moves", "player", "agent", "value"}),
        (["perft", "zermelo/MNK-v0", "2", "--split"], {"env", "depth", "leaves", "split", "seconds"}),
        (["solve", "zermelo/MNK-v0", "--moves", "0,4,2"], {"value", "outcome", "action_values"}),
        (["exploitability", "zermelo/Kuhn-v0", "random"], {"env", "exploitability"}),
    ],
)
def test_json_for_programs(cli, words, keys):
    assert keys <= json.loads(cli(*words, "--json").stdout).keys()


def test_lists_as_json(cli):
    assert {"alphabeta", "random"} <= {entry["name"] for entry in json.loads(cli("agents", "--json").stdout)}
    assert "depth" in {setting["name"] for setting in json.loads(cli("agents", "alphabeta", "--json").stdout)}
    assert "classic/chess-v6" in {entry["name"] for entry in json.loads(cli("envs", "--json").stdout)}


def test_compare_as_json(cli, tmp_path):
    folder = str(tmp_path / "run")
    cli("tournament", TOY, GOOD, LAST, "--games", "2", "--isolate", "none", "--out", folder)
    names = [row["agent"] for row in json.loads(cli("standings", folder, "--json").stdout)["agents"]]
    found = json.loads(cli("compare", folder, *names, "--json").stdout)
    assert found["wins"] + found["draws"] + found["losses"] == 2
    assert {"elo", "lower", "upper"} <= found["elo"].keys()


@pytest.mark.parametrize("command", sorted(command.name for command in app.registered_commands))
def test_help_is_wrapped(cli, command):
    callback = next(one.callback for one in app.registered_commands if one.name == command)
    text, _, options = inspect.getdoc(callback).partition("\n\nOptions:\n")
    assert set(re.findall(r"^    (\w+): ", options, re.MULTILINE)) <= inspect.signature(callback).parameters.keys()
    assert all(param.help for param in typer.main.get_command(app).commands[command].params)
    lines = cli(command, "--help", env={"COLUMNS": "80"}).stdout.splitlines()
    assert all(len(line) <= 80 for line in lines)
    helped = " ".join(" ".join(lines).split())
    for paragraph in text.replace("[bold]", "").replace("[/bold]", "").split("\n\n"):
        assert " ".join(paragraph.replace("[dim]", "").replace("[/dim]", "").split()) in helped


PROGRAM = str(Path(sys.executable).with_name("zermelo"))
LINE = r"{}:  alphabeta \S+ s  minimax \S+ s  mcts \S+ s  solve \S+ s  perft \S+ s  \(together \S+ s\)\n"


@pytest.mark.thorough
def test_a_line_for_each_game(cli):
    result = cli("warmup", "classic/tictactoe-v3", "zermelo/Pig-v0", "FrozenLake-v1")
    assert result.exit_code == 0, result.output
    pig = r"zermelo/Pig-v0:  expectiminimax \S+ s  mcts \S+ s  \(together \S+ s\)\n"
    expected = LINE.format("classic/tictactoe-v3") + pig
    lake = (
        r"FrozenLake-v1: nothing to compile  \(\S+ s\)\n"
        r"  information   perfect        known to zermelo\n"
        r"  chance        \S+ +known to zermelo\n"
    )
    assert re.fullmatch(expected + lake, result.stdout)


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
    assert "compiling the rules of Chomp for this machine (once; " in cold.stderr
    for words in (["warmup", "zermelo/Chomp-v0"], ["search", "zermelo/Chomp-v0", "alphabeta(depth=2)"]):
        assert "compiling" not in run(*words).stderr
