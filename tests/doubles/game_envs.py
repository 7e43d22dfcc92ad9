"""Odd AEC environments, each as small as shows one thing that adapting an environment must get right."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import pettingzoo
from gymnasium import spaces
from gymnasium.utils import seeding
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper


class SmallEnv(AECEnv):
    """The bookkeeping that all of these share; a subclass says what an action does in ``play``."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "name": "small_v0", "is_parallelizable": False}
    zermelo_traits: Any = {"information": "perfect"}  # noqa: RUF012  # which observations of nothing do not show

    def __init__(self, agents: list[Any], actions: Any = 2) -> None:
        super().__init__()
        self.possible_agents = list(agents)
        self.space = spaces.Discrete(actions) if isinstance(actions, int) else actions
        self.render_mode = None

    def action_space(self, agent: Any) -> Any:
        return self.space

    def observation_space(self, agent: Any) -> Any:
        return spaces.Discrete(1)

    def observe(self, agent: Any) -> Any:
        return 0

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self.turns = 0
        self.start(seed, options or {})

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        pass

    def play(self, agent: Any, action: Any) -> None:
        raise AssertionError("a subclass plays")

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        self.turns += 1
        self.play(agent, action)
        self._accumulate_rewards()
        self._deads_step_first()

    def next_agent(self) -> None:
        living = [a for a in self.agents if not (self.terminations[a] or self.truncations[a])]
        if living:
            order = self.possible_agents
            place = order.index(self.agent_selection)
            self.agent_selection = next(a for a in order[place + 1 :] + order[: place + 1] if a in living)

    def end(self) -> None:
        self.terminations = dict.fromkeys(self.agents, True)


class LastOneStanding(SmallEnv):
    """Three agents that are not strings; an agent that plays 1 pays 1 and dies, and 2 gives another turn."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "name": "last_one_standing_v0"}

    def __init__(self, length: int = 6) -> None:
        super().__init__([("a", 1), 7, None.__class__], 3)
        self.length = length

    def play(self, agent: Any, action: int) -> None:
        if action == 1:
            self.rewards[agent] -= 1
            self.terminations[agent] = True
        elif action == 0:
            for other in self.agents:
                self.rewards[other] += 0.5 if other != agent else 0
        living = [a for a in self.agents if not self.terminations[a]]
        if len(living) <= 1 or self.turns >= self.length:
            for last in living:
                self.rewards[last] += 3
            self.end()
        elif action != 2:
            self.next_agent()


class Numbers(SmallEnv):
    """Two agents take turns adding numbers from a Discrete space that starts at 5; the mask is in ``infos``.

    The agent that does not move has a mask too, of ones, which must not count. The sum modulo 3 decides; the two
    rewards always sum to ``total``.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "name": "numbers_v0"}

    def __init__(self, total: float = 1.0, length: int = 4, mask_type: type = list) -> None:
        super().__init__(["left", "right"], spaces.Discrete(4, start=5))
        self.total = total
        self.length = length
        self.mask_type = mask_type

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.length = options.get("length", self.length)
        self.sum = 0
        self._masks()

    def _masks(self) -> None:
        for agent in self.agents:
            mask = [1, 1, 1, 1]
            if agent == self.agent_selection:
                mask = [int((self.sum + i) % 2 == 0 or i == 3) for i in range(4)]
            as_type = {list: list, bool: np.array, float: np.array}[self.mask_type]
            values = mask if self.mask_type is list else [self.mask_type(m) for m in mask]
            self.infos[agent] = {"action_mask": as_type(values)}

    def play(self, agent: Any, action: int) -> None:
        assert self.infos[agent]["action_mask"][action - 5], f"played illegal {action}"
        self.sum += action
        if self.turns >= self.length:
            share = [0.0, 0.5, 1.0][self.sum % 3]
            self.rewards["left"] = self.total * share
            self.rewards["right"] = self.total * (1 - share)
            self.end()
        self.next_agent()
        self._masks()


class Vectors(SmallEnv):
    """One-round game whose actions are arrays; what was played is kept, as played."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "name": "vectors_v0"}

    def __init__(self, space: Any, mask: Any = None, rounds: int = 2) -> None:
        super().__init__(["one", "two"], space)
        self.mask = mask
        self.rounds = rounds

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.played: list[Any] = []

    def observe(self, agent: Any) -> Any:
        return {"observation": 0} if self.mask is None else {"observation": 0, "action_mask": self.mask}

    def play(self, agent: Any, action: Any) -> None:
        assert self.space.contains(action), f"{action!r} is not in {self.space}"
        self.played.append(np.array(action).tolist())
        if self.turns >= self.rounds:
            self.rewards = {"one": 1, "two": -1} if np.sum(action) % 2 else {"one": -1, "two": 1}
            self.end()
        self.next_agent()


class Walk(SmallEnv):
    """One agent collects a coin a step and is truncated, not terminated, after five."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "name": "walk_v0"}

    def __init__(self) -> None:
        super().__init__(["walker"], 2)

    def play(self, agent: Any, action: int) -> None:
        self.rewards[agent] = action
        if self.turns >= 5:
            self.truncations[agent] = True


class Dice(SmallEnv):
    """Two agents roll in turn, ``rolls`` times in all; who rolled more in sum wins. Action 1 doubles the stake.

    ``source`` is where the numbers come from: ``np_random``, ``python`` (a ``random.Random``), ``random`` (the
    module) or ``numpy.random`` (the module).
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "name": "dice_v0"}

    def __init__(self, source: str = "np_random", rolls: int = 6) -> None:
        super().__init__(["high", "low"], 2)
        self.source = source
        self.rolls = rolls

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        if self.source == "np_random":
            self.np_random, _ = seeding.np_random(seed)
        elif self.source == "python":
            self.generator = random.Random(seed)
        self.sums = {"high": 0, "low": 0}
        self.faces: list[int] = []

    def roll(self) -> int:
        if self.source == "np_random":
            return int(self.np_random.integers(1, 7))
        if self.source == "python":
            return self.generator.randint(1, 6)
        if self.source == "random":
            return random.randint(1, 6)
        return int(np.random.randint(1, 7))  # noqa: NPY002 - the global generator is the point

    def play(self, agent: Any, action: int) -> None:
        face = self.roll()
        self.faces.append(face)
        self.sums[agent] += face * (action + 1)
        if self.turns >= self.rolls:
            margin = self.sums["high"] - self.sums["low"]
            self.rewards = {"high": int(np.sign(margin)), "low": -int(np.sign(margin))}
            self.end()
        self.next_agent()


class DeclaredDice(SmallEnv):
    """A race with a die of three faces: roll (0) or hold (1); first to ``goal`` wins. Chance is declared.

    A roll of 1 loses the turn's points and the turn. Every point rolled pays a tenth at once.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "name": "declared_dice_v0"}
    defer_chance = False

    def __init__(self, goal: int = 4) -> None:
        super().__init__(["p", "q"], 2)
        self.goal = goal

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.np_random, _ = seeding.np_random(seed)
        self.points = {"p": 0, "q": 0}
        self.turn_points = 0
        self.rolling = False

    def chance_outcomes(self) -> list[tuple[str, float]]:
        return [("one", 0.5), ("two", 0.25), ("three", 0.25)] if self.rolling else []

    def apply_chance(self, outcome: str) -> None:
        self.rolling = False
        face = {"one": 1, "two": 2, "three": 3}[outcome]
        if face == 1:
            self.turn_points = 0
            self.next_agent()
        else:
            self.turn_points += face
            self.rewards[self.agent_selection] += face / 10

    def play(self, agent: Any, action: int) -> None:
        if action == 1:
            self.points[agent] += self.turn_points
            self.turn_points = 0
            if self.points[agent] >= self.goal:
                for other in self.agents:
                    self.rewards[other] += 1 if other == agent else -1
                self.end()
            else:
                self.next_agent()
            return
        self.rolling = True
        while not self.defer_chance and self.chance_outcomes():
            outcomes, probabilities = zip(*self.chance_outcomes(), strict=True)
            self.apply_chance(outcomes[self.np_random.choice(len(outcomes), p=probabilities)])


class Broken(SmallEnv):
    """Breaks in a way that is asked for: ``raises``, ``empty_mask``, ``stuck`` (a dead agent that stays)."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "name": "broken_v0"}

    def __init__(self, how: str) -> None:
        super().__init__(["one", "two"], 3)
        self.how = how

    def observe(self, agent: Any) -> Any:
        empty = self.how == "empty_mask" and self.turns == 1
        return {"observation": 0, "action_mask": np.zeros(3, np.int8) if empty else np.ones(3, np.int8)}

    def step(self, action: Any) -> None:
        if action is None and self.how == "stuck":
            return
        super().step(action)

    def play(self, agent: Any, action: int) -> None:
        if self.how == "raises" and action == 2:
            raise RuntimeError("the cat walked over the board")
        if self.how == "stuck":
            self.terminations[agent] = True
        if self.turns >= 4:
            self.end()
        self.next_agent()


class DoublingWrapper(BaseWrapper):
    """A wrapper that is part of the game: it doubles the rewards, those of ``last()`` too, as SuperSuit's do."""

    @property
    def rewards(self) -> Any:
        return {agent: 2 * reward for agent, reward in self.env.rewards.items()}

    @property
    def _cumulative_rewards(self) -> Any:
        return {agent: 2 * reward for agent, reward in self.env._cumulative_rewards.items()}


def started(env: Any, *, moves: Iterable[Any] = (), **options: Any) -> Any:
    """The environment after a reset with these options and some moves."""
    env.reset(**options)
    for move in moves:
        env.step(move)
    return env


def classic(name: str, **parameters: Any) -> Any:
    """An environment of PettingZoo's."""
    return pettingzoo.make("aec", f"classic/{name}", **parameters)
