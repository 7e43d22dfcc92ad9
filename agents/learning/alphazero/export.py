"""Trained networks as ONNX files, which play as agents: ``mcts(evaluator="onnx(path='model.onnx')")``."""

from __future__ import annotations

import copy
import io
import warnings
from pathlib import Path
from typing import Any

from zermelo.agents.evaluators.model_files import require
from zermelo.envs import InvalidSettingError
from zermelo.envs.files import replaced


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
