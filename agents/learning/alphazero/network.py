"""A small residual network with a policy and a value, in PyTorch, and the files of a training.

Planes (observations of three axes: rows, columns, planes) go through 3x3 convolutions, anything else through dense
layers of the same number of blocks. He, Zhang, Ren and Sun, "Deep residual learning for image recognition", CVPR
(2016); the heads are those of Silver et al., "Mastering the game of Go without human knowledge", Nature 550
(2017). Files are there as a whole or not at all, whatever kills the process that writes them.
"""

from __future__ import annotations

import copy
import io
import math
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.evaluators.dense import Layer, write_layers
from zermelo.agents.evaluators.model_files import reason_of, require
from zermelo.envs import InvalidSettingError
from zermelo.envs.files import replaced

if TYPE_CHECKING:
    from zermelo.agents.learning.alphazero.self_play import AlphaZeroSettings

_DENSE = 4
"""Width of dense blocks, in channels: they cost less."""


def make_network(shape: tuple[int, ...], actions: int, settings: AlphaZeroSettings) -> Any:
    """A network with random weights: a ``torch.nn.Module``.

    It takes observations, float32 of shape (batch, *shape), and returns logits of shape (batch, actions) and
    values of shape (batch,), from -1 to 1 for the player to move.
    """
    torch = require("torch", "PyTorch", "torch")
    nn = torch.nn
    planes, channels, blocks = len(shape) == 3 and not settings.dense, settings.channels, settings.blocks
    width = channels if planes else _DENSE * channels
    size = shape[0] * shape[1] if planes else 1

    def layer(before: int, after: int, reach: int = 3) -> Any:
        """A layer without bias, and its normalization."""
        if not planes:
            return nn.Sequential(nn.Linear(before, after, bias=False), nn.BatchNorm1d(after))
        made = nn.Conv2d(before, after, reach, padding=reach // 2, bias=False)
        return nn.Sequential(made, nn.BatchNorm2d(after))

    class Block(nn.Module):  # type: ignore[misc, name-defined]  # the library may be missing
        """Two layers, and what went in once more."""

        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = layer(width, width), layer(width, width)

        def forward(self, x: Any) -> Any:
            return torch.relu(x + self.second(torch.relu(self.first(x))))

    class Network(nn.Module):  # type: ignore[misc, name-defined]  # the library may be missing
        """Residual blocks, and two heads."""

        def __init__(self) -> None:
            super().__init__()
            first, heads = (shape[2] if planes else math.prod(shape)), max(width // 4, 2)
            self.stem = layer(first, width)
            self.body = nn.Sequential(*(Block() for _ in range(blocks)))
            self.policy_layer, self.value_layer = layer(width, 2 * heads, 1), layer(width, heads, 1)
            self.policy = nn.Linear(2 * heads * size, actions)
            self.hidden, self.value = nn.Linear(heads * size, 64), nn.Linear(64, 1)

        def forward(self, seen: Any) -> Any:
            x = seen.permute(0, 3, 1, 2) if planes else seen.flatten(1)
            x = self.body(torch.relu(self.stem(x)))
            logits = self.policy(torch.relu(self.policy_layer(x)).flatten(1))
            hidden = torch.relu(self.hidden(torch.relu(self.value_layer(x)).flatten(1)))
            return logits, torch.tanh(self.value(hidden)).squeeze(1)

    return Network()


def network_device(name: str) -> Any:
    """PyTorch's device of that name."""
    torch = require("torch", "PyTorch", "torch")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise InvalidSettingError(f"device {name!r} cannot be used here ({reason}): say device='cpu'") from None
    return device


def answers_of(network: Any, device: Any) -> Callable[[NDArray[Any]], tuple[NDArray[Any], NDArray[Any]]]:
    """A function from observations to logits and values, by the network as it is now.

    Normalizations are folded into the layers before them.
    """
    torch = require("torch", "PyTorch", "torch")
    frozen = _folded(torch, copy.deepcopy(network).eval())

    def answer(observations: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        with torch.inference_mode():
            seen = torch.from_numpy(observations.astype(np.float32)).to(device)
            logits, values = frozen(seen)
            return logits.float().cpu().numpy(), values.float().cpu().numpy()

    return answer


def _folded(torch: Any, network: Any) -> Any:
    """The network with a bias instead of each normalization."""
    from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

    for name, part in network.named_children():
        if isinstance(part, torch.nn.Sequential) and len(part) == 2 and hasattr(part[1], "running_mean"):
            fuse = fuse_conv_bn_eval if isinstance(part[0], torch.nn.Conv2d) else fuse_linear_bn_eval
            setattr(network, name, fuse(part[0], part[1]))
        else:
            _folded(torch, part)
    return network


def write_checkpoint(path: Path, content: dict[str, Any]) -> None:
    """Replaces a checkpoint by plain values, tensors and arrays."""
    torch = require("torch", "PyTorch", "torch")
    plain = {
        name: torch.from_numpy(part) if isinstance(part, np.ndarray) else part for name, part in content.items()
    }
    try:
        with replaced(path) as partial, partial.open("wb") as file:
            torch.save(plain, file)
            file.flush()
            os.fsync(file.fileno())
    except (OSError, RuntimeError) as error:  # PyTorch has errors of its own for a full disk
        reason = getattr(error, "strerror", None) or reason_of(error)
        raise InvalidSettingError(
            f"cannot write the checkpoint {path} ({reason}): make room, or choose another folder"
        ) from error


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Reads what ``write_checkpoint`` wrote; no code in the file is run."""
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


def export_layers(network: Any, path: Path) -> None:
    """Writes a network of dense layers as arrays (``evaluators.dense``), its normalizations folded.

    Raises:
        InvalidSettingError: It has convolutions, or the file cannot be written.
    """
    torch = require("torch", "PyTorch", "torch")
    folded = _folded(torch, copy.deepcopy(network).cpu().eval())
    body = [part for block in folded.body for part in (block.first, block.second)]
    heads = [folded.policy_layer, folded.policy, folded.value_layer, folded.hidden, folded.value]
    parts = [folded.stem, *body, *heads]
    if not all(isinstance(part, torch.nn.Linear) for part in parts):
        raise InvalidSettingError(f"{path} is for dense layers, and this network has convolutions: set dense=True")
    with torch.inference_mode():
        layers = [Layer(part.weight.t().contiguous().numpy(), part.bias.numpy()) for part in parts]
    write_layers(path, layers)


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
