"""Scalars for TensorBoard: the writer that a user gave, or one for a folder."""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from zermelo.envs.errors import InvalidSettingError, MissingDependencyError
from zermelo.envs.support.installing import install_command

WRITERS: Final = ("torch.utils.tensorboard", "tensorboardX")
"""Modules with a ``SummaryWriter``, the preferred one first."""


@contextlib.contextmanager
def scalar_writer(writer: Any) -> Iterator[Any]:
    """What scalars are written to, or None; made before the games, so that an error comes at once."""
    if not isinstance(writer, str | os.PathLike):
        if writer is not None and not callable(getattr(writer, "add_scalar", None)):
            raise InvalidSettingError(
                f"writer must be a folder or have add_scalar(tag, value, step), as TensorBoard's SummaryWriter, "
                f"not {writer!r}"
            )
        yield writer
        return
    for module in WRITERS:
        try:
            kind = importlib.import_module(module).SummaryWriter
        except ImportError:
            continue
        with contextlib.closing(kind(os.fspath(writer))) as made:
            yield made
        return
    raise MissingDependencyError(f"TensorBoard is not installed: {install_command('tensorboard')}")


def write_scalars(writer: Any, values: Mapping[str, float], step: int | None) -> None:
    """Writes those of the values that are finite; names have nothing in them that TensorBoard would replace."""
    for name, value in values.items():
        if math.isfinite(value):
            tag = "/".join(
                re.sub(r"[^\w.-]+", "_", part, flags=re.ASCII).strip("_") for part in name.split("/", 1)
            )
            writer.add_scalar(f"zermelo/{tag}", value, step)
