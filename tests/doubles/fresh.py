"""A function that fresh processes of ``FreshProcess`` call."""

from __future__ import annotations

import os
from pathlib import Path


def write_id(source: int) -> None:
    """Reads a line with the name of a file, writes this process's id into it, and reads on until the end."""
    with open(source, "rb") as file:
        path = Path(file.readline().decode().strip())
        path.with_suffix(".part").write_text(str(os.getpid()))
        path.with_suffix(".part").replace(path)
        file.read()
