"""The random agent: the baseline that everybody should beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.players.configured_agent import ConfiguredAgent
from zermelo.envs import GameOverError


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
