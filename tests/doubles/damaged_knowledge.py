"""Damaged files of knowledge: archives, JSON and lines, with and without the checksum that belongs to them."""

from __future__ import annotations

import copy
import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from doubles.damage import ODD, damaged_bytes, damaged_json

from zermelo.envs.support.array_files import write_arrays
from zermelo.envs.support.data_files import FileKind, sealed, split_checksum, write_json, write_lines


def parts_of(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header of an archive without its checksum, and its arrays."""
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(arrays.pop("header").tobytes())
    del header["checksum"]
    return header, arrays


def rewrite(path: Path, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Writes an archive with the checksum that belongs to what is in it, whatever that is."""
    about = {name: value for name, value in header.items() if name not in ("kind", "version")}
    kind, version = FileKind(header.get("kind", ""), ""), header.get("version", 0)
    write_arrays(path, kind, version, about, arrays)


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(path: Path, content: list[tuple[str, bytes]], chance: random.Random) -> None:
    method = chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA))
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in content:
            archive.writestr(name, data)


# -- archives ----------------------------------------------------------------------------------------------------


def swapped_members(path: Path, chance: random.Random) -> None:
    """Members under the names of others, left out, twice, foreign, or with other bytes in their beginnings."""
    content = [*members(path).items()]
    first, second = chance.sample(range(len(content)), 2)
    kind = chance.randrange(5)
    if kind == 0:
        (a, b), (c, d) = content[first], content[second]
        content[first], content[second] = (a, d), (c, b)
    elif kind == 1:
        del content[first]
    elif kind == 2:
        content.append((chance.choice(("more.npy", "../up.npy", "code.py", "a" * 60_000)), content[first][1]))
    elif kind == 3:
        name, data = content[first]
        header = chance.choice((b"|O", b"<i2", b"<f8", b"<c16", b"|V8", b">i8", b"[('a', '<i8')]", b"<i8" * 9))
        content[first] = name, data.replace(data[20:25], b"'" + header + b"'", 1)
    else:
        name, data = content[first]
        shapes = b"(-1,)", b"(10**9,)", b"(999999999999,)", b"(1, 2, 3, 4)", b"()", b"(True,)", b"(0x10,)", b"[3]"
        start = data.find(b"'shape': ") + 9
        content[first] = name, data[:start] + chance.choice(shapes) + data[data.find(b")", start) + 1 :]
    zipped(path, content, chance)


def other_header(path: Path, chance: random.Random) -> None:
    """A field of the header changed, renamed or missing, and the checksum made right again."""
    header, arrays = parts_of(path)
    for _ in range(8):
        changed = json.loads(damaged_json(json.dumps(header), chance))
        if isinstance(changed, dict) and changed != header:
            break
    if isinstance(changed, dict):
        rewrite(path, changed, arrays)


def other_arrays(path: Path, chance: random.Random) -> None:
    """An array of another type, shape or order, or with numbers out of range, and the checksum right."""
    header, arrays = parts_of(path)
    name = chance.choice(sorted(arrays))
    array = arrays[name]
    far = {"keys": -(2**62), "parts": 10**12, "scores": 32_767, "flags": 255, "values": np.nan, "states": 2**62}
    kinds: list[Callable[[], Any]] = [
        lambda: array.astype(chance.choice(("<i8", "<f8", "<f4", "|u1", ">i4", "<U3", "?"))),
        lambda: array[: len(array) // 2],
        lambda: np.concatenate([array, array]),
        lambda: array.reshape(1, -1),
        lambda: np.asfortranarray(np.tile(array.reshape(-1, 1), 2)),
        lambda: np.zeros(0, array.dtype),
    ]
    kind = chance.randrange(len(kinds) + 3)
    if kind < len(kinds):
        arrays[name] = kinds[kind]()
    elif kind == len(kinds):
        del arrays[name]
    elif kind == len(kinds) + 1:
        arrays["more"] = array
    elif array.size and name.partition(".")[0] in far:
        changed = array.copy()
        changed.reshape(-1)[chance.randrange(max(1, array.size // 2), array.size) :] = far[name.partition(".")[0]]
        arrays[name] = changed
    rewrite(path, header, arrays)


def bomb(path: Path, chance: random.Random) -> None:
    """An array of zeros that is small on the disk and large in memory; sometimes with the right checksum."""
    header, arrays = parts_of(path)
    name = chance.choice(sorted(arrays))
    dtype, size = arrays[name].dtype, chance.choice((12, 12, 300)) << 20
    shape = (size // dtype.itemsize,) + arrays[name].shape[1:] * (size <= 12 << 20)
    lead = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        lead, {"descr": dtype.str, "fortran_order": False, "shape": (len_of(shape, dtype, size), *shape[1:])}
    )
    chunk = bytes(1 << 20)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for other in arrays:
            with archive.open(f"{other}.npy", "w") as file:
                if other == name:
                    file.write(lead.getvalue())
                    written = 0
                    whole = len_of(shape, dtype, size) * int(np.prod(shape[1:], dtype=int)) * dtype.itemsize
                    while written < whole:
                        file.write(chunk[: whole - written])
                        written += len(chunk)
                else:
                    np.lib.format.write_array(file, np.ascontiguousarray(arrays[other]))
        text = np.frombuffer(sealed(json.dumps(header).encode()), np.uint8)
        with archive.open("header.npy", "w") as file:
            np.lib.format.write_array(file, text)


def len_of(shape: tuple[int, ...], dtype: np.dtype[Any], size: int) -> int:
    return max(1, size // dtype.itemsize // max(1, int(np.prod(shape[1:], dtype=int))))


# -- text --------------------------------------------------------------------------------------------------------


def without_checksum(text: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(split_checksum(text)[1])
    del found["checksum"]
    return found


def other_json(path: Path, chance: random.Random) -> None:
    """JSON of which a part is another, and the checksum made right again."""
    whole = without_checksum(path.read_bytes())
    changed = json.loads(damaged_json(json.dumps(whole), chance))
    write_json(path, json.dumps(changed if isinstance(changed, dict) else whole).encode())


def other_agent(path: Path, chance: random.Random) -> None:
    """A ladder that names what it must not."""
    whole = without_checksum(path.read_bytes())
    odd = [text for text in ODD if isinstance(text, str)]
    chance.choice(whole["rungs"])["agent"] = (
        f"noisy(agent={chance.choice(odd)!r})" if chance.random() < 0.5 else (chance.choice(odd))
    )
    write_json(path, json.dumps(whole).encode())


def other_line(path: Path, chance: random.Random) -> None:
    """A line of JSON changed, left out or doubled, and the checksum made right again."""
    data = path.read_bytes()
    first, *lines = (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()
    header, number = without_checksum(first), chance.randrange(len(lines))
    kind = chance.randrange(4)
    if kind == 0:
        header = json.loads(damaged_json(json.dumps(header), chance))
    elif kind == 1:
        lines[number] = damaged_json(lines[number].decode(), chance).encode()
    elif kind == 2:
        del lines[number]
    else:
        lines.insert(number, lines[number])
    if isinstance(header, dict):
        write_lines(path, json.dumps(header).encode(), lambda: (line + b"\n" for line in lines))


def long_lines(path: Path, chance: random.Random) -> None:
    """Text that is small on the disk, if it is packed, and large in memory."""
    line = chance.choice((b'["1",null,{"0":1}]\n', b"[" * (1 << 20), b" " * (1 << 20) + b"\n"))
    header = json.dumps({"format": "zermelo policy", "version": 3, "states": 10**9, "game": "x"}).encode()
    packed = path.suffix == ".gz"
    with gzip.open(path, "wb", 1) if packed else open(path, "wb") as file:
        file.write(sealed(header) + b"\n")
        for _ in range(60 if packed else 4):
            file.write(line * ((1 << 20) // len(line)))


def plain_bytes(path: Path, chance: random.Random) -> None:
    path.write_bytes(damaged_bytes(path.read_bytes(), chance))


def flipped(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def damages(path: Path) -> list[Callable[[Path, random.Random], None]]:
    """The ways in which a file may be damaged."""
    always = [plain_bytes, flipped]
    if path.suffix in (".ztable", ".zbook", ".npz"):
        return [*always, swapped_members, other_header, other_header, other_arrays, other_arrays, bomb]
    if path.suffix in (".jsonl", ".gz"):
        return [*always, other_line, other_line, long_lines]
    if path.suffix == ".json":
        return [*always, other_json, other_json, *[other_agent] * (path.stem == "ladder")]
    return always


def damage_knowledge(path: Path, chance: random.Random) -> str:
    """Damages a file; the name of the way."""
    how = chance.choice(damages(path))
    how(path, copy.copy(chance))
    return how.__name__
