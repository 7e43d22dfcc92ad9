"""Iterations of CFR until nobody could gain more than a tolerance, and how much any policy can be exploited."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import numpy as np

from zermelo.agents.base.budget import Budget, SearchStopped
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.settings import check_callable, check_choice, check_number, check_whole
from zermelo.agents.equilibrium.regrets import CFR, Variant
from zermelo.agents.equilibrium.sequence_form import MOST_STATES, Floats, SequenceForm, sequence_form
from zermelo.agents.solutions.policy_table import PolicyTable, game_identity, information_key, rules_of
from zermelo.agents.solutions.solution import SolvingProgress
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.position import search_game
from zermelo.envs.support.calls import checked_call

AnyPolicy: TypeAlias = PolicyTable | Callable[[Any, Any], Mapping[int, float]]
"""A table; or a function of game and state that gives the probability of each action of the player to move."""
_ROUNDING: Final = 1e-6
_FIRST_LOOK: Final = 16


@dataclass(frozen=True, kw_only=True)
class Exploitability:
    """Each player's value when all keep to a policy, and by its best response to the others'."""

    values: tuple[float, ...]
    best_responses: tuple[float, ...]

    @property
    def nash_conv(self) -> float:
        """The sum of all players' gains from a best response; 0 in an equilibrium."""
        return sum(best - value for best, value in zip(self.best_responses, self.values, strict=True))

    @property
    def exploitability(self) -> float:
        """The gain of a best response, averaged over the players."""
        return self.nash_conv / len(self.values)


@checked_call
def exploitability(policy: AnyPolicy, game: Any, *, most_states: int = MOST_STATES) -> float:
    """The gain of a best response, in the game's utility, averaged over the players; 0 in an equilibrium.

    Args:
        policy: A ``PolicyTable``, or a function of game and state that gives each action's probability.
        game: A game with information states.
        most_states: States that the game may have at most.

    Raises:
        UnsupportedGameError: The game does not say what players know, has sampled chance or too many states.
        InvalidSettingError: The policy is of another game, or gives no probabilities.
    """
    return best_responses(policy, game, most_states=most_states).exploitability


@checked_call
def best_responses(policy: AnyPolicy, game: Any, *, most_states: int = MOST_STATES) -> Exploitability:
    """Each player's value under a policy, and by a best response to it.

    Args:
        policy: As ``exploitability`` takes it.
        game: A game with information states.
        most_states: States that the game may have at most.
    """
    form = sequence_form(search_game(game), most_states=most_states)
    return measured(form, behaviours_of(policy, form))


def measured(form: SequenceForm, behaviours: Sequence[Floats]) -> Exploitability:
    """``best_responses`` for behaviours: for each player the probability of each sequence's action. S - 1 each."""
    plans = [seat.plan(behaviour) for seat, behaviour in zip(form.seats, behaviours, strict=True)]
    best = tuple(best_response_value(form, seat, plans) for seat in range(len(plans)))
    return Exploitability(values=form.expected(plans), best_responses=best)


def best_response_value(form: SequenceForm, seat: int, plans: Sequence[Floats]) -> float:
    """A player's value of a best response to the others' plans."""
    values = form.sequence_values(seat, plans)
    for level in reversed(form.seats[seat].levels):
        np.add.at(values, level.parents, np.maximum.reduceat(values[level.sequences], level.starts))
    return float(values[0])


def behaviours_of(policy: AnyPolicy, form: SequenceForm) -> list[Floats]:
    """The probabilities of a policy at each information state of a game. S - 1 for each player."""
    if isinstance(policy, PolicyTable):
        policy.check_game(form.game)
    elif not callable(policy):
        raise InvalidSettingError(
            f"a policy is a PolicyTable, or a function of game and state that gives each action's probability, "
            f"not {policy!r}"
        )
    ask = policy.probabilities if isinstance(policy, PolicyTable) else policy
    behaviours = []
    for seat in form.seats:
        behaviour = np.zeros(seat.size - 1)
        for _, state, own in seat.decisions():
            behaviour[own] = _checked(ask(form.game, state), seat.actions[own].tolist(), state)
        behaviours.append(behaviour)
    return behaviours


def _checked(answered: Mapping[int, float], actions: list[int], state: Any) -> list[float]:
    """Probabilities in the order of the legal actions."""
    shares = [float(answered.get(action, 0.0)) for action in actions]
    others = sum(map(float, answered.values())) - sum(shares)
    if min(shares) < 0 or abs(sum(shares) - 1) > _ROUNDING or abs(others) > _ROUNDING:
        raise InvalidSettingError(
            f"the policy gave {dict(answered)} for the legal actions {actions} of {state}: probabilities lie "
            "between 0 and 1 and sum to 1"
        )
    return [share / sum(shares) for share in shares]


@dataclass(frozen=True, kw_only=True)
class Equilibrium(Exploitability):
    """A policy near an equilibrium, and how near; ``stopped_by`` is ``completed`` at the tolerance."""

    policy: PolicyTable = field(repr=False)
    iterations: int
    states: int  # of the game, chance events and ends included
    information_states: int
    seconds: float
    stopped_by: StoppedBy

    def value_bounds(self, constant: float = 0.0) -> tuple[float, float]:
        """For two opposed players: the value of the game for the first lies between these.

        It gets no more than by its best response, and no less than the second's best response leaves.
        """
        return constant - self.best_responses[1], self.best_responses[0]


@checked_call
def solve_equilibrium(
    game: Any,
    *,
    tolerance: float = 1e-3,
    iterations: int | None = None,
    seconds: float | None = None,
    variant: Variant | str = Variant.DISCOUNTED,
    most_states: int = MOST_STATES,
    on_progress: Callable[[SolvingProgress], Any] | None = None,
) -> Equilibrium:
    """Looks for an equilibrium of a game from its start, until nobody could gain more than a tolerance.

    It is only sure to come that near for two opposed players.

    Args:
        game: A ``Game`` with information states and exact chance or none, or what ``as_game`` makes one of.
        tolerance: The ``exploitability`` to reach, in the game's utility.
        iterations: Limit on iterations of CFR; None for no limit.
        seconds: Time limit, in seconds; None for no limit.
        variant: A variant of CFR, other than external sampling.
        most_states: States that the game may have at most.
        on_progress: Called after each look at the exploitability.

    Raises:
        UnsupportedGameError: It is no such game, or has too many states.
        InvalidSettingError: A setting has a value it cannot have.
    """
    check_number("tolerance", tolerance, lower=0)
    check_whole("most_states", most_states, lower=1)
    check_callable("on_progress", on_progress, "of a SolvingProgress")
    if iterations is not None:
        check_whole("iterations", iterations, lower=1)
    chosen = check_choice("variant", variant, Variant)
    if chosen is Variant.EXTERNAL_SAMPLING:
        raise InvalidSettingError(
            "external sampling does not write the game out, so it cannot say how exploitable a policy is: use "
            "another variant, or CFRAgent(variant='external_sampling')"
        )
    budget = Budget(Limits(seconds=seconds))
    form = sequence_form(search_game(game), most_states=most_states, check=budget.check_clock)
    solver = CFR(form, chosen)
    behaviours, reached, stopped_by = _approach(solver, budget, tolerance, iterations, on_progress)
    return Equilibrium(
        policy=policy_of(form, behaviours, reached),
        values=reached.values,
        best_responses=reached.best_responses,
        iterations=solver.iterations,
        states=form.states,
        information_states=sum(len(seat.keys) for seat in form.seats),
        seconds=budget.seconds,
        stopped_by=stopped_by,
    )


def _approach(
    solver: CFR,
    budget: Budget,
    tolerance: float,
    iterations: int | None,
    on_progress: Callable[[SolvingProgress], Any] | None,
) -> tuple[list[Floats], Exploitability, StoppedBy]:
    """Iterates until nobody could gain more than the tolerance; returns also what stopped it."""
    next_look, stopped_by = _FIRST_LOOK, StoppedBy.COMPLETED
    while True:
        try:
            while solver.iterations < (next_look if iterations is None else min(next_look, iterations)):
                budget.check_clock()
                solver.iterate()
        except SearchStopped as stopped:
            stopped_by = stopped.reason
        behaviours = solver.average()
        reached = measured(solver.form, behaviours)
        gain = reached.exploitability
        if on_progress is not None:
            on_progress(SolvingProgress(iterations=solver.iterations, seconds=budget.seconds, exploitability=gain))
        if gain <= tolerance:
            return behaviours, reached, StoppedBy.COMPLETED
        if stopped_by is not StoppedBy.COMPLETED:
            return behaviours, reached, stopped_by
        if solver.iterations == iterations:
            return behaviours, reached, StoppedBy.SIMULATIONS
        next_look += next_look // 4


def policy_of(form: SequenceForm, behaviours: Sequence[Floats], reached: Exploitability) -> PolicyTable:
    """The policy of behaviours, for each player the probability of each sequence's action. S - 1 each."""
    entries: dict[str, tuple[None, dict[int, float]]] = {}
    for number, (seat, behaviour) in enumerate(zip(form.seats, behaviours, strict=True)):
        for key, _, own in seat.decisions():
            mixed = dict(zip(seat.actions[own].tolist(), behaviour[own].tolist(), strict=True))
            entries[information_key(form.game, number, key)] = None, mixed
    return PolicyTable(
        game=game_identity(form.game),
        entries=entries,
        is_hidden=True,
        values=reached.values,
        exploitability=reached.exploitability,
        rules=rules_of(form.game),
    )
