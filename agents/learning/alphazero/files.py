"""Files of a training: checkpoints, and networks as ONNX, which are there as a whole or not at all."""

from __future__ import annotations

import contextlib
import copy
import io
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from zermelo.agents.evaluators.model_files import reason_of, require
from zermelo.envs import InvalidSettingError
from zermelo.envs.files import replaced


def write_checkpoint(path: Path, content: dict[str, Any]) -> None:
    """Writes plain values, tensors and arrays, in the place of the checkpoint that is there.

    Raises:
        InvalidSettingError: It cannot be written; the old one is still there.
    """
    torch = require("torch", "PyTorch", "torch")
    plain = {
        name: torch.from_numpy(part) if isinstance(part, np.ndarray) else part for name, part in content.items()
    }
    try:
        with replaced(path) as partial, partial.open("wb") as file:
            torch.save(plain, file)
            file.flush()
            os.fsync(file.fileno())
        _sync_folder(path.parent)
    except (OSError, RuntimeError) as error:  # PyTorch has errors of its own for a full disk
        reason = getattr(error, "strerror", None) or reason_of(error)
        raise InvalidSettingError(
            f"cannot write the checkpoint {path} ({reason}): make room, or choose another folder"
        ) from error


def _sync_folder(folder: Path) -> None:
    """Makes the new name in a folder last, where folders can be opened."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Reads what ``write_checkpoint`` wrote; no code in the file is run.

    Raises:
        InvalidSettingError: It is no checkpoint that can be read.
    """
    torch = require("torch", "PyTorch", "torch")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # what a damaged or foreign file makes the library raise is open-ended
        raise InvalidSettingError(
            f"{path} is no checkpoint that can be read ({reason_of(error)}): remove it, or choose another folder"
        ) from error
    if not isinstance(content, dict) or content.get("format") != 1:
        raise InvalidSettingError(f"{path} is no checkpoint of this version: remove it, or choose another folder")
    return {name: part.numpy() if isinstance(part, torch.Tensor) else part for name, part in content.items()}


def export_onnx(network: Any, shape: tuple[int, ...], path: Path) -> None:
    """Writes a policy-value network as ONNX, for batches of any size of observations of this shape."""
    torch = require("torch", "PyTorch", "torch")
    require("onnx", "The package onnx, with which PyTorch writes such files,", "torch")
    names = ("observations", "policy", "value")
    written = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter, which needs no package besides onnx
        torch.onnx.export(
            copy.deepcopy(network).cpu().eval(),
            (torch.zeros(1, *shape),),
            written,
            input_names=names[:1],
            output_names=names[1:],
            dynamic_axes={name: {0: "batch"} for name in names},
            dynamo=False,
        )
    try:
        with replaced(path) as partial:
            partial.write_bytes(written.getvalue())
    except OSError as error:
        raise InvalidSettingError(f"cannot write {path} ({error.strerror}): choose another file") from error
