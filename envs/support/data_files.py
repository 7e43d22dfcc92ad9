"""Files of data that may be anybody's: JSON and lines of JSON, each with a checksum over all that is in it.

The first field is ``"checksum"``, the SHA-256 of the file without these digits. Sizes are checked before anything
is read, the checksum before anything is believed.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, BinaryIO, Final, NamedTuple

import msgspec

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.files import opened, read_file, replaced

ShortText = Annotated[str, msgspec.Meta(max_length=2_000, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$")]
"""Text of a file that messages and tables may show."""

MOST_RATIO: Final = 64
"""The most bytes that one of a compressed file may stand for; real ones stand for 2 to 30."""
ALWAYS: Final = 1 << 24
"""Bytes that a file may hold however small it is."""
_MOST_VALUES: Final = 1_000_000
"""Values in one text of JSON, which take some 100 bytes each however short they are."""
_LONGEST_LINE: Final = 1 << 22
_CHUNK: Final = 1 << 20
_CHECKSUM: Final = re.compile(rb'\s*\{\s*"checksum"\s*:\s*"([0-9a-f]{64})"')
_FAULTS: Final = (
    *(ValueError, TypeError, KeyError, IndexError, OverflowError, EOFError, RecursionError, NotImplementedError),
    *(RuntimeError, struct.error, zlib.error, zipfile.BadZipFile),
)
"""Errors of the libraries that read what is damaged."""


class FileKind(NamedTuple):
    """A kind of file: its name, and what to do instead of reading one that is damaged."""

    name: str
    remedy: str


@contextlib.contextmanager
def in_a_sentence(path: str | os.PathLike[str], kind: FileKind) -> Iterator[None]:
    """Says of an error in the block what is wrong with a file, by ``InvalidSettingError``."""
    name = os.fspath(path)
    try:
        yield
    except InvalidSettingError:
        raise
    except FileNotFoundError as error:
        raise InvalidSettingError(f"there is no {kind.name} {name!r}: {kind.remedy}") from error
    except MemoryError as error:
        why = f"the {kind.name} {name!r} does not fit into the memory that is free: {kind.remedy}"
        raise InvalidSettingError(why) from error
    except OSError as error:
        if error.errno is None:
            raise _damaged(name, kind, error) from error
        why = f"cannot read the {kind.name} {name!r} ({error.strerror or error}): {kind.remedy}"
        raise InvalidSettingError(why) from error
    except _FAULTS as error:
        raise _damaged(name, kind, error) from error


def _damaged(name: str, kind: FileKind, error: Exception) -> InvalidSettingError:
    message = "".join(letter if letter.isprintable() else "?" for letter in str(error) or type(error).__name__)
    reason = message if len(message) <= 200 else f"{message[:200]}..."
    return InvalidSettingError(f"{name!r} is no {kind.name}, or it is damaged ({reason}): {kind.remedy}")


def sealed(text: bytes, *parts: Iterable[bytes | memoryview]) -> bytes:
    """The text of an object of JSON with its checksum, which is over it and some further bytes."""
    first, rest = b'{"checksum":"', b'",' + text.strip().removeprefix(b"{")
    return first + _digest(first + rest, *parts).encode() + rest


def split_checksum(text: bytes) -> tuple[str, bytes]:
    """The checksum in a text, and the text without it; ``ValueError`` if it has none."""
    found = _CHECKSUM.match(text)
    if found is None:
        raise ValueError("it has no checksum, and was not written by this version")
    start, end = found.span(1)
    return found[1].decode(), text[:start] + text[end:]


def check_sealed(text: bytes, *parts: Iterable[bytes | memoryview]) -> None:
    """Raises ``ValueError`` where a text and what follows it are not as they were written."""
    checksum, rest = split_checksum(text)
    if _digest(rest, *parts) != checksum:
        raise ValueError("its checksum is not that of what it holds: something in it was changed")


def _digest(text: bytes, *parts: Iterable[bytes | memoryview]) -> str:
    digest = hashlib.sha256(text.replace(b"\r\n", b"\n").strip() + b"\n")  # as version control may change ends
    for part in parts:
        for data in part:
            digest.update(data)
    return digest.hexdigest()


def write_json(path: str | os.PathLike[str], text: bytes) -> None:
    """Writes an object of JSON with its checksum, as a whole or not at all."""
    with replaced(path) as partial:
        partial.write_bytes(sealed(text) + b"\n")


def read_json(path: str | os.PathLike[str], kind: FileKind, form: Any, *, largest: int) -> Any:
    """The object in a file of at most ``largest`` bytes; ``InvalidSettingError`` as of ``in_a_sentence``."""
    with in_a_sentence(path, kind):
        text = read_file(path, largest)
        check_sealed(text)
        return decoded(text, form)


def decoded(text: bytes, form: Any) -> Any:
    """JSON as an object of some type; ``ValueError`` if it is none, or has more values than any honest file."""
    if sum(map(text.count, (b",", b"[", b"{"))) > _MOST_VALUES:
        raise ValueError(f"it has more than {_MOST_VALUES:,} values")
    return msgspec.json.decode(text, type=form)


def write_lines(path: str | os.PathLike[str], header: bytes, lines: Callable[[], Iterable[bytes]]) -> None:
    """Writes a header, with a checksum over all, and lines, with gzip where the name ends in ``.gz``.

    ``lines`` gives the lines, with their ends: once for the checksum, and once to be written.
    """
    is_packed = os.fspath(path).endswith(".gz")
    with replaced(path) as partial, (gzip.open if is_packed else open)(partial, "wb") as file:
        file.write(sealed(header, lines()) + b"\n")
        file.writelines(lines())


@contextlib.contextmanager
def open_lines(path: str | os.PathLike[str], kind: FileKind) -> Iterator[tuple[bytes, Iterator[bytes]]]:
    """The header of a file, and its lines, once all has been checked; errors as of ``in_a_sentence``."""
    with in_a_sentence(path, kind), opened(path) as file:
        most = ALWAYS + MOST_RATIO * os.fstat(file.fileno()).st_size
        unpacked = _unpacked(file, path)
        check_sealed(unpacked.readline(_LONGEST_LINE), _chunks(unpacked, most))
        file.seek(0)
        lines = _lines(_unpacked(file, path))
        yield next(lines), lines


def _unpacked(file: BinaryIO, path: str | os.PathLike[str]) -> BinaryIO | gzip.GzipFile:
    return gzip.GzipFile(fileobj=file) if os.fspath(path).endswith(".gz") else file


def _chunks(file: BinaryIO | gzip.GzipFile, most: int) -> Iterator[bytes]:
    """The rest of a file, of which no more than ``most`` bytes are read."""
    while chunk := file.read(_CHUNK):
        most -= len(chunk)
        if most < 0:
            raise ValueError(f"it unpacks to more than {MOST_RATIO} times its size")
        yield chunk


def _lines(file: BinaryIO | gzip.GzipFile) -> Iterator[bytes]:
    """The lines of a file, none of which is so long that it would fill the memory."""
    while line := file.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise ValueError(f"it has a line of more than {_LONGEST_LINE:,} characters")
        yield line
