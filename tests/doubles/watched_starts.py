"""What starts while a damaged file is read: programs, connections, and the module that lies beside the file."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

EVENTS = (
    "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "pty.spawn",
    "socket.connect",
)  # fmt: skip
WATCHED: list[list[str]] = []
"""The innermost list is that of the test that runs."""


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if WATCHED and (event in EVENTS or (event == "import" and arguments[0] == "beside")):
        WATCHED[-1].append(f"{event} {arguments}")


sys.addaudithook(_watch)


@contextlib.contextmanager
def watched() -> Iterator[list[str]]:
    WATCHED.append([])
    try:
        yield WATCHED[-1]
    finally:
        WATCHED.pop()
