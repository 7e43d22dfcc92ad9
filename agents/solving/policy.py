"""Policies written out: of a game that is solved, and of the values of one that may go on for ever."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from zermelo.agents.compiled.proof import can_prove
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.checks import check_choice, check_flag, check_whole
from zermelo.agents.core.gate import require_decision
from zermelo.agents.core.limits import Limits
from zermelo.agents.solving.alpha_beta_solver import AlphaBetaSolver
from zermelo.agents.solving.policy_table import Plan, PolicyTable, game_identity, stable_key
from zermelo.agents.solving.proof import ProofSolver
from zermelo.agents.solving.solution import SolvingProgress
from zermelo.agents.solving.solve import game_and_state, require_solvable
from zermelo.agents.solving.value_iteration import ValueTable
from zermelo.envs import CHANCE, InvalidSettingError, UnsupportedGameError

__all__ = ["MOST_STATES", "policy_of_values", "solve_policy"]

MOST_STATES: Final = 1_000_000


def solve_policy(
    game: Any,
    state: Any = None,
    *,
    plan: Plan | str = Plan.SEAT,
    seat: int | None = None,
    sooner: bool = False,
    most_states: int = MOST_STATES,
    on_progress: Callable[[SolvingProgress], Any] | None = None,
) -> PolicyTable:
    """The optimal actions of every state that a policy may meet.

    Args:
        game: As ``solve`` takes it.
        state: Where it starts; if not given, where a live environment stands, else the initial state.
        plan: ``"seat"``: the states of one seat, as long as it plays by the policy, whatever the other does;
            ``"full"``: all states that can be reached.
        seat: The owner of a plan for one seat; the player to move, if not given.
        sooner: Whether only those optimal actions count that win soonest or lose latest, where that is known.
        most_states: How many states may be looked at.
        on_progress: As ``solve`` takes it; its ``actions_solved`` are states here, of ``actions`` known so far.

    Raises:
        UnsupportedGameError: ``solve`` cannot solve the game, or there are more states than that.
        GameOverError: There is nothing to decide.
        InvalidSettingError: A setting has a value it cannot have.
    """
    plan = check_choice("plan", plan, Plan)
    check_flag("sooner", sooner)
    check_whole("most_states", most_states, lower=1)
    game, state = game_and_state(game, state)
    require_solvable(game.traits)
    require_decision(game, state)
    if seat not in (None, 0, 1):
        raise InvalidSettingError(f"seat must be 0 or 1, or None for the player to move, not {seat!r}")
    owner = game.to_move(state) if seat is None else seat
    if plan is Plan.FULL:
        owner = None
    made = ProofSolver if can_prove(game) else AlphaBetaSolver
    solver = made(game, Limits(), Budget.now(), table_mb=16, threads=1, on_progress=on_progress)
    entries: dict[str, tuple[float, tuple[int, ...]]] = {}
    met = {stable_key(game, state)}
    waiting = [state]
    while waiting:
        state = waiting.pop()
        mover = game.to_move(state)
        actions = tuple(game.legal_actions(state))
        if not actions:
            require_decision(game, state)
        if owner in (None, mover):
            value, best = _optimal(solver.action_scores(state), sooner=sooner)
            entries[stable_key(game, state)] = (value - game.utility(state)[mover], best)
            actions = actions if owner is None else best
        for action in reversed(actions):
            child = game.result(state, action)
            if game.is_terminal(child):
                continue
            key = stable_key(game, child)
            if key not in met:
                if len(met) >= most_states:
                    raise UnsupportedGameError(
                        f"{game.traits.name} has more than {most_states:,} states for a {plan} plan from here: "
                        "give more with most_states, a position nearer to the end, or the plan of one seat"
                    )
                met.add(key)
                waiting.append(child)
        solver.note(solved=len(met) - len(waiting), known=len(met))
    return PolicyTable(game=game_identity(game), plan=plan, seat=owner, entries=entries)


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
    ones are stored with which the game may end soonest, so that play does not go in circles.

    Args:
        table: What ``value_iteration`` gave, for ``state`` or one that leads there.
        state: Where the policy starts.
        plan: As ``solve_policy`` takes it, with chance; as are ``seat`` and ``most_states``.
        seat: See there.
        most_states: See there.

    Raises:
        UnsupportedGameError: There are more states than that.
        GameOverError: There is nothing to decide.
        InvalidSettingError: A setting has a value it cannot have.
    """
    plan = check_choice("plan", plan, Plan)
    check_whole("most_states", most_states, lower=1)
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


def _optimal(scores: Mapping[int, tuple[float, float]], *, sooner: bool) -> tuple[float, tuple[int, ...]]:
    """The best value, and the actions that have it; scores are (value, mate distance) for the player to move."""
    best = max(scores.values())
    chosen = [a for a, score in scores.items() if (score == best if sooner else score[0] == best[0])]
    return best[0], tuple(sorted(chosen))
