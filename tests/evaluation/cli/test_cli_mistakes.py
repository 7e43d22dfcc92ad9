"""Mistakes on the command line, each with what is said: one sentence and exit status 2, and no traceback."""

from __future__ import annotations

import shlex
import sys

import pytest

GAME = "zermelo/MNK-v0"
MISTAKES = {
    # Commands and options.
    "tournment": "no command is called 'tournment': did you mean 'tournament'?",
    "train": "no command is called 'train'",
    "--nope": "zermelo has no option '--nope'",
    "search": "search needs ENV: `zermelo search --help` says more",
    f"tournament {GAME}": "tournament needs AGENT AGENT",
    f"perft {GAME}": "perft needs DEPTH",
    f"perft {GAME} 3 4": "perft: got unexpected extra argument",
    f"perft {GAME} 2 --moves": "'--moves' requires an argument",
    f"search {GAME} --dept 3": "search has no option '--dept': did you mean '--depth'?",
    f"search {GAME} --time 3": "search has no option '--time': did you mean '--seconds'?",
    f"tournament {GAME} random greedy --gaems 3": "tournament has no option '--gaems': did you mean '--games'?",
    f"solve {GAME} --json=3": "'--json' does not take a value",
    # Values.
    f"tournament {GAME} random greedy --games ten": "--games is a whole number of at least 1, not 'ten'",
    f"tournament {GAME} random greedy -n 0": "--games is a whole number of at least 1, not '0'",
    f"tournament {GAME} random greedy --games 2.5": "--games is a whole number of at least 1, not '2.5'",
    f"tournament {GAME} random greedy --seed -1": "--seed is a whole number of at least 0, not '-1'",
    f"tournament {GAME} random greedy --workers x": "--workers is a whole number of at least 1, not 'x'",
    f"tournament {GAME} random greedy --move-seconds x": "--move-seconds is a number, not 'x'",
    f"tournament {GAME} random greedy --pairings gaunlet": "'swiss', 'knockout', not 'gaunlet': did you mean "
    "'gauntlet'?",
    f"tournament {GAME} random greedy --score win": "not 'win': did you mean 'wins'?",
    f"tournament {GAME} random greedy --out ''": "--out is the name of a file or folder, not ''",
    f"tournament {GAME} random greedy --sprt 5": "a sequential test is written elo0=0,elo1=10",
    f"search {GAME} --depth ten": "--depth is a whole number, not 'ten'",
    f"search {GAME} --seconds soon": "--seconds is a number, not 'soon'",
    f"perft {GAME} nine": "DEPTH is a whole number of at least 0, not 'nine'",
    f"play {GAME} --port 99999": "--port is a whole number from 0 to 65535, not '99999'",
    f"play {GAME} --seat first": "--seat is a whole number of at least 1, not 'first'",
    f"tune {GAME} --hidden 3": "--hidden is a whole number from 16 to 256, not '3'",
    f"tune {GAME} --model netwrk": "not 'netwrk': did you mean 'network'?",
    f"ladder {GAME} --gap x": "--gap is a number, not 'x'",
    f"book {GAME} --plies none": "--plies is a whole number of at least 1, not 'none'",
    "export x --format cvs": "not 'cvs': did you mean 'csv'?",
    f"solve {GAME} --plan ful": "not 'ful': did you mean 'full'?",
    f"solve {GAME} --method alphabeta": "not 'alphabeta': did you mean 'alpha_beta'?",
    # Names.
    "search zermelo/MKN-v0": "no environment is called 'zermelo/MKN-v0': did you mean 'zermelo/MNK-v0'?",
    f"search {GAME} stockfish": "no agent is called 'stockfish': that engine is uci(path='stockfish')",
    f"search {GAME} alphabet": "no agent is called 'alphabet': did you mean 'alphabeta'?",
    f"search {GAME} 'alphabeta(detph=3)'": "alphabeta has no setting 'detph': did you mean 'depth'?",
    f"search {GAME} 'alphabeta(time_limit=3)'": "did you mean 'seconds'?",
    f"search {GAME} 'mcts(selection=utc)'": "not 'utc': did you mean 'uct'?",
    f'search {GAME} \'mcts(traits={{"reward_sum": "zerosum"}})\'': "not 'zerosum': did you mean 'zero_sum'?",
    f"search {GAME} 'alphabeta(depth=3'": "cannot read 'alphabeta(depth=3'",
    f"tournament {GAME} random missing.zip": "there is no file 'missing.zip'",
    f"tournament {GAME} random": "a tournament needs at least 2 agents, not 1",
    "agents alphabet": "no agent is called 'alphabet': did you mean 'alphabeta'?",
    # One thing in the place of another.
    f"search alphabeta {GAME}": "'alphabeta' is an agent: name the environment first, as in `zermelo search",
    "tournament random greedy": "'random' is an agent: name the environment first",
    "tournament afolder random greedy": "'afolder' is a folder, not an environment",
    f"compare {GAME} random greedy": f"{GAME} is an environment, and DIR is a folder with results: "
    f"`zermelo tournament {GAME} random greedy --sprt elo0=0,elo1=10` plays a match",
    "compare m:env 'mcts(nodes=9)' random": "`zermelo tournament m:env 'mcts(nodes=9)' random --sprt elo0=0",
    f"standings {GAME}": f"`zermelo tournament {GAME} AGENT AGENT --out DIR` makes one",
    "report connect_four_v3": "connect_four_v3 is an environment",
    f"judge '{GAME}(m=4)'": "is an environment",
    f"export {GAME}": "is an environment",
    "standings nowhere": "nowhere holds no tournament",
}


@pytest.mark.parametrize(("line", "said"), MISTAKES.items(), ids=MISTAKES)
def test_a_mistake_is_one_sentence(cli, tmp_path, monkeypatch, line, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "afolder").mkdir()
    result = cli(*shlex.split(line))
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert result.stderr.startswith("zermelo: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_a_folder_that_is_called_like_an_environment_is_a_folder_where_one_is_asked(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / GAME).mkdir(parents=True)
    assert f"{GAME} holds no tournament" in cli("standings", GAME).stderr
    assert cli("perft", GAME, "1").exit_code == 0


@pytest.mark.parametrize("place", [0, 1, 4])
def test_debug_shows_the_traceback_for_every_command(cli, place):
    words = ["search", GAME, "alphabet", "--json"]
    words.insert(place, "--debug")
    result = cli(*words)
    assert result.exit_code == 2
    assert result.stderr.startswith("Traceback (most recent call last)")
    assert result.stderr.endswith("zermelo: no agent is called 'alphabet': did you mean 'alphabeta'?\n")


OWN = """
import numpy as np
from zermelo.envs import make

def fails():
    raise RuntimeError("no board")  # line 6

def steps():
    env = make("zermelo/MNK-v0").unwrapped
    class Broken(type(env)):
        def step(self, action):
            {}["missing"]  # line 12
    env.__class__ = Broken
    return env

class Agent:
    def __init__(self, x=1):
        self.name = f"{1 / x}"  # line 18
    def reset(self, seed=None): pass
    def act(self, env):
        return np.zeros(3).reshape(5)  # line 21

def policy(observation, action_mask):
    return action_mask[99]  # line 24
"""


@pytest.mark.parametrize(
    ("line", "said", "number"),
    [
        ("search mine:fails", "RuntimeError: no board", 6),
        (f"tournament {GAME} random 'mine:Agent(x=0)'", "ZeroDivisionError: division by zero", 18),
        (f"tournament {GAME} random mine:Agent --games 2 --isolate none", "ValueError: cannot reshape", 21),
        (
            f"tournament {GAME} random \"policy(policy='mine:policy')\" --games 2 --isolate none",
            "IndexError: index",
            24,
        ),
        ("tournament mine:steps random greedy --games 2", "KeyError: 'missing'", 12),
        ("perft mine:steps 2", "'missing'", 12),
        (f"play {GAME} mine:Agent --seat 2", "ValueError: cannot reshape", 21),
        (f"tournament {GAME} random broken:Agent", "AttributeError: module 'math' has no attribute 'nothing'", 2),
        ("search broken:env", "AttributeError: module 'math' has no attribute 'nothing'", 2),
    ],
)
def test_errors_of_ones_own_code_name_file_and_line(cli, tmp_path, monkeypatch, line, said, number):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "broken.py").write_text("import math\nmath.nothing\n")
    for name in ("mine", "broken"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    result = cli(*shlex.split(line))
    words = " ".join(result.output.split())
    assert said in words
    assert f"{'broken' if 'broken' in line else 'mine'}.py, line {number})" in words
    assert "Traceback" not in result.output


WARNS = """
import warnings
from zermelo.envs.errors import UnknownTraitWarning
from zermelo.envs.games import MNK

def env():
    warnings.warn("this game is searched on assumptions", UnknownTraitWarning, stacklevel=2)
    warnings.warn("somebody else's", UserWarning)
    return MNK()
"""


@pytest.mark.filterwarnings("always")
def test_a_warning_of_ours_is_one_sentence_too(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "warns.py").write_text(WARNS)
    monkeypatch.delitem(sys.modules, "warns", raising=False)
    lines = cli("perft", "warns:env", "1").stderr.splitlines()
    assert lines[0] == "zermelo: this game is searched on assumptions"
    assert lines[1].endswith("warns.py:8: UserWarning: somebody else's")
    assert not [line for line in lines if line.startswith("zermelo: ")][1:]
