"""Policy-value networks as evaluators: which action to follow, and what a state is worth, many states at a time.

What a network is given and gives back, as in AlphaZero (Silver et al., "A general reinforcement learning algorithm
that masters chess, shogi, and Go through self-play", Science 362 (2018)):

==============  =====================================  ====================================================
observations    (batch, *what the player sees)         float32; what the player to move observes of its
                                                       state, as the environment shows it, without the mask
masks           (batch, actions), if it takes them     true where an action is legal
policy          (batch, actions)                       a logit for each action number; others than legal
                                                       ones do not count
value           (batch,), (batch, 1), (batch, seats)   what is still to come, from -1 (the lower bound of
                                                       utility) to 1 (the upper one); one number is that of
                                                       the player to move, several are those of all players
                                                       in the order of their turns, from it on
==============  =====================================  ====================================================

Where the bounds of utility are infinite, values are utilities as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.core.settings import setting_text
from zermelo.agents.evaluators.model_files import load_onnx, load_torch, require, typed
from zermelo.envs import Game, InvalidSettingError, RewardSum, UnsupportedGameError
from zermelo.envs.capabilities import SupportsObservations
from zermelo.envs.spec_text import format_spec


class Rated(NamedTuple):
    """What a policy-value network says of a state.

    Attributes:
        priors: The probability of each of ``game.legal_actions(state)``, in their order.
        values: What is still to come for each seat, strictly inside the bounds of utility.
    """

    priors: Sequence[float]
    values: Sequence[float]


@runtime_checkable
class PolicyValue(Protocol):
    """An evaluator of many states at a time that also says which actions to follow."""

    def evaluate_batch(self, game: Game[Any], states: Sequence[Any]) -> Sequence[Rated]:
        """What it says of each state: unfinished ones in which a player is to move."""
        ...


class NetworkEvaluator:
    """A policy-value network that sees what players see; the module's text has its inputs and outputs.

    ``network(observations)`` or ``network(observations, masks)`` returns the policy and the value, as arrays of
    NumPy or what it makes arrays of.

    Args:
        network: The network, or any function.
        mask_input: Whether it takes the masks.
    """

    def __init__(self, network: Any, *, mask_input: bool = False) -> None:
        self.network, self.mask_input = network, mask_input

    def __call__(self, game: Game[Any], state: Any) -> Sequence[float]:
        """What is still to come for each seat."""
        return self.evaluate_batch(game, [state])[0].values

    def answer(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> Sequence[Any]:
        """The policy and the value, for a batch."""
        found: Sequence[Any] = self.network(*(observations, masks)[: 1 + self.mask_input])
        return found

    def evaluate_batch(self, game: Game[Any], states: Sequence[Any]) -> Sequence[Rated]:
        """What the network says of each state.

        Raises:
            UnsupportedGameError: Nobody says what players of this game observe, or how many actions it has.
            InvalidSettingError: The network's answer has another shape, or is no number.
        """
        actions = game.traits.num_actions
        if not isinstance(game, SupportsObservations) or actions is None:
            raise UnsupportedGameError(
                f"{game.traits.name} does not say what its players observe in a state, or how many actions there "
                "are, so a network cannot be asked: give an evaluator of game and state"
            )
        seats = [game.to_move(state) for state in states]
        legal = [list(game.legal_actions(state)) for state in states]
        seen = [np.asarray(game.observation(state, seat)) for state, seat in zip(states, seats, strict=True)]
        masks = np.zeros((len(states), actions), bool)
        for row, numbers in enumerate(legal):
            masks[row, numbers] = True
        policy, value = self._checked(self.answer(np.stack(seen).astype(np.float32), masks), len(states), game)
        return [
            Rated(_softmax(policy[row, legal[row]]), _values(game, value[row], seats[row]))
            for row in range(len(states))
        ]

    def _checked(self, found: Any, count: int, game: Game[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Policy and value as arrays of the right shapes."""
        actions, seats = game.traits.num_actions, game.traits.seats
        try:
            policy, value = (np.asarray(_array(part), dtype=float) for part in tuple(found)[:2])
        except (TypeError, ValueError) as error:
            raise InvalidSettingError(
                f"a policy-value network returns the policy and the value, two arrays, not {type(found).__name__}"
            ) from error
        if policy.shape != (count, actions) or value.size not in (count, count * seats):
            raise InvalidSettingError(
                f"for {count} states of {game.traits.name} a network returns a policy of shape ({count}, "
                f"{actions}) and a value of shape ({count},), ({count}, 1) or ({count}, {seats}), not "
                f"{policy.shape} and {value.shape}"
            )
        if not (np.isfinite(value).all() and not np.isnan(policy).any()):
            raise InvalidSettingError("the network answered with a number that is not finite")
        return policy, value.reshape(count, -1)


@dataclass(frozen=True, kw_only=True)
class TorchNetwork(NetworkEvaluator):
    """A policy-value network of PyTorch's; ``TorchAgent`` says what files it reads.

    Attributes:
        path: The file.
        module: ``"mypackage.networks:Net"``, which makes the module that a state dict belongs to.
        mask_input: Whether it takes the masks as a second input.
        device: PyTorch's name of the device.
    """

    path: str = ""
    module: Any = None
    mask_input: bool = False
    device: str = "cpu"

    def __post_init__(self) -> None:
        object.__setattr__(self, "network", load_torch(self.path, self.module, self.device))

    def spec(self) -> str:
        """The text that names this evaluator."""
        return _spec("torch", self, TorchNetwork)

    def __reduce__(self) -> Any:
        return _again, (TorchNetwork, {name: getattr(self, name) for name in self.__dataclass_fields__})

    def answer(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> Sequence[Any]:
        """The policy and the value, for a batch."""
        torch = require("torch", "PyTorch", "torch")
        with torch.inference_mode():
            inputs = [torch.as_tensor(one, device=self.device) for one in (observations, masks)]
            found: Sequence[Any] = self.network(*inputs[: 1 + self.mask_input])
        return found


@dataclass(frozen=True, kw_only=True)
class OnnxNetwork(NetworkEvaluator):
    """A policy-value network in an ONNX file; a second input is given the masks.

    Attributes:
        path: The ``.onnx`` file; its batch must be free to vary.
    """

    path: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "network", load_onnx(self.path))

    def spec(self) -> str:
        """The text that names this evaluator."""
        return _spec("onnx", self, OnnxNetwork)

    def __reduce__(self) -> Any:
        return _again, (OnnxNetwork, {"path": self.path})

    def answer(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> Sequence[Any]:
        """The policy and the value, for a batch."""
        entries = self.network.get_inputs()
        feed = {
            entry.name: typed(part, entry) for entry, part in zip(entries, (observations, masks), strict=False)
        }
        found: Sequence[Any] = self.network.run(None, feed)
        return found


def _again(kind: Any, settings: dict[str, Any]) -> Any:
    return kind(**settings)


def _spec(name: str, evaluator: Any, kind: Any) -> str:
    fields = kind.__dataclass_fields__.values()
    given = {field.name: getattr(evaluator, field.name) for field in fields}
    shown = {field.name: setting_text(given[field.name]) for field in fields if given[field.name] != field.default}
    return format_spec(name, shown)


def _array(part: Any) -> Any:
    return part.detach().cpu().numpy() if hasattr(part, "detach") else part


def _softmax(logits: NDArray[Any]) -> list[float]:
    """Probabilities; all the same where no logit is above minus infinity."""
    top = logits.max()
    weights = np.exp(logits - top) if np.isfinite(top) else np.ones_like(logits)
    found: list[float] = (weights / weights.sum()).tolist()
    return found


def _values(game: Game[Any], answer: NDArray[Any], seat: int) -> tuple[float, ...]:
    """What is to come for each seat, of what the network says from the seat to move on."""
    traits = game.traits
    lower, upper = traits.utility_bounds
    if math.isfinite(upper - lower):
        inside = np.clip(lower + (answer + 1) / 2 * (upper - lower), lower, upper)
        answer = np.clip(inside, math.nextafter(lower, math.inf), math.nextafter(upper, -math.inf))
    told: list[float] = answer.tolist()
    if len(told) == traits.seats:
        return tuple(told[(other - seat) % traits.seats] for other in range(traits.seats))
    if traits.seats == 2 and traits.reward_sum is not RewardSum.GENERAL:
        rest = traits.constant - told[0]
        return (told[0], rest) if seat == 0 else (rest, told[0])
    raise InvalidSettingError(
        f"{traits.name} has {traits.seats} players who are not simply opposed: a network gives a value for each"
    )
