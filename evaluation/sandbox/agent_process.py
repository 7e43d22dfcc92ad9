"""A process of its own for an agent, with pipes for requests, answers and output."""

from __future__ import annotations

import contextlib
import os
from typing import Final

from zermelo.evaluation.errors import WorkerError
from zermelo.evaluation.sandbox.fork_server import fork
from zermelo.evaluation.sandbox.meters import resident_mb

_PATIENCE: Final = 10.0
"""Seconds that the server has to say that a process that was killed has ended."""
_BARE_MB: Final = 60.0
"""Resident memory of a process that has loaded little more than this package."""


class AgentProcess:
    """A process that answers requests; with it ends everything that it has started.

    Args:
        function: The program: ``"module:function"``, called with the descriptors of the other ends of the pipes.
        captures: Whether there is a third pipe, for standard output and error.

    Attributes:
        pid: Its number.
        requests: Requests are written here.
        answers: Answers are read here.
        output: What it writes is read here; -1 if that is not captured.
        inherited_mb: Resident memory from the server that it was forked from, above that of a bare process.
        ended: Can be read from when the process has ended, whatever else of the agent's still holds the pipes.

    Raises:
        WorkerError: No process can be started.
    """

    def __init__(self, function: str, *, captures: bool = False) -> None:
        pairs: list[tuple[int, int]] = []
        theirs: list[int] = []
        try:
            for _ in range(2 + captures):
                pairs.append(os.pipe())
            theirs = [pairs[0][0], *(write for _, write in pairs[1:])]
            self._process = fork(function, theirs)
        except OSError as error:
            for pipe in (end for pair in pairs for end in pair if end not in theirs):
                os.close(pipe)
            raise WorkerError(f"no process can be started for an agent: {error.strerror or error}") from error
        finally:
            for pipe in theirs:
                os.close(pipe)
        self.pid, self.ended = self._process.pid, self._process.sentinel
        self.inherited_mb = max(0.0, resident_mb(self.pid) - _BARE_MB)
        self.requests, self.answers = pairs[0][1], pairs[1][0]
        self.output = pairs[2][0] if captures else -1
        self._pipes = [self.requests, self.answers, *([self.output] if captures else [])]

    @property
    def exit_code(self) -> int | None:
        """None while it runs; below zero the number of the signal that ended it."""
        return self._process.exitcode if not self._process.is_alive() else None

    def kill(self) -> None:
        """Ends the process without waiting."""
        self._process.kill()

    def stop(self) -> int | None:
        """Ends the process, closes the pipes and returns the exit code."""
        self._process.kill()
        self._process.join(_PATIENCE)
        for pipe in self._pipes:
            with contextlib.suppress(OSError):
                os.close(pipe)
        self._pipes = []
        return self._process.exitcode
