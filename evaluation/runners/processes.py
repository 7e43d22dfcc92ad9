"""Plays games in worker processes.

Each worker is sent games through a pipe and sends records back. What a game is does not depend on the worker that
plays it. A worker that dies (``os._exit``, a segmentation fault, the kernel's out-of-memory killer) costs the game
it was playing, charged to the seat whose agent was running, and is replaced.

While games are short, a worker is sent several at once and answers with several: a message costs as much as a good
part of a game of tic-tac-toe.

Workers ignore Ctrl-C, which a terminal sends to every process of the group, and requests to end, which a batch
system sends to all: the parent decides. A worker whose parent is gone ends by itself.
"""

from __future__ import annotations

import contextlib
import pickle
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import wait
from typing import Any, Final

from zermelo.evaluation.errors import WorkerError
from zermelo.evaluation.match.faults import manner_of_death
from zermelo.evaluation.match.record import Failure, FailureKind, GameRecord
from zermelo.evaluation.runners.serial import GamePlayer, lost_game
from zermelo.evaluation.runners.worker import FINISHED, NOBODY, SEAT, TURNS, start
from zermelo.evaluation.schedule import ScheduledGame

AHEAD: Final = 32
"""Games that a worker is given ahead while games are short, so that it need not wait for the parent."""
SHORT: Final = 0.02
"""Seconds; a game that takes longer is handed out alone, so that no worker sits idle at the end."""
TRIES: Final = 3
"""How often a game may end its worker after it was played, before it counts for nobody."""
START: Final = 20.0
"""Seconds that a worker has to get ready, or the limit on hangs where that is longer."""
HIRE: Final = 1.0
"""Seconds until a worker that could not be started is tried again, while others play."""
PATIENCE: Final = 5.0
"""Seconds that a worker is given to end when asked to."""


class ProcessRunner:
    """Plays in ``workers`` processes.

    Args:
        player: What plays; it must be picklable.
        workers: How many processes, at least 1.
        dumps: Pickles the player.
    """

    def __init__(self, player: GamePlayer, workers: int, *, dumps: Callable[[Any], bytes] = pickle.dumps) -> None:
        self._player = player
        self._count = workers
        self._dumps = dumps
        self._ended = Counter[str]()
        self._hires_from = 0.0

    def play(self, games: Sequence[ScheduledGame]) -> Iterator[GameRecord]:
        """The records as games end. When the iterator ends or is closed, no worker is left.

        Raises:
            WorkerError: No worker could start, or one did not get ready.
            ZermeloError: What a game raised that no other game could do better.
        """
        waiting = Waiting(games)
        workers: list[_Worker] = []
        try:
            while waiting or any(worker.games for worker in workers):
                self._hire(workers, min(self._count, len(games)))
                for worker in workers:
                    worker.give(waiting)
                ends = [end for worker in workers for end in (worker.pipe, worker.process.sentinel)]
                ready = wait(ends, self._player.hang_seconds and min(1.0, self._player.hang_seconds / 4))
                for worker in workers:
                    worker.end_if_hung(self._player.hang_seconds)
                for worker in list(workers):
                    if worker.pipe in ready or worker.process.sentinel in ready:
                        yield from worker.records()
                        if worker.dead:
                            unsent, lost = worker.unfinished()
                            for game in [lost] if lost is not None else self._lost_again(unsent):
                                yield self._lost(worker, game)
                            waiting.give_back(unsent)
                            worker.stop()
                            workers.remove(worker)
            for worker in workers:
                worker.dismiss()
        finally:
            for worker in workers:
                worker.stop()

    def _hire(self, workers: list[_Worker], wanted: int) -> None:
        """Starts workers up to that number; while others play, one that cannot start is tried again later."""
        while len(workers) < wanted and (not workers or time.monotonic() >= self._hires_from):
            try:
                workers.append(_Worker(self._dumps(self._player)))
            except WorkerError:
                if not workers:
                    raise
                self._hires_from = time.monotonic() + HIRE

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


class Waiting:
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

    def __init__(self, player: bytes) -> None:
        try:
            self.process, self.pipe, self.turn = start(player)
        except OSError as error:
            raise WorkerError(f"a worker process could not start: {error}") from error
        self.games: deque[ScheduledGame] = deque()
        self.dead = self.hung = False
        self._turns, self._since = 0, time.monotonic()
        self._started = False
        self._received = 0
        self._short = False

    def give(self, waiting: Waiting) -> None:
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
        """Ends the worker if nothing has begun or ended in its game for that long.

        Raises:
            WorkerError: It did not get ready in time.
        """
        turns, now = self.turn[TURNS], time.monotonic()
        if turns != self._turns or (self._started and not self.games):
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
