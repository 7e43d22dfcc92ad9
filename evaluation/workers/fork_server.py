"""The server that forks processes: a small interpreter with one thread, which runs this module's ``main``.

See ``zermelo.evaluation.workers.forked_process`` for whom it serves.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import importlib
import os
import pickle
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from multiprocessing.connection import wait
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.evaluation.workers import forked_process
from zermelo.evaluation.workers.forked_process import read_frame
from zermelo.evaluation.workers.meters import children

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36


def main(channel: int, modules: Sequence[str]) -> None:
    """Serves until the process that started it is gone; returns in what it forks, once that is done."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    server = _Server(channel)
    _load(modules)
    run = server.serve()
    if run is None:
        os._exit(0)
    run()


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


class _Running(NamedTuple):
    """A process that has not ended."""

    status: int  # its end is written here
    client: int  # the channel that it was asked for through
    channel: int | None  # this end of its own channel


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
                forked_process.kill_group(pid)

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
        _load([name, *request["modules"]])
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
        os.write(status, forked_process.NUMBER.pack(pid))
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
            waited, code = os.waitpid(pid, os.WNOHANG)
            if waited:
                del self._running[pid]
                forked_process.kill_group(pid)  # it led its group, whose other members are still there
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
                os.write(status, forked_process.NUMBER.pack(os.waitstatus_to_exitcode(code)))
            os.close(status)


def _load(modules: Sequence[str]) -> None:
    for module in modules:
        if module not in sys.modules:
            with contextlib.suppress(Exception):  # what needs it will say why it cannot be loaded
                importlib.import_module(module)


def _refuse(files: Sequence[int], number: int) -> None:
    if files:
        os.write(files[0], forked_process.NUMBER.pack(-number))
    for file in files:
        os.close(file)


def _become(request: dict[str, Any], output: Sequence[int], channel: socket.socket | None, server: int) -> None:
    """Makes a process just forked what a fresh interpreter of the asking process would be."""
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
    forked_process.begin(channel)
