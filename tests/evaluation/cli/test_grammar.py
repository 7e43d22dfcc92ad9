"""One grammar for all commands: ENV, agents, limits, JSON, and help that fits a terminal."""

import inspect
import json

import pytest

from zermelo.evaluation.cli import app
from zermelo.evaluation.cli.arguments import with_limits

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
    assert with_limits(agents, **limits) == expected


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["search", "zermelo/MNK-v0", "random", "--depth", "3"], "--depth limits none of these agents (random)"),
        (["search", "zermelo/MNK-v0", "alphabeta(depth=2)", "--depth", "3"], "or give their own"),
        (["tournament", TOY, GOOD, LAST, "--seconds", "1"], "--seconds limits none of these agents"),
        (["search", "zermelo/MNK-v0", "alphabeta", "--depth", "0"], "depth"),
        (["standings", "nowhere", "--json", "--csv"], "give either --json or --csv, not both"),
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
    text = inspect.getdoc(next(one.callback for one in app.registered_commands if one.name == command))
    lines = cli(command, "--help", env={"COLUMNS": "80"}).stdout.splitlines()
    assert all(len(line) <= 80 for line in lines)
    helped = " ".join(" ".join(lines).split())
    for paragraph in text.replace("[bold]", "").replace("[/bold]", "").split("\n\n"):
        assert " ".join(paragraph.replace("[dim]", "").replace("[/dim]", "").split()) in helped
