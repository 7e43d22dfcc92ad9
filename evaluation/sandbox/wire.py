"""Frames on pipes: eight bytes that say how many follow, and those."""

from __future__ import annotations

import os
import struct
from typing import Final

_HEAD: Final = struct.Struct("<Q")
MAX_FRAME: Final = 2**26
"""Bytes of one answer; an action that takes 64 MiB is none."""


def frame(data: bytes) -> bytes:
    """The bytes with their number before them."""
    return _HEAD.pack(len(data)) + data


def write_frame(pipe: int, data: bytes) -> None:
    """Writes a frame to a pipe that blocks."""
    view = memoryview(frame(data))
    while view:
        view = view[os.write(pipe, view) :]


def read_frame(pipe: int) -> bytes | None:
    """The next frame of a pipe that blocks, or None at its end."""
    head = _exactly(pipe, _HEAD.size)
    return None if head is None else _exactly(pipe, _HEAD.unpack(head)[0])


def _exactly(pipe: int, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        part = os.read(pipe, min(size - len(data), 2**20))
        if not part:
            return None
        data += part
    return bytes(data)


class FrameReader:
    """Collects one frame from parts as they come."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, part: bytes) -> bytes | None:
        """The frame, once it is complete."""
        self._data += part
        if len(self._data) < _HEAD.size:
            return None
        size = _HEAD.unpack_from(self._data)[0]
        if size > MAX_FRAME or len(self._data) > _HEAD.size + size:
            raise ValueError(f"a frame of {size} bytes with {len(self._data)} sent")
        return bytes(self._data[_HEAD.size :]) if len(self._data) == _HEAD.size + size else None
