"""The random agent, which everybody should beat, and agents that now and then play like it."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.core.settings import made, number
from zermelo.agents.players.configured_agent import ConfiguredAgent
from zermelo.agents.specs import make_agent
from zermelo.envs import GameOverError
from zermelo.envs.support.spec_text import Spec


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RandomAgent(ConfiguredAgent):
    """Plays legal actions uniformly at random.

    It looks at nothing but the action mask of the agent to move, so it is fair in every game, also with hidden
    cards, with chance, and with any number of players.
    """

    kind: ClassVar[str] = "random"

    def decide(self, env: Any) -> Any:
        from zermelo.envs.adapters.actions import legal_actions

        actions = legal_actions(env)
        if not actions:
            raise GameOverError(
                f"the agent to move in {env} has no legal action: the game is over, or it is time for "
                "env.step(None)"
            )
        return actions[int(self.generator.integers(len(actions)))]


def _inner(given: Any) -> Any:
    return copy.copy(make_agent(str(given) if isinstance(given, Spec) else given))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class NoisyAgent(ConfiguredAgent):
    """Plays as another agent does, but a share of all moves at random.

    Attributes:
        agent: The other agent, or its spec, such as ``alphabeta(depth=2)``.
        epsilon: The probability that a move is drawn from all legal ones.
    """

    kind: ClassVar[str] = "noisy"

    agent: Any = made("greedy", _inner)
    epsilon: float = number(0.1, lower=0, upper=1)

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        self.agent.reset(None if seed is None else int(self.generator.integers(2**31)))

    def decide(self, env: Any) -> Any:
        if self.generator.random() >= self.epsilon:
            return self.agent.act(env)
        return RandomAgent(seed=int(self.generator.integers(2**31))).decide(env)
