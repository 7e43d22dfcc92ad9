"""The way to a process that searches for an agent: messages that never block, and how the process was lost."""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
import threading
import time
from collections.abc import Sequence
from typing import Any, Final, Protocol

from zermelo.envs.errors import EnvFailedError
from zermelo.envs.support.processes import FreshProcess

REQUEST: Final = struct.Struct("<8sqQ")
"""The header of a request: its name, its number and the size of its data."""
ANSWER: Final = struct.Struct("<qQ")
"""The header of an answer: the number of the request, negative for news of a search, and the size."""
_CHUNK: Final = 1 << 20
_PATIENCE: Final = 10.0
"""Seconds that a start, once begun, has to end after Ctrl-C."""
_STILL: Final = 2.0
"""Seconds after which a process that a signal has stopped is given up; before, it may go on, as after Ctrl-Z."""
_MAIN: Final = "zermelo.agents.workers.worker_process:main"


class WorkerLink(Protocol):
    """The way to one process.

    Attributes:
        game: The game that the process was shown last; None at first.
    """

    game: Any

    def send(self, name: str, number: int, data: bytes) -> None:
        """Sends a numbered request, or news of the search of that number; does not wait until it has arrived."""

    def stop(self, number: int) -> None:
        """Has the search of that number end, with what it has found."""

    def receive(self, number: int) -> bytes | None:
        """Returns the answer to the request of that number, once there; ``EOFError`` if the process has ended."""

    def told(self) -> Sequence[bytes]:
        """Takes the news that the process has told of the search."""

    def stands_still(self) -> bool:
        """True if the process is known to do nothing any more, though it has not ended."""

    def loss(self) -> str:
        """How the process was lost, such as "ended (exit code 1)"; empty while it can take requests."""

    def kill(self) -> None:
        """Has the process end at once."""

    def close(self) -> None:
        """Waits until the process has ended, after ``kill``, and frees what it took."""

    @staticmethod
    def ready(links: Sequence[Any], seconds: float) -> Sequence[Any]:
        """Those of some links that may have an answer, or will have none, once there are any or the time is up."""


class ProcessLink:
    """A process on this machine, which runs a fresh interpreter, ignores Ctrl-C and ends with this process."""

    def __init__(self) -> None:
        self.game: Any = None
        self._waiting: list[memoryview] = []  # to be sent
        self._received = bytearray()
        self._told: list[bytes] = []
        self._has_ended = False
        self._still_since: float | None = None
        self._channel, theirs = socket.socketpair()
        self._channel.setblocking(False)
        with theirs:
            try:
                self.process = FreshProcess(_MAIN, theirs.fileno(), ignores_interrupt=True)
            except BaseException as error:
                self._channel.close()
                if isinstance(error, OSError):
                    raise EnvFailedError(f"a process to search in could not start: {error}") from error
                raise

    def send(self, name: str, number: int, data: bytes) -> None:
        self._waiting += map(memoryview, (REQUEST.pack(name.encode(), number, len(data)), data))
        self._exchange()

    def stop(self, number: int) -> None:
        self.send("stop", number, b"")

    def receive(self, number: int) -> bytes | None:
        while len(self._received) >= ANSWER.size:
            answered, size = ANSWER.unpack_from(self._received)
            end = ANSWER.size + size
            if len(self._received) < end:
                break
            answer = bytes(memoryview(self._received)[ANSWER.size : end])
            del self._received[:end]
            if answered == number:  # others are of searches that Ctrl-C has ended
                return answer
            if answered == -number:
                self._told.append(answer)
        if self._has_ended:
            raise EOFError
        return None

    def told(self) -> Sequence[bytes]:
        told, self._told = self._told, []
        return told

    def stands_still(self) -> bool:
        if not self.process.is_stopped():
            self._still_since = None
            return False
        if self._still_since is None:
            self._still_since = time.monotonic()
        return time.monotonic() - self._still_since >= _STILL

    def loss(self) -> str:
        self._exchange()
        if self._has_ended:
            return f"ended ({self.process.end_text()})"
        return "stood still" if self.process.is_stopped() else ""

    def kill(self) -> None:
        self.process.kill()

    def close(self) -> None:
        self._channel.close()
        self.process.close()

    @staticmethod
    def ready(links: Sequence[Any], seconds: float) -> Sequence[Any]:
        with selectors.PollSelector() as selector:
            for link in links:
                events = selectors.EVENT_READ | (selectors.EVENT_WRITE if link._waiting else 0)
                selector.register(link._channel, events)
            selector.select(seconds)
        for link in links:
            link._exchange()
        return [link for link in links if link._received or link._has_ended]

    def _exchange(self) -> None:
        """Sends and receives as much as can be without waiting."""
        is_over = self.process.has_ended()  # its children may still hold the other end
        try:
            with contextlib.suppress(BlockingIOError):
                while self._waiting:
                    sent = self._channel.send(self._waiting[0][:_CHUNK])
                    self._waiting[0] = self._waiting[0][sent:]
                    if not self._waiting[0]:
                        del self._waiting[0]
        except OSError:
            self._has_ended = True  # what it has said before can be read
            self._waiting.clear()
        try:
            while chunk := self._channel.recv(_CHUNK):
                self._received += chunk
            is_over = True
        except BlockingIOError:
            pass
        except OSError:
            is_over = True
        self._has_ended = self._has_ended or is_over


def start_processes(count: int, links: list[Any]) -> None:
    """Appends so many new processes to the links; ``EnvFailedError`` if one cannot start.

    They are started in a thread: Ctrl-C, which comes in the main one, would leave a process that nobody knows.
    """
    errors: list[BaseException] = []
    stops, done = threading.Event(), threading.Event()

    def start() -> None:
        try:
            for _ in range(count):
                if not stops.is_set():
                    links.append(ProcessLink())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=start, daemon=True)
    try:
        thread.start()
        done.wait()
    except BaseException:
        stops.set()
        if thread.ident is not None:
            done.wait(_PATIENCE)
        raise
    if errors:
        raise errors[0]
