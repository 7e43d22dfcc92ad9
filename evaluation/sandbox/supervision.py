"""The worker's end of its supervisor: processes for agents are asked for here."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from dataclasses import dataclass
from typing import Any, Final

from zermelo.evaluation.errors import WorkerError
from zermelo.evaluation.sandbox.fork_server import ForkedProcess, fork

_ANSWER: Final = 60.0
"""Seconds that a supervisor has to answer, its own start included."""
_PATIENCE: Final = 10.0
"""Seconds that a supervisor is given to end when its socket is closed."""


@dataclass(frozen=True, slots=True)
class Process:
    """An agent's process, and the worker's ends of its pipes.

    Attributes:
        pid: Its number.
        requests: What it is asked is written here; does not block.
        answers: What it answers is read here.
        output: What it writes to standard output and error is read here.
        life: Comes to its end when the process is gone, whatever else of the agent's may still hold the others.
    """

    pid: int
    requests: int
    answers: int
    output: int
    life: int

    def close(self) -> None:
        """Closes the pipes."""
        for pipe in (self.requests, self.answers, self.output, self.life):
            os.close(pipe)


class Supervisor:
    """Starts and ends agents' processes; started when first needed, and again if it was killed."""

    def __init__(self) -> None:
        self._process: ForkedProcess | None = None
        self._channel: socket.socket | None = None
        self._lock = threading.Lock()

    def start(self) -> Process:
        """A new process that waits for requests.

        Raises:
            WorkerError: No process can be started here.
        """
        with self._lock:
            try:
                try:
                    return self._start()
                except (ConnectionError, TimeoutError, ValueError):
                    self._end()  # it was killed, say: try once more with a new one
                return self._start()
            except (OSError, ValueError) as error:
                raise WorkerError(f"no process can be started for an agent: {error}") from error

    def _start(self) -> Process:
        pairs: list[tuple[int, int]] = []
        try:
            for _ in range(4):
                pairs.append(os.pipe())
            requests, answers, output, life = pairs
            theirs = [requests[0], answers[1], output[1], life[1]]
            answer = self._ask({"do": "start"}, theirs)
            if "error" in answer:
                raise OSError(answer["error"])
            pid = answer["pid"]
        except BaseException:
            for pipe in (end for pair in pairs for end in pair):
                os.close(pipe)
            raise
        for pipe in theirs:
            os.close(pipe)
        os.set_blocking(requests[1], False)
        return Process(pid, requests[1], answers[0], output[0], life[0])

    def stop(self, process: Process) -> int | None:
        """Ends the process and all that it has started; its exit code, where that is known."""
        process.close()
        with self._lock:
            if self._channel is None:
                return None
            try:
                code = self._ask({"do": "stop", "pid": process.pid}, [])["exit_code"]
            except (OSError, ValueError):
                self._end()  # its agents end with it
                return None
            return None if code is None else int(code)

    def close(self) -> None:
        """Ends the supervisor and with it every agent's process."""
        with self._lock:
            self._end()

    def _ask(self, request: dict[str, Any], pipes: list[int]) -> dict[str, Any]:
        channel = self._channel or self._open()
        socket.send_fds(channel, [json.dumps(request).encode() + b"\n"], pipes)
        line = bytearray()
        while not line.endswith(b"\n"):
            part = channel.recv(4096)
            if not part:
                raise ConnectionError("the supervisor of the agents' processes has ended")
            line += part
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _open(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = fork("zermelo.evaluation.sandbox.supervisor:main", [theirs.fileno()])
        ours.settimeout(_ANSWER)  # it may have been stopped, and is then killed
        self._channel = ours
        return ours

    def _end(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._process is not None:
            self._process.join(_PATIENCE)
            self._process.kill()
            self._process.join()
            self._process = None

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # at the end of the interpreter anything may be gone already
            self._end()
