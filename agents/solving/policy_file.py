"""Files of policies: lines of JSON, a header and then an entry a line, compressed if the name ends in ``.gz``."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from typing import Any, BinaryIO, Final, TypeVar

import msgspec

from zermelo.envs import InvalidSettingError
from zermelo.envs.files import replaced

Read = TypeVar("Read", bound=Sized)
Header = TypeVar("Header")
_LONGEST: Final = 2**24


def write_policy(path: str | os.PathLike[str], header: Mapping[str, Any], entries: Iterable[Any]) -> None:
    """Writes a file, in place of one that is there.

    Raises:
        InvalidSettingError: It cannot be written.
    """
    name = os.fspath(path)
    try:
        with replaced(name) as partial, (gzip.open if name.endswith(".gz") else open)(partial, "wt") as file:
            file.write(json.dumps(header) + "\n")
            for entry in entries:
                file.write(json.dumps(entry) + "\n")
    except OSError as error:
        raise InvalidSettingError(
            f"the policy cannot be written to {name!r} ({error.strerror or error}): name a file in a folder that "
            "is there and can be written"
        ) from error


class _Header(msgspec.Struct):
    """What every file begins with."""

    format: str
    version: int
    states: int


def read_policy(
    path: str | os.PathLike[str],
    kind: tuple[str, int],
    header: type[Header],
    entry: Any,
    read: Callable[[Header, Iterable[Any]], Read],
    written_by: str,
) -> Read:
    """Reads a file.

    Args:
        path: Where it is.
        kind: The ``format`` and ``version`` that its header must have.
        header: The type of the rest of the header.
        entry: The type of an entry.
        read: Makes of the header and the entries what is returned, as long as the header says; a ``ValueError``
            that it raises is taken for the file's fault.
        written_by: What writes such files, for messages.

    Raises:
        InvalidSettingError: There is none, or it is no such file.
    """
    name = os.fspath(path)
    if not os.path.isfile(name):
        raise InvalidSettingError(f"there is no file {name!r}: path must name one that {written_by} wrote")
    try:
        with gzip.open(name) if name.endswith(".gz") else open(name, "rb") as file:
            lines = _lines(file)
            first = next(lines, b"")
            found = msgspec.json.decode(first, type=_Header)
            if (found.format, found.version) != kind:
                raise ValueError(f"it is {found.format} {found.version}, not {kind[0]} {kind[1]}")
            entries = map(msgspec.json.Decoder(entry).decode, lines)
            made = read(msgspec.json.decode(first, type=header), entries)
            if len(made) != found.states:
                raise ValueError(f"it has {len(made)} states of {found.states}")
            return made
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise InvalidSettingError(
            f"{name!r} cannot be read as a policy ({type(error).__name__}: {error}): write it anew with "
            f"{written_by}"
        ) from error


def _lines(file: BinaryIO | gzip.GzipFile) -> Iterator[bytes]:
    """The lines of a file, none of which is so long that it would fill the memory."""
    while line := file.readline(_LONGEST):
        if len(line) == _LONGEST:
            raise ValueError(f"it has a line of more than {_LONGEST:,} characters")
        yield line
