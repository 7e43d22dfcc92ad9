"""Files of policies: lines of JSON, a header and then an entry a line, compressed if the name ends in ``.gz``."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sized
from typing import Any, TypeVar

from zermelo.envs import InvalidSettingError
from zermelo.envs.files import replaced

__all__ = ["read_policy", "write_policy"]

Read = TypeVar("Read", bound=Sized)


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


def read_policy(
    path: str | os.PathLike[str],
    kind: tuple[str, int],
    read: Callable[[Any, Iterable[Any]], Read],
    written_by: str,
) -> Read:
    """Reads a file.

    Args:
        path: Where it is.
        kind: The ``format`` and ``version`` that its header must have.
        read: Makes of the header and the entries what is returned, as long as the header says; what it raises is
            taken for the file's fault.
        written_by: What writes such files, for messages.

    Raises:
        InvalidSettingError: There is none, or it is no such file.
    """
    name = os.fspath(path)
    try:
        with gzip.open(name, "rt") if name.endswith(".gz") else open(name) as file:
            lines = iter(file)
            header = json.loads(next(lines))
            found = header["format"], header["version"]
            if found != kind:
                raise ValueError(f"it is {found[0]} {found[1]}, not {kind[0]} {kind[1]}")
            made = read(header, map(json.loads, lines))
            if len(made) != header["states"]:
                raise ValueError(f"it has {len(made)} states of {header['states']}")
            return made
    except (FileNotFoundError, IsADirectoryError):
        raise InvalidSettingError(
            f"there is no file {name!r}: path must name one that {written_by} wrote"
        ) from None
    except (OSError, EOFError, StopIteration, AttributeError, KeyError, TypeError, ValueError) as error:
        raise InvalidSettingError(
            f"{name!r} cannot be read as a policy ({type(error).__name__}: {error}): write it anew with "
            f"{written_by}"
        ) from error
