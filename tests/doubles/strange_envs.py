"""Environments as third parties write them, each awkward in one way: masks, spaces, clocks, prints."""

from __future__ import annotations

import copy
import time
import types
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from doubles.game_envs import SmallEnv
from gymnasium import spaces

ALLOWED = ((1, 0, 1, 0), (0, 1, 1, 0), (1, 0, 0, 1))


class Pick(SmallEnv):
    """Two agents pick one of four numbers three times each, by the mask of the turn; the first one's sum decides.

    ``show`` says where the mask is. What the mask forbids fails an assertion.
    """

    zermelo_traits: Any = None

    def __init__(self, show: str = "observation", rounds: int = 6, wait: float = 0.0) -> None:
        super().__init__(["one", "two"], 4)
        self.show, self.rounds, self.wait = show, rounds, wait
        self.inside: Callable[[str], Any] | None = None

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.total = 0
        self.history: list[int] = []
        self.show_mask()

    def mask(self) -> Any:
        return np.array(ALLOWED[self.turns % 3], np.int8)

    def show_mask(self) -> None:
        info: dict[str, Any] = {}
        if self.show == "info":
            info = {"action_mask": self.mask()}
        elif self.show == "legal_moves":
            info = {"legal_moves": np.flatnonzero(self.mask()).tolist()}
        elif self.show == "available":
            info = {"available": self.mask().tolist()}
        elif self.show == "options":
            info = {"options": [1, 0, 0, 0]}  # which says something else
        elif self.show == "last":
            info = {"action_mask": np.zeros(4, np.int8)}
        self.infos = {agent: info if agent == self.agent_selection else {} for agent in self.agents}

    def last(self, observe: bool = True) -> Any:
        if self.show == "last" and self.agents:
            self.infos[self.agent_selection]["action_mask"] = self.mask()
        return super().last(observe)

    def observe(self, agent: Any) -> Any:
        board = np.array([self.total, self.turns], np.int64)
        shown = {"observation": board, "action_mask": self.mask()}
        if self.show == "second":  # only one of them is shown a mask, the other has all actions
            return shown if agent == "two" else board
        if self.show == "phase":
            return shown if self.turns % 2 else board
        if self.show == "valid_actions":
            return {"observation": board, "valid_actions": self.mask()}
        return shown if self.show == "observation" else board

    def is_free(self, agent: Any) -> bool:
        """Whether all four are legal."""
        return (self.show == "second" and agent == "one") or (self.show == "phase" and not self.turns % 2)

    def step(self, action: Any) -> None:
        time.sleep(self.wait)
        super().step(action)

    def play(self, agent: Any, action: Any) -> None:
        self.turns -= 1
        assert self.is_free(agent) or self.mask()[action], f"{action} is illegal"
        self.turns += 1
        self.history.append(int(action))
        self.total += int(action) if agent == "one" else 0
        if self.turns >= self.rounds:
            won = 1 if self.total > 2 else -1
            self.rewards = {"one": won, "two": -won}
            self.end()
        self.next_agent()
        self.show_mask()


class SlowCopy(Pick):
    """A deep copy of its own that takes its time."""

    def __init__(self, copying: float = 0.05) -> None:
        super().__init__()
        self.copying = copying

    def __deepcopy__(self, memo: dict[int, Any]) -> SlowCopy:
        time.sleep(self.copying)
        made = SlowCopy.__new__(SlowCopy)
        made.__dict__ = copy.deepcopy(self.__dict__, memo)
        return made


class Chatty(Pick):
    """Prints every step, as those do that were never cleaned up."""

    def play(self, agent: Any, action: Any) -> None:
        print(f"{agent} plays {action}")
        super().play(agent, action)


class Wide(SmallEnv):
    """Thirty actions, of which one wins at once; otherwise the game goes on for long, and the other wins."""

    def __init__(self, winning: int = 23, wait: float = 0.0) -> None:
        super().__init__(["one", "two"], 30)
        self.winning, self.wait = winning, wait

    def observe(self, agent: Any) -> Any:
        return np.array([self.turns, self.winning])

    def play(self, agent: Any, action: Any) -> None:
        time.sleep(self.wait)
        if action == self.winning or self.turns >= 300:
            won = 1 if action == self.winning else -1
            self.rewards = {each: won if each == agent else -won for each in self.agents}
            self.end()
        self.next_agent()


class Trap(Wide):
    """The same, but nobody wins with the first move, and one action wins at the second if the first was odd."""

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.winning = -1

    def play(self, agent: Any, action: Any) -> None:
        super().play(agent, action)
        if self.turns == 1 and action % 2:
            self.winning = 23


class Target(gymnasium.Env[Any, Any]):
    """One step: the reward is how near the action is to a target, in an action space of any kind."""

    observation_space = spaces.Discrete(2)

    def __init__(self, space: Any, worth: Callable[[Any], float]) -> None:
        self.action_space = space
        self.worth = worth

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return 0, {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action), f"{action!r} is not in {self.action_space}"
        self.steps += 1
        return 1, self.worth(action), True, False, {}


class MaskedRoom(gymnasium.Env[Any, Any]):
    """Four doors, of which a mask allows two; it is shown in the way that ``show`` says."""

    action_space = spaces.Discrete(4)

    def __init__(self, show: str) -> None:
        self.show = show
        self.steps = 0
        self.state = types.SimpleNamespace(legal_mask=self.doors()) if show == "part" else None
        shapes = {"action_mask": spaces.MultiBinary(4), "at": spaces.Discrete(9)}
        self.observation_space: Any = (
            spaces.Dict(shapes) if show in ("observation", "seen_only") else spaces.Discrete(9)
        )

    def doors(self) -> Any:
        return np.array(ALLOWED[self.steps % 3], np.int8)

    def look(self) -> Any:
        if self.show in ("observation", "seen_only"):
            return {"action_mask": self.doors(), "at": self.steps}
        return self.steps

    def about(self) -> dict[str, Any]:
        if self.show == "moves":
            return {"legal_moves": np.flatnonzero(self.doors()).tolist()}
        return {"valid_mask": self.doors()} if self.show in ("valid_mask", "info_only", "part") else {}

    def _get_obs(self) -> Any:
        return self.look() if self.show == "observation" else None

    def _get_info(self) -> Any:
        return self.about() if self.show in ("valid_mask", "moves") else {"legal_moves": [0, 2]}

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        self.keep()
        return self.look(), self.about()

    def step(self, action: Any) -> Any:
        assert self.show == "info_only" or self.doors()[action], f"{action} is illegal"
        self.steps += 1
        self.keep()
        return self.look(), float(action), self.steps == 4, False, self.about()

    def keep(self) -> None:
        if self.state is not None:
            self.state.legal_mask = self.doors()
