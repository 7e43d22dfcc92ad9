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
import ctypes
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
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.evaluation.sandbox.meters import children
from zermelo.evaluation.sandbox.wire import frame, read_frame

_START: Final = """
import json, sys
sys.path[:] = json.loads(sys.argv[2])
from zermelo.evaluation.sandbox.fork_server import main
main(int(sys.argv[1]))
"""
_ANSWER: Final = 60.0
"""Seconds that the server has to answer, its own start included."""
_END: Final = 2.0
"""Seconds that a server has to end when the process that started it does."""
_NUMBER: Final = struct.Struct("<q")
_READ_AT_START: Final = ("PYTHON", "LD_", "NUMBA_", "OMP_", "MKL_", "OPENBLAS_", "VECLIB_")
"""Beginnings of variables that are read when an interpreter or a library starts: where they differ, so must the
server."""
_SHARED: Final = ("gymnasium.", "pettingzoo.", "zermelo.agents.", "zermelo.envs.")
"""Modules that the server loads too, once the process that asks has: what it forks will need them, and they do
nothing but define."""
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36


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
            else:  # the server is gone, and its processes with it
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
    """Starts a process that runs a function of this package and leads a group; the others of it end with it.

    Args:
        function: Such as ``"zermelo.evaluation.sandbox.child_process:serve"``; it is called with the descriptors.
        files: Descriptors that the process gets.
        may_fork: Whether it may ask the same server for processes.

    Raises:
        OSError: None can be started here.
    """
    return _servers().start(function, files, may_fork)


def servers() -> list[int]:
    """Returns the process numbers of this process's servers, that in use first."""
    return [] if _this is None or _this.owner != os.getpid() else _this.numbers()


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

    def start(self, function: str, files: Sequence[int], may_fork: bool) -> ForkedProcess:
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
        with self._lock:
            try:
                return self._ask(request, files)
            except (ConnectionError, TimeoutError):  # it was killed or stopped, or has no files left
                del self._channels[_at_start()]  # it stays open: the processes of a server end with its channel
            return self._ask(request, files)

    def _ask(self, request: dict[str, Any], files: Sequence[int]) -> ForkedProcess:
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
        with theirs:
            process = subprocess.Popen(
                [*command[: command.index("-c")], "-c", _START, str(theirs.fileno()), json.dumps(sys.path)],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # what ends a whole group leaves it time to end what it has forked
            )
        ours.settimeout(_ANSWER)
        self._processes[ours] = process
        self._channels[_at_start()] = ours
        return ours

    def close(self) -> None:
        """Ends the servers, if this process started them."""
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


def _servers() -> _Servers:
    global _this
    with _making:
        if _this is None or _this.owner != os.getpid():
            _this = _Servers()
        return _this


def _of_script() -> list[str]:
    """Modules of this package that the running script uses: a process that loads the script needs them."""
    found = set[str]()
    for value in list(vars(sys.modules["__main__"]).values()):
        with contextlib.suppress(Exception):  # an object may answer to any attribute in any way
            found.add(str(value.__module__))
    return sorted(name for name in found if name.startswith("zermelo."))


def _at_start() -> tuple[tuple[str, str], ...]:
    return tuple(sorted(item for item in os.environ.items() if item[0].startswith(_READ_AT_START)))


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


# What follows runs in the server.


def main(channel: int) -> None:
    """Serves until the process that started it is gone; returns in what it forks, once that is done."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    run = _Server(channel).serve()
    if run is None:
        os._exit(0)
    run()


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


class _Running(NamedTuple):
    """A process that has not ended.

    Attributes:
        status: Its end is written here.
        client: The channel that it was asked for through.
        channel: This end of its own channel, or None.
    """

    status: int
    client: int
    channel: int | None


class _Server:
    def __init__(self, channel: int) -> None:
        self._owner = channel
        self._clients = {channel: socket.socket(fileno=channel)}
        self._running: dict[int, _Running] = {}
        self._woken, self._wake = os.pipe()
        for end in (self._woken, self._wake):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"  # PettingZoo's modules load it
        os.chdir("/")  # to be in nobody's way

    def serve(self) -> Callable[[], None] | None:
        """Returns None at the end; in a process just forked, its function."""
        while self._owner in self._clients or self._running:
            ready = wait([*self._clients, self._woken])
            if self._woken in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._woken, 4096)
                self._reap()
            for number in ready:
                if number in self._clients:
                    try:
                        run = self._answer(number)
                    except (EOFError, OSError):
                        self._drop(number)
                        continue
                    if run is not None:
                        return run
        return None

    def _drop(self, client: int) -> None:
        """Ends what a process that has ended asked for."""
        self._clients.pop(client).close()
        for pid, process in self._running.items():
            if process.client == client:
                kill_group(pid)

    def _answer(self, number: int) -> Callable[[], None] | None:
        client = self._clients[number]
        mark, files, _, _ = socket.recv_fds(client, 1, 16)
        data = read_frame(number) if mark else None
        if data is None:
            raise EOFError
        for file in files:
            os.set_inheritable(file, False)
        request = pickle.loads(data)
        name, _, function = request["function"].partition(":")
        for module in (name, *request["modules"]):
            if module not in sys.modules:
                with contextlib.suppress(Exception):  # what needs it will say why it cannot be loaded
                    importlib.import_module(module)
        if len(files) < request["files"]:  # this process may open no more of them
            _refuse(files, errno.EMFILE)
            return None
        status, *files = files
        ours = theirs = None
        server = os.getpid()
        try:
            if request["may_fork"]:
                ours, theirs = socket.socketpair()
            gc.freeze()  # no collection then copies pages that are shared
            pid = os.fork()
        except OSError as error:
            for end in filter(None, (ours, theirs)):
                end.close()
            _refuse([status, *files], error.errno or errno.EAGAIN)
            return None
        if pid == 0:
            self._leave(status, ours)
            _become(request, files[:2], theirs, server)
            return lambda: getattr(importlib.import_module(name), function)(*files[2:])
        for file in files:
            os.close(file)
        if ours is not None and theirs is not None:
            theirs.close()
            self._clients[ours.fileno()] = ours
        self._running[pid] = _Running(status, number, None if ours is None else ours.fileno())
        os.write(status, _NUMBER.pack(pid))
        return None

    def _leave(self, status: int, ours: socket.socket | None) -> None:
        """Forgets, in a process just forked, what is the server's."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in (status, self._woken, self._wake, *(process.status for process in self._running.values())):
            os.close(number)
        for client in (*self._clients.values(), *([ours] if ours is not None else [])):
            client.close()

    def _reap(self) -> None:
        ended = []
        for pid, process in list(self._running.items()):
            found, code = os.waitpid(pid, os.WNOHANG)
            if found:
                del self._running[pid]
                kill_group(pid)  # it led its group, whose other members are still there
                ended.append((process.status, code))
                if process.channel in self._clients:
                    self._drop(process.channel)
        while orphans := [pid for pid in children(os.getpid()) if pid not in self._running]:
            for pid in orphans:  # they may have started more, so look again
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)
        for status, code in ended:
            with contextlib.suppress(BrokenPipeError):  # nobody wants to know
                os.write(status, _NUMBER.pack(os.waitstatus_to_exitcode(code)))
            os.close(status)


def _refuse(files: Sequence[int], number: int) -> None:
    """Answers that no process can be started, by the number of the error below zero."""
    if files:
        os.write(files[0], _NUMBER.pack(-number))
    for file in files:
        os.close(file)


def _become(request: dict[str, Any], output: Sequence[int], channel: socket.socket | None, server: int) -> None:
    """Makes a process just forked what a fresh interpreter of the asking process would be."""
    global _this
    os.setsid()
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:  # it died before it could be watched
        os._exit(0)
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
    _this = _Servers(channel) if channel is not None else None
