"""Keeps what environments print to themselves while their copies are played."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from typing import Any


class _Filter:
    """A stream that takes text of the threads that are not quiet."""

    def __init__(self, stream: Any, depths: dict[int, int]) -> None:
        self.stream = stream
        self._depths = depths

    def write(self, text: str) -> int:
        return len(text) if threading.get_ident() in self._depths else self.stream.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class _Quiet:
    """A context, which may be nested, in which this thread prints nothing.

    ``sys.stdout`` is replaced while any thread is in it, and no longer. A stream that somebody puts in its place
    meanwhile, as ``contextlib.redirect_stdout`` does, stays.

    Ctrl-C can end it between two instructions, so that ``__exit__`` never runs: ``SettingsKept``, which is around
    all that plays copies, leaves what is left.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._depths: dict[int, int] = {}  # of the threads that are quiet
        self._filter = _Filter(None, self._depths)

    @property
    def depth(self) -> int:
        """The number of contexts that this thread is in."""
        return self._depths.get(threading.get_ident(), 0)

    def __enter__(self) -> None:
        thread, depths = threading.get_ident(), self._depths
        if thread in depths:
            depths[thread] += 1
            return
        with self._lock:
            depths[thread] = 1
            if sys.stdout is not self._filter and sys.stdout is not None:
                self._filter.stream = sys.stdout
                sys.stdout = self._filter

    def __exit__(self, *_: object) -> None:
        thread, depths = threading.get_ident(), self._depths
        if depths[thread] > 1:
            depths[thread] -= 1
        else:
            self.leave()

    def leave(self, depth: int = 0) -> None:
        """Leaves all contexts of this thread but so many."""
        thread = threading.get_ident()
        with self._lock:
            if depth:
                self._depths[thread] = depth
                return
            self._depths.pop(thread, None)
            if not self._depths and sys.stdout is self._filter:
                sys.stdout = self._filter.stream

    def unfiltered(self, stream: Any) -> Any:
        """The stream that the text of other threads goes to."""
        return self._filter.stream if stream is self._filter else stream


QUIET = _Quiet()
"""``with QUIET:`` around what an environment's own code does in a copy."""
