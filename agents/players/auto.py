"""An agent for any game: it chooses the search by what is known of the game."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.gate import require_perfect_information
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.settings import flag, whole
from zermelo.agents.evaluators.written import features_for
from zermelo.agents.players.alpha_beta import AlphaBetaAgent, SelectiveBy
from zermelo.agents.players.expectiminimax import ExpectiminimaxAgent
from zermelo.agents.players.mcts import MCTSAgent
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.envs import Chance, Game, RewardSum, Traits
from zermelo.envs.game import SupportsPlayoutActions, SupportsSearchSettings

__all__ = ["AutoAgent"]

_SECONDS = 1.0


class _Choice(NamedTuple):
    """A search, and why it is the one."""

    kind: type[SearchAgent]
    reason: str


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AutoAgent(SearchAgent):
    """The search that fits the game: for an environment of which you know nothing but its name.

    Alpha-beta for two players without chance where there is an evaluation, expectiminimax where there is one and
    chance can be averaged over, Monte Carlo tree search everywhere else. The result says which it was, and why.
    Alpha-beta searches less deep, or deeper, what the game's rules say (``selective="game"``).

    Attributes:
        seconds: Time to take, from the call on; 1 if no limit is given.
        nodes: States to visit. Unlike time it gives the same answer on any machine.
        threads: How many search together, if it is compiled.
        keep: Whether what a search has found serves the next moves of the same game.
    """

    kind: ClassVar[str] = "auto"

    seconds: float | None = None
    nodes: int | None = None
    threads: int = whole(1, lower=1)
    keep: bool = flag(True)

    def __post_init__(self) -> None:
        seconds = _SECONDS if self.seconds is None and self.nodes is None else self.seconds
        self._set("_limits", Limits(nodes=self.nodes, seconds=seconds))
        super().__post_init__()

    def reset(self, seed: int | None = None) -> None:
        """Starts a new game: what was kept of the last one is forgotten."""
        super().reset(seed)
        self._set("_agents", {})

    def check_game(self, traits: Traits) -> None:
        """Any game whose whole state is seen."""
        require_perfect_information(traits, self.kind)

    def choose(self, game: Game[Any], state: Any, budget: Budget) -> SearchResult:
        """Searches a state in which there is something to decide."""
        chosen = _choice(game, state)
        agents: dict[type[SearchAgent], Any] = self.__dict__["_agents"]
        if chosen.kind not in agents:
            settings: dict[str, Any] = {"seconds": self.limits.seconds, "nodes": self.limits.nodes}
            if chosen.kind is AlphaBetaAgent:
                settings["selective"] = SelectiveBy.GAME
            if isinstance(game, SupportsSearchSettings):
                settings |= game.search_settings(chosen.kind.kind)
            settings["keep_tree" if chosen.kind is MCTSAgent else "keep_table"] = self.keep
            if chosen.kind is not ExpectiminimaxAgent:
                settings["threads"] = self.threads
            agents[chosen.kind] = chosen.kind(seed=int(self.generator.integers(2**31)), **settings)
        found: SearchResult = agents[chosen.kind].choose(game, state, budget)
        return dataclasses.replace(found, method=f"{chosen.kind.kind}: {chosen.reason}")


def _choice(game: Game[Any], state: Any) -> _Choice:
    """The search for a game, and why."""
    traits = game.traits
    opposed = traits.seats == 2 and traits.reward_sum is not RewardSum.GENERAL
    if not opposed and traits.seats > 1:
        players = "two players" if traits.seats == 2 else f"{traits.seats} players"
        return _Choice(MCTSAgent, f"{players} who are not simply opposed")
    if traits.chance is Chance.SAMPLED:
        return _Choice(MCTSAgent, "chance can only be simulated")
    if isinstance(game, SupportsPlayoutActions):
        return _Choice(MCTSAgent, "the game knows how its playouts go")
    if features_for(game, state) is None:
        return _Choice(MCTSAgent, "nobody has written an evaluation")
    if traits.chance is Chance.EXACT:
        return _Choice(ExpectiminimaxAgent, "there are an evaluation and exact probabilities")
    if not opposed:
        return _Choice(ExpectiminimaxAgent, "there is an evaluation, and one player")
    return _Choice(AlphaBetaAgent, "there is an evaluation, and two players are opposed")
