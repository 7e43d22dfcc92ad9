"""Environments whose actions are numbers without end, with a finite number of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import ActionWrapper, spaces
from pettingzoo.utils.wrappers import BaseWrapper

from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.live.spaces import MAX_ENUMERATED_ACTIONS
from zermelo.envs.live.wrappers import game_name, is_aec, is_gymnasium
from zermelo.envs.support.calls import checked_call


@checked_call
def discretise(env: Any, bins: int | Sequence[int] = 5, *, actions: Sequence[Any] | None = None) -> Any:
    """A wrapped Gymnasium or AEC environment with a ``Discrete`` action space, which agents can search.

    Args:
        env: The environment. Without ``actions``, its action space is a bounded ``Box``.
        bins: How many values each number of an action takes, evenly from its lower to its upper bound; or one
            such count for each number.
        actions: The actions to choose from, as ``env.step`` takes them, in place of evenly spaced ones.

    Raises:
        InvalidSettingError: ``bins`` or ``actions`` do not fit the action space.
        UnsupportedGameError: It is no such environment, or its action space has no bounds.
    """
    if is_gymnasium(env):
        return _GymWrapper(env, _actions_of(env.action_space, bins, actions, game_name(env)))
    if not is_aec(env):
        raise UnsupportedGameError(
            f"discretise takes a Gymnasium or a PettingZoo AEC environment, not {type(env).__name__}"
        )
    chosen = {}
    for agent in env.possible_agents:
        chosen[agent] = _actions_of(env.action_space(agent), bins, actions, f"{agent!r} in {game_name(env)}")
    return _AECWrapper(env, chosen)


class _GymWrapper(ActionWrapper[Any, Any, Any]):
    def __init__(self, env: Any, actions: Sequence[Any]) -> None:
        super().__init__(env)
        self.actions = tuple(actions)
        self.action_space = spaces.Discrete(len(self.actions))

    def action(self, action: Any) -> Any:
        return self.actions[int(action)]


class _AECWrapper(BaseWrapper[Any, Any, Any]):
    def __init__(self, env: Any, actions: Mapping[Any, Sequence[Any]]) -> None:
        super().__init__(env)
        self.actions = {agent: tuple(chosen) for agent, chosen in actions.items()}
        self._spaces = {agent: spaces.Discrete(len(chosen)) for agent, chosen in actions.items()}

    def action_space(self, agent: Any) -> Any:
        return self._spaces[agent]

    def step(self, action: Any) -> None:
        super().step(None if action is None else self.actions[self.agent_selection][int(action)])


def _actions_of(space: Any, bins: int | Sequence[int], actions: Sequence[Any] | None, whose: str) -> list[Any]:
    if actions is not None:
        wrong = [action for action in actions if not space.contains(action)]
        if wrong or not len(actions):
            raise InvalidSettingError(
                f"actions must be elements of {space}, the action space of {whose}, not "
                f"{wrong[0] if wrong else []!r}"
            )
        return list(actions)
    if not isinstance(space, spaces.Box) or not space.is_bounded():
        raise UnsupportedGameError(
            f"the action space of {whose} is {space}, no Box with bounds: list the actions to choose from, "
            "discretise(env, actions=[...])"
        )
    counts = [bins] * math.prod(space.shape) if isinstance(bins, int) else list(bins)
    are_counts = all(isinstance(count, int) and not isinstance(count, bool) and count >= 1 for count in counts)
    if len(counts) != math.prod(space.shape) or not are_counts:
        raise InvalidSettingError(
            f"bins must be a whole number of at least 1, or {math.prod(space.shape)} of them, not {bins!r}"
        )
    if math.prod(counts) > MAX_ENUMERATED_ACTIONS:
        raise InvalidSettingError(
            f"bins={bins!r} makes {math.prod(counts):.3g} actions of {space}: search enumerates at most "
            f"{MAX_ENUMERATED_ACTIONS:,}"
        )
    ends = zip(np.ravel(space.low).tolist(), np.ravel(space.high).tolist(), counts, strict=True)
    values = [[(low + high) / 2] if count == 1 else np.linspace(low, high, count) for low, high, count in ends]
    return [np.array(each, space.dtype).reshape(space.shape) for each in itertools.product(*values)]
