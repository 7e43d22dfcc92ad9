"""Every public name and every agent works in a fresh process by itself, whatever else was imported before."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

FORKS = """
import os, sys, traceback
import gymnasium, numba, numpy, pettingzoo, rich, scipy.optimize, typer  # so that each child need not
def alone(what, work):
    child = os.fork()
    if not child:
        try:
            work()
        except BaseException as error:
            print(what, "".join(traceback.format_exception_only(error)).strip(), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""
AGENTS = """
from zermelo.agents{home} import {kind}
from zermelo.envs import CHANCE, as_game
from zermelo.envs.{game}
agent = {kind}({settings})
game = as_game(game)
state = game.initial_state()
while game.to_move(state) == CHANCE:
    state = game.result(state, game.chance_outcomes(state)[0][0])
agent.search_state(game, state)
"""
ROOT = Path(__file__).resolve().parents[3]
NAMES = """
import pkgutil
for name in names:
    alone(name, lambda: pkgutil.resolve_name(name))
"""
BOARD, DICE = "trees import figure; game = figure('aima-5.2')", "games import Pig; game = Pig(4)"
CARDS = "games import Kuhn; game = Kuhn()"
TOGETHER = "games import Goofspiel; game = Goofspiel(3)"
NESTED = [
    ("ExpectimaxAgent", BOARD, "opponent='greedy', depth=2"),
    ("ExpectimaxAgent", BOARD, "opponent='noisy(agent=minimax(depth=1), epsilon=0.5)', depth=2"),
    ("ISMCTSAgent", CARDS, "belief='greedy', simulations=4"),
]
PLAIN = [
    ("AlphaBetaAgent", BOARD, ""),
    ("AutoAgent", BOARD, "nodes=500"),
    ("equilibrium.agents.BackwardInductionAgent", TOGETHER, ""),
    ("BestReplyAgent", BOARD, ""),
    ("CFRAgent", CARDS, ""),
    ("ExpectimaxAgent", BOARD, ""),
    ("ExpectiminimaxAgent", BOARD, ""),
    ("GreedyAgent", BOARD, ""),
    ("ISMCTSAgent", CARDS, ""),
    ("MCTSAgent", BOARD, ""),
    ("MaxNAgent", BOARD, ""),
    ("MinimaxAgent", BOARD, "depth=2"),
    ("ParanoidAgent", BOARD, ""),
    ("monte_carlo.simultaneous.agent.SimultaneousMCTSAgent", TOGETHER, ""),
    ("solving.agents.ValueIterationAgent", DICE, ""),
]


def failures(script):
    """What a fresh interpreter prints of those of its children that failed."""
    done = subprocess.run([sys.executable, "-c", FORKS + script], stdout=subprocess.PIPE, text=True, timeout=250)
    assert done.returncode == 0
    return done.stdout


def search_each(agents):
    lines = [f"alone({kind + '(' + settings + ')'!r}, lambda: exec({code!r}))" for kind, settings, code in agents]
    return failures("\n".join(lines))


def codes(agents):
    for name, game, rest in agents:
        home, dot, kind = name.rpartition(".")
        yield kind, rest, AGENTS.format(home=dot + home, kind=kind, game=game, settings=rest)


def test_an_agent_made_by_its_class_may_name_another():
    assert search_each(codes(NESTED)) == ""


@pytest.mark.thorough
def test_every_agent_searches_with_its_defaults():
    assert search_each(codes(PLAIN)) == ""


@pytest.mark.slow
def test_every_public_name_can_be_imported_alone():
    """Each name of the reference, from a process in which nothing of ours was imported before."""
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))
    names = re.findall(r"^::: (\S+)$", pages, re.MULTILINE)
    assert "zermelo.agents.make_agent" in names
    assert failures(f"names = {names!r}\n" + NAMES) == ""
