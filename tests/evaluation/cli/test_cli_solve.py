"""``zermelo solve``: what it prints, its exit codes, and that it can be stopped."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from zermelo.evaluation.cli import main
from zermelo.evaluation.cli import solve as solve_module
from zermelo.evaluation.cli.arguments import LiveLine

PROGRAM = str(Path(sys.executable).with_name("zermelo"))


def test_a_position_is_solved_and_explained(cli) -> None:
    result = cli("solve", "classic/tictactoe-v3", "--moves", "0,1")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "classic/tictactoe-v3 after 0,1, player_1 to move"
    assert lines[1] == "outcome   player_1 wins, 5 moves to the end"
    assert lines[2] == "value     1 for player_1"
    assert [line.split(": ")[1] for line in lines if line.startswith("action")] == ["1 in 5"] * 3 + ["0"] * 4
    assert result.stderr == ""


def test_json(cli) -> None:
    solution = json.loads(cli("solve", "classic/tictactoe-v3", "--moves", "0,1,3", "--json").stdout)
    assert (solution["to_move"], solution["outcome"], solution["value"]) == ("player_2", "first wins", -1)
    assert solution["values_by_seat"] == [1, -1]
    assert set(solution["action_values"]) == {"2", "4", "5", "6", "7", "8"}
    assert solution["proven"] is True


def test_the_colour_alone(cli) -> None:
    result = cli("solve", "zermelo/Hexapawn-v0", "--outcome-only")
    assert result.exit_code == 0
    assert "outcome   player_1 wins\n" in result.stdout
    assert "action " not in result.stdout


def test_a_limit_leaves_exit_code_1(cli) -> None:
    result = cli("solve", "classic/tictactoe-v3", "--nodes", "50")
    assert result.exit_code == 1
    assert "outcome   not settled\nvalue     -1 to 1 for player_1\n" in result.stdout
    assert "stopped   at the limit on nodes" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["classic/texas_holdem-v4"], "solve needs to see the whole state"),
        (["zermelo/Pig-v0(players=3)"], "value_iteration needs one or two players"),
        (["classic/tictactoe-v3", "--moves", "0,0"], "move 2 of --moves is"),
        (["classic/tictactoe-v3", "--moves", "0,3,1,4,2"], "is over"),
        (
            ["zermelo/Kuhn-v0", "--outcome-only"],
            "zermelo/Kuhn-v0 has hidden information, so it is solved from its start",
        ),
        (["classic/tictactoe-v3", "--seconds", "-1"], "seconds must be greater than 0"),
    ],
)
def test_what_cannot_be_solved_is_told_in_a_sentence(cli, words: list[str], message: str) -> None:
    result = cli("solve", *words)
    assert result.exit_code == 2
    assert result.stderr.startswith("zermelo: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.thorough
@pytest.mark.parametrize("game", ["classic/tictactoe-v3", "zermelo/Pig-v0(target=10)"])
def test_a_policy_is_written_and_plays(cli, tmp_path: Path, game: str) -> None:
    path = tmp_path / "policy.jsonl"
    result = cli("solve", game, "--policy", str(path), "--plan", "full")
    assert result.exit_code == 0, result.output
    agent = f'policytable(path="{path}")'
    assert f"states in {path}; play it as {agent}" in result.stdout
    result = cli("tournament", game, agent, "random", "--games", "4", "--workers", "1")
    assert result.exit_code == 0, result.output
    assert "4 games" in result.stdout
    assert "failed" not in result.stdout


def test_hidden_cards_end_in_a_policy(cli, tmp_path: Path) -> None:
    file = tmp_path / "kuhn.jsonl"
    result = cli("solve", "zermelo/Kuhn-v0", "--tolerance", "0.01", "--policy", str(file))
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("zermelo/Kuhn-v0, from its start: 12 information states\nvalue     -0.0")
    assert f'12 information states in {file}; play it as policytable(path="{file}")' in result.stdout
    searched = cli("search", "zermelo/Kuhn-v0", f'policytable(path="{file}")')
    assert searched.exit_code == 0, searched.output
    result = cli("solve", "zermelo/Kuhn-v0", "--tolerance", "0", "--seconds", "0.1", "--json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert told["value_bounds"][0] <= -1 / 18 <= told["value_bounds"][1]
    assert told["stopped_by"] == "seconds"


def test_exploitability(cli) -> None:
    result = cli("exploitability", "zermelo/Kuhn-v0", "random", "cfr(iterations=50)")
    assert result.exit_code == 0, result.output
    title, _, columns, _, first, second, *_ = result.stdout.splitlines()
    assert title == "zermelo/Kuhn-v0: judged by best answers"
    assert columns.split("best answer as ")[1:] == ["player_0  ", "player_1"]
    assert first.split()[0] == "cfr(iterations=50)"
    assert float(first.split()[1]) < 0.01
    assert second.split() == ["random", "0.4583", "0.5", "0.4167"]
    refused = cli("exploitability", "classic/tictactoe-v3", "random")
    assert refused.exit_code == 2
    assert "does not say what its players know" in refused.stderr


def test_a_policy_of_too_many_states(cli, tmp_path: Path) -> None:
    words = ["solve", "classic/tictactoe-v3", "--policy", str(tmp_path / "x"), "--states", "10"]
    result = cli(*words)
    assert result.exit_code == 2
    assert "more than 10 states for a seat plan" in result.stderr
    result = cli(*words[:-2], "--plan", "all")
    assert result.exit_code == 2
    assert "plan must be one of 'seat', 'full', not 'all'" in result.stderr


def work_for(pid: int, seconds: float) -> None:
    """Waits until a process has used so much processor time, however busy the machine is."""
    stat, ticks = Path(f"/proc/{pid}/stat"), os.sysconf("SC_CLK_TCK")
    if not stat.exists():
        time.sleep(2 * seconds)
    while stat.exists() and sum(map(int, stat.read_text().rpartition(")")[2].split()[11:13])) < seconds * ticks:
        time.sleep(0.02)


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal of POSIX")
@pytest.mark.alone
def test_ctrl_c_is_answered_with_a_sentence() -> None:
    words = [PROGRAM, "solve", "zermelo/MNK-v0(m=5, n=5, k=4)"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            work_for(process.pid, 2.5)  # imports, and then well into the search or the compiler
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 130
    assert out == ""
    assert err.splitlines()[-1].startswith("zermelo: stopped before zermelo/MNK-v0(m=5, n=5, k=4) was solved")
    assert "Traceback" not in err


def test_the_live_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    quiet = LiveLine()
    quiet.show("solving")
    quiet.clear()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    live = LiveLine()
    live.show("solving")
    live.clear()
    assert capsys.readouterr().err == "\r\x1b[Ksolving\r\x1b[K"


def test_a_long_solution_says_how_to_limit_it(monkeypatch, capsys):
    monkeypatch.setattr(solve_module, "_PATIENCE", 0.05)
    with pytest.raises(SystemExit):
        main(["solve", "classic/rps-v2(max_cycles=9000)", "--seconds", "0.3"])
    said = capsys.readouterr()
    assert "still solving classic/rps-v2(max_cycles=9000); --seconds limits that" in said.err
    assert "at the limit on seconds" in said.out


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


@pytest.mark.parametrize("option", [["--outcome-only"], ["--nodes", "5"]])
def test_limits_of_proofs_do_not_apply(cli, option):
    result = cli("solve", "zermelo/Pig-v0(target=5)", *option)
    assert result.exit_code != 0
    assert "is solved by value iteration, which has neither --outcome-only nor" in said(result)


def test_value_iteration_within_seconds(cli):
    result = cli("solve", "zermelo/Pig-v0", "--seconds", "0.2")
    assert result.exit_code == 1
    assert re.search(r"stopped   at the limit on seconds( \([\d,]+ states and sweeps so far\))?:", result.stdout)


def test_too_many_states_and_too_many_players(cli):
    assert "more than 100 states" in said(cli("solve", "zermelo/Pig-v0", "--states", "100"))
    assert "use 'maxn', 'paranoid' or 'mcts'" in said(cli("solve", "zermelo/Pig-v0(players=3)"))


def said(result: Any) -> str:
    """What was written, or raised for the command line to write."""
    return f"{result.output} {result.exception}"
