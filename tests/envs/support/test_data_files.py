"""The loader of files of data: what is no such file, and sizes that are refused before they are read."""

from __future__ import annotations

import errno
import gzip
import os
import re
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.array_files import Form, read_arrays, write_arrays
from zermelo.envs.support.data_files import FileKind, open_lines, read_json, sealed, write_json, write_lines

KIND = FileKind("test file", "make it again")
FORMS = {"numbers": Form("<i8", 1), "more": Form("<f4", 2, is_optional=True)}
MIB = 1 << 20


class About(msgspec.Struct):
    game: str = ""


def arrays(path: str | os.PathLike[str]) -> Any:
    return read_arrays(path, KIND, 1, About, FORMS)


def json_file(path: str | os.PathLike[str]) -> Any:
    return read_json(path, KIND, dict[str, Any], largest=MIB)


def lines(path: str | os.PathLike[str]) -> Any:
    with open_lines(path, KIND) as (_, found):
        return list(found)


READERS = [arrays, json_file, lines]


def peak_of(read: Any, path: Path) -> int:
    """Bytes that were taken at most to refuse a file."""
    tracemalloc.start()
    try:
        with pytest.raises(InvalidSettingError, match=r"no test file, or it is damaged|cannot read the test file"):
            read(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("read", READERS)
def test_what_is_no_file_is_refused_at_once(read: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(InvalidSettingError, match="it is no regular file"):
            read(path)
    for path in (tmp_path / "none", tmp_path / "none" / "none", ""):
        with pytest.raises(InvalidSettingError, match="there is no test file"):
            read(path)
    for path in ("\0", "a" * 5_000):
        with pytest.raises(InvalidSettingError, match=r"null (byte|character)|File name too long"):
            read(path)


def test_arrays_are_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for numbers in (np.arange(5), np.zeros(0, int), np.arange(10)[::2], np.arange(4, dtype=">i8")):
        write_arrays(path, KIND, 1, {"game": "chess"}, {"numbers": numbers})
        about, found = arrays(path)
        assert about.game == "chess"
        assert found["numbers"].dtype == np.dtype("<i8")
        np.testing.assert_array_equal(found["numbers"], numbers)


def test_what_packs_too_well_is_stored_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "zeros"
    write_arrays(path, KIND, 1, {}, {"numbers": np.zeros(4 * MIB, int)})
    assert path.stat().st_size > 32 * MIB
    assert len(arrays(path)[1]["numbers"]) == 4 * MIB


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"numbers": np.zeros(3, np.int32)}, "must be <i8 of 1 dimensions, not <i4 of 1"),
        ({"numbers": np.zeros((3, 1), int)}, "not <i8 of 2"),
        ({"more": np.zeros((1, 1), np.float32)}, "it is missing"),
        ({"numbers": np.zeros(3, int), "extra": np.zeros(3)}, "an array 'extra', which is not of its kind"),
        ({"numbers": np.array(["a"])}, "is no array of numbers"),
    ],
)
def test_arrays_of_another_form_are_refused(given: dict[str, Any], said: str, tmp_path: Path) -> None:
    write_arrays(tmp_path / "file", KIND, 1, {}, given)
    with pytest.raises(InvalidSettingError, match=re.escape(said)):
        arrays(tmp_path / "file")


@pytest.mark.parametrize(
    ("kind", "version", "about", "said"),
    [
        ("other", 1, {}, "version 1 of a file of kind 'other', not version 1"),
        ("test file", 2, {}, "version 2 of a file of kind 'test file'"),
        ("test file", 1, {"game": 3}, "Expected `str`, got `int`"),
    ],
)
def test_headers_of_another_form_are_refused(
    kind: str, version: int, about: dict[str, Any], said: str, tmp_path: Path
) -> None:
    write_arrays(tmp_path / "file", FileKind(kind, ""), version, about, {"numbers": np.arange(3)})
    with pytest.raises(InvalidSettingError, match=re.escape(said)):
        arrays(tmp_path / "file")


def test_pickles_are_not_read(tmp_path: Path) -> None:
    with open(tmp_path / "file", "wb") as file:
        np.savez(file, numbers=np.array([print], dtype=object), header=np.zeros(2, np.uint8))
    with pytest.raises(InvalidSettingError, match=r"'numbers.npy' in it is no array of numbers"):
        arrays(tmp_path / "file")


def archive(path: Path, shape: str, size: int) -> None:
    """An archive with one array of a shape, of which ``size`` bytes are zeros."""
    described = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    text = sealed(b'{"kind":"test file","version":1}')
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(text)},), }}\n".encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, lead, content in (
            ("header", header, [text]),
            ("numbers", described, [bytes(MIB)] * (size // MIB)),
        ):
            with out.open(f"{name}.npy", "w") as file:
                file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(lead)) + lead)
                for chunk in content:
                    file.write(chunk)


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        (f"({12 * MIB // 8},)", 12 * MIB),  # as large as any small file may be; the checksum is wrong
        (f"({256 * MIB // 8},)", 256 * MIB),
        ("(10000000000000,)", 12 * MIB),
        ("(999999999999999, 999999999999999)", 0),
        ("(0,)", 12 * MIB),
    ],
)
def test_an_archive_that_is_larger_inside_takes_no_memory(shape: str, size: int, tmp_path: Path) -> None:
    archive(tmp_path / "bomb", shape, size)
    assert peak_of(arrays, tmp_path / "bomb") < 8 * MIB


def test_a_directory_of_an_archive_takes_no_memory(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb", "w") as out:
        for number in range(5_000):
            out.writestr(f"{number}.npy", b"")
    assert peak_of(arrays, tmp_path / "bomb") < MIB


@pytest.mark.parametrize(
    "text", [b"[" * 200_000, b'{"a":' * 200_000, b'{"a":[' + b"0," * 600_000 + b"0]}", b"0" * (MIB + 1)]
)
def test_text_that_is_larger_as_objects_takes_no_memory(text: bytes, tmp_path: Path) -> None:
    write_json(tmp_path / "bomb", text)
    assert peak_of(json_file, tmp_path / "bomb") < 16 * MIB


@pytest.mark.parametrize("name", ["bomb", "bomb.gz"])
def test_lines_that_fill_the_memory_are_not_read(name: str, tmp_path: Path) -> None:
    with (gzip.open if name.endswith("gz") else open)(tmp_path / name, "wb") as file:
        file.write(sealed(b"{}") + b"\n")
        for _ in range(64):
            file.write(b" " * MIB)
    assert peak_of(lines, tmp_path / name) < 24 * MIB


def full(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    "write",
    [
        lambda path: write_json(path, b"{}"),
        lambda path: write_lines(path, b"{}", lambda: iter([b"0\n"])),
        lambda path: write_arrays(path, KIND, 1, {}, {"numbers": np.arange(9)}),
    ],
)
def test_a_full_disk_leaves_the_old_file(write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)  # the disk may say so as late as this
    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr(np, "savez_compressed", full)
    monkeypatch.setattr("zermelo.envs.support.data_files.sealed", full)
    with pytest.raises(OSError, match="No space left"):
        write(path)
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
