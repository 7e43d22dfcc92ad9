"""The position of a live environment as a picture."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from zermelo.envs import ZermeloError
from zermelo.envs.capabilities import SupportsPicture
from zermelo.evaluation.output.positions.drawing import rendered

Picture = npt.NDArray[np.uint8]


def picture_of(game: Any, env: Any) -> Callable[[], Picture] | None:
    """A function that draws the position that an environment is in now; None where there is no picture.

    Games of ours draw it when they are asked; what the environment itself draws is drawn at once.

    Args:
        game: What ``as_game`` made of the environment; None where it cannot be searched.
        env: The environment, which is not changed.
    """
    if isinstance(game, SupportsPicture):
        try:
            return partial(game.image, game.snapshot(env))  # type: ignore[attr-defined]  # games of environments have it
        except ZermeloError:
            return None
    image = rendered(env, "rgb_array")
    if not isinstance(image, np.ndarray) or image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:
        return None
    kept = image.astype(np.uint8)
    return lambda: kept


def png(image: Picture) -> bytes:
    """An RGB picture as a PNG file ("Portable Network Graphics specification", W3C, third edition)."""
    height, width, _ = image.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with the number of its filter: none
    rows[:, 1:] = image.reshape(height, 3 * width)
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows.tobytes(), 6)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
