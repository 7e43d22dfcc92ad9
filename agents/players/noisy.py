"""An agent that now and then plays any legal action."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.core.settings import made, number
from zermelo.agents.players.configured_agent import ConfiguredAgent
from zermelo.agents.players.random import RandomAgent
from zermelo.agents.specs import make_agent
from zermelo.envs.spec_text import Spec


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
