"""Scalars of a rating for TensorBoard."""

from __future__ import annotations

import importlib
import math
import os
import re
from typing import TYPE_CHECKING, Any

from zermelo.envs import InvalidSettingError, MissingDependencyError
from zermelo.envs.installing import install_command

if TYPE_CHECKING:
    from zermelo.evaluation.training.evaluate import PolicyRating

WRITERS = ("torch.utils.tensorboard", "tensorboardX")
"""Modules with a ``SummaryWriter``, the preferred one first."""


class Scalars:
    """Writes ratings; made before the games, so that what is missing is told at once.

    Args:
        writer: An object with ``add_scalar(tag, value, step)``, a folder, or None to write nothing.
    """

    def __init__(self, writer: Any) -> None:
        self._own = isinstance(writer, str | os.PathLike)
        self._writer = _made(writer) if self._own else writer
        if writer is not None and not callable(getattr(self._writer, "add_scalar", None)):
            raise InvalidSettingError(
                f"writer must be a folder or have add_scalar(tag, value, step), as TensorBoard's SummaryWriter, "
                f"not {writer!r}"
            )

    def __enter__(self) -> Scalars:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._own:
            self._writer.close()

    def write(self, rating: PolicyRating, step: int | None) -> None:
        """Writes the numbers of a rating that are finite."""
        if self._writer is None:
            return
        total = rating.total
        values = {
            "rating": rating.rating,
            "lower": rating.lower,
            "upper": rating.upper,
            "score": total.score,
            **{f"score/{_tag(name)}": row.score for name, row in rating.against.items()},
            "faults": float(sum(total.failures.values())),
            "reward": total.mean_reward,
        }
        for name, value in values.items():
            if math.isfinite(value):
                self._writer.add_scalar(f"zermelo/{name}", value, step)


def _made(folder: Any) -> Any:
    for module in WRITERS:
        try:
            writer = importlib.import_module(module).SummaryWriter
        except ImportError:
            continue
        return writer(os.fspath(folder))
    raise MissingDependencyError(f"TensorBoard is not installed: {install_command('tensorboard')}")


def _tag(agent: str) -> str:
    """The name with nothing in it that TensorBoard would replace."""
    return re.sub(r"[^\w.-]+", "_", agent, flags=re.ASCII).strip("_")
