"""Policy-value networks of dense layers, in a file of arrays, which compiled searches evaluate in their own code.

Observations go through a layer, residual blocks of two layers, and two heads: two layers to the policy, three to
the value. All but the last of each head are followed by a ReLU, the value by a hyperbolic tangent. Numbers are
float32, and sums are in the order of the inputs, so that NumPy here and ``compiled.evaluators`` agree to the bit.
"""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.evaluators.model_files import check_path, reason_of
from zermelo.envs import InvalidSettingError
from zermelo.envs.files import replaced

_HEADS: Final = 5
"""Layers of the two heads, after the first layer and the blocks."""


class Layer(NamedTuple):
    """A dense layer: weights of shape (inputs, outputs), and biases, both float32."""

    weights: NDArray[np.float32]
    biases: NDArray[np.float32]


class Step(NamedTuple):
    """A layer's place in a network: the names of the vectors that it reads and writes.

    With ``adds`` the result is added to what is there; with ``rectifies`` a ReLU follows.
    """

    source: str
    target: str
    adds: bool = False
    rectifies: bool = True


def steps(count: int) -> Iterator[Step]:
    """The places of so many layers, in order."""
    yield Step("seen", "body")
    for _ in range((count - 1 - _HEADS) // 2):
        yield Step("body", "block")
        yield Step("block", "body", adds=True)
    yield Step("body", "choice")
    yield Step("choice", "logits", rectifies=False)
    yield Step("body", "worth")
    yield Step("worth", "hidden")
    yield Step("hidden", "value", rectifies=False)


def write_layers(path: Path, layers: Sequence[Layer]) -> None:
    """Writes a network's layers."""
    arrays: dict[str, Any] = {
        f"{number} {name}": part for number, layer in enumerate(layers) for name, part in layer._asdict().items()
    }
    try:
        with replaced(path) as partial, partial.open("wb") as file:
            np.savez(file, **arrays)
    except OSError as error:
        raise InvalidSettingError(f"cannot write {path} ({error.strerror}): choose another file") from error


@dataclass(frozen=True, kw_only=True)
class DenseModel:
    """A network of dense layers from a file; AlphaZero's training writes such files with ``dense``.

    Attributes:
        path: The ``.npz`` file; "connect_four" comes with the package.
    """

    path: str = ""
    mask_input = False
    is_dense = True

    def load(self) -> list[Layer]:
        """The layers, checked."""
        shipped = Path(__file__).with_name("networks") / f"{self.path}.npz"
        is_shipped = self.path == shipped.stem and shipped.exists()
        path = os.fspath(shipped) if is_shipped else check_path(self.path, "a network of dense layers")
        try:
            if not zipfile.is_zipfile(path):
                raise ValueError("it is no .npz file")
            with np.load(path, allow_pickle=False) as file:
                count = len(file.files) // 2
                layers = [Layer(*(file[f"{n} {name}"] for name in Layer._fields)) for n in range(count)]
            sizes = {"value": 1}
            if count < 1 + _HEADS or (count - 1 - _HEADS) % 2:
                raise ValueError(f"it has {count} layers")
            for step, (weights, biases) in zip(steps(count), layers, strict=True):
                shape = sizes.setdefault(step.source, len(weights)), sizes.setdefault(step.target, len(biases))
                if weights.shape != shape or biases.shape != shape[1:]:
                    raise ValueError("its layers do not fit together")
                if {weights.dtype, biases.dtype} != {np.dtype(np.float32)} or not np.isfinite(weights).all():
                    raise ValueError("its numbers are not finite numbers of type float32")
        except Exception as error:  # what a damaged or foreign file makes NumPy raise is open-ended
            raise InvalidSettingError(
                f"{path!r} is no network of dense layers that can be read ({reason_of(error)}): "
                "scripts/train_alphazero.py --dense writes one"
            ) from error
        return layers

    def placed(self, network: Sequence[Layer]) -> Iterator[tuple[Step, Layer]]:
        """The layers, each with its place."""
        return zip(steps(len(network)), network, strict=True)

    def run(
        self, network: Sequence[Layer], observations: NDArray[Any], masks: NDArray[np.bool_]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        vectors = {"seen": observations.reshape(len(observations), -1).astype(np.float32)}
        if vectors["seen"].shape[1] != len(network[0].weights):
            raise InvalidSettingError(
                f"{self.path!r} takes observations of {len(network[0].weights)} numbers, not "
                f"{vectors['seen'].shape[1]}"
            )
        for step, (weights, biases) in self.placed(network):
            source = vectors[step.source]
            target = biases + (vectors[step.target] if step.adds else np.zeros((len(source), 1), np.float32))
            for place in np.flatnonzero(source.any(axis=0)):
                target += source[:, place : place + 1] * weights[place]
            vectors[step.target] = np.maximum(target, 0) if step.rectifies else target
        return vectors["logits"], np.array([math.tanh(value) for value in vectors["value"][:, 0].tolist()])
