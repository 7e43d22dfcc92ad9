"""Monte Carlo searches of games that random play never ends: every limit and Ctrl-C end them."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from doubles.at_once import MatrixGame
from oracles.signatures import Uncompiled

from zermelo.agents import make_agent
from zermelo.envs import CHANCE

COMPILED = """
import json, os, signal, sys, threading
sys.path.insert(0, sys.argv[1])
from test_endless_play import Ring
from zermelo.agents import make_agent
from zermelo.envs.rules import RulesGame

game = RulesGame(Ring())
make_agent("mcts(nodes=100)").search_state(game)  # compiles
found = {}
for spec in sys.argv[2:]:
    if spec == "Ctrl-C":
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            make_agent("mcts(simulations=1000000000)").search_state(game)
        except KeyboardInterrupt:
            found[spec] = "ended"
    else:
        found[spec] = make_agent(spec).search_state(game).stopped_by
print(json.dumps(found))
"""


class At(NamedTuple):
    place: int
    rolled: int


class Ring(NamedTuple):
    """Two players go round for ever; with ``dice``, chance goes on for ever after the first move."""

    size: int = 8
    dice: int = 0

    def num_actions(self) -> int:
        return 2

    def initial_state(self) -> At:
        return At(0, 0)

    def to_move(self, state: At) -> int:
        return CHANCE if state.rolled else state.place % 2

    def legal_actions(self, state: At, actions: Any) -> int:
        actions[0] = 0
        actions[1] = 1
        return 2

    def chance_outcomes(self, state: At, outcomes: Any, probabilities: Any) -> int:
        outcomes[0] = 0
        probabilities[0] = 1.0
        return 1

    def result(self, state: At, action: int) -> At:
        return At((state.place + 1 + 2 * action) % self.size, self.dice)

    def is_terminal(self, state: At) -> bool:
        return state.place < 0

    def utility(self, state: At, seat: int) -> int:
        return 0


class EndlessMatrix(MatrixGame):
    """A game of one move that is played again and again."""

    def is_terminal(self, state: tuple[int, ...]) -> bool:
        return False

    def joint_result(self, state: Any, actions: Any, generator: Any = None) -> tuple[int, ...]:
        return ()


class EndlessCards(EndlessMatrix):
    """A game of moves after which the same player moves again; nobody knows what is hidden."""

    def __init__(self) -> None:
        super().__init__([[[1, -1]], [[-1, 1]]])
        self.traits = dataclasses.replace(self.traits, simultaneous=False)

    def legal_actions(self, state: Any) -> list[int]:
        return [0, 1]

    def result(self, state: Any, action: int) -> tuple[int, ...]:
        return ()

    def information_state_key(self, state: Any, seat: int) -> int:
        return seat

    def resample(self, state: Any, seat: int, generator: Any) -> Any:
        return state


@functools.cache
def ended(*specs: str) -> dict[str, str]:
    """What stopped compiled searches, in a process of their own: nothing else could end one that goes on."""
    command = [sys.executable, "-c", COMPILED, str(Path(__file__).parent), *specs]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    output = subprocess.run(
        command, env=environment, capture_output=True, timeout=120, check=True, text=True
    ).stdout
    return dict(json.loads(output))


@pytest.mark.thorough
@pytest.mark.defect(13)
@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("mcts(seconds=0.2)", "seconds"),
        ("mcts(seconds=0.2, threads=2, transpositions=true)", "seconds"),
        ("mcts(simulations=20, rave=10)", "simulations"),
        ("Ctrl-C", "ended"),
    ],
)
def test_compiled(spec: str, why: str) -> None:
    assert ended(spec)[spec] == why


@pytest.mark.timeout(30)
@pytest.mark.defect(13)
def test_the_time_of_all_deals_ends_the_search_of_one() -> None:
    agent: Any = make_agent("determinized(seconds=0.1, agent=mcts(simulations=1000000000))")
    result = agent.search_state(EndlessCards())
    assert (result.stopped_by, result.stats["samples"]) == ("seconds", 1)


@pytest.mark.timeout(30)
@pytest.mark.defect(13)
@pytest.mark.parametrize("limit", ["seconds=0.1", "nodes=2000", "simulations=3"])
@pytest.mark.parametrize(
    ("spec", "game"),
    [
        ("mcts({})", Uncompiled(Ring())),
        ("mcts({}, transpositions=true)", Uncompiled(Ring())),
        ("mcts({})", Uncompiled(Ring(dice=1))),
        ("ismcts({})", EndlessCards()),
        ("determinized(samples=2, agent=mcts({}))", EndlessCards()),
        ("simultaneous_mcts({})", EndlessMatrix.zero_sum([[1, -1], [-1, 1]])),
    ],
    ids=["mcts", "transpositions", "dice", "ismcts", "determinized", "simultaneous"],
)
def test_plain(spec: str, game: Any, limit: str) -> None:
    agent: Any = make_agent(spec.format(limit))
    result = agent.search_state(game)
    assert result.stopped_by == limit.partition("=")[0] or spec.startswith("determinized")
    assert result.action in (0, 1)
