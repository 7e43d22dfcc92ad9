"""Checked files: what was written is read back, and a damaged file counts as missing."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from zermelo.envs.support.files import read_checked, write_checked

CONTENT = b'[{"games":3,"inferred":{"chance":"none"},"seconds":0.25}]'
LARGEST = 1 << 12


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "findings"
    write_checked(path, CONTENT)
    return path


@pytest.mark.parametrize("content", [b"", b"\0", b"\n\n", CONTENT, bytes(range(256)) * 16])
def test_what_was_written_is_read_back(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "some"
    write_checked(path, b"before")
    write_checked(path, content)
    assert read_checked(path, LARGEST) == content
    assert [*tmp_path.iterdir()] == [path]


def _edited(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(change(path.read_bytes()))


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _another(path: Path) -> None:
    write_checked(path.with_name("another"), CONTENT)
    path.with_name("another").replace(path)


DAMAGES = {
    "gone": Path.unlink,
    "empty": _edited(lambda found: b""),
    "a folder": _folder,
    "a pipe": _pipe,
    "a link to itself": lambda path: (path.unlink(), path.symlink_to(path)),
    "another name": _another,
    "half": _edited(lambda found: found[: len(found) // 2]),
    "without its last byte": _edited(lambda found: found[:-1]),
    "without its first byte": _edited(lambda found: found[1:]),
    "one byte more": _edited(lambda found: found + b"\n"),
    "twice": _edited(lambda found: found * 2),
    "zeros at its end": _edited(lambda found: found[:-8] + bytes(8)),
    "zeros": _edited(lambda found: bytes(len(found))),
    "header alone": _edited(lambda found: found.removesuffix(CONTENT)),
    "content alone": _edited(lambda found: CONTENT),
    "other line ends": _edited(lambda found: found.replace(b"\n", b"\r\n")),
    "version 2": _edited(lambda found: found.replace(b"file 1\n", b"file 2\n")),
    "checksum in capitals": _edited(lambda found: found[:23] + found[23:87].upper() + found[87:]),
    "checksum of the content alone": _edited(
        lambda found: found[:23] + hashlib.sha256(CONTENT).hexdigest().encode() + b"\n" + CONTENT
    ),
    "another number": _edited(lambda found: found.replace(b":3", b":4")),
    "a huge number": _edited(lambda found: found.replace(b":3", b":" + b"9" * 500)),
    "NaN": _edited(lambda found: found.replace(b"0.25", b"NaN")),
    "another type": _edited(lambda found: found.replace(b'"none"', b"[]")),
    "a field twice": _edited(lambda found: found.replace(b'"games":3', b'"games":3,"games":3')),
    "no UTF-8": _edited(lambda found: found.replace(b"none", b"n\xff\xfee")),
    "deep": _edited(lambda found: found.removesuffix(CONTENT) + b"[" * 3000),
    "spaces": _edited(lambda found: found + b" " * 99_999),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_counts_as_missing(damage: Callable[[Path], object], file: Path) -> None:
    assert read_checked(file, LARGEST) == CONTENT
    damage(file)
    assert read_checked(file, LARGEST) is None


def test_every_flipped_bit_is_seen(file: Path) -> None:
    whole, source = file.read_bytes(), random.Random(0)
    for place in range(len(whole)):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << source.randrange(8)
        file.write_bytes(flipped)
        assert read_checked(file, LARGEST) is None, place


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_counts_as_missing(file: Path) -> None:
    file.chmod(0)
    assert read_checked(file, LARGEST) is None


def test_a_file_larger_than_asked_for_is_not_read(file: Path) -> None:
    assert read_checked(file, len(CONTENT)) == CONTENT
    assert read_checked(file, len(CONTENT) - 1) is None


def test_a_write_that_fails_leaves_what_was_there(file: Path) -> None:
    _folder(file)
    with pytest.raises(OSError, match="no file"):
        write_checked(file, CONTENT)
    assert file.is_dir()
    assert [*file.parent.iterdir()] == [file]
