"""Plays games in worker processes.

Each worker is a fresh interpreter (multiprocessing's ``spawn``), is sent games through a pipe and sends records
back. What a game is does not depend on the worker that plays it. A worker that dies (``os._exit``, a segmentation
fault, the kernel's out-of-memory killer) costs the game it was playing, charged to the seat whose agent was
running, and is replaced.

While games are short, a worker is sent several at once and answers with several: a message costs as much as a good
part of a game of tic-tac-toe.

Workers ignore Ctrl-C, which a terminal sends to every process of the group, and requests to end, which a batch
system sends to all: the parent decides. A worker whose parent is gone ends by itself.
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
from collections import Counter, deque
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
SEAT, FINISHED, TURNS = 0, 1, 2
"""What a worker says through shared memory: the seat whose agent runs, games finished, turns begun or ended."""
NOBODY: Final = -1
CLOSED: Final = 70
"""The exit code of a worker that cannot answer any more, because an agent closed its pipe."""
TRIES: Final = 3
"""How often a game may end its worker after it was played, before it counts for nobody."""
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
        self._ended = Counter[str]()

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
                ends = [end for worker in workers for end in (worker.pipe, worker.process.sentinel)]
                ready = wait(ends, self._player.hang_seconds and min(1.0, self._player.hang_seconds / 4))
                for worker in workers:
                    worker.end_if_hung(self._player.hang_seconds)
                for place, worker in enumerate(workers):
                    if worker.pipe in ready or worker.process.sentinel in ready:
                        yield from worker.records()
                        if worker.dead:
                            unsent, lost = worker.unfinished()
                            for game in [lost] if lost is not None else self._lost_again(unsent):
                                yield self._lost(worker, game)
                            waiting.give_back(unsent)
                            worker.stop()
                            workers[place] = _Worker(self._context, self._player)
            for worker in workers:
                worker.dismiss()
        finally:
            for worker in workers:
                worker.stop()

    def _lost_again(self, games: list[ScheduledGame]) -> list[ScheduledGame]:
        """Of games to be played again the first, if its worker has ended before it could tell too often."""
        if not games:
            return []
        self._ended[games[0].game_id] += 1
        return [games.pop(0)] if self._ended[games[0].game_id] >= TRIES else []

    def _lost(self, worker: _Worker, game: ScheduledGame) -> GameRecord:
        seat, how = worker.turn[SEAT], manner_of_death(worker.process.exitcode)
        if seat == NOBODY:
            what = "did not return for" if worker.hung else "ended its process"
            said = f"{self._player.hang_seconds:g} s" if worker.hung else f"({how})"
            failure = Failure(FailureKind.ENVIRONMENT_ERROR, None, f"the environment {what} {said}")
        elif worker.hung:
            message = f"did not answer within {self._player.hang_seconds:g} s"
            failure = Failure(FailureKind.TIMEOUT, seat, message)
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
        self.turn: Any = context.RawArray(ctypes.c_longlong, [NOBODY, 0, 0])
        self.pipe, theirs = context.Pipe()
        self.games: deque[ScheduledGame] = deque()
        self.dead = self.hung = False
        self._turns, self._since = 0, time.monotonic()
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

    def end_if_hung(self, seconds: float | None) -> None:
        """Ends the worker if nothing has begun or ended in its game for that long."""
        turns, now = self.turn[TURNS], time.monotonic()
        if turns != self._turns or not self.games or not self._started:
            self._turns, self._since = turns, now
        elif seconds is not None and now - self._since > seconds + 0.5 and not self.pipe.poll():
            self.hung = True
            self.process.kill()
            self.process.join(PATIENCE)

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
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # a batch system sends them to every process: the parent decides
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()

    here, own = os.fstat(pipe.fileno()), pipe.fileno()

    def on_turn(seat: int) -> None:
        turn[TURNS] += 1
        if seat == NOBODY and turn[SEAT] != NOBODY and not _is_open(own, here):
            os._exit(CLOSED)  # the agent whose turn it was has closed the way to the parent
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


def _is_open(pipe: int, before: os.stat_result) -> bool:
    try:
        now = os.fstat(pipe)
    except OSError:
        return False
    return (now.st_dev, now.st_ino) == (before.st_dev, before.st_ino)


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
