"""Environments that cannot be searched, and what is said of them."""

from __future__ import annotations

from typing import Any

import gymnasium
import pettingzoo
import pytest
from doubles.game_envs import (
    Broken,
    Numbers,
    Vectors,
    classic,
    started,
)
from gymnasium import spaces
from pettingzoo.utils import BaseWrapper
from pettingzoo.utils.conversions import parallel_to_aec

from zermelo.agents import make_agent
from zermelo.envs import UnsupportedGameError, as_game
from zermelo.envs.errors import EnvFailedError, GameOverError, InvalidSettingError
from zermelo.envs.live.spaces import MAX_ENUMERATED_ACTIONS


def test_what_is_not_an_environment() -> None:
    with pytest.raises(UnsupportedGameError, match="cannot see a game in str object 'chess'"):
        as_game("chess")
    with pytest.raises(UnsupportedGameError, match="Numbers is a class: make an environment of it"):
        as_game(Numbers)
    with pytest.raises(UnsupportedGameError, match="cannot see a game in int object 42"):
        as_game(42)


class Around:
    """A wrapper that is no environment by its class."""

    def __init__(self, env: Any) -> None:
        self.env = env


class Shown(BaseWrapper[Any, Any, Any]):
    """A wrapper that may change the game."""


def test_a_parallel_environment() -> None:
    env = started(pettingzoo.make("parallel", "classic/rps-v2"), seed=0)
    with pytest.raises(UnsupportedGameError, match="rps_v2 is a parallel environment"):
        as_game(env)
    with pytest.raises(UnsupportedGameError, match="Around is a parallel environment"):
        as_game(Around(env))


def test_a_wrapper_around_rounds() -> None:
    env = started(Shown(parallel_to_aec(pettingzoo.make("parallel", "classic/rps-v2"))), seed=0)
    with pytest.raises(UnsupportedGameError, match=r"parallel_to_aec\(wrapper\(env\)\), not wrapper"):
        make_agent("simultaneous_mcts").act(env)


def test_several_environments_in_one() -> None:
    envs = started(gymnasium.make_vec("CartPole-v1", num_envs=2), seed=0)
    with pytest.raises(UnsupportedGameError, match="steps several environments at once"):
        as_game(envs)


@pytest.mark.parametrize(
    "make",
    [
        lambda: classic("tictactoe-v3"),
        lambda: classic("tictactoe-v3").unwrapped,
        lambda: classic("chess-v6"),
        Numbers,
    ],
)
def test_an_environment_that_is_not_reset(make: Any) -> None:
    with pytest.raises(UnsupportedGameError, match=r"has not been reset: call env\.reset\(\) first"):
        as_game(make())


def test_no_such_backend() -> None:
    offered = "'auto', 'rules', 'environment', 'clone'"
    with pytest.raises(InvalidSettingError, match=f"backend must be one of {offered}, not 'fast'"):
        as_game(Numbers(), backend="fast")


def test_an_error_in_the_environment_names_it_and_keeps_the_error() -> None:
    env = started(Broken("raises"))
    game = as_game(env)
    state = game.snapshot(env)
    game.result(state, 0)
    with pytest.raises(
        EnvFailedError, match=r"broken_v0 raised RuntimeError in step\(2\).*the cat walked"
    ) as error:
        game.result(state, 2)
    assert isinstance(error.value.__cause__, RuntimeError)


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        ("empty_mask", GameOverError, "broken_v0 is not over, but the action mask of 'two'"),
        ("stuck", EnvFailedError, "is dead and stays selected"),
    ],
)
def test_nobody_can_go_on(fault: str, error: type[Exception], message: str) -> None:
    env = started(Broken(fault))
    game = as_game(env)
    with pytest.raises(error, match=message):
        game.legal_actions(game.result(game.snapshot(env), 0))


def test_an_action_space_without_end() -> None:
    env = started(Vectors(spaces.Box(0, 1)))
    with pytest.raises(UnsupportedGameError, match="cannot be enumerated"):
        as_game(env)


def test_an_action_space_too_great() -> None:
    env = started(Vectors(spaces.MultiBinary(30)))
    with pytest.raises(UnsupportedGameError, match=f"at most {MAX_ENUMERATED_ACTIONS:,}"):
        as_game(env).legal_actions(as_game(env).snapshot(env))


def test_an_agent_that_is_not_possible() -> None:
    class Stranger(Numbers):
        def play(self, agent: Any, action: int) -> None:
            super().play(agent, action)
            self.rewards["late"] = 0
            self._cumulative_rewards["late"] = 0
            if not self.terminations["left"] and self.turns == 2:
                self.agents.append("late")
                self.terminations["late"] = self.truncations["late"] = False
                self.agent_selection = "late"

    env = started(Stranger())
    game = as_game(env)
    state = game.snapshot(env)
    state = game.result(state, 8)
    with pytest.raises(UnsupportedGameError, match="agent 'late' of numbers_v0 is not among the possible agents"):
        game.result(state, 8)


def test_a_game_is_returned_as_it_is() -> None:
    env = started(Numbers())
    game = as_game(env)
    assert as_game(game) is game
    with pytest.raises(InvalidSettingError, match="AECGame, which is a game with traits of its own"):
        as_game(game, traits={"information": "hidden"})
