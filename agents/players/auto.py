"""An agent for any game: it chooses the search by what is known of the game."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.gate import (
    require_information_states,
    require_perfect_information,
    require_simultaneous,
)
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.settings import flag, function, whole
from zermelo.agents.evaluators.written import features_for
from zermelo.agents.players.alpha_beta import AlphaBetaAgent, SelectiveBy
from zermelo.agents.players.expectiminimax import ExpectiminimaxAgent
from zermelo.agents.players.hidden.ismcts import ISMCTSAgent
from zermelo.agents.players.hidden.simultaneous import BackwardInductionAgent, SimultaneousMCTSAgent
from zermelo.agents.players.mcts import MCTSAgent
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.agents.solving.equilibrium.simultaneous import has_few_states
from zermelo.envs import Chance, Game, Information, RewardSum, Traits, as_game
from zermelo.envs.capabilities import SupportsPlayoutActions, SupportsSearchSettings, SupportsSimultaneousMoves

__all__ = ["AutoAgent"]

_SECONDS = 1.0
_FEW_STATES = 200
"""A game of simultaneous moves with no more states is solved before each move, in less than a second."""


class _Choice(NamedTuple):
    """A search, and why it is the one."""

    kind: type[SearchAgent]
    reason: str


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AutoAgent(SearchAgent):
    """The search that fits the game: for an environment of which you know nothing but its name.

    Alpha-beta for two players without chance where there is an evaluation, expectiminimax where there is one and
    chance can be averaged over, Monte Carlo tree search everywhere else; where players do not see everything, the
    one that does not peek; where they move at the same time, backward induction if there are few states, else the
    Monte Carlo search that mixes. The result says which it was, and why.
    Alpha-beta searches less deep, or deeper, what the game's rules say (``selective="game"``).

    Attributes:
        seconds: Time to take, from the call on; 1 if no limit is given.
        nodes: States to visit. Unlike time it gives the same answer on any machine.
        threads: How many search together, if it is compiled.
        keep: Whether what a search has found serves the next moves of the same game.
        exact: Whether every root action gets its exact value, of the searches that can give it.
        on_iteration: Called with a ``SearchResult`` now and then, by the searches that have iterations; False ends
            the search there.
    """

    kind: ClassVar[str] = "auto"

    seconds: float | None = None
    nodes: int | None = None
    threads: int = whole(1, lower=1)
    keep: bool = flag(True)
    exact: bool = flag(False)
    on_iteration: Any = function("of a SearchResult")

    def __post_init__(self) -> None:
        seconds = _SECONDS if self.seconds is None and self.nodes is None else self.seconds
        self._set("_limits", Limits(nodes=self.nodes, seconds=seconds))
        super().__post_init__()

    def reset(self, seed: int | None = None) -> None:
        """Starts a new game: what was kept of the last one is forgotten."""
        super().reset(seed)
        self._set("_agents", {})

    def check_game(self, traits: Traits) -> None:
        """Any game: one that hides something says what players see, or is refused when it is searched."""
        if traits.information is not Information.HIDDEN and not traits.simultaneous:
            require_perfect_information(traits, self.kind)

    def prepare(self, env: Any) -> None:
        """Has the search that it would choose prepare."""
        game = as_game(env, backend=self.backend, traits=self.traits)
        agent = dataclasses.replace(self)._agent(game, _choice(game, game.snapshot(env)))
        dataclasses.replace(agent, backend=self.backend, traits=self.traits, compile=self.compile).prepare(env)

    def choose(self, game: Game[Any], state: Any, budget: Budget) -> SearchResult:
        """Searches a state in which there is something to decide."""
        if _moves_together(game):
            require_simultaneous(game, self.kind)
        elif game.traits.information is Information.HIDDEN or game.traits.simultaneous:
            require_information_states(game, self.kind)
        chosen = _choice(game, state)
        found: SearchResult = self._agent(game, chosen).choose(game, state, budget)
        return dataclasses.replace(found, method=f"{chosen.kind.kind}: {chosen.reason}")

    def _agent(self, game: Game[Any], chosen: _Choice) -> Any:
        """The agent that searches in its place, which stays until the next game."""
        agents: dict[type[SearchAgent], Any] = self.__dict__["_agents"]
        if chosen.kind not in agents:
            settings: dict[str, Any] = {}
            if chosen.kind is not BackwardInductionAgent:
                settings = {"seconds": self.limits.seconds, "nodes": self.limits.nodes}
            if chosen.kind is AlphaBetaAgent:
                settings["selective"] = SelectiveBy.GAME
            if isinstance(game, SupportsSearchSettings):
                settings |= game.search_settings(chosen.kind.kind)
            if chosen.kind not in (ISMCTSAgent, SimultaneousMCTSAgent, BackwardInductionAgent):
                settings["keep_tree" if chosen.kind is MCTSAgent else "keep_table"] = self.keep
            if chosen.kind in (AlphaBetaAgent, MCTSAgent):
                settings["threads"] = self.threads
            known = {field.name for field in dataclasses.fields(chosen.kind)}
            asked = {"exact": self.exact, "on_iteration": self.on_iteration}
            settings |= {name: value for name, value in asked.items() if name in known}
            agents[chosen.kind] = chosen.kind(seed=int(self.generator.integers(2**31)), **settings)
        return agents[chosen.kind]


def _moves_together(game: Game[Any]) -> bool:
    """Whether players move at the same time, and as far as is known nothing else is hidden."""
    return game.traits.simultaneous and isinstance(game, SupportsSimultaneousMoves) and not game.hides_more()


def _choice(game: Game[Any], state: Any) -> _Choice:
    """The search for a game, and why."""
    traits = game.traits
    if _moves_together(game):
        if has_few_states(game, state, _FEW_STATES):
            return _Choice(BackwardInductionAgent, "players move at the same time, and there are few states")
        return _Choice(SimultaneousMCTSAgent, "players move at the same time")
    if traits.information is Information.HIDDEN:
        return _Choice(ISMCTSAgent, "players do not see everything")
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
