"""Trained models as agents, loaded from the files that their libraries save; these are imported only then."""

from __future__ import annotations

import functools
import inspect
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.base.memory import TransientState
from zermelo.agents.base.settings import declared
from zermelo.agents.evaluators.model_files import OnnxModel, TorchModel, check_path, numpy_array, reason_of
from zermelo.agents.policies.observation import Observation
from zermelo.agents.policies.policy import Outputs, ViewAgent
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.installing import optional_import


class _Recurrence(TransientState):
    state: Any = None


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Sb3Agent(ViewAgent):
    """Plays a model that Stable-Baselines3 or sb3-contrib saved.

    Algorithms that mask actions (``MaskablePPO``) are given the mask. Of others that rate every action (``PPO``,
    ``A2C``, ``DQN``) the best legal one is played, or drawn from the legal ones. Others may play an illegal one.

    Attributes:
        path: The file that ``model.save`` wrote; ``.zip`` may be left out.
        algorithm: The class that saved it, such as ``MaskablePPO``; files of ``PPO``, ``A2C`` and ``DQN`` tell it
            themselves.
        device: PyTorch's name of the device.
        model: The model itself, instead of the file.
    """

    kind: ClassVar[str] = "sb3"
    is_trained: ClassVar[bool] = True

    path: str = declared("", None, "the name of a file")
    algorithm: str = declared("MaskablePPO", None, "the name of a class")
    device: str = declared("cpu", None, "a name that PyTorch knows")
    model: Any = declared(None, None, "a model")

    _recurrence: _Recurrence = field(init=False, default_factory=_Recurrence)

    def __post_init__(self) -> None:
        self._loaded  # noqa: B018 - a file that cannot be read is refused now
        optional_import("stable_baselines3", "Stable-Baselines3", "sb3")
        super().__post_init__()

    @functools.cached_property
    def _loaded(self) -> Any:
        if self.model is not None:
            return self.model
        path = self.path
        if isinstance(path, str) and path and not os.path.isfile(path) and os.path.isfile(f"{path}.zip"):
            path = f"{path}.zip"
        path = check_path(path, "a model that Stable-Baselines3 saved")
        baselines = optional_import("stable_baselines3", "Stable-Baselines3", "sb3")
        name = str(self.algorithm)
        if name == Sb3Agent.algorithm:
            name = _saved_by(path) or name
        algorithm = getattr(baselines, name, None)
        if algorithm is None:
            algorithm = getattr(optional_import("sb3_contrib", "sb3-contrib", "sb3"), name, None)
        if not (isinstance(algorithm, type) and hasattr(algorithm, "load")):
            raise InvalidSettingError(
                f"neither Stable-Baselines3 nor sb3-contrib has an algorithm called {name!r}: give the class that "
                "saved the model, such as algorithm=PPO or algorithm=MaskablePPO"
            )
        try:
            return algorithm.load(path, device=self.device)
        except Exception as error:  # what a damaged or foreign file makes the library raise is open-ended
            raise InvalidSettingError(f"{path!r} is no {name} model ({reason_of(error)})") from error

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        self._recurrence.state = None
        if seed is not None and self.sample:
            from stable_baselines3.common.utils import set_random_seed

            set_random_seed(seed)

    @functools.cached_property
    def _takes_masks(self) -> bool:
        return "action_masks" in inspect.signature(self._loaded.predict).parameters

    def require_spaces(self, view: Observation, space: Any) -> None:
        model = self._loaded
        trained = getattr(model, "action_space", None)
        if trained is not None and _form(trained) != _form(space):
            raise InvalidSettingError(f"its actions are {trained}")
        seen: Any = getattr(model, "observation_space", None)
        if seen is None:
            return
        try:
            fitted = _fitted(view, seen)
        except Exception as error:
            raise InvalidSettingError(f"its observations are {seen}: {reason_of(error)}") from error
        parts = fitted.items() if isinstance(fitted, Mapping) else [("", fitted)]
        if any(part.shape != (seen.spaces[name] if name else seen).shape for name, part in parts):
            raise InvalidSettingError(f"its observations are {_form(seen)}")

    def answer(self, view: Observation) -> Any:
        model, memory = self._loaded, self._recurrence.state
        if view.actions is not None and view.action_mask is not None and not self._takes_masks:
            scores = _action_scores(model, _fitted(view, model.observation_space))
            if scores is not None and scores.shape == view.action_mask.shape:
                return scores
        masks = {"action_masks": view.action_mask} if self._takes_masks else {}
        action, self._recurrence.state = model.predict(
            _fitted(view, model.observation_space),
            state=memory,
            episode_start=np.array([memory is None]),
            deterministic=not self.sample,
            **masks,
        )
        if view.actions is None:
            return action
        return int(np.ravel(action)[0]) + view.first_action


def _form(space: Any) -> str:
    """A space without the bounds of its arrays and without the number of its first action."""
    spaces = getattr(space, "spaces", None)
    if isinstance(spaces, Mapping):
        return ", ".join(f"{name}: {_form(part)}" for name, part in spaces.items())
    if hasattr(space, "n"):
        return f"{space.n} numbers"
    return f"arrays of shape {getattr(space, 'shape', None)}"


def _saved_by(path: str) -> str | None:
    """The algorithm that saved the file, by the class of its policy, where that tells."""
    try:
        with zipfile.ZipFile(path) as archive:
            data = json.loads(archive.read("data"))
            home = str(data["policy_class"]["__module__"])
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
        return None
    if home.startswith("stable_baselines3.dqn"):
        return "DQN"
    if home == "stable_baselines3.common.policies":
        return "PPO" if "clip_range" in data else "A2C"
    return None


def _action_scores(model: Any, observation: Any) -> NDArray[Any] | None:
    """The policy's logits or values of every action; None where it has none."""
    policy = getattr(model, "policy", model)
    if not hasattr(policy, "obs_to_tensor"):
        return None
    rate = getattr(policy, "q_net", None)
    if rate is None and hasattr(policy, "get_distribution"):

        def rate(batch: Any) -> Any:
            return getattr(policy.get_distribution(batch).distribution, "logits", None)

    if rate is None or getattr(policy, "lstm_actor", None) is not None:
        return None
    import torch

    policy.set_training_mode(False)
    with torch.no_grad():
        found = rate(policy.obs_to_tensor(observation)[0])
    return None if found is None else np.asarray(found.cpu())[0]


def _fitted(view: Observation, space: Any) -> Any:
    observation = view.observation
    spaces = getattr(space, "spaces", None)
    if isinstance(spaces, Mapping):
        if not isinstance(observation, Mapping):
            observation = {"observation": observation, "action_mask": view.action_mask}
        return {name: _as_array(observation[name], part) for name, part in spaces.items()}
    return _as_array(observation, space)


def _as_array(observation: Any, space: Any) -> NDArray[Any]:
    array = np.asarray(observation, dtype=space.dtype)
    # One of the two is flat: nothing can be mixed up. Anything else is for the library to check.
    if array.shape != space.shape and 1 in (array.ndim, len(space.shape)) and array.size == np.prod(space.shape):
        array = array.reshape(space.shape)
    return array


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class NetworkAgent(ViewAgent):
    """Plays what a network, loaded by ``TorchModel`` or ``OnnxModel``, answers to a batch of one observation."""

    is_trained: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._network  # noqa: B018 - a file that cannot be read is refused now
        super().__post_init__()

    @functools.cached_property
    def _network(self) -> Any:
        model: Any = self
        return model.load()

    def require_spaces(self, view: Observation, space: Any) -> None:
        model: Any = self
        model.require_shape(self._network, np.shape(view.observation))

    def answer(self, view: Observation) -> Any:
        model: Any = self
        mask = np.ones(view.actions or 0, dtype=bool) if view.action_mask is None else view.action_mask
        seen = np.asarray(view.observation, dtype=np.float32)
        found = model.run(self._network, seen[None], mask[None])
        array = numpy_array(found[0] if isinstance(found, tuple | list) else found)
        single = array[0] if array.ndim > 0 and array.shape[0] == 1 else array
        return int(single) if self.outputs is Outputs.ACTIONS and single.ndim == 0 else single


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TorchAgent(NetworkAgent, TorchModel):
    """Plays what a PyTorch module answers to a batch of one observation: logits, or what ``outputs`` says."""

    kind: ClassVar[str] = "torch"


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class OnnxAgent(NetworkAgent, OnnxModel):
    """Plays the first output of an ONNX model for a batch of one observation: logits, or what ``outputs`` says."""

    kind: ClassVar[str] = "onnx"
