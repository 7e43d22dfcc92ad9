"""Environments that travel to an agent's process arrive as they were, without the dice; answers run no code."""

import os
import pickle

import numpy as np
import pytest
from doubles import toy_envs

from zermelo.envs import UnsupportedGameError
from zermelo.envs.registration.make import make
from zermelo.evaluation.match.live_game import drive_env
from zermelo.evaluation.workers.agent_process import shown_position
from zermelo.evaluation.workers.shipping import pack_answer, pack_env, unpack_answer

ENVIRONMENTS = [
    "classic/chess-v6",
    "classic/connect_four-v3",
    "classic/go-v5",
    "classic/rps-v2",
    "classic/tictactoe-v3",
    "openspiel/breakthrough",
    "openspiel/backgammon",
    "zermelo/Kalah-v0",
]


def travelled(env, seed=0):
    return pickle.loads(pack_env(env, np.random.default_rng(seed)))


def random_action(driver, rng):
    view = driver.view()
    if view.action_mask is None:
        return int(rng.integers(view.actions)) + view.first_action
    return int(rng.choice(np.flatnonzero(view.action_mask))) + view.first_action


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_environments_arrive_as_they_were(name):
    rng = np.random.default_rng(7)
    driver = drive_env(make(name), 3)
    for _ in range(6):
        if driver.turn() is None:
            break
        copy = travelled(driver.env)
        assert copy is not driver.env
        assert shown_position(copy) == shown_position(driver.env)
        action = random_action(driver, rng)
        before = shown_position(driver.env)
        copy.step(action)  # the copy can be played on, and that changes nothing here
        assert shown_position(driver.env) == before
        driver.step(action)


def test_gymnasium_environments_arrive_as_they_were():
    env = make("CartPole-v1")
    env.reset(seed=1)
    for action in (0, 1, 1):
        env.step(action)
    ours, theirs = travelled(env), env
    for action in (0, 0, 1):
        assert np.array_equal(ours.step(action)[0], theirs.step(action)[0])


def test_the_dice_do_not_travel():
    env = toy_envs.DiceEnv()
    env.reset(seed=3)

    def rolls(env):
        return [generator.integers(1000) for generator in [env.generator] for _ in range(8)]

    one, same, other = travelled(env, 1), travelled(env, 1), travelled(env, 2)
    ours = rolls(travelled(env, 1))
    assert ours == rolls(one) == rolls(same)
    assert ours != rolls(other)
    assert ours != rolls(env)


class Slotted:
    __slots__ = ("board", "empty")

    def __init__(self):
        self.board = [1, 2, 3]


class Refuses:
    """Has rules of its own for pickling, which would lose everything."""

    def __init__(self):
        self.board = [4, 5]

    def __reduce__(self):
        return Refuses, ()


def test_objects_arrive_as_what_they_hold():
    env = toy_envs.ToyEnv()
    env.reset(seed=1)
    env.slotted, env.refuses = Slotted(), Refuses()
    env.slotted.board.append(9)
    env.refuses.board.append(6)
    env.shared = env.slotted.board
    env.function = lambda: env.shared
    copy = travelled(env)
    assert copy.slotted.board == [1, 2, 3, 9]
    assert not hasattr(copy.slotted, "empty")
    assert copy.refuses.board == [4, 5, 6]
    assert copy.shared is copy.slotted.board
    assert copy.function() is copy.shared


def test_what_cannot_travel_is_said():
    env = toy_envs.ToyEnv()
    env.reset(seed=1)
    with open(os.devnull) as file:
        env.log = file
        with pytest.raises(UnsupportedGameError, match=r"process of its own .*open file.*isolate='none'"):
            pack_env(env, np.random.default_rng(0))


@pytest.mark.parametrize(
    "action",
    [3, -1, 2.5, True, None, "e4", (1, 2), [1, [2, 3]], {"a": 1}, np.int8(4), np.float32(0.5), np.arange(6)],
)
def test_plain_answers_arrive(action):
    arrived = unpack_answer(pack_answer({"action": action, "depth": 3}))
    assert np.array_equal(arrived["action"], action) if hasattr(action, "dtype") else arrived["action"] == action
    assert type(arrived["action"]) is type(action)
    assert arrived["depth"] == 3


class Odd:
    def __repr__(self):
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (os._exit, "<built-in function _exit>"),
        (Odd(), "<Odd>"),
        (np.array([print], dtype=object), "array([<built-in function print>], dtype=object)"),
    ],
)
def test_odd_answers_arrive_as_text(action, text):
    arrived = unpack_answer(pack_answer({"action": action}))["action"]
    assert repr(arrived) == text
    assert type(arrived).__name__ == type(action).__name__


class Trap:
    def __reduce__(self):
        return os._exit, (66,)


@pytest.mark.parametrize(
    "data", [pickle.dumps(Trap()), b"", b"rubbish", pickle.dumps([1]), pickle.dumps({"odd": 1})]
)
def test_answers_run_no_code(data):
    with pytest.raises(ValueError):
        unpack_answer(data)
