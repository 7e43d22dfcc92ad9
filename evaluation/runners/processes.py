"""Plays games in worker processes.

Each worker is a fresh interpreter (multiprocessing's ``spawn``), is sent games through a pipe and sends records
back. What a game is does not depend on the worker that plays it. A worker that dies (``os._exit``, a segmentation
fault, the kernel's out-of-memory killer) costs the game it was playing, charged to the seat whose agent was
running, and is replaced.

While games are short, a worker is sent several at once and answers with several: a message costs as much as a good
part of a game of tic-tac-toe.

Workers ignore Ctrl-C, which a terminal sends to every process of the group: the parent decides. A worker whose
parent is gone ends by itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, Final

from zermelo.envs import ZermeloError
from zermelo.evaluation.errors import WorkerError
from zermelo.evaluation.match.faults import manner_of_death
from zermelo.evaluation.match.record import Failure, FailureKind, GameRecord
from zermelo.evaluation.runners.serial import GamePlayer, lost_game
from zermelo.evaluation.schedule import ScheduledGame

__all__ = ["ProcessRunner", "sendable"]

AHEAD: Final = 32
"""Games that a worker is given ahead while games are short, so that it need not wait for the parent."""
BATCH: Final = 0.02
"""Seconds for which a worker may collect records before it sends them."""
SHORT: Final = 0.02
"""Seconds; a game that takes longer is handed out alone, so that no worker sits idle at the end."""
SEAT, FINISHED = 0, 1
"""What a worker tells its parent through shared memory: the seat whose agent runs, and the games it finished."""
NOBODY: Final = -1
PATIENCE: Final = 5.0
"""Seconds that a worker is given to end when asked to."""


class ProcessRunner:
    """Plays in ``workers`` processes.

    Args:
        player: What plays; it must be picklable.
        workers: How many processes, at least 1.
    """

    def __init__(self, player: GamePlayer, workers: int) -> None:
        self._player = player
        self._count = workers
        self._context = multiprocessing.get_context("spawn")

    def play(self, games: Sequence[ScheduledGame]) -> Iterator[GameRecord]:
        """The records as games end. When the iterator ends or is closed, no worker is left.

        Raises:
            WorkerError: A worker could not start.
            ZermeloError: What a game raised that no other game could do better.
        """
        waiting = _Waiting(games)
        workers: list[_Worker] = []
        try:
            while len(workers) < min(self._count, len(games)):
                workers.append(_Worker(self._context, self._player))
            while waiting or any(worker.games for worker in workers):
                for worker in workers:
                    worker.give(waiting)
                ready = wait([end for worker in workers for end in (worker.pipe, worker.process.sentinel)])
                for place, worker in enumerate(workers):
                    if worker.pipe in ready or worker.process.sentinel in ready:
                        yield from worker.records()
                        if worker.dead:
                            unsent, lost = worker.unfinished()
                            if lost is not None:
                                yield self._lost(worker, lost)
                            waiting.give_back(unsent)
                            worker.stop()
                            workers[place] = _Worker(self._context, self._player)
            for worker in workers:
                worker.dismiss()
        finally:
            for worker in workers:
                worker.stop()

    def _lost(self, worker: _Worker, game: ScheduledGame) -> GameRecord:
        seat, how = worker.turn[SEAT], manner_of_death(worker.process.exitcode)
        if seat == NOBODY:
            failure = Failure(FailureKind.ENVIRONMENT_ERROR, None, f"the environment ended its process ({how})")
        else:
            failure = Failure(FailureKind.CRASH, seat, f"its process ended during its turn ({how})")
        return lost_game(game, self._player.env_name, self._player.seat_names, failure)


class _Waiting:
    """Games to hand out: those that were given back, then the schedule's, each worked out when it is needed."""

    def __init__(self, games: Sequence[ScheduledGame]) -> None:
        self._games, self._next = games, 0
        self._back: list[ScheduledGame] = []

    def __len__(self) -> int:
        return len(self._back) + len(self._games) - self._next

    def take(self, count: int) -> list[ScheduledGame]:
        """The next so many games, or as many as there are."""
        batch, self._back = self._back[:count], self._back[count:]
        end = min(len(self._games), self._next + count - len(batch))
        batch += self._games[self._next : end]
        self._next = end
        return batch

    def give_back(self, games: Sequence[ScheduledGame]) -> None:
        """Games that somebody else has to play."""
        self._back = [*games, *self._back]


class _Worker:
    """The parent's end of a worker process."""

    def __init__(self, context: SpawnContext, player: GamePlayer) -> None:
        self.turn: Any = context.RawArray(ctypes.c_longlong, [NOBODY, 0])
        self.pipe, theirs = context.Pipe()
        self.games: deque[ScheduledGame] = deque()
        self.dead = False
        self._started = False
        self._received = 0
        self._short = False
        self.process: SpawnProcess = context.Process(target=_work, args=(theirs, self.turn, player), daemon=True)
        with _interrupts_ignored():
            self.process.start()
        theirs.close()

    def give(self, waiting: _Waiting) -> None:
        """Hands the worker as many games as it should have."""
        wanted = AHEAD if self._short else 1
        if not waiting or len(self.games) > wanted // 2:
            return
        batch = waiting.take(wanted - len(self.games))
        self.games.extend(batch)
        with contextlib.suppress(OSError):  # it has died: the games are still in self.games, and are dealt with
            self.pipe.send(batch)

    def records(self) -> Iterator[GameRecord]:
        """What the worker has sent; sets ``dead`` when it will send no more."""
        try:
            while self.pipe.poll():
                message = self.pipe.recv()
                if message == "ready":
                    self._started = True
                elif isinstance(message, list):
                    for record in message:
                        self.games.popleft()
                        self._received += 1
                        self._short = record.seconds < SHORT
                        yield record
                else:
                    raise message
        except (EOFError, OSError):
            self.dead = True
        if self.dead or not self.process.is_alive():
            self.dead = True
            self.process.join(PATIENCE)
            if not self._started:
                raise WorkerError(
                    f"a worker process could not start ({manner_of_death(self.process.exitcode)}; its own "
                    "message is above): in a script, make the call under `if __name__ == '__main__':`"
                )

    def unfinished(self) -> tuple[list[ScheduledGame], ScheduledGame | None]:
        """Of a worker that died: the games that it did not lose, to be played elsewhere, and the one that it did.

        Games that it had finished without sending them are among the former: played again they are the same.
        """
        games, self.games = list(self.games), deque()
        finished = self.turn[FINISHED] - self._received
        lost = games.pop(finished) if finished < len(games) else None
        return games, lost

    def dismiss(self) -> None:
        """Asks the worker to end, and gives it time to."""
        with contextlib.suppress(OSError):
            self.pipe.send(None)
        self.process.join(PATIENCE)

    def stop(self) -> None:
        """Ends the worker, whatever it is doing."""
        if self.process.is_alive():
            self.process.terminate()
            self.process.join(PATIENCE)
            if self.process.is_alive():
                self.process.kill()
                self.process.join()
        self.pipe.close()


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Processes started inside ignore Ctrl-C from their first instruction on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _work(pipe: Connection, turn: Any, player: GamePlayer) -> None:
    """What a worker process does: plays the games it is sent, until it is sent None or its parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def on_turn(seat: int) -> None:
        turn[SEAT] = seat

    try:
        pipe.send("ready")
        while (games := pipe.recv()) is not None:
            records: list[GameRecord] = []
            due = time.monotonic() + BATCH
            for game in games:
                try:
                    records.append(player.play(game, on_turn))
                except ZermeloError as error:
                    pipe.send(records)
                    pipe.send(sendable(error))
                    return
                turn[FINISHED] += 1
                if time.monotonic() >= due:
                    pipe.send(records)
                    records, due = [], time.monotonic() + BATCH
            if records:
                pipe.send(records)
    except (EOFError, OSError):
        return  # the parent has closed its end
    finally:
        player.close()


def sendable(error: ZermeloError) -> ZermeloError:
    """The error, or if it would not survive the way to another process, its message as a ``WorkerError``."""
    try:
        pickle.loads(pickle.dumps(error))  # an error of the user's own may need arguments that pickle forgets
    except Exception:
        return WorkerError(str(error))
    return error


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
