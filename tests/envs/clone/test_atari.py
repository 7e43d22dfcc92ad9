"""Atari games: copies of the Arcade Learning Environment by its own states."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from zermelo.agents import MCTSAgent
from zermelo.envs import CloneError, as_game, clone_env, verify_clone
from zermelo.envs.game import Chance

ale_py = pytest.importorskip("ale_py", reason="needs Atari games: scripts/setup atari")
pytestmark = pytest.mark.thorough
gymnasium.register_envs(ale_py)
ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)


def started(name: str, **options: Any) -> Any:
    env = gymnasium.make(f"ALE/{name}-v5", **options)
    env.reset(seed=0)
    return env


def memory(env: Any) -> bytes:
    state: bytes = env.unwrapped.ale.cloneState(include_rng=True).__getstate__()
    return state


@pytest.mark.parametrize("stack", [False, True])
def test_copies_without_sticky_actions_are_the_same_game(stack: bool) -> None:
    def make() -> Any:
        env = gymnasium.make("ALE/Boxing-v5", repeat_action_probability=0.0, max_episode_steps=20)
        return gymnasium.wrappers.FrameStackObservation(env, 4) if stack else env

    verify_clone(make, games=1)
    env = make()
    env.reset(seed=0)
    copy = clone_env(env)
    for action in (1, 5, 2):
        assert np.array_equal(env.step(action)[0], copy.step(action)[0])


def test_sticky_actions_are_chance_that_a_copy_draws_itself() -> None:
    with pytest.raises(CloneError, match=r"draw other random numbers.*repeat_action_probability=0"):
        verify_clone(lambda: gymnasium.make("ALE/Freeway-v5"), games=1, max_steps=60)
    assert as_game(started("Freeway", repeat_action_probability=0.0)).traits.chance is Chance.NONE


def test_a_quarter_of_the_frames_of_a_search_repeat_the_last_action() -> None:
    env = started("Boxing", frameskip=1)
    game, up, down = as_game(env), 2, 5
    assert game.traits.chance is Chance.SAMPLED
    state = game.snapshot(env)
    for seed in range(30):  # so that what sticks is known, and the boxers move
        state = game.sample_result(state, up, np.random.default_rng(seed))
    plain = started("Boxing", frameskip=1, repeat_action_probability=0.0).unwrapped.ale

    def after(action: int) -> bytes:
        plain.restoreState(state.env.unwrapped.ale.cloneState())
        plain.act(action)
        memory: bytes = plain.getRAM().tobytes()
        return memory

    found = []
    for seed in range(400):
        sampled = game.sample_result(state, down, np.random.default_rng(seed))
        found.append(sampled.env.unwrapped.ale.getRAM().tobytes())
    assert {*found} == {after(up), after(down)}
    assert 66 < found.count(after(up)) < 135  # four standard deviations of 100


def test_searches_leave_the_emulator_as_it_was_and_copies_show_its_screen() -> None:
    env = started("Breakout")
    for action in (1, 2, 3, 0):
        env.step(action)
    before = memory(env)
    copy = clone_env(env)
    assert np.array_equal(copy.unwrapped.ale.getScreenRGB(), env.unwrapped.ale.getScreenRGB())
    assert MCTSAgent(simulations=20, playout_moves=3).search(env).simulations == 20
    assert memory(env) == before
    other = started("Pong")
    clone_env(other).step(2)
    assert np.array_equal(copy.unwrapped.ale.getRAM(), env.unwrapped.ale.getRAM())


def test_a_screen_that_no_state_holds_is_refused() -> None:
    copy = clone_env(started("Pong", obs_type="ram"))
    copy.step(2)
    shown = copy.unwrapped.ale.getScreenGrayscale()
    filled = np.zeros_like(shown)
    copy.unwrapped.ale.getScreenGrayscale(filled)
    assert np.array_equal(filled, shown)
    with pytest.raises(CloneError, match="answers only after a step"):
        clone_env(copy).unwrapped.ale.getScreenRGB()
