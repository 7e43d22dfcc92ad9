"""Processes that start in milliseconds: they are forked from a small interpreter that has this package loaded.

To start an interpreter and load the package takes half a second or more of processor time. A process that plays
games cannot be forked instead: it may have threads, and would leave its files and locks to the copy. So each
process that needs others starts one server, a fresh interpreter with one thread, and has it fork. What it forks
gets the environment variables, folders and output of who asks, at that moment, and nothing else of it. (Python's
own ``forkserver`` keeps those of its first use, and ends when a batch system sends SIGTERM.)

The server ends with the process that started it, once all that it has forked has ended. A process forked from it
may ask it for others in turn.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import importlib
import json
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import spawn
from multiprocessing.connection import wait
from typing import Any, Final

import numpy as np

from zermelo.evaluation.sandbox.wire import frame, read_frame

_START: Final = """
import json, sys
sys.path[:] = json.loads(sys.argv[2])
from zermelo.evaluation.sandbox.fork_server import main
main(int(sys.argv[1]))
"""
_ANSWER: Final = 60.0
"""Seconds that the server has to answer, its own start included."""
_NUMBER: Final = struct.Struct("<q")
_READ_AT_START: Final = ("PYTHON", "LD_", "NUMBA_", "OMP_", "MKL_", "OPENBLAS_", "VECLIB_")
"""Beginnings of variables that are read when an interpreter or a library starts: where they differ, so must the
server."""
_SHARED: Final = ("gymnasium.", "pettingzoo.", "zermelo.agents.", "zermelo.envs.")
"""Modules that the server loads too, once the process that asks has: what it forks will need them, and they do
nothing but define."""


class ForkedProcess:
    """A process that the server started for this one.

    Attributes:
        pid: Its number.
        sentinel: Can be read from when the process has ended.
        exitcode: None while it runs; below zero the number of the signal that ended it.
    """

    def __init__(self, pid: int, status: int) -> None:
        self.pid = pid
        self.sentinel = status
        self.exitcode: int | None = None

    def is_alive(self) -> bool:
        """Whether it has not ended."""
        self.join(0)
        return self.exitcode is None

    def join(self, timeout: float | None = None) -> None:
        """Waits until it ends, or for so many seconds."""
        if self.exitcode is None and wait([self.sentinel], timeout):
            if code := os.read(self.sentinel, _NUMBER.size):
                self.exitcode = _NUMBER.unpack(code)[0]
            else:  # the server is gone: nobody would tell how its processes end
                kill_group(self.pid)
                self.exitcode = -signal.SIGKILL

    def kill(self) -> None:
        """Ends it, and what it has started, at once."""
        if self.is_alive():
            kill_group(self.pid)

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # at the end of the interpreter anything may be gone already
            os.close(self.sentinel)


def kill_group(pid: int) -> None:
    """Ends a process and the group that it leads."""
    for kill in (os.killpg, os.kill):  # just forked it may not lead a group yet
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def fork(function: str, files: Sequence[int], *, may_fork: bool = False) -> ForkedProcess:
    """A new process that runs a function of this package and leads a group; the others of it end with it.

    Args:
        function: Such as ``"zermelo.evaluation.sandbox.supervisor:main"``; it is called with the descriptors.
        files: Descriptors that the process gets.
        may_fork: Whether it may ask the same server for processes.

    Raises:
        OSError: None can be started here.
    """
    return _client().start(function, files, may_fork)


def servers() -> list[int]:
    """The numbers of this process's servers: of the one in use, and of those that wait for what they started."""
    return _this.servers() if _this is not None and _this.owner == os.getpid() else []


class _Client:
    """This process's end of its server, which is started when first needed and again if it was killed."""

    def __init__(self, channel: socket.socket | None = None) -> None:
        self.owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        self._retired: list[subprocess.Popen[bytes]] = []
        self._channel = channel
        self._variables = _at_start() if channel is not None else {}
        self._lock = threading.Lock()
        atexit.register(self.close)

    def start(self, function: str, files: Sequence[int], may_fork: bool) -> ForkedProcess:
        with self._lock:
            if self._channel is not None and self._variables != _at_start():
                self._retire()
            try:
                return self._start(function, files, may_fork)
            except (ConnectionError, TimeoutError):  # it was killed or stopped; what it has started goes on
                self._retire()
            return self._start(function, files, may_fork)

    def _start(self, function: str, files: Sequence[int], may_fork: bool) -> ForkedProcess:
        modules = [name for name in sys.modules if name.startswith(_SHARED)]
        request = {
            "function": function,
            "may_fork": may_fork,
            "environ": dict(os.environ),
            "folder": os.getcwd() if os.path.exists(".") else "/",  # it may have been removed
            "path": list(sys.path),
            "argv": list(sys.argv),
            "modules": modules + (_of_script() if may_fork else []),
        }
        channel = self._channel or self._open()
        status, theirs = os.pipe()
        try:
            try:
                with _output() as output:
                    request["files"] = 1 + len(output) + len(files)
                    socket.send_fds(channel, [b"f"], [theirs, *output, *files])
                channel.sendall(frame(pickle.dumps(request)))
            finally:
                os.close(theirs)
            if not wait([status], _ANSWER) or not (answer := os.read(status, _NUMBER.size)):
                raise ConnectionError("the server that starts processes does not answer")
            if (pid := _NUMBER.unpack(answer)[0]) < 0:
                raise OSError(-pid, os.strerror(-pid))
        except BaseException:
            os.close(status)
            raise
        return ForkedProcess(pid, status)

    def _open(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        command = spawn.get_command_line()
        with theirs, interrupts_ignored():
            self._process = subprocess.Popen(
                [*command[: command.index("-c")], "-c", _START, str(theirs.fileno()), json.dumps(sys.path)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self._variables = _at_start()
        ours.settimeout(_ANSWER)
        self._channel = ours
        return ours

    def _retire(self) -> None:
        """Lets the server end when all that it has forked has."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        self._retired += filter(None, [self._process])
        self._process = None

    def servers(self) -> list[int]:
        self._retired = [old for old in self._retired if old.poll() is None]
        return [process.pid for process in (self._process, *self._retired) if process is not None]

    def close(self) -> None:
        """Ends the server, if this process started one."""
        if self.owner != os.getpid():
            return
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        for process in (self._process, *self._retired):
            if process is not None:
                process.kill()  # it may have been stopped
                process.wait()
        self._process, self._retired = None, []


_this: _Client | None = None
_making = threading.Lock()


def _client() -> _Client:
    global _this
    with _making:
        if _this is None or _this.owner != os.getpid():
            _this = _Client()
        return _this


def _of_script() -> list[str]:
    """Modules of this package that the running script uses: a process that loads the script needs them."""
    found = set[str]()
    for value in list(vars(sys.modules["__main__"]).values()):
        with contextlib.suppress(Exception):  # an object may answer to any attribute in any way
            found.add(str(value.__module__))
    return sorted(name for name in found if name.startswith("zermelo."))


def _at_start() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith(_READ_AT_START)}


@contextlib.contextmanager
def _output() -> Iterator[list[int]]:
    """Standard output and error, where nothing for those that are closed."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    found = [nothing, nothing]
    for number in (1, 2):
        with contextlib.suppress(OSError):
            os.fstat(number)
            found[number - 1] = number
    try:
        yield found
    finally:
        os.close(nothing)


@contextlib.contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Processes started inside ignore Ctrl-C from their first instruction on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# What follows runs in the server.


def main(channel: int) -> None:
    """Serves until the process that started it is gone; returns in what it forks, once that is done."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    run = _Server(channel).serve()
    if run is None:
        os._exit(0)
    run()


class _Server:
    def __init__(self, channel: int) -> None:
        self._owner: int | None = channel
        self._clients = {channel: socket.socket(fileno=channel)}
        self._running: dict[int, int] = {}  # of each process, where to write how it ended
        self._woken, self._wake = os.pipe()
        for end in (self._woken, self._wake):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"  # PettingZoo's modules load it
        os.chdir("/")  # to be in nobody's way

    def serve(self) -> Callable[[], None] | None:
        """None at the end; in a process just forked, what it has to do."""
        while self._owner is not None or self._running:
            ready = wait([*self._clients, self._woken])
            if self._woken in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._woken, 4096)
                self._reap()
            for number in ready:
                if number in self._clients:
                    try:
                        run = self._serve(self._clients[number])
                    except (EOFError, OSError):
                        self._clients.pop(number).close()
                        if number == self._owner:
                            self._owner = None
                        continue
                    if run is not None:
                        return run
        return None

    def _serve(self, client: socket.socket) -> Callable[[], None] | None:
        mark, files, _, _ = socket.recv_fds(client, 1, 16)
        data = read_frame(client.fileno()) if mark else None
        if data is None:
            raise EOFError
        for number in files:
            os.set_inheritable(number, False)
        request = pickle.loads(data)
        name, _, function = request["function"].partition(":")
        for module in (name, *request["modules"]):
            if module not in sys.modules:
                with contextlib.suppress(Exception):  # what needs it will say why it cannot be loaded
                    importlib.import_module(module)
        if len(files) < request["files"]:  # this process may open no more of them
            self._refuse(files, errno.EMFILE)
            return None
        status, *files = files
        ours = theirs = None
        try:
            if request["may_fork"]:
                ours, theirs = socket.socketpair()
            gc.freeze()  # no collection then copies pages that are shared
            pid = os.fork()
        except OSError as error:
            for end in filter(None, (ours, theirs)):
                end.close()
            self._refuse([status, *files], error.errno or errno.EAGAIN)
            return None
        if pid == 0:
            self._leave(status, ours)
            _become(request, files[:2], theirs)
            return lambda: getattr(importlib.import_module(name), function)(*files[2:])
        for number in files:
            os.close(number)
        if ours is not None and theirs is not None:
            theirs.close()
            self._clients[ours.fileno()] = ours
        self._running[pid] = status
        os.write(status, _NUMBER.pack(pid))
        return None

    def _refuse(self, files: Sequence[int], number: int) -> None:
        """Answers that no process can be started, by the number of the error below zero."""
        if files:
            os.write(files[0], _NUMBER.pack(-number))
        for file in files:
            os.close(file)

    def _leave(self, status: int, ours: socket.socket | None) -> None:
        """Forgets, in a process just forked, what is the server's."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in (status, self._woken, self._wake, *self._running.values()):
            os.close(number)
        for client in (*self._clients.values(), *([ours] if ours is not None else [])):
            client.close()

    def _reap(self) -> None:
        for pid, status in list(self._running.items()):
            found, code = os.waitpid(pid, os.WNOHANG)
            if found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(pid, signal.SIGKILL)  # what it has started
                with contextlib.suppress(BrokenPipeError):  # nobody wants to know
                    os.write(status, _NUMBER.pack(os.waitstatus_to_exitcode(code)))
                os.close(status)
                del self._running[pid]


def _become(request: dict[str, Any], output: Sequence[int], channel: socket.socket | None) -> None:
    """Makes a process just forked what a fresh interpreter of the asking process would be."""
    global _this
    os.setsid()
    for number in (signal.SIGQUIT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV):
        signal.signal(number, signal.SIG_DFL)  # pygame's handlers hide what ended a process
    os.environ.clear()
    os.environ.update(request["environ"])
    with contextlib.suppress(OSError):  # the folder may be gone
        os.chdir(request["folder"])
    sys.path[:], sys.argv[:] = request["path"], request["argv"]
    sys.path_importer_cache.clear()
    for own, theirs in enumerate(output, 1):
        os.dup2(theirs, own)
    for theirs in {*output}:
        os.close(theirs)
    np.random.seed()  # noqa: NPY002  # Python's own generator starts anew by itself
    _this = _Client(channel) if channel is not None else None
