import itertools
from collections import OrderedDict, deque

import chess
import numpy as np
import pettingzoo
import pytest
from doubles.clone_envs import BareEnv, DiceEnv, Point
from gymnasium.spaces import Discrete
from pettingzoo import AECEnv

from zermelo.envs import CloneError, clone_env
from zermelo.envs.clone.state_key import ignore_in_key, register_key, state_key


def key(value):
    return state_key(BareEnv(value=value))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        (None, 0),
        ("a", b"a"),
        (np.int8(1), np.int64(1)),
        ([1], (1,)),
        ([1, 2], [2, 1]),
        ([[], []], [[[]]]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, OrderedDict(a=1)),
        ({1}, frozenset({1})),
        ({1, 2}, {1, 3}),
        (deque([1], 2), deque([1], 3)),
        (np.zeros(4), np.zeros((2, 2))),
        (np.zeros(4, np.int8), np.zeros(4, np.uint8)),
        (Point(1, 2), (1, 2)),
        (chess.Move(1, 2), chess.Move(1, 3)),
        (iter([1, 2]), iter([1, 3])),
        (itertools.count(1), itertools.count(2)),
        (bytearray(b"a"), bytearray(b"b")),
        (complex(0, 0.0), complex(0, -0.0)),
    ],
)
def test_what_differs_has_different_keys(first, second):
    assert key(first) != key(second)
    assert key(first) == key(clone_env(BareEnv(value=first)).value)
    hash(key(first))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (float("nan"), float("nan")),
        ({"a", "b", "c"}, {"c", "b", "a"}),
        ({(1, 2), (3, 4)}, {(3, 4), (1, 2)}),
        (np.random.default_rng(1), np.random.default_rng(2)),
        (Discrete(3), Discrete(3)),
        (np.zeros((2, 3)), np.zeros((3, 2)).T),
        (chess.Board(), chess.Board()),
    ],
)
def test_what_is_the_same_has_the_same_key(first, second):
    assert key(first) == key(second)


def test_what_is_shared_counts():
    row = [0]
    assert key([row, row]) != key([[0], [0]])
    loop = []
    loop.append(loop)
    other = []
    other.append(other)
    assert key(loop) == key(other)


def test_attributes_in_any_order():
    assert state_key(BareEnv(a=1, b=2)) == state_key(BareEnv(b=2, a=1))


def test_closures_count_with_what_they_captured():
    def make(number):
        cells = [number]
        return lambda: cells

    assert key(make(1)) == key(make(1))
    assert key(make(1)) != key(make(2))


@pytest.mark.parametrize(("name", "moves", "other"), [("tictactoe-v3", [0, 1, 4, 8], [4, 8, 0, 1])])
def test_transpositions_meet(name, moves, other):
    keys = []
    for line in (moves, other):
        env = pettingzoo.make("aec", f"classic/{name}")
        env.reset()
        for move in line:
            env.step(move)
            env.last()
        keys.append(state_key(env))
    assert keys[0] == keys[1]
    env.step(2)
    assert state_key(env) != keys[0]


def test_repetitions_and_counters_of_chess_count():
    env = pettingzoo.make("aec", "classic/chess-v6")
    env.reset()
    raw = env.unwrapped
    before = state_key(raw)
    for uci in ("g1f3", "g8f6", "f3g1", "f6g8"):
        raw.board.push_uci(uci)
    assert raw.board.board_fen() == chess.Board().board_fen()
    assert state_key(raw) != before


def test_looking_and_what_only_draws_do_not_count(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = pettingzoo.make("aec", "classic/connect_four-v3", render_mode="rgb_array")
    env.reset()
    before = state_key(env)
    env.last()
    env.render()
    assert state_key(env) == before


class Plain(AECEnv):
    def __init__(self):
        self._cumulative_rewards = {"a": 0}

    def step(self, action):
        self._cumulative_rewards["a"] = 0
        self._cumulative_rewards = {"a": 0}


class Reader(Plain):
    def step(self, action):
        if self._cumulative_rewards["a"] > 10:
            self.terminations = {"a": True}


class Caller(Plain):
    def step(self, action):
        self.total = sum(self._cumulative_rewards.values())


def is_ahead(env):
    return env._cumulative_rewards["a"] > 10


class Judge:
    def __init__(self, env=None):
        self.env = env

    def is_ahead(self, env=None):
        return is_ahead(env or self.env)


class Asker(Plain):
    """A function outside of the class reads them."""

    def step(self, action):
        self.terminations = {"a": is_ahead(self)}


class Owner(Plain):
    """An object that was given the environment reads them."""

    def __init__(self):
        super().__init__()
        self.judge = Judge(self)

    def step(self, action):
        self.terminations = {"a": self.judge.is_ahead()}


class Sharer(Plain):
    """A function inside of a method hands the environment on."""

    def step(self, action):
        self.terminations = {"a": any(Judge().is_ahead(env) for env in (self,))}


class Renamer(Plain):
    def step(self, action):
        env = self
        self.terminations = {"a": is_ahead(env)}


class Wrapper(AECEnv):
    """A wrapper of somebody's, around an environment that leaves them alone."""

    def __init__(self):
        self.env = Plain()

    def step(self, action):
        self.env.step(action)


class ReadingWrapper(Wrapper):
    def step(self, action):
        if self.env.unwrapped._cumulative_rewards["a"] > 10:
            self.terminations = {"a": True}


class AskingWrapper(Wrapper):
    def step(self, action):
        self.terminations = {"a": is_ahead(self.env)}


@pytest.mark.parametrize(("cls", "counts"), [(Wrapper, False), (ReadingWrapper, True), (AskingWrapper, True)])
def test_rewards_received_count_where_a_wrapper_reads_them(cls, counts):
    first, second = cls(), cls()
    second.env._cumulative_rewards = {"a": 1}
    assert (state_key(first) != state_key(second)) is counts


def action_count():
    return 1


class Quiet(Plain):
    """Functions inside of methods, and the classes it comes from, leave them alone."""

    def __init__(self, size=3):
        Plain.__init__(self)
        self.size = size
        self.rewards = {str(n): self.size for n in range(action_count())}

    @staticmethod
    def smaller(size):
        return min(size, 2)

    def step(self, action):
        super().step(action)
        self.smaller(action)
        self.size = max(self.size, action, key=lambda number: -abs(number - self.size))


@pytest.mark.parametrize(
    ("cls", "counts"),
    [
        (Plain, False),
        (Reader, True),
        (Caller, True),
        (DiceEnv, False),
        (Asker, True),
        (Owner, True),
        (Sharer, True),
        (Renamer, True),
        (Quiet, False),
    ],
)
def test_rewards_received_count_only_where_the_rules_read_them(cls, counts):
    env = cls()
    env._cumulative_rewards = {"a": 0}
    before = state_key(env)
    env._cumulative_rewards = {"a": 1}
    assert (state_key(env) != before) is counts


def test_open_spiel_states_are_known_by_their_history():
    pyspiel = pytest.importorskip("pyspiel")
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    before = key(state)
    assert key(state.clone()) == before
    state.apply_action(3)
    assert key(state) != before


def test_keys_of_ones_own_and_attributes_left_out():
    class Cached:
        def __init__(self, value, cache):
            self.value, self.cache = value, cache

    ignore_in_key(f"{Cached.__module__}.{Cached.__qualname__}", "cache")
    assert key(Cached(1, [1])) == key(Cached(1, [2]))
    assert key(Cached(1, [1])) != key(Cached(2, [1]))

    class Own(Cached):
        pass

    register_key(Own, lambda obj: obj.value % 2)
    assert key(Own(1, 0)) == key(Own(3, 0))
    assert key(Own(1, 0)) != key(Own(2, 0))


def test_what_has_no_value_is_named():
    env = BareEnv(parts=[(number for number in range(3))])
    with pytest.raises(CloneError, match=r"no key .* env\.parts\[0\] is a generator"):
        state_key(env)
