"""A worker process: how it is started, and what it does.

Where processes can be forked, workers come from the fork server; elsewhere each is a fresh interpreter
(multiprocessing's ``spawn``). The module that a script runs as is loaded in a worker, as multiprocessing does.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import multiprocessing
import os
import pickle
import signal
import tempfile
import threading
import time
from multiprocessing import spawn
from multiprocessing.connection import Connection, Pipe
from typing import Any, Final, Protocol

from zermelo.envs import ZermeloError
from zermelo.evaluation.errors import WorkerError
from zermelo.evaluation.runners.work import NOBODY, Work
from zermelo.evaluation.sandbox.fork_server import fork

BATCH: Final = 0.02
"""Seconds for which a worker may collect results before it sends them."""
SEAT, FINISHED, TURNS = 0, 1, 2
"""Places in the shared memory: the seat whose agent runs, tasks finished, turns begun or ended."""
CLOSED: Final = 70
"""The exit code of a worker that cannot answer any more, because an agent closed its pipe."""
_Turn = ctypes.c_longlong * 3


class Process(Protocol):
    """What is needed of a process."""

    @property
    def sentinel(self) -> int:
        """Can be waited for: ready when the process has ended."""

    @property
    def exitcode(self) -> int | None:
        """None while it runs."""

    def is_alive(self) -> bool:
        """Whether it has not ended."""

    def join(self, timeout: float | None = None) -> None:
        """Waits until it ends."""

    def kill(self) -> None:
        """Ends it at once."""


def start(work: bytes) -> tuple[Process, Connection, Any]:
    """Starts a worker; returns it, this end of its pipe, and the memory that it shares with this process.

    Raises:
        OSError: No process can be started here.
    """
    pipe, theirs = Pipe()
    with theirs:
        if os.name != "posix":
            context = multiprocessing.get_context("spawn")
            shared = context.RawArray(ctypes.c_longlong, [NOBODY, 0, 0])
            process = context.Process(target=_spawned, args=(theirs, shared, work), daemon=True)
            process.start()
            return process, pipe, shared
        data = spawn.get_preparation_data("zermelo worker")
        preparation = pickle.dumps({**data, "authkey": bytes(data["authkey"])})  # as it is it refuses
        with tempfile.TemporaryFile() as file:
            file.truncate(ctypes.sizeof(_Turn))
            turn = _Turn.from_buffer(mmap.mmap(file.fileno(), ctypes.sizeof(_Turn)))
            turn[SEAT] = NOBODY
            forked = fork(f"{__name__}:forked", [theirs.fileno(), file.fileno()], may_fork=True)
    with contextlib.suppress(OSError):  # it has died: it will be missed
        pipe.send_bytes(preparation)
        pipe.send_bytes(work)
    return forked, pipe, turn


def forked(channel: int, memory: int) -> None:
    """Runs in a worker that the fork server started."""
    _ignore_signals()
    pipe = Connection(channel)
    turn = _Turn.from_buffer(mmap.mmap(memory, ctypes.sizeof(_Turn)))
    os.close(memory)
    process: Any = multiprocessing.current_process()
    process.daemon = True
    process._inheriting = (
        True  # whatever the script does outside of `if __name__ == "__main__":`, it starts no run
    )
    spawn.prepare(pickle.loads(pipe.recv_bytes()))
    work = pickle.loads(pipe.recv_bytes())
    del process._inheriting
    _serve(pipe, turn, work)


def _spawned(pipe: Connection, turn: Any, work: bytes) -> None:
    _ignore_signals()
    parent = multiprocessing.parent_process()
    assert parent is not None, "it was started by one"

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    _serve(pipe, turn, pickle.loads(work))


def _ignore_signals() -> None:
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # a batch system sends them to every process: the parent decides
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)


def _serve(pipe: Connection, turn: Any, work: Work[Any, Any]) -> None:
    """Runs the tasks it is sent, until it is sent None or its parent is gone."""
    here, own = os.fstat(pipe.fileno()), pipe.fileno()

    def on_turn(seat: int) -> None:
        turn[TURNS] += 1
        if seat == NOBODY and turn[SEAT] != NOBODY and not _is_open(own, here):
            os._exit(CLOSED)  # the agent whose turn it was has closed the way to the parent
        turn[SEAT] = seat

    def send() -> None:
        if results:
            pipe.send(([*results], time.monotonic() - began))
            results.clear()

    results: list[Any] = []
    began = time.monotonic()
    try:
        pipe.send("ready")
        while (items := pipe.recv()) is not None:
            began = time.monotonic()
            for item in items:
                try:
                    results.append(work.run(item, on_turn))
                except (ZermeloError, OSError) as error:  # agents' and environments' own do not come as far
                    send()
                    pipe.send(sendable(error))
                    return
                turn[FINISHED] += 1
                if time.monotonic() >= began + BATCH:
                    send()
                    began = time.monotonic()
            send()
    except (EOFError, OSError):
        return  # the parent has closed its end
    finally:
        work.close()


def _is_open(pipe: int, before: os.stat_result) -> bool:
    try:
        now = os.fstat(pipe)
    except OSError:
        return False
    return (now.st_dev, now.st_ino) == (before.st_dev, before.st_ino)


def sendable(error: Exception) -> ZermeloError:
    """The error, or a ``WorkerError`` with its message if it is another kind or would not survive the journey."""
    if not isinstance(error, ZermeloError):
        return WorkerError(f"a task failed: {error}")
    try:
        pickle.loads(pickle.dumps(error))  # an error of the user's own may need arguments that pickle forgets
    except Exception:
        return WorkerError(str(error))
    return error
