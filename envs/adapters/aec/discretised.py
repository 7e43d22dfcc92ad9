"""AEC environments with a finite number of actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gymnasium import spaces
from pettingzoo.utils.wrappers import BaseWrapper


class AECWrapper(BaseWrapper[Any, Any, Any]):
    """An environment in which each agent chooses from a list of actions."""

    def __init__(self, env: Any, actions: Mapping[Any, Sequence[Any]]) -> None:
        super().__init__(env)
        self.actions = {agent: tuple(chosen) for agent, chosen in actions.items()}
        self._spaces = {agent: spaces.Discrete(len(chosen)) for agent, chosen in actions.items()}

    def action_space(self, agent: Any) -> Any:
        """The numbers of the agent's actions."""
        return self._spaces[agent]

    def step(self, action: Any) -> None:
        """Plays the action of that number."""
        super().step(None if action is None else self.actions[self.agent_selection][int(action)])
