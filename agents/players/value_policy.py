"""Writing the values of a game that may go on for ever out as a policy."""

from __future__ import annotations

from typing import Any

from zermelo.agents.core.checks import check_choice, check_whole
from zermelo.agents.core.gate import require_decision
from zermelo.agents.players.policy_table import Plan, PolicyTable, game_identity, stable_key
from zermelo.agents.players.value_iteration import ValueTable
from zermelo.envs import CHANCE, InvalidSettingError, UnsupportedGameError

__all__ = ["policy_of_values"]


def policy_of_values(
    table: ValueTable,
    state: Any,
    *,
    plan: Plan | str = Plan.SEAT,
    seat: int | None = None,
    most_states: int = 2_000_000,
) -> PolicyTable:
    """The best actions of every state that a policy may meet, by a table of values.

    Actions count as equally good if their values differ by no more than the table is accurate. Of those only the
    ones are kept with which the game may end soonest, so that play does not go in circles.

    Args:
        table: What ``value_iteration`` gave, for ``state`` or one that leads there.
        state: Where the policy starts.
        plan: ``"seat"``: the states of one seat, as long as it plays by the policy, whatever the other and chance
            do; ``"full"``: all states that can be reached.
        seat: The owner of a plan for one seat; the player to move, if not given.
        most_states: How many states may be looked at.

    Raises:
        UnsupportedGameError: There are more states than that.
        GameOverError: There is nothing to decide.
        InvalidSettingError: A setting has a value it cannot have.
    """
    plan = check_choice("plan", plan, Plan)
    check_whole("most_states", most_states, least=1)
    game = table.game
    require_decision(game, state)
    owner = game.to_move(state)
    if seat is not None:
        check_whole("seat", seat)
        owner = seat
    if owner >= game.traits.seats:
        raise InvalidSettingError(
            f"seat must be one of the {game.traits.seats} of {game.traits.name}, not {owner}"
        )
    entries: dict[str, tuple[float, tuple[int, ...]]] = {}
    met = {game.key(state)}
    waiting = [state]
    for here in waiting:  # it grows on the way
        if game.is_terminal(here):
            continue
        mover = game.to_move(here)
        ways = (
            [outcome for outcome, _ in game.chance_outcomes(here)] if mover == CHANCE else game.legal_actions(here)
        )
        if mover != CHANCE and (plan is Plan.FULL or mover == owner):
            values = table.action_values(here)
            best = table.best_actions(here)
            entries[stable_key(game, here)] = max(values.values()) - game.utility(here)[mover], best
            if plan is Plan.SEAT:
                ways = best
        for way in ways:
            after = game.result(here, way)
            key = game.key(after)
            if key not in met:
                if len(met) == most_states:
                    raise UnsupportedGameError(
                        f"{game.traits.name} has more than {most_states:,} states to look at: allow more, or "
                        "start from a later position"
                    )
                met.add(key)
                waiting.append(after)
    return PolicyTable(
        game=game_identity(game),
        plan=plan,
        seat=owner if plan is Plan.SEAT else None,
        entries=entries,
        tolerance=table.tolerance,
    )
