"""The other end of ``zermelo.agents.workers.pool``: a process that searches for an agent in another one.

It is sent the name and the number of a request, then its data: to ``greet``, which shows that it is there, to
``show`` it a game, with the agent at first, to ``search`` (a ``WorkerOrder``, answered by a ``WorkerAnswer``),
to ``stop`` the search of that number, and ``news`` of the other processes that search.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any, Final

from zermelo.agents.base.budget import Budget, StopFlag
from zermelo.agents.base.limits import Limits
from zermelo.agents.base.recursion import GameTooLongError
from zermelo.agents.base.request import Request
from zermelo.agents.base.settings import Compile
from zermelo.agents.workers.news import Heard, News
from zermelo.agents.workers.orders import WorkerOrder
from zermelo.agents.workers.process_link import ANSWER, REQUEST
from zermelo.envs.adapters.sending import unpack_game
from zermelo.envs.adapters.watching import watching
from zermelo.envs.clone.quiet import OUTPUT_GUARD
from zermelo.envs.errors import EnvFailedError, EnvFailureWarning, UnsupportedGameError, ZermeloError
from zermelo.envs.position import Position

_CHUNK: Final = 1 << 16
_SWITCH: Final = 0.0005
"""Seconds that the thread which listens waits for the one that searches; Python's own are ten times as many."""


def main(number: int) -> None:
    """Answers requests, which come by the socket of that number, until its other end is closed."""
    for one in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_DFL)
    channel = socket.socket(fileno=number)
    worker = Worker(lambda number, message: channel.sendall(ANSWER.pack(-number, len(message)) + message))
    requests: queue.SimpleQueue[tuple[str, int, bytes, float]] = queue.SimpleQueue()

    def listen() -> None:
        received = bytearray()
        try:
            while chunk := channel.recv(_CHUNK):  # much at once, as each call may wait for the search
                received += chunk
                while len(received) >= REQUEST.size:
                    name, number, size = REQUEST.unpack_from(received)
                    if len(received) < (end := REQUEST.size + size):
                        break
                    data = bytes(memoryview(received)[REQUEST.size : end])
                    del received[:end]
                    if (called := name.rstrip(b"\0").decode()) == "stop":
                        worker.stop(number)
                    elif called == "news":
                        worker.heard.append((number, data))
                    else:
                        requests.put((called, number, data, Budget.now()))
        except OSError:
            pass
        os._exit(0)  # whatever the environment is doing

    sys.setswitchinterval(_SWITCH)
    threading.Thread(target=listen, daemon=True).start()
    while True:
        name, number, data, received = requests.get()
        answer = worker.answer(name, number, data, received)
        channel.sendall(ANSWER.pack(number, len(answer)))
        channel.sendall(answer)


class Worker:
    """An agent that searches for another one, in this process; ``send`` sends news of a search to the others."""

    def __init__(self, send: Callable[[int, bytes], object]) -> None:
        self.heard, self._send = Heard(), send
        self._agent: Any = None
        self._game: Any = None
        self._flag, self._number, self._stopped = StopFlag(), 0, 0

    def stop(self, number: int) -> None:
        """Ends a search, which may not have begun."""
        self._stopped = number
        if number == self._number:
            self._flag.is_set = True

    def answer(self, name: str, number: int, data: bytes, received: float) -> bytes:
        """The answer to a request, pickled: its kind, what was found, and warnings."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                OUTPUT_GUARD.keep()
                kind, value = getattr(self, f"_{name}")(number, data, received)
            except (RecursionError, GameTooLongError):
                kind, value = "error", RecursionError()
            except MemoryError:
                kind, value = "lost", "ran out of memory"
            except Exception as error:  # whatever the environment raises goes to who asked
                kind, value = "error", _sendable(error)
            finally:
                OUTPUT_GUARD.leave()
        said = {str(each.message) for each in caught if each.category is EnvFailureWarning}
        return pickle.dumps((kind, value, sorted(said)))

    def _greet(self, number: int, data: bytes, received: float) -> tuple[str, Any]:
        return "greeted", None

    def _show(self, number: int, data: bytes, received: float) -> tuple[str, Any]:
        agent, game, state = pickle.loads(data)
        if agent is not None:
            try:
                self._agent = pickle.loads(agent)
            except Exception as error:
                return "error", UnsupportedGameError(
                    f"the agent cannot be made in another process ({type(error).__name__}: {error}): search with "
                    "workers=1"
                )
        try:
            self._game, state = unpack_game(game, seed=number), pickle.loads(state)
        except MemoryError:
            raise
        except Exception as error:
            return "unreadable", f"{type(error).__name__}: {error}"
        brief = self._agent.brief()
        try:
            request = _request(self._game, state, brief.limits, brief.compile)
            brief.found_alone(request, request.budget())
        except EnvFailedError as error:  # some of it stayed behind in the other process
            return "unreadable", str(error)
        return "shown", None

    def _search(self, number: int, data: bytes, received: float) -> tuple[str, Any]:
        order: WorkerOrder = pickle.loads(data)
        agent, game = self._agent, self._game
        self._flag, self._number = StopFlag(), number
        if self._stopped >= number:
            self._flag.is_set = True
        agent.begin(order.limits, order.generator, order.played)
        with watching(game, pickle.loads(order.state)) as root:
            before = Budget.now()
            how: dict[str, Any] = {"seat": order.seat, "share": order.share, "ponders": order.ponders}
            request = _request(game, root, order.limits, agent.compile, **how)
            budget = request.budget(received, self._flag)
            budget.delay(Budget.now() - before)
            return "found", agent.answered(request, budget, News(number, order.rank, self.heard, self._send))


def _request(game: Any, state: Any, limits: Limits, compile: Compile, **how: Any) -> Request:  # noqa: A002
    root = Position(game, state, source=None, renumbers=False)
    return Request(root, limits, game.legal_actions(state), compile=compile, **how)


def _sendable(error: Exception) -> Exception:
    """The error, or one with its message if it is not ours or would not survive the journey."""
    if isinstance(error, ZermeloError):
        try:
            sent: Exception = pickle.loads(pickle.dumps(error))
        except Exception:
            return UnsupportedGameError(str(error))
        return sent
    return UnsupportedGameError(f"the search failed in another process: {type(error).__name__}: {error}")
