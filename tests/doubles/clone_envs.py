"""Environments that hold odd things, for tests of cloning, and clones that are wrong on purpose."""

import copy
import functools
import itertools
import random
import weakref
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from types import MappingProxyType, SimpleNamespace

import numpy as np
from doubles.game_envs import SmallEnv
from gymnasium.spaces import Discrete

from zermelo.envs import clone_env
from zermelo.envs.clone.generators import is_source
from zermelo.envs.clone.traversal import reachable

Point = namedtuple("Point", "x y")


class BareEnv:
    """The least that can be cloned: something with a step method and whatever attributes a test gives it."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def step(self, action):
        raise AssertionError("never stepped")


class DiceEnv(SmallEnv):
    """Two agents roll in turn, three times each; the greater sum wins. ``source`` says where dice come from."""

    metadata = {"name": "dice_v0", "render_modes": []}  # noqa: RUF012  # PettingZoo's own form
    zermelo_traits = None

    def __init__(self, source="generator"):
        super().__init__(["a", "b"])
        self.source = source

    def observation_space(self, agent):
        return Discrete(100)

    def start(self, seed, options):
        self.sums = dict.fromkeys(self.agents, 0)
        self.rolls = []
        self.order = itertools.cycle(self.agents)
        self.agent_selection = next(self.order)
        if self.source == "generator":
            self.rng = np.random.default_rng(seed)
        elif self.source == "random_state":
            self.rng = np.random.RandomState(seed)
        elif self.source == "python":
            self.rng = random.Random(seed)
        elif self.source == "closure":
            rng = np.random.default_rng(seed)
            self.roll_it = lambda: int(rng.integers(1, 1001))
        elif self.source == "stored method":
            self.roll_it = functools.partial(np.random.default_rng(seed).integers, 1, 1001)
        elif self.source == "space":
            self.die = Discrete(1000, start=1, seed=seed)

    def roll(self):
        if self.source in ("generator",):
            return int(self.rng.integers(1, 1001))
        if self.source in ("random_state", "python"):
            return int(self.rng.randint(1, 1000))
        if self.source == "global random":
            return random.randint(1, 1000)
        if self.source == "global numpy":
            return int(np.random.randint(1, 1001))  # noqa: NPY002  # the global generator is meant
        if self.source == "space":
            return int(self.die.sample())
        return int(self.roll_it())

    def observe(self, agent):
        return {"observation": self.sums[agent] % 100, "action_mask": np.array([1, 1], np.int8)}

    def play(self, agent, action):
        self.rolls.append(self.roll())
        self.sums[agent] += self.rolls[-1] * (action + 1)
        self.agent_selection = next(self.order)
        if len(self.rolls) == 6:
            a, b = self.sums.values()
            self.rewards = {"a": (a > b) - (a < b), "b": (b > a) - (b < a)}
            self.end()


@dataclass
class Piece:
    owner: object
    moves: list = field(default_factory=list)


@dataclass(frozen=True)
class FrozenPiece:
    name: str


class Slotted:
    __slots__ = ("board", "unset")

    def __init__(self):
        self.board = [1, 2]


class SlottedWithDict(Slotted):
    __slots__ = ("__dict__", "extra")

    def __init__(self):
        super().__init__()
        self.extra = {3}
        self.free = [4]


class Agent:
    """An agent that is not a string."""

    def __init__(self, name):
        self.name = name
        self.memory = []


class MyList(list):
    pass


class MyDict(dict):
    pass


class MyInt(int):
    pass


class MyArray(np.ndarray):
    pass


class Guarded:
    """Sets and reads its attributes in ways of its own."""

    def __init__(self):
        self.__dict__["inner"] = {"cells": [0, 0]}

    def __getattr__(self, name):
        return self.__dict__["inner"][name]

    def __setattr__(self, name, value):
        raise AttributeError("read only")

    @property
    def total(self):
        return sum(self.inner["cells"])


def odd_env():
    """An environment with one of nearly everything."""
    env = BareEnv(
        numbers=[1, 2, 3],
        mapping={"a": [1], 2: {"b": (1, [2])}},
        named=Point([1], {"y": 2}),
        queue=deque([1, [2]], maxlen=3),
        counts=Counter("abca"),
        ordered=OrderedDict(b=[1], a=[2]),
        default=defaultdict(list, a=[1]),
        group={1, "a", (2, 3)},
        frozen=frozenset({1, (2,)}),
        piece=Piece(owner="me"),
        constant=FrozenPiece("x"),
        slotted=Slotted(),
        both=SlottedWithDict(),
        space=SimpleNamespace(cells=[1]),
        proxy=MappingProxyType({"a": [1]}),
        turns=itertools.cycle(["a", "b", "c"]),
        counter=itertools.count(3),
        iterator=iter([1, 2, 3]),
        my_list=MyList([1, [2]]),
        my_dict=MyDict(a=[1]),
        my_int=MyInt(7),
        array=np.arange(6).reshape(2, 3),
        objects=np.array([[1], {"a": 2}, None], dtype=object),
        guarded=Guarded(),
        text=bytearray(b"abc"),
    )
    next(env.turns)
    env.my_list.tag = [5]
    env.my_int.tag = [6]
    env.my_array = np.arange(4).view(MyArray)
    env.board = np.zeros((4, 4), dtype=np.int8)
    env.middle = env.board[1:3, 1:3]
    env.turned = env.board.T[::-1]
    env.same = env.numbers
    env.itself = env
    env.loop = [env.numbers]
    env.loop.append(env.loop)
    env.piece.owner = env
    env.weak = weakref.ref(env.piece)
    env.method = env.piece.moves.append
    env.bound = env.step
    env.agents = [Agent("x"), Agent("y")]
    env.scores = dict.fromkeys(env.agents, 0)
    env.move = functools.partial(env.numbers.append)
    count = 0

    def tick():
        nonlocal count
        count += 1
        env.numbers.append(count)
        return count

    env.tick = tick
    env.count = lambda: count
    env.default_argument = lambda numbers=env.numbers: numbers
    env.wrapped = functools.wraps(BareEnv.step)(lambda action: env.numbers.append(action))
    return env


def shallow_clone(env):
    return copy.copy(env)


def clone_that_shares(*path):
    def clone(env):
        new = clone_env(env)
        old_owner, new_owner = env.unwrapped, new.unwrapped
        for name in path[:-1]:
            old_owner, new_owner = getattr(old_owner, name), getattr(new_owner, name)
        setattr(new_owner, path[-1], getattr(old_owner, path[-1]))
        return new

    return clone


def clone_that_forgets_generators(env):
    new = clone_env(env)
    new.unwrapped.rng = np.random.default_rng(123456)
    return new


class StaleMaskClone:
    """Clones right, but gives the wrapper that checks moves the mask of an earlier clone."""

    def __init__(self):
        self.masks = []

    def __call__(self, env):
        new = clone_env(env)
        wrapper = new.env.env
        self.masks.append(wrapper._prev_obs)
        wrapper._prev_obs = self.masks[max(0, len(self.masks) - 4)]
        return new


def find_generators(env):
    """The sources of randomness that an environment holds, each once."""
    return [obj for obj in reachable(env) if is_source(obj)]
