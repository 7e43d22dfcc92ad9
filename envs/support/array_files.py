"""Files of arrays that may be anybody's: ``.npz`` archives of NumPy's without pickles, and a header of JSON.

Before memory is taken for an array, its type and shape are compared with what its kind prescribes, all sizes with
that of the file, and the checksum in the header with what the file holds.
"""

from __future__ import annotations

import math
import os
import re
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, Final, NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from zermelo.envs.support.data_files import (
    ALWAYS,
    MOST_RATIO,
    FileKind,
    check_sealed,
    decoded,
    in_a_sentence,
    sealed,
)
from zermelo.envs.support.files import opened, replaced

Arrays = dict[str, NDArray[Any]]
Header = TypeVar("Header")
_HEADER: Final = "header"
_LARGEST_HEADER: Final = 1 << 16
_LARGEST_DIRECTORY: Final = 1 << 16
_CHUNK: Final = 1 << 20
_MAGIC: Final = b"\x93NUMPY\x01\x00"
_DESCRIBED: Final = re.compile(
    rb"\{'descr': '([<|][biuf]\d{1,2})', 'fortran_order': False, "
    rb"'shape': \(((?:\d{1,15}, ?)*(?:\d{1,15})?)\), \} *\n"
)


class Form(NamedTuple):
    """What an array must be: its type, as NumPy writes it, and its number of dimensions."""

    dtype: str
    dimensions: int
    is_optional: bool = False


class _Kind(msgspec.Struct):
    kind: str
    version: int


class _Member(NamedTuple):
    info: zipfile.ZipInfo
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int  # where its numbers begin

    @property
    def size(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize

    def chunks(self, archive: zipfile.ZipFile) -> Iterator[bytes]:
        with archive.open(self.info) as member:
            member.read(self.start)
            while chunk := member.read(_CHUNK):
                yield chunk


def write_arrays(
    path: str | os.PathLike[str],
    kind: FileKind,
    version: int,
    about: Mapping[str, Any],
    arrays: Mapping[str, Any],
    *,
    is_packed: bool = True,
) -> None:
    """Writes a file, compressed or not, as a whole or not at all."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    plain = {name: array.astype(array.dtype.newbyteorder("<"), copy=False) for name, array in plain.items()}
    text = msgspec.json.encode({"kind": kind.name, "version": version, **about})
    sums = (
        part
        for name, array in sorted(plain.items())
        for part in (_title(name, array.dtype, array.shape), array.reshape(-1).view(np.uint8).data)
    )
    named: Any = {_HEADER: np.frombuffer(sealed(text, sums), np.uint8), **plain}
    with replaced(path) as partial, open(partial, "wb") as file:
        (np.savez_compressed if is_packed else np.savez)(file, **named)
        if sum(array.nbytes for array in plain.values()) > ALWAYS // 2 + MOST_RATIO // 2 * file.tell():
            file.seek(0)  # readers would take it for a bomb
            np.savez(file, **named)
        file.flush()
        os.fsync(file.fileno())


def _title(name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    return f"{name} {dtype.str} {shape}\n".encode()


def read_arrays(
    path: str | os.PathLike[str],
    kind: FileKind,
    version: int,
    header: type[Header],
    forms: Mapping[str, Form],
    check: Callable[[Header, Mapping[str, tuple[int, ...]]], None] = lambda about, shapes: None,
) -> tuple[Header, Arrays]:
    """The header, of some ``msgspec.Struct``, and the arrays of a file, each in memory of whole words of 8 bytes.

    ``check`` is given the header and the shapes before memory is taken; it raises ``ValueError`` where they do not
    fit together.

    Raises:
        InvalidSettingError: There is no such file, or it is of another kind, or damaged.
    """
    with in_a_sentence(path, kind), opened(path) as file:
        _check_directory(file)
        with zipfile.ZipFile(file) as archive:
            members = _members(archive, os.fstat(file.fileno()).st_size)
            first = members.pop(_HEADER, None)
            if first is None or first.dtype != np.uint8 or first.size > _LARGEST_HEADER:
                raise ValueError("it has no header")
            text = b"".join(first.chunks(archive))
            found = decoded(text, _Kind)
            if found != _Kind(kind.name, version):
                raise ValueError(
                    f"it is version {found.version} of a file of kind {found.kind!r}, not version {version}"
                )
            about: Header = decoded(text, header)
            _check_forms(members, forms)
            check_sealed(text, _all_bytes(archive, members))
            check(about, {name: member.shape for name, member in members.items()})
            return about, {name: _array(archive, member) for name, member in members.items()}


def _check_directory(file: IO[bytes]) -> None:
    """Refuses archives whose directory alone would fill the memory, or that are followed by something."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(end - 98, 0))
    tail = file.read(98).rjust(98)
    if tail[76:80] != b"PK\x05\x06" or tail[96:] != b"\0\0":
        raise ValueError("it is no archive of arrays")
    (size,) = struct.unpack("<L", tail[88:92])
    if tail[56:60] == b"PK\x06\x07" and tail[:4] == b"PK\x06\x06":  # one of more than 4 GiB
        (size,) = struct.unpack("<Q", tail[40:48])
    if size > _LARGEST_DIRECTORY:
        raise ValueError(f"its directory has {size:,} bytes")
    file.seek(0)


def _members(archive: zipfile.ZipFile, size: int) -> dict[str, _Member]:
    """The arrays of an archive by their names, of which only the beginnings are read."""
    infos, most = archive.infolist(), ALWAYS + MOST_RATIO * size
    if (total := sum(info.file_size for info in infos)) > most:
        raise ValueError(f"it unpacks to {total:,} bytes, more than {MOST_RATIO} times its size")
    found = {}
    for info in infos:
        with archive.open(info) as member:
            lead = member.read(10)
            described = member.read(int.from_bytes(lead[8:], "little"))
        match = _DESCRIBED.fullmatch(described)
        if match is None or lead[:8] != _MAGIC or not info.filename.endswith(".npy"):
            raise ValueError(f"{info.filename[:40]!r} in it is no array of numbers")
        shape = tuple(int(part) for part in match[2].split(b",") if part.strip())
        one = _Member(info, np.dtype(match[1].decode()), shape, 10 + len(described))
        if one.start + one.size != info.file_size:
            raise ValueError(f"{info.filename!r} in it has not the size that its shape {shape} says")
        found[info.filename.removesuffix(".npy")] = one
    if len(found) != len(infos):
        raise ValueError("it has two arrays of one name")
    return found


def _check_forms(members: Mapping[str, _Member], forms: Mapping[str, Form]) -> None:
    if unknown := members.keys() - forms.keys():
        raise ValueError(f"it has an array {min(unknown)[:40]!r}, which is not of its kind")
    for name, form in forms.items():
        one = members.get(name)
        if one is None and form.is_optional:
            continue
        if one is None or one.dtype != np.dtype(form.dtype) or len(one.shape) != form.dimensions:
            is_now = "it is missing" if one is None else f"not {one.dtype.str} of {len(one.shape)}"
            raise ValueError(f"its array {name!r} must be {form.dtype} of {form.dimensions} dimensions, {is_now}")


def _all_bytes(archive: zipfile.ZipFile, members: Mapping[str, _Member]) -> Iterator[bytes]:
    for name, member in sorted(members.items()):
        yield _title(name, member.dtype, member.shape)
        yield from member.chunks(archive)


def _array(archive: zipfile.ZipFile, member: _Member) -> NDArray[Any]:
    memory = np.zeros(-(-member.size // 8), np.int64).view(np.uint8)[: member.size]
    place = 0
    for chunk in member.chunks(archive):
        memory[place : place + len(chunk)] = np.frombuffer(chunk, np.uint8)
        place += len(chunk)
    return memory.view(member.dtype).reshape(member.shape)
