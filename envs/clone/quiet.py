"""Keeps what environments print to themselves while their copies are played."""

from __future__ import annotations

import sys
import threading
from typing import Any


class _Filter:
    def __init__(self, stream: Any, quiet: _Quiet) -> None:
        self.stream = stream
        self._quiet = quiet

    def write(self, text: str) -> int:
        return len(text) if self._quiet.depth else self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class _Quiet(threading.local):
    """A context, which may be nested, in which this thread prints nothing.

    Ctrl-C can end it between two instructions, so that ``__exit__`` never runs: whoever searches calls ``reset``.
    """

    depth = 0

    def __enter__(self) -> None:
        if type(sys.stdout) is not _Filter:
            sys.stdout = _Filter(sys.stdout, self)
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1

    def reset(self) -> None:
        self.depth = 0
        if isinstance(sys.stdout, _Filter):
            sys.stdout = sys.stdout.stream


QUIET = _Quiet()
"""``with QUIET:`` around what an environment's own code does in a copy."""
