"""Work that goes on in a thread of its own while the caller does something else, such as compiling a kernel."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any

__all__ = ["BackgroundTask", "in_background"]

_LOCK = threading.Lock()
_tasks: dict[Hashable, BackgroundTask] = {}


class BackgroundTask:
    """A call that is made once, in a thread of its own. The process does not end before it does.

    Args:
        call: What to do.
    """

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._error: Exception | None = None
        self._done = threading.Event()
        threading.Thread(target=self._run, name="zermelo-background", daemon=False).start()

    def _run(self) -> None:
        try:
            self._call()
        except Exception as error:  # it is raised where the result is asked for
            self._error = error
        finally:
            self._done.set()

    def ready_within(self, seconds: float) -> bool:
        """Whether the call has been made, after at most so many seconds of waiting; raises what it raised."""
        ready = self._done.wait(seconds)
        if ready and self._error is not None:
            raise self._error
        return ready


def in_background(name: Hashable, call: Callable[[], Any]) -> BackgroundTask:
    """The task of that name, started now if there is none yet."""
    with _LOCK:
        if name not in _tasks:
            _tasks[name] = BackgroundTask(call)
        return _tasks[name]
