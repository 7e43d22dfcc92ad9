"""The command line: what it prints, how it fails, and that it can be stopped."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from zermelo.agents import MCTSAgent
from zermelo.envs import ZermeloError
from zermelo.evaluation import read_games

PROGRAM = str(Path(sys.executable).with_name("zermelo"))
TESTS = Path(__file__).resolve().parents[2]
TOY = "doubles.toy_envs:ToyEnv"
GOOD, LAST = "doubles.bad_agents:Good", "doubles.bad_agents:Last"


def nobody_is_left(group):
    """Waits for the last process of the group, such as multiprocessing's own tracker, to end."""
    deadline = time.monotonic() + 30
    while True:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        assert time.monotonic() < deadline, "a process outlived the tournament"
        time.sleep(0.05)


def wait_for_a_game(folder):
    """Waits until the first game is stored."""
    deadline = time.monotonic() + 60
    while True:
        with contextlib.suppress(ZermeloError):
            if len(read_games(folder)):
                return
        assert time.monotonic() < deadline, "no game was finished"
        time.sleep(0.05)


def run(*words, **settings):
    env = {**os.environ, "PYTHONPATH": str(TESTS)}
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, env=env, timeout=120, **settings)


def test_a_tournament_prints_both_tables(cli):
    result = cli("tournament", "classic/tictactoe-v3", "random", "greedy", "--games", "4", "--seed", "3")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("classic/tictactoe-v3: 4 games\n")
    assert len(re.findall(r"^\d  greedy ", result.stdout, re.MULTILINE)) == 3  # scores, crosstable, ratings
    assert "\x1b" not in result.stdout
    assert result.stderr == ""


def test_the_same_command_gives_the_same_table_from_a_real_process():
    outputs = [
        run("tournament", TOY, GOOD, LAST, "random", "--games", "3", "--isolate", "none", "--workers", workers)
        for workers in ("1", "2")
    ]
    assert [output.returncode for output in outputs] == [0, 0], outputs
    first, second = (re.sub(r" +\S+$", "", output.stdout, flags=re.MULTILINE) for output in outputs)
    assert first == second
    assert not any("\x1b" in output.stderr or "Error" in output.stderr for output in outputs)  # nothing is drawn


@pytest.mark.parametrize(
    ("words", "said"),
    [([], True), (["--quiet"], False), (["-q", "--json"], False)],
)
def test_how_far_it_is_can_be_silenced_and_is_not_said_to_programs(cli, words, said, monkeypatch):
    monkeypatch.setattr("zermelo.evaluation.output.progress.FIRST_LINE", 0.0)
    result = cli("tournament", TOY, GOOD, LAST, "--games", "4", "--isolate", "none", *words)
    assert result.exit_code == 0
    assert ("zermelo: 1 of 4 games" in result.stderr) is said
    assert "zermelo: 1" not in result.stdout


def test_a_search_says_why_it_is_not_compiled(cli):
    shown = cli("search", "zermelo/MNK-v0", "alphabeta(depth=2, evaluator=playout)").stdout
    assert "plain     in Python, hundreds of times slower than compiled: the evaluator playout is plain" in shown
    assert "plain     " not in cli("search", "zermelo/MNK-v0", "alphabeta(depth=2)").stdout


def test_ctrl_c_ends_a_search_that_says_what_it_found(cli, monkeypatch):
    choose = MCTSAgent.choose

    def interrupted(self, *given):
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        return choose(self, *given)

    monkeypatch.setattr(MCTSAgent, "choose", interrupted)
    result = cli("search", "classic/connect_four-v3", "mcts(seconds=60)")
    assert result.exit_code == 0
    assert "stopped   when asked to" in result.stdout


def test_the_settings_of_an_agent_are_explained_after_an_example_its_limits_first(cli):
    lines = cli("agents", "alphabeta").stdout.splitlines()
    assert lines[0].startswith("Alpha-beta, with what makes it strong")
    example = lines.index("For example: alphabeta(depth=4)")
    assert lines[example + 2].startswith("depth=None")
    assert "For example" not in cli("agents", "uci").stdout
    told = dict(line.split("\t") for line in lines if "\t" in line)
    assert told["depth=None"].startswith("Moves to look ahead, every player's counted and chance not")
    assert len(told) > 20
    assert all(text.endswith(".") for text in told.values())
    unknown = cli("agents", "alphabet")
    assert unknown.exit_code == 2
    assert "did you mean 'alphabeta'" in unknown.stderr


def test_json_is_for_programs(cli):
    words = ["tournament", TOY, GOOD, LAST, "--games", "2", "--isolate", "none"]
    data = json.loads(cli(*words, "--json").stdout)
    assert {row["agent"] for row in data["agents"]} == {"good", "last"}


@pytest.mark.thorough
def test_out_keeps_the_games_and_the_same_command_goes_on(cli, tmp_path):
    words = ["tournament", TOY, GOOD, LAST, "--games", "2", "--isolate", "none", "--out", str(tmp_path / "run")]
    result = cli(*words)
    assert result.exit_code == 0
    assert f"Games and standings are in {tmp_path / 'run'}" in result.stdout
    assert len((tmp_path / "run" / "games.jsonl").read_text().splitlines()) == 2
    again = cli(*words)
    assert (again.exit_code, again.stdout) == (0, result.stdout)
    later = cli("standings", str(tmp_path / "run"))
    assert later.exit_code == 0, later.output
    assert later.stdout.strip() == result.stdout.partition("Games and standings")[0].strip()
    data = json.loads(cli("standings", str(tmp_path / "run"), "--json").stdout)
    assert data["games"] == 2
    assert "holds no tournament" in cli("standings", str(tmp_path)).stderr
    other = cli(*words, "--seed", "4")
    assert other.exit_code == 2
    assert "already holds a tournament, and not this one (seed: 0 there, 4 here)" in other.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tournament", "classic/connect_for-v3", "random", "random"], "did you mean 'classic/connect_four-v3'"),
        (["tournament", TOY, "random", "randon"], "no agent is called 'randon': did you mean 'random'"),
        (["tournament", TOY, GOOD, LAST, "--out", "/dev/null/x"], "cannot write the games"),
        (["tournament", TOY, GOOD, LAST, "--anchor", "rndom"], "the anchor 'rndom' does not play: choose one of"),
        (
            ["tournament", TOY, GOOD, LAST, "--opening-plies", "1", "--openings", "x"],
            "cannot read the openings: there is no file 'x'",
        ),
        (
            ["search", "classic/tictactoe-v3", "minimax", "--moves", "0,0"],
            "move 2 of --moves is 0, which is not legal",
        ),
        (["search", "classic/tictactoe-v3", "minimax", "--moves", "0,3,1,4,2"], "is over after 0,3,1,4,2"),
        (["search", "classic/tictactoe-v3", "random"], "choose an agent that searches"),
        (["search", "classic/tictactoe-v3", "greedy", "--watch"], "no iterations to watch"),
        (["play", "classic/tictactoe-v3", "--seat", "3"], "has 2 seats: --seat cannot be 3"),
        (["play", "classic/tictactoe-v3", "--clock", "60+1"], "--clock is for the board in the browser: add"),
        (["play", "classic/tictactoe-v3", "--port", "8000"], "--port is for the board in the browser: add"),
        (["play", "zermelo/MNK-v0", "--browser", "--no-open", "nobody"], "no agent is called 'nobody'"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_code_2(cli, words, said):
    result = cli(*words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.startswith("zermelo: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_a_mistyped_command_and_the_version(cli):
    result = cli("tournment")
    assert result.exit_code == 2
    assert "'tournament'" in result.output
    assert re.fullmatch(r"zermelo \d+\.\d+.*\n", cli("--version").stdout)


def test_void_games_are_exit_code_1(cli):
    result = cli("tournament", "doubles.toy_envs:broken_step", GOOD, LAST, "--games", "2")
    assert result.exit_code == 1
    assert "2 games count for nobody" in result.stdout


def test_search_explains_a_position(cli):
    result = cli("search", "classic/tictactoe-v3", "alphabeta", "--moves", "0,1", "--exact", "--watch")
    assert result.exit_code == 0, result.output
    assert "classic/tictactoe-v3 after 0,1, player_1 to move" in result.stdout
    assert re.search(r"^X . .$", result.stdout, re.MULTILINE)
    assert re.search(r"^value +1 for player_1 \(proven, 5 moves to the end\)$", result.stdout, re.MULTILINE)
    actions = re.search(r"^actions +(.*)$", result.stdout, re.MULTILINE).group(1)
    values = dict(re.sub(r"=\w+", "", pair).split(": ") for pair in re.split(r" {3}", actions))
    assert values == {"2": "0", "3": "1", "4": "1", "5": "0", "6": "1", "7": "0", "8": "0"}
    assert re.search(r"^searched +[\d,]+ nodes", result.stdout, re.MULTILINE)
    assert re.search(r"^depth +\d+  value +1.0000 ", result.stdout, re.MULTILINE)


def test_search_names_moves_as_the_game_does(cli):
    result = cli("search", "openspiel/tic_tac_toe", "alphabeta(depth=1, evaluator=playout)")
    assert "leaves    playout" in result.output
    assert result.exit_code == 0, result.output
    assert re.search(r"^best +\d=[a-c][1-3]", result.stdout, re.MULTILINE)


def test_perft(cli):
    result = cli("perft", "classic/connect_four-v3", "3", "--split")
    assert result.exit_code == 0, result.output
    assert "0=a: 49\n" in result.stdout
    assert "343 leaves at depth 3" in result.stdout
    below = cli("perft", "classic/connect_four-v3", "2", "--moves", "3")
    assert "49 leaves at depth 2" in below.stdout


def test_play(cli):
    result = cli("play", "classic/tictactoe-v3", "minimax", input="99\nx\n4\n0\n8\n1\n7\n\n")
    assert result.exit_code == 0, result.output
    assert "you are player_1" in result.stdout
    assert "That is 99, which is not legal here (legal: 0=a3, 1=a2, 2=a1," in result.stdout
    assert "That is 'x', which is not legal here (legal: 0=a3, 1=a2, 2=a1," in result.stdout
    assert "3 X . .\n2 . . .\n1 . . .\n  a b c\n" in result.stdout or "2 . X .\n" in result.stdout
    assert "player_2 plays" in result.stdout
    quiet = cli("play", "classic/tictactoe-v3", "--seat", "2", input="")
    assert "left unfinished" in quiet.stdout
    for word in ("q", "QUIT", "exit"):
        ended = cli("play", "classic/tictactoe-v3", input=f"{word}\n4\n")
        assert "an empty line ends the game" in ended.stdout
        assert ended.stdout.count("Your move") == 1
        assert "left unfinished" in ended.stdout


def test_play_with_pondering(cli):
    result = cli("play", "classic/tictactoe-v3", "mcts(simulations=50)", "--ponder", input="4\n\n")
    assert "pondered on 0 moves and expected 0 of them" in result.stdout


@pytest.mark.parametrize(
    "command",
    [
        "search {} alphabeta(book='bad')",
        "search {} alphabeta(depth=1,tables='bad')",
        "solve {} --tables bad",
        "tree {} --book bad",
        "tournament {} random greedy --openings book:bad",
        "book {} --plies 2 --out bad",
        "book {} --exact --plies 2 --out bad",
    ],
)
def test_a_damaged_file_is_named_in_a_sentence(cli, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad").write_bytes(b"PK" + bytes(200))
    result = cli(*command.format("classic/tictactoe-v3").split())
    assert result.exit_code == 2, result.output
    assert re.search(r"'bad' is no (opening book|endgame table), or it is damaged", result.output)
    assert "Traceback" not in result.output
    assert (tmp_path / "bad").read_bytes() == b"PK" + bytes(200)


@pytest.mark.thorough
def test_play_to_the_end(cli):
    result = cli("play", TOY, LAST, "--seat", "1", input="2\n1\n")
    assert result.exit_code == 0, result.output
    assert "The game is over: player_0 3, player_1 2" in result.stdout


def test_lists(cli):
    agents = cli("agents").stdout
    for name in ("alphabeta", "expectiminimax", "greedy", "minimax", "random"):
        assert re.search(rf"^{name}\t\S", agents, re.MULTILINE)
    envs = cli("envs").stdout
    assert re.search(r"^classic/connect_four-v3\t", envs, re.MULTILINE)


@pytest.mark.thorough
def test_a_reader_that_stops_reading_is_no_error():
    env = {**os.environ, "PYTHONPATH": str(TESTS)}
    with subprocess.Popen([PROGRAM, "envs"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) as process:
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and process groups")
@pytest.mark.parametrize("workers", [pytest.param("1", marks=pytest.mark.slow), "2"])
@pytest.mark.alone
def test_ctrl_c_prints_the_table_so_far_and_leaves_no_process(workers, tmp_path):
    """As a terminal does it: the whole process group gets SIGINT."""
    out = tmp_path / "out"
    words = ["tournament", TOY, GOOD, "doubles.bad_agents:Slow", "--games", "100000", "--workers", workers]
    env = {**os.environ, "PYTHONPATH": str(TESTS)}
    with subprocess.Popen(
        [PROGRAM, *words, "--out", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, start_new_session=True,
    ) as process:  # fmt: skip
        wait_for_a_game(out)
        os.killpg(process.pid, signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, (stdout, stderr)
    games = len((out / "games.jsonl").read_text().splitlines())
    assert f"Stopped after {games} of 100000 games." in stdout
    assert "95 % interval" in stdout
    assert stdout.endswith(f"Games and standings are in {out}\nThe same command again plays the rest.\n")
    assert "Traceback" not in stderr
    nobody_is_left(process.pid)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_output_to_a_full_disk_is_one_sentence():
    env = {**os.environ, "TERM": "dumb"}
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [PROGRAM, "envs"], stdout=full, stderr=subprocess.PIPE, text=True, env=env, timeout=120
        )
    assert ended.returncode == 2
    assert ended.stderr == (
        "zermelo: there is no space left for what this command writes: make room, and give the command again\n"
    )
