"""Writing files so that they are there as a whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A new file beside ``path``, to be written in the block; without an error it takes the place of ``path``.

    Raises:
        OSError: It cannot be written, or ``path`` is no regular file; what was there still is.
    """
    target = Path(path)
    if target.exists() and not target.is_file():  # a device must not be replaced by a file
        raise OSError(errno.EINVAL, "it is there, and no file")
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    partial.touch(exist_ok=False)  # nobody else's file is written to, or removed below
    try:
        yield partial
        partial.replace(target)
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
