"""Files that are there as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from zermelo.evaluation.errors import StoreError

__all__ = ["replace_text", "write_text"]


def replace_text(path: str | os.PathLike[str], parts: Iterable[str]) -> None:
    """Writes a file beside the one that is there, and puts it in its place once it is complete.

    Raises:
        OSError: It cannot be written; the old one is still there.
    """
    target = Path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(parts)
        partial.replace(target)
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a file for a person, so that it is there as a whole or not at all.

    Raises:
        StoreError: It cannot be written.
    """
    try:
        replace_text(path, [text])
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}; choose another file") from error
