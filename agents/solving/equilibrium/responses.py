"""Best responses: what a player gets at most against others that keep to a policy, exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from zermelo.agents.solving.equilibrium.sequence_form import (
    MOST_STATES,
    Floats,
    SequenceForm,
    sequence_form,
)
from zermelo.agents.solving.policy_table import PolicyTable
from zermelo.envs import InvalidSettingError
from zermelo.envs.position import search_game

AnyPolicy: TypeAlias = PolicyTable | Callable[[Any, Any], Mapping[int, float]]
"""A table; or a function of game and state that gives the probability of each action of the player to move."""
_ROUNDING: Final = 1e-6


@dataclass(frozen=True, kw_only=True)
class Exploitability:
    """Gains of the players from best responses to a policy.

    Attributes:
        values: What each player gets when all keep to the policy.
        best_responses: What each gets by the best answer to the others' policies.
    """

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


def exploitability(policy: AnyPolicy, game: Any, *, most_states: int = MOST_STATES) -> float:
    """The gain of a best response, averaged over the players; 0 in an equilibrium.

    Of two opposed players, each gets by such a policy at least the value of the game less twice this much,
    whatever the other plays.

    Args:
        policy: A ``PolicyTable``, or a function of game and state that gives each action's probability.
        game: A ``Game`` with information states, or what ``as_game`` makes one of.
        most_states: How many states the game may have.

    Raises:
        UnsupportedGameError: The game does not say what players know, has sampled chance or too many states.
        InvalidSettingError: The policy is none, or of another game.
    """
    return best_responses(policy, game, most_states=most_states).exploitability


def best_responses(policy: AnyPolicy, game: Any, *, most_states: int = MOST_STATES) -> Exploitability:
    """Each player's value under a policy, and by a best response to it; arguments as ``exploitability``."""
    found = search_game(game)
    form = sequence_form(found, most_states=most_states)
    return measured(form, behaviours_of(policy, form))


def measured(form: SequenceForm, behaviours: Sequence[Floats]) -> Exploitability:
    """``measure`` for behaviours: for each player the probability of each sequence's action. S - 1 each."""
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
    """The probabilities of a policy at each information state of a game. S - 1 for each player.

    Raises:
        InvalidSettingError: It is of another game, or what it gives are no probabilities of the legal actions.
    """
    if isinstance(policy, PolicyTable):
        policy.check_game(form.game)
    elif not callable(policy):
        raise InvalidSettingError(
            f"a policy is a PolicyTable, or a function of game and state that gives each action's probability, "
            f"not {policy!r}"
        )
    ask = policy.probabilities if isinstance(policy, PolicyTable) else policy
    found = []
    for seat in form.seats:
        behaviour = np.zeros(seat.size - 1)
        ends = [*seat.starts[1:].tolist(), len(behaviour)]
        for state, start, end in zip(seat.examples, seat.starts.tolist(), ends, strict=True):
            behaviour[start:end] = _checked(ask(form.game, state), seat.actions[start:end].tolist(), state)
        found.append(behaviour)
    return found


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
