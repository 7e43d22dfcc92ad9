"""Small games whose players move at the same time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from doubles.small_games import PlainGame
from gymnasium.spaces import Box, Dict, Discrete
from pettingzoo import ParallelEnv

from zermelo.envs import Traits
from zermelo.envs.game import RewardSum


class MatrixGame(PlainGame):
    """One move of everybody; ``payoffs[actions]`` is what each seat gets. A state is what was played, or empty."""

    def __init__(self, payoffs: Any, reward_sum: RewardSum = RewardSum.ZERO) -> None:
        self.payoffs = np.asarray(payoffs, float)
        self.traits = Traits(
            name="a matrix",
            seat_names=tuple(f"seat {seat}" for seat in range(self.payoffs.shape[-1])),
            reward_sum=reward_sum,
            information="hidden",  # type: ignore[arg-type]  # becomes the enum's member
            simultaneous=True,
            utility_bounds=(float(self.payoffs.min()), float(self.payoffs.max())),
            terminal_rewards_only=True,
        )

    @classmethod
    def zero_sum(cls, rows: Any) -> MatrixGame:
        first = np.asarray(rows, float)
        return cls(np.stack([first, -first], axis=-1))

    def initial_state(self) -> tuple[int, ...]:
        return ()

    def to_move(self, state: tuple[int, ...]) -> int:
        return 0

    def legal_actions(self, state: tuple[int, ...]) -> Sequence[int]:
        return () if state else range(self.payoffs.shape[0])

    def result(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        raise AssertionError("nobody moves alone")

    def is_terminal(self, state: tuple[int, ...]) -> bool:
        return bool(state)

    def utility(self, state: tuple[int, ...]) -> tuple[float, ...]:
        return tuple(self.payoffs[state].tolist()) if state else (0.0,) * self.traits.seats

    def movers(self, state: tuple[int, ...]) -> Sequence[int]:
        return () if state else range(self.traits.seats)

    def actions_of(self, state: tuple[int, ...], seat: int) -> Sequence[int]:
        return range(self.payoffs.shape[seat])

    def joint_result(self, state: Any, actions: Mapping[int, int], generator: Any = None) -> tuple[int, ...]:
        return tuple(actions[seat] for seat in range(self.traits.seats))

    def hides_more(self) -> bool:
        return False


class Duel(ParallelEnv):  # type: ignore[type-arg]
    """Rounds of a matrix game, paid at once; a die, if there is one, says whether the last row is there next.

    Of more than two agents, those after the second only watch; the last of them leaves after the first round.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "duel_v0", "render_modes": []}
    zermelo_traits: ClassVar[dict[str, Any]] = {
        "information": "perfect",
        "reward_sum": "zero_sum",
        "chance": "sampled",
        "terminal_rewards_only": False,
    }

    def __init__(self, payoffs: Any, rounds: int = 1, die: bool = False, agents: int = 2) -> None:
        self.payoffs, self.rounds, self.die = np.asarray(payoffs, float), rounds, die
        self.possible_agents = [f"agent_{number}" for number in range(agents)]
        self.render_mode = None

    def observation_space(self, agent: str) -> Any:
        return Dict({"observation": Box(-math.inf, math.inf, (2,)), "action_mask": Box(0, 1, (3,), np.int8)})

    def action_space(self, agent: str) -> Any:
        return Discrete(3)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.random = np.random.default_rng(seed)
        self.agents = self.possible_agents[:]
        self.played, self.scores, self.last_row = 0, np.zeros(2), True
        return self._seen(self.agents), {agent: {} for agent in self.agents}

    def _seen(self, agents: Sequence[str]) -> dict[str, Any]:
        masks = [[1, 1, int(self.last_row)], [1, 1, 1], *[[1, 0, 0]] * (len(self.possible_agents) - 2)]
        return {
            agent: {
                "observation": np.array([self.played, self.scores[0]], np.float32),
                "action_mask": np.array(masks[self.possible_agents.index(agent)], np.int8),
            }
            for agent in agents
        }

    def step(self, actions: Mapping[str, int]) -> Any:
        assert set(actions) == set(self.agents)
        paid = float(self.payoffs[actions["agent_0"], actions["agent_1"]])
        self.scores += (paid, -paid)
        self.played += 1
        if self.die:
            self.last_row = bool(self.random.random() < 0.5)
        agents, over = self.agents, self.played == self.rounds
        leaves = {agent: over or (self.played == 1 and agent == "agent_3") for agent in agents}
        rewards = {agent: {"agent_0": paid, "agent_1": -paid}.get(agent, 0.0) for agent in agents}
        self.agents = [agent for agent in agents if not leaves[agent]]
        return self._seen(agents), rewards, leaves, dict.fromkeys(agents, False), {agent: {} for agent in agents}
