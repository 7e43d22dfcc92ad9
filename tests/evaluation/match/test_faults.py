"""Whose fault an error is: of the agent and the environment, the one whose code ran last."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from doubles.bad_agents import First
from doubles.game_envs import SmallEnv
from pettingzoo.utils.wrappers import BaseWrapper

from zermelo.envs import as_game
from zermelo.envs.errors import EnvFailedError
from zermelo.evaluation import play_match
from zermelo.evaluation.errors import EnvironmentFailureError
from zermelo.evaluation.match.record import FailureKind


class Fragile(SmallEnv):
    """Fails after two moves that are alike, as a search finds out before a game does."""

    def __init__(self, how: str = "") -> None:
        super().__init__(["one", "two"], 3)
        self.how, self.last = how, -1

    def play(self, agent: Any, action: int) -> None:
        if action == self.last:
            self.fail(action)
        self.last = action
        self.next_agent()
        if self.turns == 4:
            self.end()

    def fail(self, action: Any) -> None:
        if self.how == "numpy":
            np.linalg.inv(np.zeros((2, 2)))
        if self.how == "json":
            json.loads("{")
        raise RuntimeError("the board fell over")


class LooksAhead(First):
    """Looks two moves ahead on copies, through a wrapper of its own if it is given one."""

    class Careless(BaseWrapper):
        def step(self, action: Any) -> None:
            self.unwrapped.fail()

    class GivesItAway(BaseWrapper):
        def step(self, action: Any) -> None:
            json.dumps(self.env)

    def __init__(self, wrapper: Any = None) -> None:
        super().__init__()
        self.wrapper = wrapper

    def act(self, env: Any) -> Any:
        game = as_game(env if self.wrapper is None else self.wrapper(env), backend="clone", patience=0)
        state = game.snapshot(env if self.wrapper is None else self.wrapper(env))
        return game.legal_actions(game.result(game.result(state, 0), 0))[0]


class MakesUp(First):
    def act(self, env: Any) -> Any:
        raise EnvFailedError("it was not me")


class CallsWrongly(First):
    def act(self, env: Any) -> Any:
        return env.unwrapped.fail()


class CallsDirectly(First):
    def act(self, env: Any) -> Any:
        return env.unwrapped.fail(0)


@pytest.mark.parametrize("how", ["", "numpy", "json"])
def test_an_environment_that_fails_or_whose_library_does(how: str) -> None:
    with pytest.raises(EnvironmentFailureError, match=r"small_v0 raised \w+ in step\(0\)"):
        play_match(lambda: Fragile(how), [LooksAhead(), First()], seed=0)


@pytest.mark.parametrize(
    "agent",
    [
        LooksAhead(LooksAhead.Careless),
        LooksAhead(LooksAhead.GivesItAway),
        MakesUp(),
        CallsWrongly(),
        CallsDirectly(),
    ],
)
def test_an_agent_that_calls_the_environment_wrongly(agent: Any) -> None:
    """Or gives it to a library; here all are in one module, so the class decides whose code it is."""
    failure = play_match(Fragile, [agent, First()], seed=0).failure
    assert failure is not None
    assert (failure.kind, failure.seat) == (FailureKind.CRASH, 0)
