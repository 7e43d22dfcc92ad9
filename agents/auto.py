"""An agent for any game: it chooses the search by what is known of the game."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

from zermelo.agents.base.budget import Budget, SearchStopped
from zermelo.agents.base.experts import experts
from zermelo.agents.base.limits import Limits
from zermelo.agents.base.machine import thread_count
from zermelo.agents.base.memory import TransientState
from zermelo.agents.base.request import Request
from zermelo.agents.base.requirements import (
    HIDDEN,
    OTHERS,
    TOGETHER,
    fit_of,
    require_information_states,
    require_perfect_information,
    require_simultaneous,
)
from zermelo.agents.base.result import SearchResult
from zermelo.agents.base.settings import Compile, flag, function, path, setting_fields
from zermelo.agents.equilibrium.agents import BackwardInductionAgent
from zermelo.agents.equilibrium.backward_induction import has_few_states
from zermelo.agents.evaluators.network import ShippedNetwork, shipped_network
from zermelo.agents.evaluators.registry import features_for
from zermelo.agents.monte_carlo.agent import MCTSAgent
from zermelo.agents.monte_carlo.information_sets.agent import ISMCTSAgent
from zermelo.agents.monte_carlo.openspiel import OpenSpielMCTSAgent, why_not_in_openspiel
from zermelo.agents.monte_carlo.selection_rules import Selection
from zermelo.agents.monte_carlo.simultaneous.agent import SimultaneousMCTSAgent
from zermelo.agents.search_agent import DEFAULT_SECONDS, SearchAgent
from zermelo.agents.solving.agents import BestFirstAgent, ValueIterationAgent
from zermelo.agents.tree_search.alpha_beta.agents import AlphaBetaAgent, SelectiveBy
from zermelo.agents.tree_search.chance.agents import ExpectiminimaxAgent
from zermelo.envs.adapters.transition_table import TableGame
from zermelo.envs.capabilities import (
    SupportsCopies,
    SupportsPlayoutActions,
    SupportsSearchSettings,
    SupportsSimultaneousMoves,
    offers,
)
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.game import Chance, Game
from zermelo.envs.jit.compiling import can_compile
from zermelo.envs.jit.kernel import Wanted
from zermelo.envs.position import Position, position
from zermelo.envs.rules.rules_game import RulesGame, is_shipped
from zermelo.envs.support.calls import checked_call
from zermelo.envs.traits.merging import PATIENCE

MATCHES = Path(__file__).with_name("matches.json")


@functools.cache  # without a key: the package's file stays the same
def _scores() -> dict[str, float]:
    scores: dict[str, float] = json.loads(MATCHES.read_text())
    return scores


def monte_carlo_score(game: Any) -> float | None:
    """The share of points that Monte Carlo tree search took; None of games in which no match was played.

    Games of the same rules in another size count as the one that was played, if theirs was not.
    """
    if not isinstance(game, RulesGame) or not is_shipped(game.rules):
        return None
    name, exact = type(game.rules).__name__, _scores().get(str(game.rules))
    if exact is not None:
        return exact
    return next((score for rules, score in _scores().items() if rules.startswith(f"{name}(")), None)


_SHARE: Final = 0.5  # of the limits may go into settling the game first, and half as much each time it fails
_SHARE_OF_COPIES: Final = 0.2  # of that for one player by copies: steps are slow, and states are rarely few
_SHORTEST: Final = 1e-3
_OPENSPIEL_EXPLORATION: Final = 0.5  # for values from 0 to 1 (``mcts_openspiel``)
_SMALL_TABLE: Final = 5_000  # states of a transition table that is solved outside the clock, once, within a second
_MOST_STATES: Final = 200  # of a game of simultaneous moves that is solved before each move, within a second


class _Case(NamedTuple):
    game: Game[Any]
    state: Any
    limits: Limits
    games: str  # the kind of game in words


def _may_be_planned(case: _Case) -> tuple[bool, str]:
    if isinstance(case.game, TableGame):
        return True, "its transition table is known"
    may_finish = case.game.traits.chance is Chance.EXACT and case.limits.seconds is not None
    return may_finish, f"{case.games}, and few states" if may_finish else ""


def _has_few_states(case: _Case) -> tuple[bool, str]:
    has_few = has_few_states(case.game, case.state, _MOST_STATES)
    return has_few, f"{case.games}, and there are few states" if has_few else ""


def _has_evaluation(case: _Case) -> tuple[bool, str]:
    if case.game.traits.chance is Chance.SAMPLED:
        return False, "chance can only be simulated"
    if offers(case.game, SupportsPlayoutActions):
        return False, "the game knows how its playouts go"
    is_learned = shipped_network(case.game) is not None
    if features_for(case.game, case.state) is None and not is_learned:
        return False, "this game has no evaluation function"
    return True, f"there is {'a network' if is_learned else 'an evaluation'}, and {case.games}"


def _won_its_matches(case: _Case) -> tuple[bool, str]:
    fits, why = _has_evaluation(case)
    score = monte_carlo_score(case.game) if fits else None
    if score is not None and score > 0.5:
        return False, f"it scored {score:.0%} against alpha-beta in matches of this game"
    return fits, why


def _network(game: Game[Any]) -> dict[str, Any]:
    return {} if shipped_network(game) is None else {"evaluator": ShippedNetwork()}


def _as_openspiel(game: Game[Any]) -> dict[str, Any]:
    lower, upper = game.traits.utility_bounds
    exploration = _OPENSPIEL_EXPLORATION * (upper - lower)
    return {"exploration": exploration, "selection": Selection.PUCT, "check_replies": True}


class _Candidate(NamedTuple):
    kind: type[SearchAgent]
    fits: Callable[[_Case], tuple[bool, str]] = lambda case: (True, "")
    """And why or why not, if that is not only what kind of games these are."""
    settles: bool = False
    """True if it searches for the whole answer, which may come to none: then the next one has its turn."""
    settings: Callable[[Game[Any]], dict[str, Any]] = lambda game: {}
    note: str = ""  # added to the reason


_CANDIDATES: Final = {
    candidate.kind.kind: candidate
    for candidate in (
        _Candidate(ValueIterationAgent, _may_be_planned, settles=True),
        _Candidate(BestFirstAgent, lambda case: (not isinstance(case.game, TableGame), ""), settles=True),
        _Candidate(BackwardInductionAgent, _has_few_states, settles=True),
        _Candidate(AlphaBetaAgent, _won_its_matches, settings=_network),
        _Candidate(ExpectiminimaxAgent, _has_evaluation, settings=_network),
        _Candidate(
            OpenSpielMCTSAgent,
            lambda case: (case.limits.nodes is None and not why_not_in_openspiel(case.game), ""),
            settings=_as_openspiel,
            note=", and OpenSpiel searches its games in C++",
        ),
        _Candidate(ISMCTSAgent),
        _Candidate(SimultaneousMCTSAgent),
        _Candidate(MCTSAgent),
    )
}
"""By name; ``requirements.fit_of`` says which are asked for a kind of game, and in which order."""


class _ThisGame(TransientState):
    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.game: Game[Any] | None = None
        self.agents: dict[type[SearchAgent], Any] = {}
        self.tries = 0  # searches for the whole answer that came to nothing
        self.is_too_large = False  # none is tried again


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AutoAgent(SearchAgent):
    """Chooses the search that fits the game, and says why.

    Experts of single games come first. One player: value iteration where the transition table is known or small,
    best-first search where nothing is left to chance. Two players: alpha-beta or expectiminimax where there is an
    evaluation, unless it lost to Monte Carlo in matches (``scripts/bench.py mcts_choice``). Else Monte Carlo tree
    search, for OpenSpiel's games OpenSpiel's own in C++. Where players do not see everything, ``ismcts``; where
    they move at the same time, backward induction if there are few states, else the Monte Carlo search that mixes.

    Attributes:
        seconds: Time for a move, from the call on; 1 if no limit is given.
        nodes: States to visit. Unlike time it gives the same answer on any machine.
        threads: Threads that search together, where rules are compiled.
        reuse: Whether what a search has found serves the next moves of the same game.
        exact: Whether every root action gets its exact value, of the searches that can give it.
        book: A file with an opening book to play from at random among good moves.
        on_iteration: Called with a ``SearchResult`` now and then, by the searches that have iterations; False ends
            the search there.
    """

    kind: ClassVar[str] = "auto"
    default_limits = Limits(seconds=DEFAULT_SECONDS)

    seconds: float | None = None
    nodes: int | None = None
    threads: int = thread_count(1)
    reuse: bool = flag(True)
    exact: bool = flag(False)
    book: str | None = path()
    on_iteration: Any = function("of a SearchResult")

    _this_game: _ThisGame = field(init=False, default_factory=_ThisGame)

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        self._this_game.clear()

    def check_game(self, game: Game[Any]) -> None:
        if _moves_together(game):
            require_simultaneous(game, self.kind)
        elif not game.traits.is_open or game.traits.simultaneous:
            require_information_states(game, self.kind)
        else:
            require_perfect_information(game.traits, self.kind)

    def prepare(self, env: Any, seconds: float = PATIENCE) -> None:
        root = position(env, backend=self.backend, traits=self.traits, patience=seconds)
        self._last_choice(root).prepare(env)

    def kernels(self, root: Position) -> list[Wanted]:
        return self._last_choice(root).kernels(root)

    def _last_choice(self, root: Position) -> SearchAgent:
        """An agent as the one that searches unless another one settles the game."""
        candidate, _ = self._choices(root.game, root.state)[-1]
        agent: SearchAgent = dataclasses.replace(self)._agent(root.game, candidate)
        return dataclasses.replace(agent, backend=self.backend, traits=self.traits, compile=self.compile)

    def choose(self, request: Request, budget: Budget) -> SearchResult:
        game = request.game
        for candidate, reason in self._choices(game, request.state):
            asked = dataclasses.replace(request, method=f"{candidate.kind.kind}: {reason}")
            if not candidate.settles:
                found: SearchResult = self._agent(game, candidate).choose(asked, budget)
                return found
            settled = self._settled(candidate, asked, budget)
            if settled is not None:
                return dataclasses.replace(settled, seconds=budget.seconds, compiling=budget.compiling)
        raise AssertionError("the last search of every row takes all games")

    def _choices(self, game: Game[Any], state: Any) -> list[tuple[_Candidate, str]]:
        """The first search of the table that fits, and why, after those that may settle the game."""
        may_compile = self.compile is Compile.WAIT and can_compile()
        for expert in experts():
            if advice := expert.recommended(game, state, may_compile):
                return [(_Candidate(advice.kind), advice.reason)]
        is_open = game.traits.is_open
        fit = TOGETHER if _moves_together(game) else fit_of(game.traits) if is_open else HIDDEN
        games = f"{game.traits.seats} {fit.games}" if fit is OTHERS else fit.games
        case = _Case(game, state, self.limits, games)
        found: list[tuple[_Candidate, str]] = []
        missing = ""
        for candidate in map(_CANDIDATES.__getitem__, fit.agents):
            fits, why = candidate.fits(case)
            if not fits:
                missing = missing or why
                continue
            found.append((candidate, (why or missing or games) + candidate.note))
            if not candidate.settles:
                break
        return found

    def _settled(self, candidate: _Candidate, request: Request, budget: Budget) -> SearchResult | None:
        """The result of a search for the whole answer within its share of the limits; None if there is none."""
        this_game, game = self._this_game, request.game
        if this_game.is_too_large:
            return None
        share = 1.0 if isinstance(game, TableGame) else _SHARE ** (1 + this_game.tries)
        share *= _SHARE_OF_COPIES if game.traits.seats == 1 and offers(game, SupportsCopies) else 1.0
        left, nodes = budget.seconds_left, self.limits.nodes
        is_small = isinstance(game, TableGame) and game.num_states <= _SMALL_TABLE
        is_timed = self.limits.seconds is not None and not is_small
        limits = Limits(
            seconds=max(share * left, _SHORTEST) if is_timed else None,
            nodes=None if nodes is None else max(int(share * nodes), 1),
        )
        asked = request.part(limits)
        part = asked.budget(stop=budget.stop, within=budget if is_timed else None)
        try:
            found: SearchResult = self._agent(game, candidate).choose(asked, part)
        except UnsupportedGameError:  # too many states, or values that do not settle
            this_game.is_too_large = True
            return None
        except SearchStopped:
            this_game.tries += 1
            return None
        finally:
            budget.nodes += part.nodes
        if found.action_values or found.policy:
            return found
        # The table is not finished, or no way was found that pays.
        this_game.tries += 1
        has_way = len(found.principal_variation) > 1
        if not isinstance(game, TableGame) and (candidate.kind is not BestFirstAgent or has_way):
            this_game.is_too_large = True
        return None

    def _agent(self, game: Game[Any], candidate: _Candidate) -> Any:
        """The agent that searches in its place, which stays until the next game."""
        this_game = self._this_game
        if this_game.game is not game and this_game.game != game:
            this_game.game, this_game.agents = game, {}
        if candidate.kind not in this_game.agents:
            own = {name: getattr(self, name) for name in ("threads", "reuse", "exact", "on_iteration")}
            own |= {"seconds": self.limits.seconds, "nodes": self.limits.nodes, "selective": SelectiveBy.GAME}
            own |= candidate.settings(game)
            if offers(game, SupportsSearchSettings):
                own |= game.search_settings(candidate.kind.kind)
            known = {setting.name for setting in setting_fields(candidate.kind)}
            settings = {name: value for name, value in own.items() if name in known}
            seed = int(self.generator.integers(2**31))
            this_game.agents[candidate.kind] = candidate.kind(seed=seed, **settings)
        return this_game.agents[candidate.kind]


def _moves_together(game: Game[Any]) -> bool:
    """True if players move at the same time, and as far as is known nothing else is hidden."""
    return game.traits.simultaneous and offers(game, SupportsSimultaneousMoves) and not game.hides_more()
