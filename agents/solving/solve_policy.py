"""Policies that solving finds: the best actions of every state that their owner may meet."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Final

from zermelo.agents.base.budget import SearchStopped
from zermelo.agents.base.limits import Limits
from zermelo.agents.base.requirements import no_legal_action, require_decision, require_plain_game
from zermelo.agents.base.settings import check_choice, check_whole
from zermelo.agents.solutions.policy_table import Entry, Plan, PolicyTable, game_identity, rules_of, stable_key
from zermelo.agents.solutions.solution import SolvingProgress, WatchedBudget
from zermelo.agents.solving.solvers import AlphaBetaSolver, ProofSolver
from zermelo.agents.solving.value_iteration import ValueTable
from zermelo.agents.tree_search.exact.prover import can_prove
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.game import CHANCE, Game
from zermelo.envs.position import position
from zermelo.envs.support.calls import checked_call

_MOST_STATES: Final = 1_000_000
_VISITS: Final = 30
"""Nodes that the first solution may visit for each of ``most_states``, or of ``_LEAST`` states if that is more."""
_LEAST: Final = 10_000


@checked_call
def solve_policy(
    game: Any,
    state: Any = None,
    *,
    plan: Plan | str = Plan.SEAT,
    seat: int | None = None,
    most_states: int = _MOST_STATES,
    on_progress: Callable[[SolvingProgress], Any] | None = None,
) -> PolicyTable:
    """The optimal actions of every state that a policy may meet.

    Args:
        game: As ``solve`` takes it.
        state: As ``solve`` takes it.
        plan: ``"seat"``: the states of one seat that plays by the policy, whatever the others do; ``"full"``: all
            states that can be reached.
        seat: The owner of a plan for one seat; by default the player to move.
        most_states: States that the plan may have at most; to solve them it may visit thirty times as many.
        on_progress: As ``solve`` takes it; its ``actions_solved`` are states here, of ``actions`` known so far.

    Raises:
        UnsupportedGameError: ``solve`` cannot solve the game, or there are more states than that.
        GameOverError: There is nothing to decide.
        InvalidSettingError: A setting has a value it cannot have.
    """
    check_whole("most_states", most_states, lower=1)
    root = position(game, state)
    game, state = root.game, root.state
    require_plain_game(game.traits, "solve")
    limits = Limits(nodes=_VISITS * max(most_states, _LEAST))
    budget = WatchedBudget(limits, on_progress=on_progress)
    solver = ProofSolver(game, budget) if can_prove(game) else AlphaBetaSolver(game, budget)

    def best_of(here: Any) -> tuple[float, tuple[int, ...]]:
        values = solver.action_values(here)
        best = max(values.values())
        return best, tuple(sorted(action for action, value in values.items() if value == best))

    def note(solved: int, listed: int) -> None:
        budget.solved = lambda: (solved, listed)
        budget.check_clock()

    try:
        return _policy(game, state, best_of, plan=plan, seat=seat, most_states=most_states, note=note)
    except SearchStopped:
        raise UnsupportedGameError(
            f"{game.traits.name} was not solved from here with {limits.nodes:,} visits of states: give more with "
            "most_states, or a position nearer to the end"
        ) from None


@checked_call
def policy_of_values(
    table: ValueTable,
    state: Any,
    *,
    plan: Plan | str = Plan.SEAT,
    seat: int | None = None,
    most_states: int = 2_000_000,
) -> PolicyTable:
    """The best actions of every state that a policy may meet, by a table of ``value_iteration``.

    Of actions whose values differ by no more than the tolerance, those are stored with which the game may end
    soonest, so that play does not go in circles. Errors are those of ``solve_policy``.

    Args:
        table: The values of the states.
        state: The state to start from.
        plan: As ``solve_policy`` takes it.
        seat: The owner of a plan for one seat; by default the player to move.
        most_states: States that the plan may have at most.
    """

    def best_of(here: Any) -> tuple[float, tuple[int, ...]]:
        return max(table.action_values(here).values()), table.best_actions(here)

    policy = _policy(table.game, state, best_of, plan=plan, seat=seat, most_states=most_states)
    return dataclasses.replace(policy, tolerance=table.tolerance)


def _policy(
    game: Game[Any],
    state: Any,
    best_of: Callable[[Any], tuple[float, tuple[int, ...]]],
    *,
    plan: Plan | str,
    seat: int | None,
    most_states: int,
    note: Callable[[int, int], Any] = lambda *_: None,
) -> PolicyTable:
    """``best_of`` gives a state's value and best actions; ``note`` hears how many states are done and known."""
    plan = check_choice("plan", plan, Plan)
    check_whole("most_states", most_states, lower=1)
    require_decision(game, state)
    if seat not in (None, *range(game.traits.seats)) or isinstance(seat, bool):
        raise InvalidSettingError(
            f"seat must be a number below {game.traits.seats}, or None for the player to move, not {seat!r}"
        )
    owner = None if plan is Plan.FULL else game.to_move(state) if seat is None else seat
    entries: dict[str, Entry] = {}
    met = {stable_key(game, state)}
    waiting = [state]
    while waiting:
        here = waiting.pop()
        mover = game.to_move(here)
        if mover == CHANCE:
            ways: Sequence[int] = [outcome for outcome, _ in game.chance_outcomes(here)]
        else:
            ways = game.legal_actions(here)
            if not ways:
                raise no_legal_action(game)
        if mover != CHANCE and owner in (None, mover):
            value, best = best_of(here)
            to_come, shares = value - game.utility(here)[mover], dict.fromkeys(best, 1 / len(best))
            entries[stable_key(game, here)] = to_come, shares
            ways = ways if owner is None else best
        for way in reversed(ways):
            after = game.result(here, way)
            if game.is_terminal(after) or (key := stable_key(game, after)) in met:
                continue
            if len(met) >= most_states:
                raise UnsupportedGameError(
                    f"{game.traits.name} has more than {most_states:,} states for a {plan} plan from here: "
                    "give more with most_states, a position nearer to the end, or the plan of one seat"
                )
            met.add(key)
            waiting.append(after)
        note(len(met) - len(waiting), len(met))
    return PolicyTable(game=game_identity(game), plan=plan, seat=owner, entries=entries, rules=rules_of(game))
