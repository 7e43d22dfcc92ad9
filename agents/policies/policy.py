"""Policies as agents: functions of what a player sees, trained or written by hand."""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.base.configured_agent import ConfiguredAgent
from zermelo.agents.base.settings import choice, flag, import_name
from zermelo.agents.baselines import RandomAgent
from zermelo.agents.evaluators.model_files import numpy_array, reason_of
from zermelo.agents.opponents.models import searched_policy
from zermelo.agents.policies.observation import Observation, observation_of
from zermelo.agents.specs import copied_agent
from zermelo.envs.capabilities import SupportsObservations, offers
from zermelo.envs.errors import GameOverError, InvalidSettingError, UnsupportedGameError
from zermelo.envs.live.wrappers import game_name, is_aec
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.source import described


class Outputs(enum.StrEnum):
    """Kinds of answers of a policy."""

    AUTO = "auto"
    """One integer is an action; as many numbers as there are actions are probabilities if none is negative and
    they add up to 1, else logits."""
    ACTIONS = "actions"
    """An action, as ``env.step`` takes it."""
    PROBABILITIES = "probabilities"
    """The probability of every action, those that are not legal included."""
    LOGITS = "logits"
    """The logarithm of each probability, up to a constant; or the actions' values, of which the best is played."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ViewAgent(ConfiguredAgent):
    """An agent that needs to see no more than its player does.

    Attributes:
        outputs: The kind of the policy's answer. ``"auto"`` takes one integer for an action, numbers that add up
            to 1 for probabilities, and others for logits.
        sample: Whether to draw an action by its probability, instead of playing the (first) most probable one.
    """

    needs: ClassVar[str] = "observation"  # matches call ``act_on`` and never hand it the environment

    is_trained: ClassVar[bool] = False  # true if it is a model from a file, which may be asked without harm

    outputs: Outputs = choice(Outputs.AUTO)
    sample: bool = flag(False)

    def decide(self, env: Any) -> Any:
        return self.act_on(observation_of(env))

    def check_fit(self, env: Any, view: Any = None) -> None:
        super().check_fit(env, view)
        if is_aec(env):
            self.check_view(view or observation_of(env), game_name(env), env.action_space(env.agent_selection))
        elif view is not None:
            self.check_view(view, game_name(env), env.action_space)

    def check_view(self, view: Observation, game: str, space: Any) -> None:
        """Asks for one action, and refuses an answer that is none; a policy's own errors are left to games."""
        try:
            self.require_spaces(view, space)
            _require_shape(self.act_on(view), space)
        except Exception as error:
            if not self.is_trained and not isinstance(error, InvalidSettingError):
                return
            what, remedy = "policy", "have it answer with an action or a number for each"
            if self.is_trained:
                what, remedy = "model", "play it in the environment that it was trained in"
            seen, reason = _form(view.observation), reason_of(error)
            raise UnsupportedGameError(
                f"the {what} does not fit what players of {game} see or do: they see {seen} and choose from "
                f"{space} ({reason}); {remedy}"
            ) from error
        finally:
            self.reset(self.seed)

    def require_spaces(self, view: Observation, space: Any) -> None:
        """Raises ``InvalidSettingError`` where a model says that it was made for other spaces."""

    def act_on(self, view: Observation) -> Any:
        if view.action_mask is not None and not view.action_mask.any():
            raise GameOverError(f"{view.agent} has no legal action: the game is over")
        return self._chosen(self.answer(view), view)

    def predict(self, observation: Any, action_mask: Any = None) -> Any:
        """The action for an observation, as ``env.step`` takes it.

        ``observation`` is the environment's, or PettingZoo's mapping of ``observation`` and ``action_mask``; the
        mask is nonzero where an action is legal, None if all are.

        Raises:
            GameOverError: No action is legal.
            InvalidSettingError: The policy's answer cannot be read as an action.
        """
        if isinstance(observation, Mapping) and set(observation) == {"observation", "action_mask"}:
            observation, action_mask = observation["observation"], observation["action_mask"]
        if action_mask is not None:
            mask = np.asarray(action_mask, dtype=bool).ravel()
            return self.act_on(Observation("player", observation, mask, actions=mask.size))
        view = Observation("player", observation)
        answer = self.answer(view)
        numbers = _numbers(answer)
        actions = numbers.size if numbers is not None and numbers.size > 1 else None
        return self._chosen(answer, replace(view, actions=actions))

    def probabilities(self, view: Observation) -> dict[int, float]:
        """How likely each action is to be played: without ``sample`` the most probable one for certain."""
        answer = self.answer(view)
        numbers = _numbers(answer)
        if not self.sample or self.outputs is Outputs.ACTIONS or numbers is None or numbers.size != view.actions:
            return {int(self._chosen(answer, view)): 1.0}
        legal, shares = self._shares(numbers.ravel().astype(float), view)
        return {int(place) + view.first_action: float(share) for place, share in zip(legal, shares, strict=True)}

    def answer(self, view: Observation) -> Any:
        raise TypeError(f"{type(self).__name__} does not say what it answers: define answer(view)")

    def _chosen(self, answer: Any, view: Observation) -> Any:
        if view.actions is None or self.outputs is Outputs.ACTIONS:
            return _single(answer)
        numbers = _numbers(answer)
        if numbers is not None:
            is_action = numbers.size == 1 and numbers.dtype.kind in "iu"
            if is_action and (self.outputs is Outputs.AUTO):
                return int(numbers.ravel()[0])
            if numbers.size == view.actions and max(numbers.shape, default=0) == view.actions:
                return self._best(numbers.ravel().astype(float), view)
        raise InvalidSettingError(
            f"{self._described} answered {_shown(answer)}, which is neither an action nor "
            f"{view.actions} numbers, one for each action"
        )

    @property
    def _described(self) -> str:
        return self.name

    def _best(self, scores: NDArray[np.float64], view: Observation) -> int:
        legal = _legal(scores, view)
        if np.isnan(scores[legal]).any():
            raise InvalidSettingError(f"{self._described} answered nan for a legal action: {_shown(scores)}")
        if not self.sample:
            return int(legal[np.argmax(scores[legal])]) + view.first_action
        legal, shares = self._shares(scores, view)
        return int(self.generator.choice(legal, p=shares)) + view.first_action

    def _shares(self, scores: NDArray[np.float64], view: Observation) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """The legal actions and their probabilities; equal ones if the policy gives them nothing at all."""
        legal = _legal(scores, view)
        found = scores[legal]
        sums_to_one = bool(np.all(scores >= 0)) and abs(float(scores.sum()) - 1.0) < 1e-3
        if self.outputs is Outputs.LOGITS or (self.outputs is Outputs.AUTO and not sums_to_one):
            top = found.max()
            found = np.exp(found - top) if np.isfinite(top) else (found == top).astype(float)
        elif (found < 0).any():
            raise InvalidSettingError(f"{self._described} answered a probability below 0: {_shown(scores)}")
        total = found.sum()
        return legal, np.full(found.size, 1 / found.size) if total == 0 else found / total


def _form(seen: Any) -> str:
    """The shape of an observation, as messages print it."""
    if isinstance(seen, Mapping):
        return ", ".join(f"{name}: {_form(part)}" for name, part in seen.items())
    shape = np.shape(seen) if isinstance(seen, np.ndarray | np.generic | list | tuple) else None
    return type(seen).__name__ if shape is None else f"an array of shape {shape}"


def _require_shape(action: Any, space: Any) -> None:
    shape = getattr(space, "shape", None)
    if shape is None or hasattr(space, "n"):
        return
    numbers = _numbers(action)
    if numbers is None or numbers.shape != shape:
        found = "no numbers" if numbers is None else f"an array of shape {numbers.shape}"
        raise InvalidSettingError(f"it answered {_shown(action)}, which is {found}, not one of shape {shape}")
    if np.isnan(numbers).any():
        raise InvalidSettingError(f"it answered nan: {_shown(action)}")


def _legal(scores: NDArray[np.float64], view: Observation) -> NDArray[Any]:
    return np.arange(scores.size) if view.action_mask is None else np.flatnonzero(view.action_mask)


def _numbers(answer: Any) -> NDArray[Any] | None:
    try:
        numbers = numpy_array(answer)
    except Exception:  # whatever an object's own conversion raises, it is no array of numbers
        return None
    return numbers if numbers.dtype.kind in "iuf" else None


def _single(answer: Any) -> Any:
    """One integer in an array (as learned policies answer) as an integer; anything else as it is."""
    numbers = _numbers(answer)
    if numbers is not None and numbers.size == 1 and numbers.ndim <= 1 and numbers.dtype.kind in "iu":
        return int(numbers.ravel()[0])
    return answer if numbers is None or isinstance(answer, int | float | list | tuple) else numbers


def _shown(value: Any) -> str:
    try:
        text = " ".join(repr(value).split())
    except Exception:  # an answer may have a broken repr; its type will do
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _check_policy(name: str, policy: Any) -> Any:
    if isinstance(policy, str):
        if not policy:
            raise InvalidSettingError(
                "a policy agent needs its policy: a function of (observation, action_mask), or the 'module:name' "
                "of one"
            )
        policy = import_name(policy)
    if not callable(policy) or isinstance(policy, type):
        raise InvalidSettingError(f"policy must be a function of (observation, action_mask), not {policy!r}")
    _arguments_of(policy)
    return policy


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PolicyAgent(ViewAgent):
    """Plays what a function of the observation and the action mask says.

    Attributes:
        policy: ``policy(observation, action_mask)``, ``policy(observation, action_mask, agent)`` or
            ``policy(observation)``; or the ``"module:name"`` of such a function. The mask is an array of booleans,
            or None. Its method ``reset``, if any, is called before each game, with the seed if it takes one.
    """

    kind: ClassVar[str] = "policy"

    policy: Callable[..., Any] | str = field(
        default="",
        kw_only=False,
        metadata={"check": _check_policy, "allowed": "a function, or its module:name"},
    )

    @property
    def _described(self) -> str:
        return f"the policy {described(self.policy)}"

    @functools.cached_property
    def _arguments(self) -> int:
        assert callable(self.policy), "names become functions when the agent is made"
        return _arguments_of(self.policy)

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        own = getattr(self.policy, "reset", None)
        if callable(own):
            own(*(() if not _takes(own, 1) else (seed,)))

    def answer(self, view: Observation) -> Any:
        assert callable(self.policy), "names become functions when the agent is made"
        given = (view.observation, view.action_mask, view.agent)
        return self.policy(*given[: self._arguments])


def _arguments_of(policy: Callable[..., Any]) -> int:
    """With how many of observation, mask and agent to call a policy."""
    try:
        names = list(inspect.signature(policy).parameters)
    except ValueError:  # made in C, without a signature
        return 2
    for count in (3, 2, 1) if names[2:3] == ["agent"] else (2, 3, 1):
        if _takes(policy, count):
            return count
    raise InvalidSettingError(
        f"policy must take (observation, action_mask), which {_shown(policy)} with {inspect.signature(policy)} "
        "does not"
    )


def _takes(function: Callable[..., Any], arguments: int) -> bool:
    try:
        inspect.signature(function).bind(*range(arguments))
    except (TypeError, ValueError):
        return False
    return True


@checked_call
def agent_policy(agent: Any) -> Callable[[Any, Any], Mapping[int, float]]:
    """A function of game and state that says how likely an agent plays each action, for ``exploitability``.

    A search begins each state with its own seed; actions that it draws among are equally likely. Agents that mix,
    and learned policies with ``sample=True``, are asked for their probabilities.

    Raises:
        InvalidSettingError: The agent does not search, see observations or play at random.
    """
    made = copied_agent(agent)
    if isinstance(made, ViewAgent):
        return lambda game, state: made.probabilities(view_at(game, state))
    if isinstance(made, RandomAgent) or hasattr(made, "search_state"):
        return lambda game, state: searched_policy(made, game, state)
    raise InvalidSettingError(
        f"{made.name} acts in environments only: what it plays is known of agents that search, of 'random' and of "
        "policies that see observations"
    )


def view_at(game: Any, state: Any) -> Observation:
    """The observation of the player to move in a state of a game."""
    observes = offers(game, SupportsObservations)
    if not observes:
        raise InvalidSettingError(f"{game.traits.name} does not say what its players observe")
    seat, size = game.to_move(state), game.traits.num_actions
    mask = np.zeros(size, bool)
    mask[list(game.legal_actions(state))] = True
    return Observation(game.traits.seat_names[seat], game.observation(state, seat), mask, 0, size)
