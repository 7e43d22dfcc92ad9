"""Reading files that may be anybody's, writing files as a whole or not at all, and the folder of the cache."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import sys
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


def read_file(path: str | os.PathLike[str], largest: int = 2**30) -> bytes:
    """The content of a regular file.

    Raises:
        OSError: There is none, it cannot be read, or it is larger than ``largest`` bytes.
    """
    if Path(path).exists() and not Path(path).is_file():  # to read a pipe could wait for ever
        raise OSError(errno.EINVAL, "it is no regular file")
    with open(path, "rb") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise OSError(errno.EFBIG, f"it is larger than {largest:,} bytes")
    return content


def cache_root() -> Path:
    """The folder of what is kept between processes: compiled rules, and what environments were found to be."""
    for name in ("ZERMELO_CACHE_DIR", "NUMBA_CACHE_DIR"):
        if os.environ.get(name):
            return Path(os.environ[name]).expanduser() / "zermelo"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "~/AppData/Local")
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "zermelo"
