"""The exact value of a best response, where a game is small enough to be written out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits
from zermelo.agents.best_response.asking import AskedPolicy, own_agent
from zermelo.agents.best_response.game import ResponseGame
from zermelo.agents.equilibrium.equilibrium import best_responses
from zermelo.agents.solving.value_iteration import value_iteration
from zermelo.envs.capabilities import SupportsInformationStates, offers
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.position import search_game
from zermelo.envs.support.calls import checked_call


@checked_call
def best_response_values(
    opponent: Any, game: Any, *, asks: int = 2, most_states: int = 20_000, seconds: float | None = None
) -> tuple[float, ...]:
    """The utility of each seat's best response to a policy in all other seats, from the start of a game.

    Args:
        opponent: The policy, as an agent or its spec.
        game: What ``as_game`` takes, or an environment's name.
        asks: How often a policy that does not give probabilities is asked in each position.
        most_states: States that the game may have at most.
        seconds: Time limit, in seconds; None for no limit.

    Raises:
        UnsupportedGameError: The game has too many states, sampled chance or hidden parts that it does not tell.
        InvalidSettingError: The policy failed or draws its moves, so that it is not known.
        SearchStopped: The policy took longer than ``seconds``.
    """
    source, budget = search_game(game), Budget(Limits(seconds=seconds))
    policy = AskedPolicy(source, own_agent(opponent), asks)

    def shares(_: Any, state: Any) -> Mapping[int, float]:
        budget.check_clock()
        return dict(policy.replies(state))

    if offers(source, SupportsInformationStates):
        values = best_responses(shares, source, most_states=most_states).best_responses
    else:
        views = [ResponseGame(source, seat, policy) for seat in range(source.traits.seats)]
        values = tuple(_value(view, most_states, budget) for view in views)
    if policy.failed:
        raise InvalidSettingError(f"the policy failed in {policy.failed} positions: {policy.failure}")
    if policy.varies:
        raise InvalidSettingError("the policy draws its moves, so that its probabilities are not known")
    return values


def _value(view: ResponseGame, most_states: int, budget: Budget) -> float:
    start = view.initial_state()
    return value_iteration(view, states=[start], most_states=most_states, check=budget.check_clock).value(start)
