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
from zermelo.agents.players.best_first import BestFirstAgent
from zermelo.agents.players.engines.openspiel import OpenSpielMCTSAgent, why_not_in_openspiel
from zermelo.agents.players.expectiminimax import ExpectiminimaxAgent
from zermelo.agents.players.hidden.ismcts import ISMCTSAgent
from zermelo.agents.players.hidden.simultaneous import BackwardInductionAgent, SimultaneousMCTSAgent
from zermelo.agents.players.matches import monte_carlo_score
from zermelo.agents.players.mcts import MCTSAgent
from zermelo.agents.players.search_agent import DEFAULT_SECONDS, SearchAgent
from zermelo.agents.players.tables.value_iteration import ValueIterationAgent
from zermelo.agents.solving.equilibrium.simultaneous import has_few_states
from zermelo.envs import Chance, Game, Information, RewardSum, Traits, UnsupportedGameError
from zermelo.envs.adapters.transition_table import TableGame
from zermelo.envs.capabilities import SupportsPlayoutActions, SupportsSearchSettings, SupportsSimultaneousMoves
from zermelo.envs.position import position

_SHARE = 0.5
"""How much of the limits may go into settling the game, before another search begins."""
_SHORTEST = 1e-3
_EXPLORATION = 0.5
"""The weight of what was tried less in OpenSpiel's search, for values from 0 to 1, as ``MCTSAgent`` has it."""
_FEW_STATES = 200
"""A game of simultaneous moves with no more states is solved before each move, in less than a second."""


class _Choice(NamedTuple):
    """A search, and why it is the one."""

    kind: type[SearchAgent]
    reason: str


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AutoAgent(SearchAgent):
    """The search that fits the game: for an environment of which you know nothing but its name.

    One player: value iteration where the transition table is known or small, the way that best-first search finds
    where nothing is left to chance. Two players without chance: alpha-beta where there is an evaluation, unless it
    lost to Monte Carlo in matches (``scripts/bench.py mcts_choice``). Expectiminimax where there is an evaluation
    and chance can be averaged over. Else Monte Carlo tree search, for OpenSpiel's games OpenSpiel's own in C++.
    Where players do not see everything, the one that does not peek; where they move at the same time, backward
    induction if there are few states, else the Monte Carlo search that mixes. The result says which it was, and
    why. Alpha-beta searches less deep, or deeper, what the game's rules say (``selective="game"``).

    Attributes:
        seconds: Time to take, from the call on; 1 if no limit is given.
        nodes: States to visit. Unlike time it gives the same answer on any machine.
        threads: How many search together, if it is compiled.
        reuse: Whether what a search has found serves the next moves of the same game.
        exact: Whether every root action gets its exact value, of the searches that can give it.
        on_iteration: Called with a ``SearchResult`` now and then, by the searches that have iterations; False ends
            the search there.
    """

    kind: ClassVar[str] = "auto"

    seconds: float | None = None
    nodes: int | None = None
    threads: int = whole(1, lower=1)
    reuse: bool = flag(True)
    exact: bool = flag(False)
    on_iteration: Any = function("of a SearchResult")

    def __post_init__(self) -> None:
        seconds = DEFAULT_SECONDS if self.seconds is None and self.nodes is None else self.seconds
        self._set("_limits", Limits(nodes=self.nodes, seconds=seconds))
        super().__post_init__()

    def reset(self, seed: int | None = None) -> None:
        """Starts a new game: what was kept of the last one is forgotten."""
        super().reset(seed)
        self._set("_agents", (None, {}))
        self._set("_unsettled", False)

    def check_game(self, traits: Traits) -> None:
        """Any game: one that hides something says what players see, or is refused when it is searched."""
        if traits.information is not Information.HIDDEN and not traits.simultaneous:
            require_perfect_information(traits, self.kind)

    def prepare(self, env: Any) -> None:
        """Has the search that it would choose prepare."""
        root = position(env, backend=self.backend, traits=self.traits)
        agent = dataclasses.replace(self)._agent(root.game, self._choice(root.game, root.state))
        dataclasses.replace(agent, backend=self.backend, traits=self.traits, compile=self.compile).prepare(env)

    def choose(self, game: Game[Any], state: Any, budget: Budget) -> SearchResult:
        """Searches a state in which there is something to decide."""
        if _moves_together(game):
            require_simultaneous(game, self.kind)
        elif game.traits.information is Information.HIDDEN or game.traits.simultaneous:
            require_information_states(game, self.kind)
        settled = self._settled(game, state, budget)
        if settled is not None:
            return settled
        chosen = self._choice(game, state)
        found: SearchResult = self._agent(game, chosen).choose(game, state, budget)
        return dataclasses.replace(found, method=f"{chosen.kind.kind}: {chosen.reason}")

    def _settled(self, game: Game[Any], state: Any, budget: Budget) -> SearchResult | None:
        """What a search for the whole answer finds within its share of the limits; None if there is none.

        It is not tried again in a game that has too many states for it.
        """
        chosen = _plan(game, self.limits)
        if chosen is None or self.__dict__["_unsettled"]:
            return None
        share = 1.0 if isinstance(game, TableGame) else _SHARE
        left, nodes = budget.seconds_left, self.limits.nodes
        limits = Limits(
            seconds=None if self.limits.seconds is None else max(share * left, _SHORTEST),
            nodes=None if nodes is None else max(int(share * nodes), 1),
        )
        part = Budget(limits, stop=budget.stop)
        try:
            found: SearchResult = self._agent(game, chosen).choose(game, state, part)
        except UnsupportedGameError:  # too many states, or values that do not settle
            self._set("_unsettled", True)
            return None
        finally:
            budget.nodes += part.nodes
        if not found.action_values:  # the table is not finished, or no way was found that pays
            has_way = len(found.principal_variation) > 1
            self._set(
                "_unsettled", not isinstance(game, TableGame) and (chosen.kind is not BestFirstAgent or has_way)
            )
            return None
        return dataclasses.replace(found, method=f"{chosen.kind.kind}: {chosen.reason}", seconds=budget.seconds)

    def _choice(self, game: Game[Any], state: Any) -> _Choice:
        """The search for a game, and why."""
        chosen = _choice(game, state)
        is_free = chosen.kind is MCTSAgent and self.nodes is None and game.traits.seats > 1
        if not is_free or why_not_in_openspiel(game):
            return chosen
        return _Choice(OpenSpielMCTSAgent, f"{chosen.reason}, and OpenSpiel searches its games in C++")

    def _agent(self, game: Game[Any], chosen: _Choice) -> Any:
        """The agent that searches in its place, which stays until the next game."""
        kept_game, agents = self.__dict__["_agents"]
        if kept_game is not game and kept_game != game:
            agents = {}
            self._set("_agents", (game, agents))
        if chosen.kind not in agents:
            known = {field.name for field in dataclasses.fields(chosen.kind)}
            asked: dict[str, Any] = {
                "seconds": self.limits.seconds,
                "nodes": self.limits.nodes,
                "threads": self.threads,
                "reuse": self.reuse,
                "exact": self.exact,
                "on_iteration": self.on_iteration,
                "selective": SelectiveBy.GAME,
            }
            if chosen.kind is OpenSpielMCTSAgent:
                lower, upper = game.traits.utility_bounds
                asked["exploration"] = _EXPLORATION * (upper - lower)
            if isinstance(game, SupportsSearchSettings):
                asked |= game.search_settings(chosen.kind.kind)
            settings = {name: value for name, value in asked.items() if name in known}
            agents[chosen.kind] = chosen.kind(seed=int(self.generator.integers(2**31)), **settings)
        return agents[chosen.kind]


def _moves_together(game: Game[Any]) -> bool:
    """Whether players move at the same time, and as far as is known nothing else is hidden."""
    return game.traits.simultaneous and isinstance(game, SupportsSimultaneousMoves) and not game.hides_more()


def _plan(game: Game[Any], limits: Limits) -> _Choice | None:
    """The search that may settle a game for one player, and why; None for all others."""
    traits = game.traits
    if traits.seats > 1 or traits.simultaneous or traits.information is Information.HIDDEN:
        return None
    if isinstance(game, TableGame):
        return _Choice(ValueIterationAgent, "its transition table is known")
    if traits.chance is Chance.NONE:
        return _Choice(BestFirstAgent, "one player, and nothing is left to chance")
    if traits.chance is Chance.EXACT and limits.seconds is not None:
        return _Choice(ValueIterationAgent, "one player, and few states")
    return None


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
    if (score := monte_carlo_score(game)) is not None and score > 0.5:
        return _Choice(MCTSAgent, f"it scored {score:.0%} against alpha-beta in matches of this game")
    return _Choice(AlphaBetaAgent, "there is an evaluation, and two players are opposed")
