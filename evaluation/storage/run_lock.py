"""One writer at a time: a lock that the operating system lets go of when the process ends, however it does.

The file stays behind; only the lock counts. It names the process that has it, for whoever is refused. (The package
``filelock`` 4.2 was tried: a forked child goes on holding its lock when this process is gone, released or not.)
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Final

from zermelo.evaluation.errors import StoreError

ROOM: Final = 32
"""Bytes for the process's number. On Windows a locked range cannot be read, so the lock is on the byte after."""


class RunLock:
    """Holds the lock from when it is made until ``release``, or the end of the process.

    Args:
        path: The file to lock.

    Raises:
        StoreError: Another run holds it, or the file is no lock.
        OSError: The file cannot be written.
    """

    def __init__(self, path: Path) -> None:
        if path.exists() and not path.is_file():
            raise StoreError(f"{path} is no regular file: choose another folder")
        self._file: int | None = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(self._file)
        except OSError:
            holder = os.read(self._file, ROOM).decode("ascii", "replace").strip()
            self.release()
            who = f"process {holder}" if holder.isdigit() else "another process"
            raise StoreError(
                f"{path.parent} is in use by another run ({who}): wait until it ends, or choose another folder"
            ) from None
        content = os.read(self._file, ROOM + 1)
        if content and not (len(content) == ROOM and content.strip().isdigit()):
            self.release()
            raise StoreError(f"{path} is another program's file: choose another folder")
        os.lseek(self._file, 0, os.SEEK_SET)
        os.write(self._file, str(os.getpid()).ljust(ROOM).encode())
        if hasattr(os, "register_at_fork"):
            # A forked child has the same lock: it must not keep it when this process is gone.
            os.register_at_fork(after_in_child=self.release)

    def release(self) -> None:
        """Lets go of the lock."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = None


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        os.lseek(file, ROOM, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        os.lseek(file, 0, os.SEEK_SET)
else:
    import fcntl

    def _lock(file: int) -> None:
        # flock belongs to the open file, not to the process: two runs within one process exclude each other too.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
