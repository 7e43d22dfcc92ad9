"""Lines for the user, on standard error, each once a process."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["say_after", "say_once"]

_said: set[str] = set()


def say_once(text: str) -> None:
    """Writes a line, unless this process has written it before."""
    if text not in _said:
        _said.add(text)
        print(f"zermelo: {text}", file=sys.stderr, flush=True)


@contextmanager
def say_after(seconds: float, text: str) -> Iterator[None]:
    """Writes a line if the block takes longer than ``seconds``, unless this process has written it before."""
    timer = threading.Timer(seconds, say_once, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
