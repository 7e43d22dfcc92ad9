"""Finding out what an environment is: its own clock, lines for the user, Ctrl-C, and decks that nobody sees."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doubles.game_envs import SmallEnv
from doubles.odd_boards import Board, at, best

from zermelo.agents import AlphaBetaAgent, make_agent
from zermelo.envs import as_game
from zermelo.envs.adapters import adapting
from zermelo.envs.errors import UnknownTraitWarning
from zermelo.envs.game import Chance, Information
from zermelo.envs.support import waiting
from zermelo.envs.support.forked import can_fork

pytestmark = pytest.mark.usefixtures("seen_by_nobody")


def test_what_takes_long_is_said_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Slow(Board):
        pass

    monkeypatch.setattr(waiting, "_said", set())  # by other tests
    monkeypatch.setattr(adapting, "_SAID_AFTER", -1.0)
    env = at(Slow, (4,))
    AlphaBetaAgent(depth=1).act(env)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "zermelo: finding out what board is, by playing copies of it (once; about 1 s, longer beside other work)"
    ]
    AlphaBetaAgent(depth=1).act(env)
    assert capsys.readouterr().err == ""


def children() -> set[str]:
    """The processes that this one has started, and those among them that nobody has waited for."""
    return {
        child for task in Path("/proc/self/task").iterdir() for child in (task / "children").read_text().split()
    }


@pytest.mark.alone
@pytest.mark.skipif(not can_fork(), reason="plays in this process")
def test_ctrl_c_ends_it_and_the_next_search_begins_anew() -> None:
    class Interrupted(Board):
        wait = 0.05

        def note(self) -> None:
            time.sleep(self.wait)

    env, before = at(Interrupted, (4, 0, 8, 2)), children()
    timer = threading.Timer(0.8, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        AlphaBetaAgent(depth=9).act(env)
    assert children() == before
    Interrupted.wait = 0.0
    assert AlphaBetaAgent(depth=9).act(env) in best(env)


def test_a_search_in_the_background_does_not_wait_and_says_what_it_assumes() -> None:
    class Unknown(Board):
        pass

    env = at(Unknown, (4, 0, 8, 2))
    with pytest.warns(UnknownTraitWarning, match=r"(?s)is searched on assumptions.*zermelo_traits = \{"):
        result = AlphaBetaAgent(depth=9, compile="background").search(env)
    assert result.env_action in best(env)
    assert set(result.assumed) == {
        "information: perfect (no two positions that could be compared as nothing was played)",
        "chance: deterministic (no chance as nothing was played)",
        "reward_sum: zero_sum (no payoff as nothing was played)",
    }
    assert not result.proven
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        later = AlphaBetaAgent(depth=9).search(env)
    assert not later.proven
    assert any(text.startswith("chance: deterministic (no chance in ") for text in later.assumed)


@pytest.mark.skipif(not can_fork(), reason="plays in this process")
@pytest.mark.parametrize("spec", ["alphabeta(depth=2)", "mcts(simulations=5)", "greedy"])
def test_prepare_leaves_nothing_for_the_first_search(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Prepared(Board):
        pass

    env = at(Prepared, (4,))
    played: list[Any] = []
    real = adapting.remember
    monkeypatch.setattr(adapting, "remember", lambda *given: played.append(1) or real(*given))
    agent: Any = make_agent(spec)
    agent.prepare(env)
    assert len(played) == 1
    assert agent.search(env).env_action is not None
    assert len(played) == 1


class Sluggish(SmallEnv):
    """Two players are paid alike, and choose among many actions; each step takes its time."""

    steps = 0

    def __init__(self) -> None:
        super().__init__(["one", "two"], 500)

    def play(self, agent: Any, action: Any) -> None:
        type(self).steps += 1
        time.sleep(0.005)
        self.rewards = dict.fromkeys(self.agents, 1)
        if self.turns > 400:
            self.terminations = dict.fromkeys(self.agents, True)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::zermelo.envs.errors.UnknownTraitWarning")
@pytest.mark.parametrize("spec", ["alphabeta(seconds=0.1)", "mcts(seconds=0.1)", "maxn(seconds=0.1)"])
def test_prepare_does_not_step_for_long_where_steps_are_slow(spec: str) -> None:
    cls: Any = type("Sluggish", (Sluggish,), {"steps": 0})
    env = cls()
    env.reset(seed=0)
    make_agent(spec).prepare(env, seconds=0.2)
    assert cls.steps <= 120  # in this process, in 0.2 s and a little


class Draws(SmallEnv):
    """Two players take the top card of a shuffled deck or leave it there, twice each; the greater sum wins."""

    zermelo_traits: Any = None

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.deck = [1, 1, 2, 9, 9, 12]
        np.random.default_rng(seed).shuffle(self.deck)
        self.sums = {"one": 0, "two": 0}

    def observe(self, agent: Any) -> Any:
        return np.array([self.turns, *self.sums.values(), len(self.deck)])

    def play(self, agent: Any, action: Any) -> None:
        self.sums[agent] += self.deck.pop() if action else 5
        self.next_agent()
        if self.turns == 4:
            margin = self.sums["one"] - self.sums["two"]
            self.rewards = {"one": int(np.sign(margin)), "two": -int(np.sign(margin))}
            self.end()


def test_a_deck_that_nobody_sees_is_drawn_again() -> None:
    env = Draws(["one", "two"])
    env.reset(seed=3)
    with pytest.warns(UnknownTraitWarning, match=r"hides the order of deck .*: searches draw it again"):
        game = as_game(env)
    traits = game.traits
    assert traits.chance is Chance.SAMPLED
    assert traits.information is Information.HIDDEN
    assert traits.drawn_again
    assert traits.is_open
    assert make_agent("expectiminimax(depth=2, samples=20)").act(env) in (0, 1)
    state = game.snapshot(env)
    tops = {game.sample_result(state, 1, np.random.default_rng(seed)).env.sums["one"] for seed in range(60)}
    assert tops == {1, 2, 9, 12}
