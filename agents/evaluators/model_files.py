"""Networks from files of PyTorch and ONNX, which are imported only then, with messages that say what is wrong."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.base.settings import declared, flag, import_name
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.installing import optional_import

_ONNX_TYPES: Final = {"tensor(float)": "float32", "tensor(double)": "float64"}


def check_path(path: str, what: str) -> str:
    """The path of a file that is there."""
    if not isinstance(path, str | os.PathLike) or not str(path):
        raise InvalidSettingError(f"path must name {what}, not {path!r}")
    path = os.fspath(path)
    if not os.path.isfile(path):
        raise InvalidSettingError(f"there is no file {path!r}: path must name {what}")
    return path


def reason_of(error: Exception) -> str:
    """The message of a library's error, on one line."""
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


def numpy_array(answer: Any) -> NDArray[Any]:
    """An array of a PyTorch tensor, or of anything else."""
    return np.asarray(answer.detach().cpu().numpy() if hasattr(answer, "detach") else answer)


@dataclass(frozen=True, kw_only=True)
class TorchModel:
    """A PyTorch network from a file, for batches of observations.

    Attributes:
        path: A TorchScript file (``torch.jit.save``), a program (``torch.export.save``, ``.pt2``), or, with
            ``module``, a state dict. Pickled modules are not read: a pickle can run any code.
        module: ``"mypackage.networks:Net"``, which makes the module that the state dict belongs to; without a
            path also a ``torch.nn.Module`` that is ready.
        mask_input: Whether the module takes the action masks as a second input.
        device: PyTorch's name of the device.
    """

    path: str = declared("", None, "the name of a file")
    module: Any = declared(None, None, "a module, or the module:name of what makes one")
    mask_input: bool = flag(False)
    device: str = declared("cpu", None, "a name that PyTorch knows")

    def load(self) -> Any:
        has_file = bool(self.path) or self.module is None
        path = check_path(self.path, "a file that PyTorch saved") if has_file else ""
        torch = optional_import("torch", "PyTorch", "torch")
        if not path:
            return self._made(torch)
        try:
            if self.module is not None:
                network = self._made(torch)
                network.load_state_dict(torch.load(path, map_location=self.device, weights_only=True))
                return network
            if path.endswith(".pt2"):
                return torch.export.load(path).module().to(self.device)
            return torch.jit.load(path, map_location=self.device).eval()
        except InvalidSettingError:
            raise
        except Exception as error:  # what a damaged or foreign file makes the library raise is open-ended
            reason = reason_of(error)
            if "PytorchStreamReader" in reason or "miniz" in reason:
                reason = "it is damaged, or was not saved by PyTorch"
            raise InvalidSettingError(
                f"{path!r} cannot be read ({reason}): save it with torch.jit.save or "
                "torch.export.save, or save its state_dict() and say module='mypackage.mymodule:Net'"
            ) from error

    def _made(self, torch: Any) -> Any:
        made = import_name(self.module) if isinstance(self.module, str) else self.module
        if isinstance(made, type) or not isinstance(made, torch.nn.Module):
            made = made()
        if not isinstance(made, torch.nn.Module):
            raise InvalidSettingError(f"module={self.module!r} made {made!r}, which is no torch.nn.Module")
        return made.to(self.device).eval()

    def require_shape(self, network: Any, shape: tuple[int, ...]) -> None:
        """Nothing: a module does not say what it takes until it is asked."""

    def run(self, network: Any, observations: NDArray[Any], masks: NDArray[np.bool_]) -> Any:
        torch = optional_import("torch", "PyTorch", "torch")
        with torch.inference_mode():
            inputs = (torch.as_tensor(one, device=self.device) for one in (observations, masks))
            return network(*[*inputs][: 1 + self.mask_input])


@dataclass(frozen=True, kw_only=True)
class OnnxModel:
    """An ONNX network from a file, for batches of observations; a second input is given the action masks.

    Attributes:
        path: The ``.onnx`` file. For evaluators its batch must be free to vary.
    """

    path: str = declared("", None, "the name of a file")

    def load(self) -> Any:
        path = check_path(self.path, "an ONNX model")
        runtime = optional_import("onnxruntime", "ONNX Runtime", "onnx")
        try:
            session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime's errors have no common base but this
            raise InvalidSettingError(f"{path!r} is no ONNX model that can be run ({reason_of(error)})") from error
        if not 1 <= len(session.get_inputs()) <= 2:
            raise InvalidSettingError(
                f"{path!r} has {len(session.get_inputs())} inputs: it should have the observation and perhaps the "
                "mask"
            )
        return session

    def require_shape(self, network: Any, shape: tuple[int, ...]) -> None:
        """Refuses observations of a shape that the model's first input does not take."""
        wanted = network.get_inputs()[0].shape[1:]
        given = (math.prod(shape),) if len(wanted) == 1 else shape
        if len(wanted) != len(given) or any(
            isinstance(most, int) and most != size for most, size in zip(wanted, given, strict=True)
        ):
            raise InvalidSettingError(f"it takes observations of shape {tuple(wanted)}")

    def run(self, network: Any, observations: NDArray[Any], masks: NDArray[np.bool_]) -> Sequence[Any]:
        inputs = zip(network.get_inputs(), (observations, masks), strict=False)
        outputs: Sequence[Any] = network.run(None, {entry.name: _typed(batch, entry) for entry, batch in inputs})
        return outputs


def _typed(batch: NDArray[Any], entry: Any) -> NDArray[Any]:
    """A batch in the type, and if it is flat there, in the shape that a model's input declares."""
    if len(entry.shape) == 2 and batch.ndim != 2:
        batch = batch.reshape(len(batch), -1)
    kind = _ONNX_TYPES.get(entry.type, entry.type.removeprefix("tensor(").removesuffix(")"))
    return batch.astype(kind if kind in np.sctypeDict else np.float32)
