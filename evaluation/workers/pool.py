"""Tasks in worker processes.

Each worker is sent items through a pipe and sends results back. A result does not depend on the worker. A worker
that dies (``os._exit``, a segmentation fault, the kernel's out-of-memory killer) costs the task that it was
running, and is replaced.

While tasks are short, a worker is sent several items at once and answers with several results: a message costs as
much as a good part of a game of tic-tac-toe.

Workers ignore Ctrl-C and requests to end, which reach all processes: the parent decides. They end with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import mmap
import multiprocessing
import os
import pickle
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from multiprocessing import spawn
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, Final, Generic

from zermelo.envs.errors import InvalidSettingError, ZermeloError
from zermelo.envs.support.local_modules import search_path
from zermelo.evaluation.errors import WorkerError
from zermelo.evaluation.match.faults import manner_of_death
from zermelo.evaluation.workers.forked_process import ForkedProcess, start_server
from zermelo.evaluation.workers.work import NOBODY, Item, Result, Waiting, Work, WorkerExit

AHEAD: Final = 128
"""The most items that a worker is given ahead while tasks are short, so that it need not wait for the parent."""
TRIES: Final = 3
"""How often a task may end its worker after it was done, before it counts as lost."""
START: Final = 20.0
"""Seconds that a worker has to get ready, or the limit on hangs where that is longer."""
HIRE: Final = 1.0
"""Seconds until a worker that could not be started is tried again, while others work."""
PATIENCE: Final = 5.0
"""Seconds that a worker is given to end when asked to."""


class ProcessRunner:
    """Runs tasks in processes."""

    def __init__(self, workers: int, *, dumps: Callable[[Any], bytes] = pickle.dumps) -> None:
        if sys.platform == "win32":
            raise InvalidSettingError(
                "worker processes need a Unix system: play with workers=1, or in the Windows Subsystem for Linux"
            )
        self.workers = workers
        self._dumps = dumps
        start_server()

    def run(self, work: Work[Item, Result], items: Sequence[Item]) -> Generator[Result]:
        """Yields results as tasks end. When the iterator ends or is closed, no worker is left."""
        sent = self._dumps(work)
        waiting = Waiting(items)
        workers: list[_Worker[Item, Result]] = []
        ended, hires_from, hang = Counter[int](), 0.0, work.hang_seconds
        try:
            while waiting or any(worker.items for worker in workers):
                wanted = min(self.workers, len(items))
                while len(workers) < wanted and (not workers or time.monotonic() >= hires_from):
                    try:
                        workers.append(_Worker(sent))
                    except WorkerError:
                        if not workers:
                            raise
                        hires_from = time.monotonic() + HIRE
                for worker in workers:
                    worker.give(waiting)
                ends = [end for worker in workers for end in (worker.pipe, worker.process.sentinel)]
                ready = wait(ends, hang and min(1.0, hang / 4))
                for worker in workers:
                    worker.end_if_hung(hang)
                for worker in list(workers):
                    if worker.pipe not in ready and worker.process.sentinel not in ready:
                        continue
                    yield from worker.results()
                    if not worker.dead:
                        continue
                    unsent, lost = worker.unfinished()
                    if not lost and unsent:  # it ended its worker before its result could be sent
                        ended[id(unsent[0])] += 1
                        if ended[id(unsent[0])] >= TRIES:
                            lost = [unsent.pop(0)]
                    for item in lost:
                        loss = WorkerExit(worker.turn[SEAT], worker.process.exitcode, worker.hung)
                        yield work.lost(item, loss)
                    waiting.give_back(unsent)
                    worker.stop()
                    workers.remove(worker)
            for worker in workers:
                worker.dismiss()
        finally:
            for worker in workers:
                worker.stop()


class _Worker(Generic[Item, Result]):
    def __init__(self, work: bytes) -> None:
        try:
            self.process, self.pipe, self.turn = start(work)
        except OSError as error:
            raise WorkerError(f"a worker process could not start: {error}") from error
        self.items: deque[Item] = deque()
        self.dead = self.hung = False
        self._turns, self._since = 0, time.monotonic()
        self._started = False
        self._received = 0
        self._wanted = 1

    def give(self, waiting: Waiting[Item]) -> None:
        if not waiting or len(self.items) > self._wanted // 2:
            return
        batch = waiting.take(self._wanted - len(self.items))
        self.items.extend(batch)
        with contextlib.suppress(OSError):  # it has died: the items are still in self.items, and are dealt with
            self.pipe.send(batch)

    def results(self) -> Iterator[Result]:
        """Yields what the worker has sent; sets ``dead`` when it will send no more."""
        try:
            while self.pipe.poll():
                message = self.pipe.recv()
                if message == "ready":
                    self._started = True
                elif isinstance(message, tuple):
                    results, seconds = message
                    # Enough for the time of four messages.
                    self._wanted = max(1, min(AHEAD, int(4 * BATCH * len(results) / max(seconds, 1e-9))))
                    for result in results:
                        self.items.popleft()
                        self._received += 1
                        yield result
                else:
                    raise message
        except (EOFError, OSError):
            self.dead = True
        self.dead = self.dead or not self.process.is_alive()
        if self.dead:
            self.process.join(PATIENCE)
            if not self._started:
                raise WorkerError(
                    f"a worker process could not start ({manner_of_death(self.process.exitcode)}; its own "
                    "message is above): in a script, make the call under `if __name__ == '__main__':`"
                )

    def end_if_hung(self, seconds: float | None) -> None:
        """Ends the worker if nothing has begun or ended in its task for that long."""
        turns, now = self.turn[TURNS], time.monotonic()
        if turns != self._turns or (self._started and not self.items):
            self._turns, self._since = turns, now
        elif seconds is not None and not self.pipe.poll():
            limit = seconds if self._started else max(seconds, START)
            if now - self._since <= limit + 0.5:
                return
            if not self._started:
                raise WorkerError(
                    f"a worker process did not get ready within {limit:g} s: the script, the environment or an "
                    "agent hangs while it is loaded; if it only takes long, raise hang_seconds"
                )
            self.hung = True
            self.process.kill()
            self.process.join(PATIENCE)

    def unfinished(self) -> tuple[list[Item], list[Item]]:
        """Returns the items that a dead worker did not lose, done or not, and the one that it did."""
        items, self.items = list(self.items), deque()
        finished = self.turn[FINISHED] - self._received
        return items, [items.pop(finished)] if finished < len(items) else []

    def dismiss(self) -> None:
        with contextlib.suppress(OSError):
            self.pipe.send(None)
        self.process.join(PATIENCE)

    def stop(self) -> None:
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.pipe.close()


BATCH: Final = 0.05
"""Seconds for which a worker may collect results before it sends them."""
SEAT, FINISHED, TURNS = 0, 1, 2
"""Places in the shared memory: the seat whose agent runs, tasks finished, turns begun or ended."""
CLOSED: Final = 70
"""The exit code of a worker that cannot answer any more, because an agent closed its pipe."""
_Turn = ctypes.c_longlong * 3


def start(work: bytes) -> tuple[ForkedProcess, Connection, Any]:
    """Returns a worker, this end of its pipe, and the memory that it shares with this process."""
    pipe, theirs = Pipe()
    with theirs:
        data = spawn.get_preparation_data("zermelo worker")
        authkey = bytes(data["authkey"])  # as it is it refuses
        preparation = pickle.dumps({**data, "authkey": authkey, "sys_path": search_path()})
        with tempfile.TemporaryFile() as file:
            file.truncate(ctypes.sizeof(_Turn))
            turn = _Turn.from_buffer(mmap.mmap(file.fileno(), ctypes.sizeof(_Turn)))
            turn[SEAT] = NOBODY
            forked = ForkedProcess(f"{__name__}:forked", [theirs.fileno(), file.fileno()], may_fork=True)
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
    process._inheriting = True  # whatever the script does outside of `if __name__ == "__main__":` starts no run
    spawn.prepare(pickle.loads(pipe.recv_bytes()))
    work = pickle.loads(pipe.recv_bytes())
    del process._inheriting
    _serve(pipe, turn, work)


def _serve(pipe: Connection, turn: Any, work: Work[Any, Any]) -> None:
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
    gc.freeze()  # what is loaded by now stays
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
