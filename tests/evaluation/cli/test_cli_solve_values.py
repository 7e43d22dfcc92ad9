"""``zermelo solve`` where there is chance, and a table that is then played."""

from __future__ import annotations

import json
from typing import Any

import pytest


@pytest.mark.thorough
def test_pig(cli):
    result = cli("solve", "zermelo/Pig-v0(target=10)", "--tolerance", "1e-11")
    assert result.exit_code == 0, result.output
    assert "score     0.70942432" in result.stdout, "Neller and Presser's Pig, to ten points"
    assert "0=roll" in result.stdout
    assert "to within 1e-11" in result.stdout


def test_as_json(cli):
    found = json.loads(cli("solve", "zermelo/Pig-v0(target=2, sides=2)", "--json").stdout)
    assert (found["value"] + 1) / 2 == pytest.approx(4 / 7, abs=1e-8)
    assert found["best_actions"] == [0]
    assert found["tolerance"] == 1e-9


def test_one_player(cli):
    assert "value     0.8235294" in cli("solve", "FrozenLake-v1").stdout, "14 of 17 on the slippery lake"


@pytest.mark.thorough
def test_the_table_is_played(cli, tmp_path):
    path = tmp_path / "pig.jsonl"
    game = "zermelo/Pig-v0(target=10)"
    result = cli("solve", game, "--policy", str(path), "--plan", "full")
    assert result.exit_code == 0, result.output
    assert f"states in {path}; play it as policytable" in result.stdout
    agent = f'policytable(path="{path}")'
    result = cli("tournament", game, agent, "random", "--games", "4", "--workers", "1")
    assert result.exit_code == 0, result.output
    assert "4 games" in result.stdout
    assert "failed" not in result.stdout


@pytest.mark.parametrize("option", [["--outcome-only"], ["--nodes", "5"], ["--seconds", "1"]])
def test_limits_of_proofs_do_not_apply(cli, option):
    result = cli("solve", "zermelo/Pig-v0(target=5)", *option)
    assert result.exit_code != 0
    assert "is solved by value iteration, which has none of --outcome-only" in said(result)


def test_too_many_states_and_too_many_players(cli):
    assert "more than 100 states" in said(cli("solve", "zermelo/Pig-v0", "--states", "100"))
    assert "use 'maxn', 'paranoid' or 'mcts'" in said(cli("solve", "zermelo/Pig-v0(players=3)"))


def said(result: Any) -> str:
    """What was written, or raised for the command line to write."""
    return f"{result.output} {result.exception}"
