"""A worker process: how it is started, and what it does.

Workers come from the fork server and ignore what it ignores: Ctrl-C and requests to end, as the parent decides.
The module that a script runs as is loaded in a worker, as multiprocessing does.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import multiprocessing
import os
import pickle
import tempfile
import time
from multiprocessing import spawn
from multiprocessing.connection import Connection, Pipe
from typing import Any, Final

from zermelo.envs import ZermeloError
from zermelo.evaluation.errors import WorkerError
from zermelo.evaluation.runners.work import NOBODY, Work
from zermelo.evaluation.sandbox.fork_server import ForkedProcess, fork

BATCH: Final = 0.05
"""Seconds for which a worker may collect results before it sends them."""
SEAT, FINISHED, TURNS = 0, 1, 2
"""Places in the shared memory: the seat whose agent runs, tasks finished, turns begun or ended."""
CLOSED: Final = 70
"""The exit code of a worker that cannot answer any more, because an agent closed its pipe."""
_Turn = ctypes.c_longlong * 3


def start(work: bytes) -> tuple[ForkedProcess, Connection, Any]:
    """Starts a worker; returns it, this end of its pipe, and the memory that it shares with this process.

    Raises:
        OSError: No process can be started here.
    """
    pipe, theirs = Pipe()
    with theirs:
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
