"""Processes that run a fresh interpreter: it finds the modules that this one finds, and ends with this process.

``evaluation/workers`` forks its processes instead, since each game of a tournament has some.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO, Final

from zermelo.envs.support.local_modules import search_path

_LOOK: Final = 1.0
"""Seconds after which a process checks whether the one that started it is still there."""
_IGNORE_INTERRUPT: Final = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
_PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from zermelo.envs.support.processes import run; run(sys.argv[2], int(sys.argv[3]))"
)


class FreshProcess:
    """A process that calls a function in a fresh interpreter.

    Args:
        function: Its place, as ``"package.module:function"``. It gets one argument, the number of the open file
            that it is sent data by.
        source: The open file, such as a socket's number; by default a pipe, whose other end is ``pipe``.
        ignores_interrupt: True if Ctrl-C, which the terminal sends to all processes, ends this process only.

    Raises:
        OSError: The system cannot start it.
    """

    def __init__(self, function: str, source: int = subprocess.PIPE, *, ignores_interrupt: bool = False) -> None:
        program = _IGNORE_INTERRUPT + _PROGRAM if ignores_interrupt else _PROGRAM
        with contextlib.ExitStack() as opened:
            self._said: IO[bytes] = opened.enter_context(tempfile.TemporaryFile())
            self._process = subprocess.Popen(
                [sys.executable, "-c", program, json.dumps(search_path()), function, str(os.getpid())],
                stdin=source,
                stdout=subprocess.DEVNULL,
                stderr=self._said,
            )
            opened.pop_all()

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def pipe(self) -> IO[bytes]:
        """The end of the pipe that is written to."""
        assert self._process.stdin is not None
        return self._process.stdin

    def has_ended(self) -> bool:
        """True once the process has ended."""
        return self._process.poll() is not None

    def is_stopped(self) -> bool:
        """True if a signal has stopped the process, where the system tells."""
        if not hasattr(os, "waitid"):
            return False
        try:
            return os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return False

    def end_text(self) -> str:
        """How the process has ended, such as "exit code 1: " and the last line of what it said at its start.

        One that has not is killed.
        """
        self.kill()
        code, said = self._process.wait(), list[str]()
        if not self._said.closed:
            self._said.seek(0)
            said = self._said.read().decode(errors="replace").strip().splitlines()
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return f"{how}: {said[-1]}" if said else how

    def kill(self) -> None:
        """Has the process end at once."""
        self._process.kill()

    def close(self) -> None:
        """Waits until the process has ended, and frees what it took."""
        self._said.close()
        self._process.wait()
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):  # it has ended before it read all
                self._process.stdin.close()


def run(function: str, parent: int) -> None:
    """Calls a function in the new process: the other end of ``FreshProcess``."""
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    module, _, name = function.partition(":")
    called = getattr(importlib.import_module(module), name)
    source, nothing = os.dup(0), os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 2)  # the start has succeeded; from here on the function says what fails
    os.close(nothing)
    called(source)


def _end_with(parent: int) -> None:
    """Ends this process when its parent has ended, though another process may hold the other end of its source."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(0)
