"""Lines for the user, on standard error, each once a process."""

from __future__ import annotations

import sys

__all__ = ["say_once"]

_said: set[str] = set()


def say_once(text: str) -> None:
    """Writes a line, unless this process has written it before."""
    if text not in _said:
        _said.add(text)
        print(f"zermelo: {text}", file=sys.stderr, flush=True)
