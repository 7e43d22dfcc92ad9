"""Kinds of environments that are awkward to search, each as a function that makes one."""

from __future__ import annotations

import contextlib
import copy
import ctypes
import functools
import io
import itertools
import socket
import tempfile
import threading
import time
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np
from doubles import awkward_globals as outside
from doubles import awkward_lifetimes as lifetimes
from doubles.awkward_configurations import ManyStages, MaybeDice, PaysByFunction, PaysBySlots, PaysByTable
from doubles.clone_envs import DiceEnv, Guarded, MyArray, MyDict, SlottedWithDict
from doubles.game_envs import LastOneStanding, Numbers, SmallEnv
from doubles.strange_envs import Chatty, MaskedRoom, Pick, SlowCopy, Target, Wide
from gymnasium import spaces

CountToSix = lifetimes.CountToSix


def holding(make: Callable[[], Any]) -> Callable[[], Any]:
    """Makes an environment that holds an odd thing and plays with it."""

    def made() -> Any:
        env = CountToSix()
        env.thing = make()
        return env

    return made


class Cyclic(CountToSix):
    """Holds itself in a list, and a function that leads back to it."""

    def __init__(self) -> None:
        super().__init__()
        self.others = [self]
        self.again = lambda: self.count


class CountsInArray(CountToSix):
    """Keeps its count in a view of an array."""

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.board = np.zeros((3, 3))
        self.middle = self.board[1:2, 1]
        self.count = 0

    def play(self, agent: Any, action: int) -> None:
        self.middle += action
        super().play(agent, action)


class Raises(CountToSix):
    def play(self, agent: Any, action: int) -> None:
        if self.count:
            raise KeyError("a mistake of its author")
        super().play(agent, action)


class StaysDead(SmallEnv):
    def __init__(self) -> None:
        super().__init__(["one", "two"])

    def step(self, action: Any) -> None:
        self.terminations["one"] = True


class NoEnd(SmallEnv):
    def __init__(self) -> None:
        super().__init__(["one", "two"])

    def observe(self, agent: Any) -> Any:
        return self.turns

    def play(self, agent: Any, action: Any) -> None:
        self.next_agent()


class WrongAgent(SmallEnv):
    def __init__(self) -> None:
        super().__init__(["one", "two"])

    def play(self, agent: Any, action: Any) -> None:
        self.agent_selection = "three"


class NanRewards(CountToSix):
    def play(self, agent: Any, action: int) -> None:
        super().play(agent, action)
        self.rewards[agent] = float("nan") if self.terminations[agent] else 0


class VectorRewards(CountToSix):
    def play(self, agent: Any, action: int) -> None:
        super().play(agent, action)
        self.rewards = {name: np.array([reward, 1.0]) for name, reward in self.rewards.items()}


class DropsCache(CountToSix):
    """Keeps what it has shown, but not in its copies."""

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        super().start(seed, options)
        self.shown: dict[Any, Any] = {}

    def observe(self, agent: Any) -> Any:
        return self.shown.setdefault((agent, self.count), self.count)

    def __deepcopy__(self, memo: dict[int, Any]) -> DropsCache:
        made = DropsCache.__new__(DropsCache)
        made.__dict__ = copy.deepcopy({**self.__dict__, "shown": {}}, memo)
        return made


class ShowsTime(CountToSix):
    """Its infos are never the same."""

    @property
    def infos(self) -> dict[Any, Any]:
        return {agent: {"now": time.perf_counter()} for agent in self.possible_agents}

    @infos.setter
    def infos(self, value: Any) -> None:
        pass


class NothingLegal(Pick):
    def mask(self) -> Any:
        return np.zeros(4, np.int8)


class NotReset(CountToSix):
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        pass


def deep() -> Any:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    return nested


def held_lock() -> Any:
    lock = threading.Lock()
    lock.acquire()
    return lock


KINDS: dict[str, Callable[[], Any]] = {
    **{f"mask in {show}": functools.partial(Pick, show) for show in
       ("observation", "info", "second", "phase", "legal_moves", "valid_actions", "last", "nowhere")},
    **{f"room with its mask in {show}": functools.partial(MaskedRoom, show) for show in
       ("observation", "seen_only", "valid_mask", "moves", "info_only")},
    **{f"dice from {source}": functools.partial(DiceEnv, source) for source in
       ("generator", "random_state", "python", "closure", "stored method", "global random", "global numpy",
        "space")},
    "a mask of nothing": NothingLegal,
    "drops a cache": DropsCache,
    "shows the time": ShowsTime,
    "slow steps": lambda: Pick(wait=0.03),
    "slow copies": SlowCopy,
    "prints": Chatty,
    "many actions": Wide,
    "tuples as actions": lambda: Target(
        spaces.Tuple([spaces.Discrete(3), spaces.Discrete(2)]), lambda a: float(a[0])
    ),
    "floats as actions": lambda: Target(spaces.Box(-1, 1, (2,)), lambda a: float(a[0])),
    "text as actions": lambda: Target(spaces.Text(3), len),
    "millions of actions": lambda: Target(spaces.MultiDiscrete([1000, 1000]), lambda a: float(a[0])),
    "closes when it dies": lifetimes.ClosesInDel,
    "a part that closes when it dies": lifetimes.HoldsHandle,
    "finalised by a weak reference": lifetimes.FinalizesByWeakref,
    "a finaliser that cannot be taken away": lifetimes.CannotBeExtended,
    "cached methods": lifetimes.CachedSpaces,
    "rolls in its module": outside.RollsModuleNumpy,
    "rolls on its class": outside.RollsClass,
    **({"rolls by PyTorch": outside.RollsGlobalTorch} if outside.torch else {}),
    "a list in its module": outside.FillsReplay,
    "a counter on its class": outside.CountsOnClass,
    "one board for all": outside.BoardOnClass,
    "pays by a table": lambda: PaysByTable([0.0] * 100 + [-1.0]),
    "pays by a function": lambda: PaysByFunction(lambda: -1.0),
    "pays by slots": lambda: PaysBySlots([-3.0]),
    "dice by settings": lambda: MaybeDice(np.ones(100)),
    "changes late": ManyStages,
    "agents that leave": LastOneStanding,
    "numbers from five on": Numbers,
    "holds itself": Cyclic,
    "views of arrays": CountsInArray,
    "fails in a step": Raises,
    "stays dead": StaysDead,
    "never ends": NoEnd,
    "selects a stranger": WrongAgent,
    "pays nan": NanRewards,
    "pays vectors": VectorRewards,
    "not reset": NotReset,
    **{f"holds {name}": holding(make) for name, make in {
        "a file": tempfile.TemporaryFile,
        "a socket": socket.socket,
        "a thread": threading.Thread,
        "a held lock": held_lock,
        "a free lock": threading.Lock,
        "a generator under way": lambda: (number for number in range(3)),
        "memory of C": lambda: ctypes.c_int(3),
        "a deep list": deep,
        "text under way": lambda: io.StringIO("abc"),
        "iterators": lambda: [itertools.count(), itertools.cycle("ab"), iter([1, 2])],
        "odd containers": lambda: [OrderedDict(a=1), defaultdict(list), deque([1], 3), MyDict(a=[1])],
        "objects in an array": lambda: np.array([[1], {"a": 2}, None], dtype=object),
        "an array of its own class": lambda: np.arange(4).view(MyArray),
        "a flat iterator": lambda: np.arange(4).flat,
        "slots": SlottedWithDict,
        "guarded attributes": Guarded,
        "a namespace": lambda: types.SimpleNamespace(cells=[1]),
        "an exit stack": contextlib.ExitStack,
    }.items()},
}  # fmt: skip
"""By name. Most of them play, the others are refused."""
