"""Objects that live outside of Python are refused in one sentence or copied right, without a traceback of ours."""

from __future__ import annotations

import asyncio
import ctypes
import mmap
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from doubles.awkward_lifetimes import CountToSix
from doubles.clone_envs import BareEnv

from zermelo.agents import AlphaBetaAgent
from zermelo.envs import CloneError, clone_env
from zermelo.envs.clone.state_key import state_key

# As SWIG makes the classes of Box2D: without the name of a module.
Handle: Any = eval('type("Handle", (), {"__reduce_ex__": reduce})', {"type": type, "reduce": lambda *_: 1 / 0})


class World:
    """A Python class around a handle, like the proxies that SWIG makes."""

    def __init__(self) -> None:
        self.this = (number for number in range(3))


class LinearMap:
    """Cannot be made of its reduction."""

    def __deepcopy__(self, memo: Any) -> Any:
        raise RuntimeError("C++ says no")


def memory_map_of_numpy() -> Any:
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, np.uint8, "w+", shape=(4,))


def held_lock() -> Any:
    lock = threading.Lock()
    lock.acquire()
    return lock


REFUSED: dict[str, Callable[[], Any]] = {
    "memmap": memory_map_of_numpy,
    "flatiter": lambda: np.arange(4).flat,
    "nditer": lambda: np.nditer(np.arange(3)),
    "file": tempfile.TemporaryFile,
    "socket": socket.socket,
    "thread": threading.Thread,
    "held lock": held_lock,
    "process": lambda: subprocess.Popen([sys.executable, "-c", ""]),
    "database": lambda: sqlite3.connect(":memory:"),
    "cursor": lambda: sqlite3.connect(":memory:").cursor(),
    "ctypes": lambda: ctypes.c_int(3),
    "pointer": lambda: ctypes.pointer(ctypes.c_int(2)),
    "library": lambda: ctypes.CDLL(None),
    "generator": lambda: (number for number in range(3)),
    "memory map": lambda: mmap.mmap(-1, 10),
    "event loop": asyncio.new_event_loop,
    "world": World,
    "own deep copy": LinearMap,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_copied_is_refused_in_a_sentence_that_names_the_way_out(name: str) -> None:
    env = CountToSix()
    env.reset(seed=0)
    env.parts = {"engine": REFUSED[name]()}
    try:
        with pytest.raises(
            CloneError, match=r"^cannot clone .*: env\.parts\['engine'\].*register_clone"
        ) as caught:
            AlphaBetaAgent(depth=1).act(env)
        assert "\n" not in str(caught.value)
    finally:
        close = getattr(env.parts["engine"], "wait" if name == "process" else "close", None)
        if close is not None:
            close()


def test_a_class_without_a_module_is_copied_or_named() -> None:
    env = BareEnv(handle=Handle())
    assert type(clone_env(env).handle).__name__ == "Handle"
    assert state_key(clone_env(env)) == state_key(env)


@pytest.mark.parametrize("name", ["frame", "series", "index", "dates"])
def test_data_frames_are_copied_and_compared(name: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [[1], [2]]})
    made = {
        "frame": frame,
        "series": frame["a"],
        "index": frame.columns,
        "dates": pandas.date_range("2020", periods=2),
    }
    env = BareEnv(table=made[name])
    assert len(env.table[0:1]) == 1  # which fills its caches
    new = clone_env(env)
    assert new.table is not env.table
    assert state_key(new) == state_key(env) == state_key(clone_env(new))
    if name in ("frame", "series"):
        new.table.iloc[(0, 0)[: new.table.ndim]] = 9
        assert frame["a"][0] == 1
        assert state_key(new) != state_key(env)


@pytest.mark.parametrize("kind", ["frame", "series"])
def test_what_a_data_frame_holds_is_copied_with_it(kind: str) -> None:
    pandas = pytest.importorskip("pandas")

    class Owned(pandas.DataFrame if kind == "frame" else pandas.Series):  # type: ignore[misc]
        _metadata = ("owner",)

    hands = [[1, 2], [3, 4]]
    table = Owned({"hand": hands, "coins": [5, 6]}) if kind == "frame" else Owned(hands)
    table.owner = ["north"]
    table.attrs["deck"] = [7]
    env = BareEnv(table=table, first=hands[0])
    new = clone_env(env)
    assert type(new.table) is Owned
    assert state_key(new) == state_key(env)
    hand = new.table["hand"][0] if kind == "frame" else new.table[0]
    assert hand is new.first, "what an environment holds twice stays one object"
    for part in (hand, new.table.owner, new.table.attrs["deck"]):
        before = state_key(new)
        part.append(9)
        assert state_key(new) != before
    assert hands == [[1, 2], [3, 4]]
    assert (table.owner, table.attrs) == (["north"], {"deck": [7]})
