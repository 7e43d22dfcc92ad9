"""Work in a forked copy of this process: whatever it does to memory, nothing of it reaches this process.

What a fork shares all the same, the child parts with first: memory that is mapped for several processes becomes
its own, and open files get a position of their own. Files that it opens by name to write are put back in its end.
Pipes, sockets and databases stay shared.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import mmap
import os
import re
import select
import signal
import stat
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from zermelo.envs.support.waiting import MOST_STARVED, starved

_HAS_FORK: Final = hasattr(os, "fork") and sys.platform == "linux"  # libraries of macOS do not allow it
_GRACE: Final = 3.0
"""Seconds after which the system ends a child that was left alone."""
_LARGEST: Final = 1 << 28  # bytes of shared memory, or of a file, that are copied
_forking: Final = threading.Lock()
_TRIES, _PAUSE = 100, 0.01
"""How often a fork is tried that a hook of another library forbids, and the seconds between."""
_EVENTS: Final = frozenset({"open", "os.remove", "os.rename", "os.truncate"})
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class _Files:
    """The files that a child process opens by name to write, or removes, and what was in them before.

    Python tells an audit hook of each of them. A hook stays for the life of its process, which is a child's.
    """

    def __init__(self) -> None:
        self._before: dict[str, bytes | None] = {}

    def watch(self) -> None:
        """Looks at all files from now on."""

        def hear(event: str, args: tuple[object, ...]) -> None:
            if event in _EVENTS:  # each call of id() is an event too
                self._hear(event, args)

        self._before.clear()
        sys.addaudithook(hear)

    def names(self) -> list[str]:
        """The names of the files."""
        return sorted(map(os.path.basename, self._before))

    def _hear(self, event: str, args: tuple[object, ...]) -> None:
        if event == "open":
            path, _, flags = args
            if isinstance(flags, int) and flags & _WRITES:
                self._keep(path)
        elif event in ("os.remove", "os.truncate"):
            self._keep(args[0])
        elif event == "os.rename":
            self._keep(args[0])
            self._keep(args[1])

    def _keep(self, path: object) -> None:
        if not isinstance(path, str | bytes | os.PathLike):  # an open file is known already
            return
        name = os.path.abspath(os.fsdecode(path))
        if name in self._before or "__pycache__" in name or name.startswith(("/dev/", "/proc/")):
            return
        with contextlib.suppress(OSError, ValueError):
            if not os.path.lexists(name):
                self._before[name] = None
            elif stat.S_ISREG(os.stat(name).st_mode) and os.path.getsize(name) <= _LARGEST:
                self._before[name] = Path(name).read_bytes()

    def put_back(self) -> None:
        """Writes into all files what was in them, and removes those that were not there."""
        for name, content in self._before.copy().items():
            with contextlib.suppress(OSError):
                if content is None:
                    Path(name).unlink(missing_ok=True)
                elif not os.path.exists(name) or Path(name).read_bytes() != content:
                    Path(name).write_bytes(content)


_files: Final = _Files()


def can_fork() -> bool:
    """Returns whether a fork may run Python at once; once JAX has started its threads it hangs."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    return _HAS_FORK and (bridge is None or not bridge.backends_are_initialized())


def written() -> list[str]:
    """The names of the files that this child process has opened to write."""
    return _files.names()


def in_child(work: Callable[[], bytes], seconds: float, waits: Callable[[float], None]) -> bytes | None:
    """What ``work`` returns, called in a forked child; None where that has not answered in so many seconds.

    Seconds in which other programs kept the processors from it do not count, up to ``MOST_STARVED`` times as many.
    ``waits`` is called now and then with the seconds that have gone by.
    """
    reading, writing = os.pipe()
    child = 0
    try:
        with _uninterrupted():  # else a child may be there whose number nobody knows
            try:
                child = _fork()
                if child == 0:
                    _answer(work, writing, (1 + MOST_STARVED) * seconds + _GRACE)
            finally:
                os.close(writing)
        return _read(reading, child, seconds, waits)
    finally:
        os.close(reading)
        if child:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Has Ctrl-C wait for the end of the block, in the main thread, the only one that it comes to."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    came = list[tuple[int, Any]]()
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            handler(*came[0])


def _fork() -> int:
    for left in reversed(range(_TRIES)):
        try:
            with _forking, warnings.catch_warnings():
                # Python warns of locks that other threads may hold: then the child does not answer, and is ended.
                warnings.simplefilter("ignore", DeprecationWarning)
                return os.fork()
        except RuntimeError:  # of a hook, such as filelock's, for which this is no moment to fork
            if not left:
                raise
            time.sleep(_PAUSE)
    raise AssertionError


def _read(reading: int, child: int, seconds: float, waits: Callable[[float], None]) -> bytes | None:
    begun, parts, ends = time.perf_counter(), list[bytes](), seconds
    while (spent := time.perf_counter() - begun) < ends:
        waits(spent)
        if not select.select([reading], [], [], min(0.1, ends - spent))[0]:
            ends = seconds + min(starved(child), MOST_STARVED * seconds)
            continue
        part = os.read(reading, 1 << 16)
        if not part:
            return b"".join(parts) or None
        parts.append(part)
    return None


def _answer(work: Callable[[], bytes], writing: int, ends_after: float) -> None:
    """The life of the child, which returns to nobody."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, ends_after)
        gc.freeze()  # a collection would write to all that was there, and so copy the memory of the process
        _unshare()
        _files.watch()
        try:
            left = memoryview(work())
        finally:
            _files.put_back()
        while left:
            left = left[os.write(writing, left) :]
    finally:
        os._exit(0)


def _unshare() -> None:
    with contextlib.suppress(OSError, ValueError):
        for begin, size in _shared_memory():
            _make_own(begin, size)
    with contextlib.suppress(OSError, ValueError):
        for number in map(int, os.listdir("/proc/self/fd")):
            with contextlib.suppress(OSError):
                _open_anew(number)


def _shared_memory() -> Iterator[tuple[int, int]]:
    """The mappings that other processes write to as well: their addresses and sizes; those of devices left out."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        found = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw.s \S+ \S+ \S+\s*(.*)", line)
        if found is None:
            continue
        begin, end, path = int(found[1], 16), int(found[2], 16), found[3]
        is_device = path.startswith("/dev/") and not path.startswith(("/dev/shm/", "/dev/zero"))
        if end - begin <= _LARGEST and not is_device and not path.startswith("anon_inode"):
            yield begin, end - begin


def _make_own(begin: int, size: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    content = ctypes.string_at(begin, size)
    fixed = 0x10  # MAP_FIXED, which Python's module does not name
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | fixed
    if libc.mmap(begin, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0) == begin:
        ctypes.memmove(begin, content, size)


def _open_anew(number: int) -> None:
    """Gives an open file that is only read a position of its own; one that is written to keeps what it has."""
    import fcntl

    if number <= 2 or not stat.S_ISREG(os.fstat(number).st_mode):
        return
    mode = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE
    if mode == os.O_RDONLY:
        opened = os.open(f"/proc/self/fd/{number}", os.O_RDONLY)
        os.lseek(opened, os.lseek(number, 0, os.SEEK_CUR), os.SEEK_SET)
    else:  # what is written goes nowhere
        opened = os.open(os.devnull, os.O_RDWR)
    os.dup2(opened, number)
    os.close(opened)
