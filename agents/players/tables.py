"""Agents that play from a table of values or actions, made before the game."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from zermelo.agents.core.budget import Budget, SearchStopped
from zermelo.agents.core.gate import require_information_states
from zermelo.agents.core.limits import StoppedBy
from zermelo.agents.core.mate_distance import Scale
from zermelo.agents.core.options import Compile
from zermelo.agents.core.result import SearchResult, drawn_action
from zermelo.agents.core.settings import choice, number, path, whole
from zermelo.agents.players.poker.cards import is_compiled
from zermelo.agents.players.poker.policy import is_rlcards, policy_for, require_holdem, seen_by
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.agents.solving.equilibrium.equilibrium import learn_policy
from zermelo.agents.solving.equilibrium.regrets import Variant
from zermelo.agents.solving.equilibrium.sequence_form import (
    MOST_STATES,
    require_few_states,
    require_listed_chance,
)
from zermelo.agents.solving.policy_table import PolicyTable, game_identity
from zermelo.agents.solving.value_iteration import ValueTable, require_finite, stationary, value_iteration
from zermelo.envs import Game, InvalidSettingError, UnsupportedGameError
from zermelo.envs.adapters.transition_table import TableGame

_MOST_STEPS: Final = 1_000
"""With more steps left than this a time limit is taken for none: its end is far away."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CFRAgent(SearchAgent):
    """Counterfactual regret minimization: a policy near an equilibrium, for small games with hidden cards.

    For two opposed players; with more, or other sums, the policy may be exploited. Chance must be exact, or none.
    Actions are drawn as the policy mixes them. Games too large to be written out are sampled
    (``variant=external_sampling``).

    Texas hold'em is too large for either: with ``abstraction="equity"`` it is played by a policy computed
    beforehand, in which hands that are about as strong as each other are treated alike.

    Attributes:
        iterations: Iterations of CFR.
        variant: ``"discounted"``, ``"plus"`` (CFR+), ``"cfr"`` or ``"external_sampling"``.
        most_states: The most states of a game that is written out.
        abstraction: ``"equity"``, or a file of such a policy (``scripts/fit_poker.py``); None computes one.
    """

    kind: ClassVar[str] = "cfr"

    iterations: int = whole(1_000, lower=1)
    variant: Variant = choice(Variant.DISCOUNTED)
    most_states: int = whole(MOST_STATES, lower=1)
    abstraction: str | None = path()

    def check_game(self, game: Game[Any]) -> None:
        require_information_states(game, self.kind)
        if self.abstraction is None:
            require_listed_chance(game.traits)
        else:
            policy_for(require_holdem(game), self.abstraction)

    def check_size(self, game: Game[Any]) -> None:
        """Refuses a game that is far too large to be written out, where it would have to be."""
        if self.variant is not Variant.EXTERNAL_SAMPLING and self.abstraction is None:
            require_few_states(game, self.most_states)

    def policy_for(self, game: Game[Any], budget: Budget | None = None) -> PolicyTable:
        """The policy that is played in a game, learned where that has not been done."""
        known, policy = self.__dict__.get("_policy", (None, None))
        if policy is not None and (known is game or known == game):
            return policy  # type: ignore[no-any-return]  # a table
        found = learn_policy(
            game,
            iterations=self.iterations,
            variant=self.variant,
            seed=self.seed,
            most_states=self.most_states,
            check=(lambda: None) if budget is None else budget.check_clock,
        )
        self._set("_policy", (game, found))
        return found

    def choose(self, game: Game[Any], state: Any, budget: Budget) -> SearchResult:
        if self.abstraction is not None:
            return self._choose_by_bucket(game, state, budget, self.abstraction)
        stopped_by = StoppedBy.COMPLETED
        try:
            policy = self.policy_for(game, budget)
        except SearchStopped as stopped:  # nothing is known before the end
            policy = PolicyTable(game=game_identity(game), entries={}, is_hidden=True)
            stopped_by = stopped.reason
        return played(policy, game, state, float(self.generator.random()), stopped_by)

    def _choose_by_bucket(self, game: Any, state: Any, budget: Budget, abstraction: str) -> SearchResult:
        policy, seat = policy_for(require_holdem(game), abstraction), game.to_move(state)
        if not is_rlcards(game, state):
            raise UnsupportedGameError(
                f"cfr(abstraction=...) reads the cards of RLCard's environment, which {game.traits.name} has not: "
                "leave abstraction out, or use 'ismcts'"
            )
        with budget.off_the_clock():
            compiled = budget.compile is not Compile.NEVER and is_compiled(budget.waits)
        actions, hand, board, is_first = seen_by(game.environment(state), seat)
        shares = policy.probabilities(actions, hand, board)
        value = policy.value if is_first else -policy.value
        return SearchResult(
            action=drawn_action(shares, float(self.generator.random())),
            value=value,
            values_by_seat=game.traits.values_by_seat(seat, value),
            nodes=1,
            is_estimate=True,
            policy=shares,
            compiled=compiled,
        )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PolicyTableAgent(SearchAgent):
    """Plays by a policy from a file, such as that of a solved game: actions are drawn from the seed.

    Attributes:
        path: A file that ``zermelo solve ENV --policy FILE`` wrote, or ``PolicyTable.save``.
    """

    kind: ClassVar[str] = "policytable"

    path: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike) or not str(self.path):
            raise InvalidSettingError(
                f"path must name a file that `zermelo solve ENV --policy FILE` wrote, not {self.path!r}"
            )
        self._set("path", os.fspath(self.path))
        self._set("_table", PolicyTable.load(self.path))
        super().__post_init__()

    @property
    def table(self) -> PolicyTable:
        """The table of the file."""
        table: PolicyTable = self.__dict__["_table"]
        return table

    def check_game(self, game: Game[Any]) -> None:
        if self.table.is_hidden:
            require_information_states(game, self.kind)
        else:
            super().check_game(game)

    def choose(self, game: Game[Any], state: Any, budget: Budget) -> SearchResult:
        table = self.table
        if game_identity(game) != table.game:
            raise InvalidSettingError(
                f"{self.path} holds a policy for {table.game}, not for {game_identity(game)}: solve this game"
            )
        if not table.is_hidden and table.entry(game, state) is None:
            owner = "" if table.seat is None else f" for seat {table.seat} (to move is seat {game.to_move(state)})"
            raise InvalidSettingError(
                f"{self.path} has no action for this position of {game.traits.name}: it covers the {len(table):,} "
                f"states of a {table.plan} plan{owner}; write one with --plan full, or from this position"
            )
        return played(table, game, state, float(self.generator.random()))


def played(
    table: PolicyTable, game: Any, state: Any, draw: float, stopped_by: StoppedBy = StoppedBy.COMPLETED
) -> SearchResult:
    """An action of a policy, drawn by a number from 0 to 1."""
    seat, found, shares = game.to_move(state), table.entry(game, state), table.probabilities(game, state)
    values = table.values or (0.0,) * game.traits.seats
    if found is not None and found[0] is not None:
        values = game.traits.values_by_seat(seat, game.utility(state)[seat] + found[0])
    return SearchResult(
        action=drawn_action(shares, draw),
        value=values[seat],
        values_by_seat=values,
        action_values={} if table.is_hidden else dict.fromkeys(shares, values[seat]),
        proven_actions=() if table.is_hidden or table.tolerance else tuple(sorted(shares)),
        nodes=1,
        stopped_by=stopped_by,
        proven=not table.is_hidden and not table.tolerance,
        is_estimate=table.is_hidden,
        policy=dict(shares) if table.is_hidden else {},
        stats={} if table.exploitability is None else {"exploitability": table.exploitability},
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ValueIterationAgent(SearchAgent):
    """Computes the values of all states by value iteration, and plays by that table.

    For one player, or two with a constant sum, exact chance or none, and as many states as memory holds; games may
    return to earlier states. Of an environment with a transition table the steps that a time limit leaves count.

    Attributes:
        tolerance: How far off a value may be.
        most_states: The most states of a game.
    """

    kind: ClassVar[str] = "value_iteration"

    tolerance: float = number(1e-9, lower=1e-14)
    most_states: int = whole(2_000_000, lower=1)

    def check_game(self, game: Game[Any]) -> None:
        require_finite(game.traits)

    def choose(self, game: Game[Any], state: Any, budget: Budget) -> SearchResult:
        table: ValueTable | None
        table, is_settled = self.__dict__.get("_table", (None, False))
        left = state.left if isinstance(game, TableGame) and state.left <= _MOST_STEPS else None
        game = stationary(game)
        seat = game.to_move(state)
        stopped_by, nodes, stats = StoppedBy.COMPLETED, 0, {}
        try:
            steps = None if left is None else int(left) - 1
            serves = table is not None and (table.game is game or table.game == game) and state in table
            # Values that have settled after some steps are those of more steps as well.
            serves = serves and is_settled and (steps is None or steps >= table.sweeps)
            if table is None or not serves:
                table = value_iteration(
                    game,
                    self.tolerance,
                    states=[state],
                    most_states=self.most_states,
                    steps=steps,
                    check=budget.check_clock,
                )
                self._set("_table", (table, steps is None or table.sweeps < steps))
            action, action_values = table.action(state), table.action_values(state)
            value = action_values[action]
            nodes, stats = len(table), {"sweeps": table.sweeps, "tolerance": table.tolerance}
        except SearchStopped as stopped:  # nothing is known before the end
            action, action_values, stopped_by = game.legal_actions(state)[0], {}, stopped.reason
            value = Scale(game, seat=seat).frame(state).middle
        return SearchResult(
            action=action,
            value=value,
            values_by_seat=game.traits.values_by_seat(seat, value),
            action_values=action_values,
            nodes=nodes,
            stopped_by=stopped_by,
            stats=stats,
        )
