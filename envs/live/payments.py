"""Payments to the agents of a live AEC environment, and steps as it wants them.

An agent is paid what ``last()`` gives at its turns, and what waits there at the end; where that is nothing
throughout, ``rewards``. Those of steps of dead agents do not count: Shimmy's pays the final ones again.
"""

from __future__ import annotations

from typing import Any

from zermelo.envs.clone.outside_state import is_known_to_clone
from zermelo.envs.live.masks import wants_numpy, writes_own_last
from zermelo.envs.live.spaces import ActionCodec
from zermelo.envs.live.wrappers import innermost


class Payments:
    """Steps an environment that has just been reset, and counts what that pays.

    One with a ``last()`` of its own is asked by it before each step, as a loop over ``agent_iter`` does; one that
    takes integers of NumPy's alone is given those.
    """

    def __init__(self, env: Any) -> None:
        self._env, self._inner = env, innermost(env)
        self._asks_last = writes_own_last(env)
        self._converts = not is_known_to_clone(self._inner)
        self._received, self._said = dict[Any, float](), dict[Any, float]()
        self._waiting = self._cumulative()
        self._add(self._said, self._inner.rewards)

    def totals(self) -> dict[Any, float]:
        """The payments to each agent so far; agents that were never paid may be missing."""
        totals = dict(self._received)
        self._add(totals, self._waiting)
        return totals if any(totals.values()) else dict(self._said)

    def step(self, action: Any) -> None:
        """Steps for the agent to move; None for one that is dead."""
        inner = self._inner
        agent = inner.agent_selection
        if inner.terminations.get(agent) or inner.truncations.get(agent):
            self._env.step(action)
            paid, self._waiting = self._waiting, self._cumulative()
            self._add(self._received, paid)
            self._add(self._received, {seat: -reward for seat, reward in self._waiting.items()})
            return
        if self._asks_last:
            self._waiting[agent] = float(self._env.last()[1])
        given = self._waiting.get(agent, 0.0)
        is_number = isinstance(action, int) and not isinstance(action, bool)
        self._env.step(self._native(action, agent) if self._converts and is_number else action)
        if given:
            self._received[agent] = self._received.get(agent, 0.0) + given
        self._waiting = self._cumulative()
        self._add(self._said, inner.rewards)

    def _native(self, action: int, agent: Any) -> Any:
        codec = ActionCodec(self._env.action_space(agent), "")
        codec.as_numpy = wants_numpy(self._env, codec, action)
        self._converts = codec.as_numpy
        return codec.to_env(action)

    def _cumulative(self) -> dict[Any, float]:
        waiting = getattr(self._inner, "_cumulative_rewards", None) or {}
        return {agent: float(reward) for agent, reward in waiting.items()}

    @staticmethod
    def _add(totals: dict[Any, float], paid: Any) -> None:
        for agent, reward in paid.items():
            if reward:
                totals[agent] = totals.get(agent, 0.0) + float(reward)
