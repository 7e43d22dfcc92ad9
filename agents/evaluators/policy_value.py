"""Policy-value networks as evaluators: which action to follow, and what a state is worth, many states at a time.

As in AlphaZero (Silver et al., Science 362 (2018)), a network is given

- observations of shape (batch, *what the player sees), float32: what the player to move observes, without the
mask; - masks of shape (batch, actions), if it takes them: true where an action is legal;

and returns

- the policy of shape (batch, actions): a logit for each action number, of which only those of legal ones count;
- the value of shape (batch,), (batch, 1) or (batch, seats): what is still to come, from -1 (the lower bound of
  utility) to 1 (the upper one); utility as it is where the bounds are infinite. One number is that of the player
  to move, several are those of all players in the order of their turns, from it on.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.base.settings import setting_text
from zermelo.agents.evaluators.model_files import OnnxModel, TorchModel, numpy_array
from zermelo.agents.evaluators.protocol import to_come_by_seat
from zermelo.envs.capabilities import SupportsObservations, offers
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.game import Game
from zermelo.envs.support.spec_text import format_spec


class Rated(NamedTuple):
    """Answer of a policy-value network for a state."""

    priors: Sequence[float]  # the probability of each of ``game.legal_actions(state)``, in their order
    values: Sequence[float]  # what is still to come for each seat, strictly inside the bounds of utility


@runtime_checkable
class PolicyValue(Protocol):
    """An evaluator of many states at a time that also says which actions to follow."""

    def evaluate_batch(self, game: Game[Any], states: Sequence[Any]) -> Sequence[Rated]:
        """Rates states, unfinished ones in which a player is to move."""
        ...


class NetworkEvaluator:
    """A policy-value network that sees what players see; the module's text has its inputs and outputs.

    ``network(observations)``, or ``network(observations, masks)`` with ``mask_input``, returns policy and value.
    """

    def __init__(self, network: Any, *, mask_input: bool = False) -> None:
        self.network, self.mask_input = network, mask_input

    def __call__(self, game: Game[Any], state: Any) -> Sequence[float]:
        return self.evaluate_batch(game, [state])[0].values

    def answer(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> Sequence[Any]:
        outputs: Sequence[Any] = self.network(*(observations, masks)[: 1 + self.mask_input])
        return outputs

    def evaluate_batch(self, game: Any, states: Sequence[Any]) -> Sequence[Rated]:
        actions, observes = game.traits.num_actions, offers(game, SupportsObservations)
        if not observes or actions is None:
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
            Rated(_softmax(policy[row, legal[row]]), _values(game, state, value[row], seats[row]))
            for row, state in enumerate(states)
        ]

    def _checked(self, answer: Any, count: int, game: Game[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        actions, seats = game.traits.num_actions, game.traits.seats
        try:
            policy, value = (numpy_array(part).astype(float) for part in tuple(answer)[:2])
        except (TypeError, ValueError) as error:
            raise InvalidSettingError(
                f"a policy-value network returns the policy and the value, two arrays, not {type(answer).__name__}"
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


class FileNetwork(NetworkEvaluator):
    """A policy-value network from a file; a class that derives from it and from a model says which."""

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        model: Any = self
        object.__setattr__(self, "network", model.load())

    def spec(self) -> str:
        model: Any = self
        own = ((field, getattr(self, field.name)) for field in fields(model))
        return format_spec(
            self.kind, {field.name: setting_text(value) for field, value in own if value != field.default}
        )

    def answer(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> Sequence[Any]:
        model: Any = self
        outputs: Sequence[Any] = model.run(self.network, observations, masks)
        return outputs

    def __reduce__(self) -> Any:
        model: Any = self
        return functools.partial(
            type(self), **{field.name: getattr(self, field.name) for field in fields(model)}
        ), ()


@dataclass(frozen=True, kw_only=True)
class TorchNetwork(FileNetwork, TorchModel):
    """A policy-value network of PyTorch's."""

    kind: ClassVar[str] = "torch"


@dataclass(frozen=True, kw_only=True)
class OnnxNetwork(FileNetwork, OnnxModel):
    """A policy-value network in an ONNX file."""

    kind: ClassVar[str] = "onnx"


def _softmax(logits: NDArray[Any]) -> list[float]:
    """Probabilities; all the same where no logit is finite."""
    top = float(logits.max())
    weights = [math.exp(logit - top) if math.isfinite(top) else 1.0 for logit in logits.tolist()]
    total = sum(weights)
    return [weight / total for weight in weights]


def _values(game: Game[Any], state: Any, answer: NDArray[Any], seat: int) -> tuple[float, ...]:
    """Utility to come for each seat, from values that begin with the seat to move."""
    traits = game.traits
    lower, upper = traits.utility_bounds
    if math.isfinite(upper - lower):
        inside = np.clip(lower + (answer + 1) / 2 * (upper - lower), lower, upper)
        answer = np.clip(inside, math.nextafter(lower, math.inf), math.nextafter(upper, -math.inf))
    values: list[float] = answer.tolist()
    if len(values) == traits.seats:
        return tuple(values[(other - seat) % traits.seats] for other in range(traits.seats))
    if traits.is_opposed:
        return to_come_by_seat(game, state, seat, values[0])
    raise InvalidSettingError(
        f"{traits.name} has {traits.seats} players who are not simply opposed: a network gives a value for each"
    )
