"""Reading files that may be anybody's, writing files as a whole or not at all, and the folder of the cache.

Checked files are small caches. Their header has the format and the SHA-256 of the file's name and content; a file
that is damaged, renamed or of another format counts as missing.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from zermelo.envs.errors import InvalidSettingError

_CACHE_VARIABLES: Final = ("ZERMELO_CACHE_DIR", "NUMBA_CACHE_DIR")
"""Environment variables that name the folder of the cache, the first that is set."""
_CHECKED: Final = b"zermelo checked file 1\n"
_CHECKSUM: Final = 65  # 64 digits and a line feed


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


@contextlib.contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A regular file, open to be read, else ``OSError``; nothing waits for the other end of a pipe."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        with open(number, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(number)


def read_file(path: str | os.PathLike[str], largest: int = 2**30) -> bytes:
    """The content of a regular file of at most ``largest`` bytes, else ``OSError``."""
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(size + 1) if size <= largest else b""
    if max(size, len(content)) > largest:
        raise OSError(errno.EFBIG, f"it is larger than {largest:,} bytes")
    return content


def write_checked(path: str | os.PathLike[str], content: bytes) -> None:
    """Writes content with its checksum, as a whole or not at all, for ``read_checked``.

    Raises:
        OSError: It cannot be written, or ``path`` is no regular file; what was there still is.
    """
    with replaced(path) as partial:
        partial.write_bytes(_CHECKED + _checksum(Path(path).name, content) + content)


def read_checked(path: str | os.PathLike[str], largest: int) -> bytes | None:
    """The content that ``write_checked`` wrote under this name; None if it is not there as it was written.

    A file whose content is longer than ``largest`` bytes is not read.
    """
    start = len(_CHECKED) + _CHECKSUM
    try:
        found = read_file(path, start + largest)
    except OSError:
        return None
    content = found[start:]
    return content if found[:start] == _CHECKED + _checksum(Path(path).name, content) else None


def _checksum(name: str, content: bytes) -> bytes:
    return hashlib.sha256(os.fsencode(name) + b"\n" + content).hexdigest().encode() + b"\n"


def file_version(path: str | os.PathLike[str]) -> tuple[int, ...]:
    """Numbers by which a file is read only once: others if it is changed or replaced; none if there is none."""
    try:
        about = os.stat(path)
    except (OSError, ValueError):  # a name may hold what no name may
        return ()
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


def cache_root() -> Path:
    """The folder of what is kept between processes: compiled rules, and what environments were found to be.

    Raises:
        InvalidSettingError: The folder's name begins with the home folder of a user who has none.
    """
    base = next((os.environ[name] for name in _CACHE_VARIABLES if os.environ.get(name)), None) or _usual_cache()
    try:
        return Path(base).expanduser() / "zermelo"
    except RuntimeError:
        raise InvalidSettingError(
            f"{base!r}, the folder of the cache, has no home folder: set {_CACHE_VARIABLES[0]} to a full path"
        ) from None


def _usual_cache() -> str:
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA", "~/AppData/Local")
    if sys.platform == "darwin":
        return "~/Library/Caches"
    return os.environ.get("XDG_CACHE_HOME") or "~/.cache"
