"""Keeps what environments print to themselves while their copies are played."""

from __future__ import annotations

import sys
import threading
from typing import Any

__all__ = ["QUIET"]


class _Filter:
    """Standard output without what threads print that play copies."""

    def __init__(self, stream: Any, silent: threading.local) -> None:
        self.stream = stream
        self._silent = silent

    def write(self, text: str) -> int:
        return len(text) if getattr(self._silent, "depth", 0) else self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class _Quiet:
    """A context in which this thread prints nothing; other threads go on printing."""

    def __init__(self) -> None:
        self._silent = threading.local()
        self._lock = threading.Lock()
        self._inside = 0

    def __enter__(self) -> None:
        self._silent.depth = getattr(self._silent, "depth", 0) + 1
        if self._silent.depth > 1:
            return
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._filter = _Filter(sys.stdout, self._silent)
                sys.stdout = self._filter

    def __exit__(self, *_: object) -> None:
        self._silent.depth -= 1
        if self._silent.depth:
            return
        with self._lock:
            self._inside -= 1
            if not self._inside and sys.stdout is self._filter:
                sys.stdout = self._filter.stream


QUIET = _Quiet()
"""``with QUIET:`` around what an environment's own code does in a copy."""
