"""Keeps what environments print to themselves while their copies are played."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from threading import get_ident
from typing import Any


class _Filter:
    """A stream that takes text of the threads that are not quiet."""

    def __init__(self, stream: Any, depths: dict[int, int]) -> None:
        self.stream = stream
        self._depths = depths

    def write(self, text: str) -> int:
        return len(text) if self._depths.get(get_ident()) else self.stream.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class _Quiet:
    """A context, which may be nested, in which this thread prints nothing.

    ``sys.stdout`` is replaced while any thread is in it, or between ``keep`` and ``leave``, and no longer. What
    somebody puts in its place meanwhile, as ``contextlib.redirect_stdout`` does, stays.

    Ctrl-C can end it between two instructions, so that ``__exit__`` never runs: ``SettingsKept``, which is around
    all that plays copies, leaves what is left.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._depths: dict[int, int] = {}  # of the threads that are quiet; 0 between the contexts of ``_keeping``
        self._keeping: set[int] = set()

    @property
    def depth(self) -> int | None:
        """The number of contexts that this thread is in; None where it does not ``keep`` the stream either."""
        return self._depths.get(get_ident())

    def __enter__(self) -> None:
        thread, depths = get_ident(), self._depths
        depth = depths.get(thread)
        if depth is None:
            with self._lock:
                depths[thread] = 1
                self._replace()
            return
        depths[thread] = depth + 1
        if not depth and type(sys.stdout) is not _Filter:
            with self._lock:
                self._replace()

    def __exit__(self, *_: object) -> None:
        thread, depths = get_ident(), self._depths
        depth = depths[thread]
        if depth > 1 or thread in self._keeping:
            depths[thread] = depth - 1
        else:
            self.leave()

    def keep(self) -> None:
        """Has ``sys.stdout`` stay replaced between the contexts of this thread, which then take no time."""
        thread = get_ident()
        with self._lock:
            if thread not in self._depths:
                self._keeping.add(thread)
                self._depths[thread] = 0
                self._replace()

    def leave(self, depth: int | None = None) -> None:
        """Leaves all contexts of this thread but so many; without a number, ``keep`` too."""
        thread = get_ident()
        with self._lock:
            if depth is not None:
                self._depths[thread] = depth
                return
            self._keeping.discard(thread)
            self._depths.pop(thread, None)
            if not self._depths and type(sys.stdout) is _Filter:
                sys.stdout = sys.stdout.stream

    def _replace(self) -> None:
        if type(sys.stdout) is not _Filter and sys.stdout is not None:
            sys.stdout = _Filter(sys.stdout, self._depths)

    def unfiltered(self, stream: Any) -> Any:
        """The stream that the text of other threads goes to."""
        return stream.stream if type(stream) is _Filter else stream


OUTPUT_GUARD = _Quiet()
"""``with OUTPUT_GUARD:`` around what an environment's own code does in a copy."""
