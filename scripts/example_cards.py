# ruff: noqa: D102 - the methods are PettingZoo's
"""A card game of your own, to copy: an AEC environment that says what its agents know, and agents that play it.

    python scripts/example_cards.py

Each of two players is dealt a card from 1 to 6. The first bets or folds, the second answers a bet by a call or a
fold; who folds loses 1, after a call the lower card loses 2. What makes searches able to play it without peeking
are the two methods at the end.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Discrete
from pettingzoo import AECEnv

from zermelo.agents import ISMCTSAgent
from zermelo.evaluation import round_robin

FOLD, BET = 0, 1


class OneCard(AECEnv):  # type: ignore[type-arg]
    """One card each, one bet."""

    metadata: ClassVar[dict[str, Any]] = {"name": "one_card_v0", "render_modes": []}
    zermelo_traits: ClassVar[dict[str, Any]] = {"information": "hidden", "reward_sum": "zero_sum"}

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # PettingZoo has no annotation there
        self.possible_agents = ["first", "second"]

    def observation_space(self, agent: str) -> Any:
        return Discrete(7)

    def action_space(self, agent: str) -> Any:
        return Discrete(2)

    def observe(self, agent: str) -> int:
        return self.cards[agent]

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.agents, self.agent_selection = self.possible_agents[:], "first"
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations, self.truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, False)
        self.infos: dict[str, Any] = {agent: {} for agent in self.agents}
        dealt = np.random.default_rng(seed).permutation(6)[:2] + 1
        self.cards = dict(zip(self.agents, map(int, dealt), strict=True))

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self.agent_selection = other = "second" if agent == "first" else "first"
        if action == FOLD or agent == "second":
            won = 1 if action == FOLD else 2 if self.cards[other] > self.cards[agent] else -2
            self.rewards = {agent: -won, other: won}
            self.terminations = dict.fromkeys(self.agents, True)
        self._accumulate_rewards()

    def information_state_key(self, agent: str) -> Any:
        """All that an agent has seen: its card, and whether there was a bet, which shows in whose turn it is."""
        return self.cards[agent], self.agent_selection

    def resample(self, agent: str, generator: np.random.Generator) -> None:
        """Deals the other agent another card, as chance would: any that is not the agent's own."""
        other = "second" if agent == "first" else "first"
        self.cards[other] = int(generator.choice([card for card in range(1, 7) if card != self.cards[agent]]))


def main() -> None:
    env = OneCard()
    env.reset(seed=1)
    result = ISMCTSAgent(simulations=500).search(env)
    print(f"With a {env.cards['first']} of 6 to fold and to bet are worth {result.action_values}.")
    agents = {"searches": "ismcts(simulations=50)", "random": "random"}
    print(round_robin(OneCard, agents, games=20, seed=1))


if __name__ == "__main__":
    main()
