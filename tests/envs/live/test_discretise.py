"""Environments of continuous actions, with finitely many of them."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from doubles.game_envs import Vectors, started
from gymnasium import spaces

from zermelo.envs import UnsupportedGameError, as_game, clone_env, discretise
from zermelo.envs.errors import InvalidSettingError


def test_a_box_in_bins() -> None:
    env = started(discretise(gymnasium.make("Pendulum-v1"), bins=5), seed=0)
    assert env.action_space == spaces.Discrete(5)
    assert [float(env.action(number)[0]) for number in range(5)] == [-2, -1, 0, 1, 2]
    game = as_game(
        env, traits={"chance": "deterministic", "information": "perfect", "terminal_rewards_only": False}
    )
    assert game.legal_actions(game.snapshot(env)) == (0, 1, 2, 3, 4)
    copied = clone_env(env)
    assert np.array_equal(copied.step(3)[0], env.step(3)[0])


def test_bins_for_each_number_and_actions_that_are_listed() -> None:
    env = discretise(gymnasium.make("Pendulum-v1"), [1])
    assert [float(action[0]) for action in env.actions] == [0]
    listed = [np.array([-2], np.float32), np.array([2], np.float32)]
    chosen = discretise(gymnasium.make("Pendulum-v1"), actions=listed)
    assert chosen.action_space == spaces.Discrete(2)
    assert chosen.action(1)[0] == 2


def test_an_aec_environment() -> None:
    env = started(discretise(Vectors(spaces.Box(0, 1, (2,), np.float32)), bins=2))
    game = as_game(env)
    state = game.snapshot(env)
    assert game.legal_actions(state) == (0, 1, 2, 3)
    assert game.result(state, 3).env.unwrapped.played == [[1, 1]]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"bins": 0}, InvalidSettingError, "bins must be a whole number of at least 1, or 1 of them, not 0"),
        ({"bins": [2, 2]}, InvalidSettingError, "or 1 of them"),
        ({"bins": 10**6}, InvalidSettingError, r"bins=1000000 makes 1e\+06 actions"),
        ({"actions": [np.full(1, 7, np.float32)]}, InvalidSettingError, r"elements of Box.*, not array"),
        ({"actions": []}, InvalidSettingError, r"not \[\]"),
    ],
)
def test_settings_that_do_not_fit(settings: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        discretise(gymnasium.make("Pendulum-v1"), **settings)  # type: ignore[arg-type]  # the mistake that is meant


def test_what_cannot_be_discretised() -> None:
    with pytest.raises(UnsupportedGameError, match=r"no Box with bounds: list the actions"):
        discretise(gymnasium.make("CartPole-v1"))
    with pytest.raises(UnsupportedGameError, match="takes a Gymnasium or a PettingZoo AEC environment, not int"):
        discretise(3)
