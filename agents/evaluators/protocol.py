"""The protocol of static evaluations, and the check that every one passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from zermelo.agents.base.scores import FITTED_UNIT, has_room
from zermelo.agents.base.settings import inside_bounds
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.game import CHANCE, Game
from zermelo.envs.support.source import described


@runtime_checkable
class Evaluator(Protocol):
    """Says what an unfinished state is worth without searching it.

    The answer is one number per seat, in seat order: the utility that the seat can expect from here on, rewards
    already received left out, inside ``game.traits.utility_bounds``; of two opposed players who are paid at the
    end strictly inside, so that a proven value shows. ``squash`` brings any number there. For games with chance
    the numbers must be a positive linear transformation of the expected utility, as averages of them are compared.

    An evaluator that takes long may have a method ``watched(check)``, which returns an evaluator that calls
    ``check()`` every so often; the search's clock then stops it in time.
    """

    def __call__(self, game: Game[Any], state: Any) -> Sequence[float]:
        """One value per seat."""
        ...


def squash(x: float, bounds: tuple[float, float] = (-1.0, 1.0)) -> float:
    """Any finite number, brought strictly inside the bounds, order kept; 0 becomes their middle.

    ``x / (1 + |x|)``, stretched to the bounds: unlike a hyperbolic tangent it does not run into the bound at 20.

    Args:
        x: The number, in any unit.
        bounds: The lowest and highest utility. Where one is infinite the number is left as it is.
    """
    lower, upper = bounds
    if not math.isfinite(upper - lower) or lower == upper:
        return x if lower < upper else lower
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    inside = middle + half * (x / (1 + abs(x)))
    return min(max(inside, math.nextafter(lower, math.inf)), math.nextafter(upper, -math.inf))


def seat_values(evaluate: Evaluator, game: Game[Any], state: Any) -> Sequence[float]:
    """The evaluator's values, checked: one finite number per seat, inside the utility bounds."""
    traits = game.traits
    answer = evaluate(game, state)
    try:
        if isinstance(answer, str | bytes | Mapping):
            raise TypeError
        values = [float(value) for value in answer]
    except (TypeError, ValueError):
        raise InvalidSettingError(
            f"an evaluation is a sequence of {traits.seats} numbers, one per seat, but {_name(evaluate)} gave "
            f"{answer!r}"
        ) from None
    if len(values) != traits.seats:
        raise InvalidSettingError(
            f"an evaluation is one number for each of the {traits.seats} seats of {traits.name}, "
            f"but {_name(evaluate)} gave {len(values)}"
        )
    strictly = has_room(traits)
    for value in values:
        if not math.isfinite(value):
            raise InvalidSettingError(f"an evaluation is finite, but {_name(evaluate)} gave {value}")
        if not inside_bounds(value, traits.utility_bounds, strictly=strictly):
            lower, upper = traits.utility_bounds
            raise InvalidSettingError(
                f"{_name(evaluate)} gave {value}, which is not {'strictly ' * strictly}inside the utility bounds "
                f"{lower} and {upper} of {traits.name}: scale it, as zermelo.agents.evaluators.squash does"
            )
    return values


def expected_totals(
    evaluate: Evaluator, game: Game[Any], state: Any, visit: Callable[[], Any] = lambda: None
) -> tuple[float, ...]:
    """For each seat, the rewards so far and what the evaluator expects, averaged over chance."""
    visit()
    if game.is_terminal(state):
        return tuple(map(float, game.utility(state)))
    if game.to_move(state) == CHANCE:
        outcomes = [
            (p, expected_totals(evaluate, game, game.result(state, outcome), visit))
            for outcome, p in game.chance_outcomes(state)
        ]
        return tuple(math.fsum(p * worth[seat] for p, worth in outcomes) for seat in range(game.traits.seats))
    return totals_at(evaluate, game, state)


def to_come_by_seat(game: Any, state: Any, seat: int, mine: float) -> tuple[float, ...]:
    """The values to come of one player, or of two opposed ones, from the value of ``seat``."""
    if game.traits.seats == 1:
        return (mine,)
    other = game.traits.constant - sum(game.utility(state)) - mine
    return (mine, other) if seat == 0 else (other, mine)


def values_by_seat(
    game: Any, state: Any, seat: int, mine: float, bounds: tuple[float, float]
) -> tuple[float, ...]:
    """Values for all seats from that of one, rounded as compiled code does, and strictly inside finite bounds."""
    lower, upper = bounds
    if math.isfinite(upper - lower):
        mine = math.floor(mine * FITTED_UNIT + 0.5) / FITTED_UNIT
        mine = min(max(mine, lower + 1 / FITTED_UNIT), upper - 1 / FITTED_UNIT)
    return to_come_by_seat(game, state, seat, mine)


def totals_at(evaluate: Evaluator, game: Game[Any], state: Any) -> tuple[float, ...]:
    """For each seat, the rewards so far and what the evaluator expects in a state that is not over."""
    expected = seat_values(evaluate, game, state)
    return tuple(so_far + value for so_far, value in zip(game.utility(state), expected, strict=True))


def _name(evaluate: Any) -> str:
    return f"the evaluator {described(evaluate)}"
