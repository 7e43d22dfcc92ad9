"""Arrays over memory that is not their own: of other arrays, of buffers, of other libraries."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Iterator
from multiprocessing import RawArray
from typing import Any

import msgspec
import numba
import numpy as np
import pytest
from doubles.clone_envs import BareEnv
from numpy.lib.stride_tricks import sliding_window_view

from zermelo.envs import CloneError, clone_env
from zermelo.envs.clone.state_key import state_key

VIEWS: dict[str, Callable[[Any], Any]] = {
    "transposed": lambda board: board.T,
    "reshaped": lambda board: board.reshape(4, 3),
    "turned": np.rot90,
    "row": lambda board: board[1],
    "flipped": lambda board: board[::-1, ::-2],
    "cell": lambda board: board[1:2, 3:4].reshape(()),
    "broadcast": lambda board: np.broadcast_to(board[1], (5, 4)),
    "windows": lambda board: sliding_window_view(board, (2, 2)),
}


@pytest.mark.parametrize("kind", [object, np.int64])
@pytest.mark.parametrize("view", VIEWS)
def test_views_of_copies_of_copies_are_views(view: str, kind: type) -> None:
    board = np.arange(12).astype(kind).reshape(3, 4)
    env = BareEnv(view=VIEWS[view](board), board=board)
    new = clone_env(clone_env(env))
    assert state_key(new) == state_key(env)
    new.board[1, 3] = 77
    assert 77 in new.view
    assert 77 not in board
    new.board[1, 3] = 7
    assert (new.view == env.view).all()


def mapped() -> Iterator[Any]:
    memory = mmap.mmap(-1, 64)
    return (np.frombuffer(memory, np.int32, offset=start) for start in (0, 4))


def raw() -> Iterator[Any]:
    memory = RawArray("i", 16)
    return iter([np.frombuffer(memory, np.int32), np.ctypeslib.as_array(memory)[1:]])


def structure() -> Iterator[Any]:
    class Point(ctypes.Structure):
        _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_int * 3)]

    point = Point()
    return iter([np.frombuffer(point, np.int32), np.ctypeslib.as_array(point.y)])


def compiled() -> Iterator[Any]:
    @numba.njit  # type: ignore[untyped-decorator]
    def make() -> Any:
        board = np.zeros(4, np.int64)
        return board, board[1:]

    return iter(make())


@pytest.mark.parametrize("make", [mapped, raw, structure, pytest.param(compiled, marks=pytest.mark.thorough)])
def test_arrays_over_memory_that_nothing_else_holds(make: Callable[[], Iterator[Any]]) -> None:
    first, second = make()
    env = BareEnv(first=first, second=second)
    before = state_key(env)
    new = clone_env(env)
    assert state_key(new) == before
    new.first[2] = 7
    assert new.second[1] == 7
    assert state_key(env) == before


@pytest.mark.parametrize("make", [lambda: RawArray("i", 4), lambda: mmap.mmap(-1, 16)], ids=["raw", "mapped"])
def test_an_owner_of_memory_beside_its_array_is_refused(make: Callable[[], Any]) -> None:
    memory = make()
    with pytest.raises(
        CloneError, match=r"env\.view is an array over the memory of a mmap, which the .* holds too"
    ):
        clone_env(BareEnv(view=np.frombuffer(memory, np.int32), memory=memory))


def test_an_array_over_the_bytes_of_a_buffer_under_ctypes() -> None:
    memory = bytearray(16)
    view = np.frombuffer((ctypes.c_int * 4).from_buffer(memory), np.int32)
    new = clone_env(BareEnv(view=view, memory=memory))
    new.view[1] = 7
    assert new.memory[4] == 7
    assert not any(memory)


class Screen:
    """Says where its pixels are."""

    def __init__(self) -> None:
        self.pixels = np.zeros(3)

    @property
    def __array_interface__(self) -> Any:
        return self.pixels.__array_interface__


def test_an_array_over_the_memory_of_an_object() -> None:
    screen = Screen()
    new = clone_env(BareEnv(view=np.asarray(screen), screen=screen))
    new.screen.pixels[1] = 7
    assert new.view[1] == 7
    assert not screen.pixels.any()


def test_memory_of_which_nobody_knows_the_owner() -> None:
    board = np.zeros(3)
    new = clone_env(BareEnv(board=board, view=np.from_dlpack(board)[1:]))
    new.board[2] = 7
    assert new.view.tolist() == [0, 7]
    assert not board.any()
    writer = msgspec.json.Encoder()
    with pytest.raises(CloneError, match=r"env\.view is an array that came by DLPack, perhaps from the msgspec"):
        clone_env(BareEnv(view=np.from_dlpack(board), writer=writer))
