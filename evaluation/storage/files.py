"""Text files that are there as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from zermelo.envs.support.files import replaced
from zermelo.evaluation.errors import StoreError


def replace_text(path: str | os.PathLike[str], parts: Iterable[str]) -> None:
    """Writes a text in the place of the one that is there, as ``replaced`` does."""
    with replaced(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(parts)


@contextlib.contextmanager
def append_lines(path: Path, before: Iterable[str]) -> Iterator[Callable[[str], object]]:
    """A function that writes a line, at once; the file has these lines before."""
    try:
        replace_text(path, [f"{line}\n" for line in before])
        with path.open("a", encoding="utf-8", newline="\n", buffering=1) as file:
            yield lambda line: file.write(f"{line}\n")
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}; choose another file") from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes a file for a person, so that it is there as a whole or not at all."""
    try:
        replace_text(path, [text])
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}; choose another file") from error
