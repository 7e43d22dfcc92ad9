"""Processes that start in milliseconds, forked from a small interpreter, and leave nothing behind.

To start an interpreter and load the package takes half a second or more of processor time. A process that plays
games cannot be forked instead: it may have threads, and would leave its files and locks to the copy. So each
process that needs others starts one server, a fresh interpreter with one thread, and has it fork. What it forks
gets the environment variables, folders and output of who asks, at that moment, and nothing else of it.

Every process leads a session and a group of its own. When it ends, the server kills that group, and orphans that
have left it, which become the children of the server (Linux: ``PR_SET_CHILD_SUBREAPER``). A process ends with the
process that asked for it, and with the server (``PR_SET_PDEATHSIG``). It may ask the same server for others.

Python's own ``multiprocessing`` has a fork server too. It does not reap orphans: daemons that an agent starts
outlive the run. It takes variables and folder from its first use, ends when a batch system sends SIGTERM to all,
and needs one process more (the resource tracker).
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from multiprocessing import spawn
from multiprocessing.connection import wait
from typing import Any, Final

from zermelo.envs.support.local_modules import search_path
from zermelo.evaluation.errors import WorkerError
from zermelo.evaluation.workers.meters import resident_mb

_START: Final = """
import json, sys
sys.path[:], modules = json.loads(sys.argv[2])
from zermelo.evaluation.workers.fork_server import main
main(int(sys.argv[1]), modules)
"""
_ANSWER: Final = 60.0
"""Seconds that the server has to answer, its own start included."""
_END: Final = 2.0
"""Seconds that a server has to end when the process that started it does."""
NUMBER: Final = struct.Struct("<q")
_PATIENCE: Final = 10.0
"""Seconds that the server has to say that a process that was killed has ended."""
_BARE_MB: Final = 60.0
"""Resident memory of a process that has loaded little more than this package."""
_READ_AT_START: Final = ("PYTHON", "LD_", "NUMBA_", "OMP_", "MKL_", "OPENBLAS_", "VECLIB_")
"""Beginnings of variables that are read when an interpreter or a library starts: where they differ, so must the
server."""
_SHARED: Final = ("gymnasium.", "pettingzoo.", "zermelo.agents.", "zermelo.envs.")
"""Modules that the server loads too, once the process that asks has: what it forks will need them, and they do
nothing but define."""


class ForkedProcess:
    """A process that runs a function of this package and leads a group; the others of it end with it.

    Args:
        function: Such as ``"zermelo.evaluation.workers.agent_process:serve"``; it is called with the descriptors.
        files: Descriptors that the process gets.
        may_fork: True lets it ask the same server for processes.
    """

    def __init__(self, function: str, files: Sequence[int], *, may_fork: bool = False) -> None:
        # The sentinel can be read from when the process has ended, whatever else of it still holds its pipes.
        self.pid, self.sentinel = _servers().start(function, files, may_fork)
        self.exitcode: int | None = None  # while it runs; below zero the number of the signal that ended it

    def is_alive(self) -> bool:
        self.join(0)
        return self.exitcode is None

    def join(self, timeout: float | None = None) -> None:
        if self.exitcode is None and wait([self.sentinel], timeout):
            if code := os.read(self.sentinel, NUMBER.size):
                self.exitcode = NUMBER.unpack(code)[0]
            else:  # the server is gone, and its processes with it
                kill_group(self.pid)
                self.exitcode = -signal.SIGKILL

    def kill(self) -> None:
        """Ends it, and what it has started, at once."""
        if self.is_alive():
            kill_group(self.pid)

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # it was not started, or the interpreter ends
            os.close(self.sentinel)


def kill_group(pid: int) -> None:
    """Ends a process and the group that it leads."""
    for kill in (os.killpg, os.kill):  # just forked it may not lead a group yet
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def start_server() -> None:
    """Starts the server of this process, if it has none, and does not wait until it is ready."""
    _servers().start_early()


def servers() -> list[int]:
    """Returns the process numbers of this process's servers, that in use first."""
    return _servers().numbers()


class _Servers:
    """This process's ends of its servers: one for each set of the variables that are read at a start."""

    def __init__(self, channel: socket.socket | None = None) -> None:
        self.owner = os.getpid()
        self._processes: dict[socket.socket, subprocess.Popen[bytes]] = {}
        self._channels = {} if channel is None else {_at_start(): channel}
        self._lock = threading.Lock()
        atexit.register(self.close)

    def numbers(self) -> list[int]:
        used = self._channels.get(_at_start())
        running = [channel for channel, process in self._processes.items() if process.poll() is None]
        return [self._processes[channel].pid for channel in sorted(running, key=lambda one: one is not used)]

    def start_early(self) -> None:
        with self._lock:
            if _at_start() not in self._channels:
                self._open()

    def start(self, function: str, files: Sequence[int], may_fork: bool) -> tuple[int, int]:
        request = {
            "function": function,
            "may_fork": may_fork,
            "environ": dict(os.environ),
            "folder": os.getcwd() if os.path.exists(".") else "/",  # it may have been removed
            "path": search_path(),
            "argv": list(sys.argv),
            "modules": _shared() + (_of_script() if may_fork else []),
        }
        with self._lock:
            try:
                return self._ask(request, files)
            except (ConnectionError, TimeoutError):  # it was killed or stopped, or has no files left
                del self._channels[_at_start()]  # it stays open: the processes of a server end with its channel
            return self._ask(request, files)

    def _ask(self, request: dict[str, Any], files: Sequence[int]) -> tuple[int, int]:
        channel = self._channels.get(_at_start()) or self._open()
        status, theirs = os.pipe()
        try:
            try:
                with _output() as output:
                    given = [theirs, *output, *files]
                    socket.send_fds(channel, [b"f"], given)
                channel.sendall(frame(pickle.dumps({**request, "files": len(given)})))
            finally:
                os.close(theirs)
            if not wait([status], _ANSWER) or not (answer := os.read(status, NUMBER.size)):
                raise ConnectionError("the server that starts processes does not answer")
            if (pid := NUMBER.unpack(answer)[0]) < 0:
                raise OSError(-pid, os.strerror(-pid))
        except BaseException:
            os.close(status)
            raise
        return pid, status

    def _open(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        command, started = spawn.get_command_line(), json.dumps([sys.path, _shared()])
        with theirs:
            process = subprocess.Popen(
                [*command[: command.index("-c")], "-c", _START, str(theirs.fileno()), started],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # what ends a whole group leaves it time to end what it has forked
            )
        ours.settimeout(_ANSWER)
        self._processes[ours] = process
        self._channels[_at_start()] = ours
        return ours

    def close(self) -> None:
        if self.owner != os.getpid():
            return
        for channel in self._processes:
            channel.close()
        for process in self._processes.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_END)
            process.kill()  # it may have been stopped
            process.wait()
        self._channels, self._processes = {}, {}


_this: _Servers | None = None
_making = threading.Lock()


def begin(channel: socket.socket | None) -> None:
    """Begins a process just forked: it asks for processes through a channel of its own, or starts a server."""
    global _this
    _this = None if channel is None else _Servers(channel)


def _servers() -> _Servers:
    global _this
    with _making:
        if _this is None or _this.owner != os.getpid():
            _this = _Servers()
        return _this


def _shared() -> list[str]:
    return [name for name in sys.modules if name.startswith(_SHARED)]


def _of_script() -> list[str]:
    """Modules of this package that the running script uses: a process that loads the script needs them."""
    modules = set[str]()
    for value in list(vars(sys.modules["__main__"]).values()):
        with contextlib.suppress(Exception):  # an object may answer to any attribute in any way
            modules.add(str(value.__module__))
    return sorted(name for name in modules if name.startswith("zermelo."))


def _at_start() -> tuple[tuple[str, str], ...]:
    return tuple(sorted(item for item in os.environ.items() if item[0].startswith(_READ_AT_START)))


@contextlib.contextmanager
def _output() -> Iterator[list[int]]:
    nothing = os.open(os.devnull, os.O_WRONLY)
    descriptors = [nothing, nothing]
    for number in (1, 2):
        with contextlib.suppress(OSError):
            os.fstat(number)
            descriptors[number - 1] = number
    try:
        yield descriptors
    finally:
        os.close(nothing)


class AgentProcess(ForkedProcess):
    """A process that answers requests: its function is called with the other ends of two or three pipes.

    Args:
        function: As of ``ForkedProcess``.
        captures: True for a third pipe, ``output``, for standard output and error; else that is -1.
    """

    def __init__(self, function: str, *, captures: bool = False) -> None:
        pairs: list[tuple[int, int]] = []
        theirs: list[int] = []
        try:
            for _ in range(2 + captures):
                pairs.append(os.pipe())
            theirs = [pairs[0][0], *(write for _, write in pairs[1:])]
            super().__init__(function, theirs)
        except OSError as error:
            for pipe in (end for pair in pairs for end in pair if end not in theirs):
                os.close(pipe)
            raise WorkerError(f"no process can be started for an agent: {error.strerror or error}") from error
        finally:
            for pipe in theirs:
                os.close(pipe)
        # From the server that it was forked from, above that of a bare process.
        self.inherited_mb = max(0.0, resident_mb(self.pid) - _BARE_MB)
        self.requests, self.answers = pairs[0][1], pairs[1][0]
        self.output = pairs[2][0] if captures else -1
        self._pipes = [self.requests, *(read for read, _ in pairs[1:])]

    def stop(self, patience: float = 0.0) -> int | None:
        """Ends the process, closes the pipes and returns the exit code; first it may end by itself for so long."""
        if patience and self._pipes:
            os.close(self._pipes.pop(0))  # there will be no more requests
            self.join(patience)
        self.kill()
        self.join(_PATIENCE)
        for pipe in self._pipes:
            with contextlib.suppress(OSError):
                os.close(pipe)
        self._pipes = []
        return self.exitcode


_HEAD: Final = struct.Struct("<Q")
MAX_FRAME: Final = 2**26
"""Bytes of one answer; an action that takes 64 MiB is none."""


def frame(data: bytes) -> bytes:
    """The bytes with their number before them."""
    return _HEAD.pack(len(data)) + data


def write_frame(pipe: int, data: bytes) -> None:
    view = memoryview(frame(data))
    while view:
        view = view[os.write(pipe, view) :]


def read_frame(pipe: int) -> bytes | None:
    """The next frame of a pipe that blocks, or None at its end."""
    head = _exactly(pipe, _HEAD.size)
    return None if head is None else _exactly(pipe, _HEAD.unpack(head)[0])


def _exactly(pipe: int, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        part = os.read(pipe, min(size - len(data), 2**20))
        if not part:
            return None
        data += part
    return bytes(data)


class FrameReader:
    """Collects one frame from parts as they come."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, part: bytes) -> bytes | None:
        self._data += part
        if len(self._data) < _HEAD.size:
            return None
        size = _HEAD.unpack_from(self._data)[0]
        if size > MAX_FRAME or len(self._data) > _HEAD.size + size:
            raise ValueError(f"a frame of {size} bytes with {len(self._data)} sent")
        return bytes(self._data[_HEAD.size :]) if len(self._data) == _HEAD.size + size else None
