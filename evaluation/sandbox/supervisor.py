"""The supervisor: a small process that starts agents' processes, reaps them, and leaves nothing of them behind.

Each worker has one. It is forked from the fork server and has one thread, so it can fork safely and at once,
whatever the worker has loaded. Orphans of agents become its children (Linux: ``PR_SET_CHILD_SUBREAPER``) and are
killed; when the worker is gone it ends all agents and itself; when it is killed itself, its agents go with it
(``PR_SET_PDEATHSIG``). Where those two do not exist (macOS), only an agent's own process group is ended.

The worker speaks to it through a Unix socket: one line of JSON a request, with the pipes of a new agent attached.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import select
import signal
import socket
import sys
from typing import Any, Final, NoReturn

from zermelo.evaluation.sandbox import child_process
from zermelo.evaluation.sandbox.fork_server import kill_group
from zermelo.evaluation.sandbox.meters import children

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
_LINE: Final = 4096


def main(channel: int) -> NoReturn:
    """Serves until the other end of the socket is closed."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the worker decides when to end
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    supervisor = _Supervisor(socket.socket(fileno=channel))
    try:
        supervisor.serve()
    finally:
        supervisor.stop_all()
        os._exit(0)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


class _Supervisor:
    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._life: dict[int, int] = {}  # of each agent's process, the end of a pipe that is open while it lives
        self._ended: dict[int, int] = {}
        self._woken, wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(wake, False)
        self._wake = wake
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)

    def serve(self) -> None:
        while True:
            ready, _, _ = select.select([self._channel.fileno(), self._woken], [], [])
            if self._woken in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._woken, _LINE)
                self._reap()
            if self._channel.fileno() in ready:
                try:
                    line, pipes, _, _ = socket.recv_fds(self._channel, _LINE, 4)
                except ConnectionError:
                    return
                if not line:
                    return
                self._channel.sendall(json.dumps(self._answer(json.loads(line), pipes)).encode() + b"\n")

    def _answer(self, request: dict[str, Any], pipes: list[int]) -> dict[str, Any]:
        if request["do"] == "start":
            try:
                return {"pid": self._start(*pipes)}
            except (OSError, TypeError) as error:  # no memory, no process, or not all pipes have come
                for pipe in pipes:
                    os.close(pipe)
                return {"error": str(error) if isinstance(error, OSError) else os.strerror(errno.EMFILE)}
        return {"exit_code": self._stop(request["pid"])}

    def _start(self, requests: int, answers: int, output: int, life: int) -> int:
        supervisor = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                self._leave_supervisor(supervisor)
                os.close(life)
                child_process.serve(requests, answers, output)
            finally:
                os._exit(0)
        self._life[pid] = life
        for pipe in (requests, answers, output):
            os.close(pipe)
        return pid

    def _leave_supervisor(self, supervisor: int) -> None:
        """Forgets, in a process just forked, what is the supervisor's."""
        os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor:  # it died before it could be watched
            os._exit(0)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        self._channel.close()
        for pipe in (self._woken, self._wake, *self._life.values()):
            os.close(pipe)

    def _stop(self, pid: int) -> int | None:
        if pid in self._life:
            kill_group(pid)
            _, status = os.waitpid(pid, 0)
            self._gone(pid, status)
            self._kill_orphans()
        return self._ended.pop(pid, None)

    def stop_all(self) -> None:
        for pid in list(self._life):
            self._stop(pid)

    def _gone(self, pid: int, status: int) -> None:
        kill_group(pid)  # it led its group, whose other members are still there
        self._ended[pid] = os.waitstatus_to_exitcode(status)
        os.close(self._life.pop(pid))

    def _reap(self) -> None:
        for pid in list(self._life):
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                self._gone(pid, status)
        self._kill_orphans()

    def _kill_orphans(self) -> None:
        """What agents started and nobody waits for any more; it may have started more, so look again."""
        while orphans := [pid for pid in children(os.getpid()) if pid not in self._life]:
            for pid in orphans:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)
