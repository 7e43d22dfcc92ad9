"""Agents that play from a table of values or actions, made before the game."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from zermelo.agents.base.budget import Budget, SearchStopped
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.base.memory import AgentState
from zermelo.agents.base.request import Request
from zermelo.agents.base.requirements import require_information_states, require_simultaneous
from zermelo.agents.base.result import SearchResult, drawn_action
from zermelo.agents.base.settings import choice, converted, integer
from zermelo.agents.equilibrium.backward_induction import backward_induction
from zermelo.agents.equilibrium.equilibrium import measured, policy_of
from zermelo.agents.equilibrium.regrets import CFR, ExternalSampling, Variant
from zermelo.agents.equilibrium.sequence_form import (
    MOST_STATES,
    require_few_states,
    require_listed_chance,
    sequence_form,
)
from zermelo.agents.search_agent import SearchAgent
from zermelo.agents.solutions.policy_table import PolicyTable, game_identity
from zermelo.envs.adapters.as_game import as_game
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.game import Game
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.support.calls import checked_call


class _Learned(AgentState):
    game: Game[Any] | None = None
    policy: PolicyTable | None = None


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CFRAgent(SearchAgent):
    """Counterfactual regret minimization: a policy near an equilibrium, for small games with hidden cards.

    For two opposed players; with more, or other sums, the policy may be exploited. Chance must be exact, or none.
    Actions are drawn as the policy mixes them. Games too large to be written out are sampled
    (``variant=external_sampling``).

    Attributes:
        iterations: Iterations of CFR.
        variant: The kind of CFR: ``"discounted"``, ``"plus"`` (CFR+), ``"cfr"`` or ``"external_sampling"``.
        most_states: States that a game may have at most to be written out; larger ones are sampled.
    """

    kind: ClassVar[str] = "cfr"

    iterations: int = integer(1_000, "iterations", lower=1)
    variant: Variant = choice(Variant.DISCOUNTED)
    most_states: int = integer(MOST_STATES, "states", lower=1)

    _learned: _Learned = field(init=False, default_factory=_Learned)

    def check_game(self, game: Game[Any]) -> None:
        require_information_states(game, self.kind)
        require_listed_chance(game.traits)

    def check_fit(self, env: Any, view: Any = None) -> None:
        super().check_fit(env, view)
        if self.variant is not Variant.EXTERNAL_SAMPLING:  # the game would have to be written out
            require_few_states(as_game(env, backend=self.backend, traits=self.traits), self.most_states)

    def policy_for(self, game: Game[Any], budget: Budget | None = None) -> PolicyTable:
        """The policy that is played in a game, learned where that has not been done."""
        last = self._learned
        if last.policy is None or (last.game is not game and last.game != game):
            last.policy, last.game = self._learn(game, (budget or Budget(self.limits)).check_clock), game
        return last.policy

    def _learn(self, game: Game[Any], check: Callable[[], None]) -> PolicyTable:
        if self.variant is Variant.EXTERNAL_SAMPLING:
            sampled = ExternalSampling(game, self.seed, check)
            sampled.iterate(self.iterations)
            return sampled.policy()
        form = sequence_form(game, most_states=self.most_states, check=check)
        solver = CFR(form, self.variant)
        for _ in range(self.iterations):
            check()
            solver.iterate()
        behaviours = solver.average()
        return policy_of(form, behaviours, measured(form, behaviours))

    def choose(self, request: Request, budget: Budget) -> SearchResult:
        game, state = request.game, request.state
        stopped_by = StoppedBy.COMPLETED
        try:
            policy = self.policy_for(game, budget)
        except SearchStopped as stopped:  # nothing is known before the end
            policy = PolicyTable(game=game_identity(game), entries={}, is_hidden=True)
            stopped_by = stopped.reason
        return request.result(
            budget, **mixed_policy(policy, game, state, float(self.generator.random()), stopped_by)
        )


def _policy_file(path: Any) -> str:
    if not isinstance(path, str | os.PathLike) or not str(path):
        raise InvalidSettingError(
            f"path must name a file that `zermelo solve ENV --policy FILE` wrote, not {path!r}"
        )
    return os.fspath(path)


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PolicyTableAgent(SearchAgent):
    """Plays by a policy from a file, such as that of a solved game: actions are drawn from the seed.

    Attributes:
        path: A file that ``zermelo solve ENV --policy FILE`` wrote, or ``PolicyTable.save``.
    """

    kind: ClassVar[str] = "policytable"

    path: str = converted("", _policy_file, "the name of a file")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.table  # noqa: B018 - a file that cannot be read is refused now

    @functools.cached_property
    def table(self) -> PolicyTable:
        return PolicyTable.load(self.path)

    def check_game(self, game: Game[Any]) -> None:
        if self.table.is_hidden:
            require_information_states(game, self.kind)
        else:
            super().check_game(game)

    def choose(self, request: Request, budget: Budget) -> SearchResult:
        game, state = request.game, request.state
        table = self.table
        if game_identity(game) != table.game:
            raise InvalidSettingError(
                f"{self.path} holds a policy for {table.game}, not for {game_identity(game)}: solve this game"
            )
        if difference := table.difference(game):
            raise InvalidSettingError(f"{self.path} was made {difference}: solve this game again")
        if not table.is_hidden and table.entry(game, state) is None:
            owner = "" if table.seat is None else f" for seat {table.seat} (to move is seat {game.to_move(state)})"
            raise InvalidSettingError(
                f"{self.path} has no action for this position of {game.traits.name}: it covers the {len(table):,} "
                f"states of a {table.plan} plan{owner}; write one with --plan full, or from this position"
            )
        legal, listed = set(game.legal_actions(state)), table.probabilities(game, state).keys()
        if not listed <= legal:
            raise InvalidSettingError(
                f"{self.path} plays {sorted(listed)} in a position of {game.traits.name} where {sorted(legal)} "
                "are legal: solve it again"
            )
        if len(table.values) not in (0, game.traits.seats):
            raise InvalidSettingError(
                f"{self.path} has {len(table.values)} values, and {game.traits.name} {game.traits.seats} players: "
                "solve it again"
            )
        return request.result(budget, **mixed_policy(table, game, state, float(self.generator.random())))


def mixed_policy(
    table: PolicyTable, game: Any, state: Any, draw: float, stopped_by: StoppedBy = StoppedBy.COMPLETED
) -> dict[str, Any]:
    """An action of a policy, drawn by a number from 0 to 1, as ``Request.result`` takes it."""
    seat, found, shares = game.to_move(state), table.entry(game, state), table.probabilities(game, state)
    values = table.values or (0.0,) * game.traits.seats
    is_known = table.rules is not None or not isinstance(game, RulesGame)
    proven = is_known and not table.is_hidden and not table.tolerance
    if found is not None and found[0] is not None:
        values = game.traits.values_by_seat(seat, game.utility(state)[seat] + found[0])
    return {
        "action": drawn_action(shares, draw),
        "value": values[seat],
        "values_by_seat": values,
        "action_values": {} if table.is_hidden else dict.fromkeys(shares, values[seat]),
        "proven_actions": tuple(sorted(shares)) if proven else (),
        "nodes": 1,
        "stopped_by": stopped_by,
        "proven": proven,
        "is_estimate": table.is_hidden,
        "policy": dict(shares) if table.is_hidden else {},
        "stats": {} if table.exploitability is None else {"exploitability": table.exploitability},
    }


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BackwardInductionAgent(SearchAgent):
    """Solves a game of simultaneous moves from its end, a matrix game at each state, and plays that equilibrium.

    For two opposed players who see all but each other's moves of the moment, and few states. Each equilibrium is
    a mixture, from which the action is drawn. Shapley, "Stochastic games", PNAS 39 (1953).

    Attributes:
        most_states: States that a game may have at most.
    """

    kind: ClassVar[str] = "backward_induction"

    most_states: int = integer(200_000, "states", lower=1)

    def check_game(self, game: Game[Any]) -> None:
        require_simultaneous(game, self.kind)

    def choose(self, request: Request, budget: Budget) -> SearchResult:
        game, state = request.game, request.state
        seat = request.deciding_seat()
        with budget.off_the_clock():
            import scipy.optimize  # noqa: F401 - it takes half a second the first time
        solved = backward_induction(game, state, budget, most_states=self.most_states)
        policy = solved.policies[seat]
        action = drawn_action(policy, float(self.generator.random()))
        return request.result(
            budget,
            action=action,
            value=solved.values_by_seat[seat],
            values_by_seat=solved.values_by_seat,
            nodes=solved.nodes,
            policy=policy,
            proven=solved.proven,
        )
