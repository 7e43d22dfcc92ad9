"""Solving: the value of a position, and who wins, by how much and how soon, when all play best.

For two players who see everything there are two questions (Allis, *Searching for Solutions in Games and
Artificial Intelligence*, 1994, chapter 1): who wins (``outcome_only``), or the value of the position and of every
action in it. Rules that compile are proven by null windows (``compiled.proof``), any other game by alpha-beta.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from zermelo.agents.base.budget import Budget, SearchStopped
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.options import Compile
from zermelo.agents.base.requirements import (
    no_legal_action,
    require_decision,
    require_facts,
    require_plain_game,
    unproven,
)
from zermelo.agents.base.result import renumbered
from zermelo.agents.base.settings import check_callable, check_choice, check_flag, check_number, check_whole
from zermelo.agents.base.solution import Solution, SolvingProgress, outcome_of, unsolved
from zermelo.agents.base.watched_budget import ProgressLines, WatchedBudget
from zermelo.agents.equilibrium.backward_induction import backward_induction
from zermelo.agents.equilibrium.equilibrium import solve_equilibrium
from zermelo.agents.equilibrium.policy_table import Entry, Plan, PolicyTable, game_identity, stable_key
from zermelo.agents.kernels.threads import number_of_threads
from zermelo.agents.solving.proof_numbers import ProofNumberSolver
from zermelo.agents.solving.solvers import AlphaBetaSolver, ProofSolver, Solver
from zermelo.agents.solving.value_iteration import ValueTable, value_iteration
from zermelo.agents.tree_search.exact.prover import PROOF, Prover, can_prove
from zermelo.envs import CHANCE, Chance, Game, Information, InvalidSettingError, Traits, UnsupportedGameError
from zermelo.envs.capabilities import SupportsInformationStates
from zermelo.envs.position import position, search_game


class SolveBy(enum.StrEnum):
    """The search that solves a game of two players without chance."""

    AUTO = "auto"
    """Null windows to the end for rules that compile, alpha-beta for other games."""
    ALPHA_BETA = "alpha_beta"
    PROOF_NUMBER = "proof_number"
    """Depth-first proof-number search, for positions in which one side has few answers, such as mates."""


_NAME: Final = "solve"
_FEW: Final = 3000
"""States that plain Python visits in about the time that it takes to read machine code from disk."""
_MOST_RULES: Final = 200_000
_MOST_COPIES: Final = 20_000
"""States of games of simultaneous moves, by rules and by copies of environments, which take far longer."""


def solve(
    game: Any,
    state: Any = None,
    *,
    outcome_only: bool = False,
    nodes: int | None = None,
    seconds: float | None = None,
    memory_mb: float = 16,
    threads: int = 1,
    tolerance: float | None = None,
    compile: Compile | str = Compile.WAIT,  # noqa: A002 - the agents' setting
    tables: str | None = None,
    method: SolveBy | str = SolveBy.AUTO,
    on_progress: Callable[[SolvingProgress], Any] | None = None,
) -> Solution:
    """Solves a position of a game for two players with a constant sum, or for one.

    ============================  ================================================================================
    perfect information           search to the end: the exact value of every action, proven
    known chances, or one player  value iteration: values to within ``tolerance``
    simultaneous moves            a matrix game at each state: exact values and mixed strategies
    hidden cards, small           ``solve_equilibrium`` from the start: a policy, and bounds of the value
    ============================  ================================================================================

    A limit that is reached is no error: the solution then has bounds, and ``proven`` is False. It is also False
    where traits of an environment were only seen in random play: give or declare them.

    Args:
        game: A ``Game``, rules, a live environment, which is copied and never changed, or its name.
        state: The position; by default where a live environment stands, else the initial state.
        outcome_only: Only who wins: the search stops as soon as that is proven.
        nodes: The most states to visit (by each thread), a short try in plain Python not counted.
        seconds: The most time to take.
        memory_mb: Memory for the table, in MiB; more than the processor's cache is slower.
        threads: Threads, where rules are compiled; only the line found may depend on them.
        tolerance: How far off a value may be (1e-9); with hidden cards, the policy's exploitability (1e-3).
        compile: When to compile rules: ``"wait"``, ``"background"`` or ``"never"``.
        tables: A file with an endgame table, which is taken as proven.
        method: ``"auto"``, ``"alpha_beta"``, or ``"proof_number"``: for mates; it finds one action that keeps the
            value, and not how soon the game ends.
        on_progress: Called ten times a second; an exception that it raises stops the search.

    Raises:
        UnsupportedGameError: It is no such game, or goes on for too long, or for ever.
        GameOverError: There is nothing to decide.
        RulesError: Rules do not compile; the message names the method and the line.
        InvalidSettingError: A setting has a value it cannot have.
    """
    started = Budget.now()
    check_flag("outcome_only", outcome_only)
    check_number("memory_mb", memory_mb, lower=0, above=True)
    check_whole("threads", threads, lower=1)
    check_callable("on_progress", on_progress, "of a SolvingProgress")
    limits = Limits(nodes=nodes, seconds=seconds)
    root = position(game, state)
    is_from_start = state is None
    game, state, traits = root.game, root.state, root.game.traits
    if is_solved_by_policy(game) or is_solved_by_values(traits) or traits.simultaneous:
        if outcome_only or (nodes is not None and not traits.simultaneous):
            raise InvalidSettingError(
                f"outcome_only and nodes are not for {traits.name}, which has chance, one player, hidden cards or "
                "moves at the same time: use seconds, or tolerance"
            )
        if is_solved_by_policy(game):
            if not is_from_start:
                raise InvalidSettingError("a game of hidden information is solved from its start: give no state")
            return _by_policy(game, 1e-3 if tolerance is None else tolerance, seconds)
        watched = WatchedBudget(limits, started, on_progress=on_progress or ProgressLines(traits.name))
        found = _by_values(game, state, 1e-9 if tolerance is None else tolerance, watched)
        return renumbered(found, game, state) if root.renumbers else found
    require_plain_game(traits, _NAME)
    require_decision(game, state)
    chosen = check_choice("compile", compile, Compile)

    by = check_choice("method", method, SolveBy)
    if by is SolveBy.PROOF_NUMBER and tables is not None:
        raise InvalidSettingError("proof numbers read no endgame tables: use method='alpha_beta'")

    def solved(kind: type[Solver], within: Limits, compiled: Compile) -> Solution:
        watch = on_progress if within is limits else None
        budget = WatchedBudget(within, started, compile=compiled, on_progress=watch)
        solver = kind(game, budget, memory_mb=memory_mb, threads=threads, tables=tables)
        found = solver.solve(state, outcome_only=outcome_only)
        return renumbered(found, game, state) if root.renumbers else found

    if by is SolveBy.PROOF_NUMBER:
        return _on_trust(solved(ProofNumberSolver, limits, chosen), game)
    if chosen is Compile.NEVER or by is SolveBy.ALPHA_BETA or tables is not None or not can_prove(game):
        return _on_trust(solved(AlphaBetaSolver, limits, chosen), game)
    # A small game is done in plain Python before its rules are compiled, or read back from disk.
    few = dataclasses.replace(limits, nodes=_FEW if nodes is None else min(_FEW, nodes))
    tried = solved(AlphaBetaSolver, few, Compile.NEVER)
    if tried.stopped_by is StoppedBy.COMPLETED or few.nodes == nodes:
        return tried
    budget = Budget(limits, started, compile=chosen)
    is_ready = PROOF.is_ready(game.rules, budget)
    started = budget.started
    return solved(ProofSolver, limits, chosen) if is_ready else solved(AlphaBetaSolver, limits, Compile.NEVER)


def _on_trust(found: Solution, game: Any) -> Solution:
    """A solution that claims no more than is known of the game.

    What a live environment has paid before is not known, so neither is who leads: where it pays on the way, the
    solution does not say who wins.
    """
    traits = game.traits
    if not getattr(game, "knows_what_was_paid", True) and not traits.terminal_rewards_only:
        found = unproven(dataclasses.replace(found, outcome=None))
    return unproven(found) if traits.guessed or getattr(game, "failures", 0) else found


def is_solved_by_policy(game: Any) -> bool:
    """True for games of hidden information that ``solve`` answers by an equilibrium."""
    traits = game.traits
    return (
        traits.information is Information.HIDDEN
        and not traits.simultaneous
        and traits.is_opposed
        and traits.chance is not Chance.SAMPLED
        and isinstance(game, SupportsInformationStates)
    )


def is_solved_by_values(traits: Traits) -> bool:
    """True for games that ``solve`` answers by value iteration: one player, or known chances."""
    return traits.information is Information.PERFECT and (traits.chance is Chance.EXACT or traits.seats == 1)


def _by_policy(game: Any, tolerance: float, seconds: float | None) -> Solution:
    found = solve_equilibrium(game, tolerance=tolerance, seconds=seconds)
    bounds = found.value_bounds(game.traits.constant)
    return Solution(
        seat=0,
        value=None,
        value_bounds=bounds,
        outcome=outcome_of(game.traits, 0, *bounds),
        nodes=found.states,
        seconds=found.seconds,
        stopped_by=found.stopped_by,
        policy=found.policy,
    )


def _by_values(game: Any, state: Any, tolerance: float, budget: WatchedBudget) -> Solution:
    """The solution by the values of all states: value iteration, or a matrix game at each."""
    traits, seat = game.traits, 0
    try:
        if traits.simultaneous:
            few = _MOST_RULES if hasattr(game, "rules") else _MOST_COPIES
            most = few if budget.limits.nodes is None else math.inf
            return backward_induction(game, state, budget, most_states=most)
        require_decision(game, state)
        seat = game.to_move(state)
        table = value_iteration(game, tolerance, states=[state], check=lambda: budget.visit(0))
    except SearchStopped as stopped:
        return unsolved(game, state, seat, budget.nodes, budget.seconds, stopped.reason)
    action_values = table.action_values(state)
    value = max(action_values.values())
    bounds = value - table.tolerance, value + table.tolerance
    return Solution(
        seat=seat,
        value=value,
        value_bounds=bounds,
        values_by_seat=traits.values_by_seat(seat, value),
        outcome=outcome_of(traits, seat, *bounds) if traits.is_opposed else None,
        action_values=action_values,
        nodes=len(table),
        seconds=budget.seconds,
    )


class ExactValue(NamedTuple):
    """Each seat's value under perfect play, and the moves to the end: None for draws and games won by a margin."""

    values_by_seat: tuple[float, ...]
    plies: int | None


def exact_values(
    game: Any, states: Iterable[Any], *, threads: int | None = None, memory_mb: float = 16
) -> list[ExactValue]:
    """The exact values of many states of one game, as ``solve`` takes it, finished ones too, in their order.

    ``threads`` work (by default one a processor), each on states of its own; they share a table of ``memory_mb``.
    """
    check_number("memory_mb", memory_mb, lower=0, above=True)
    threads = number_of_threads(threads)
    game = search_game(game)
    require_plain_game(game.traits, _NAME)
    require_facts(game.traits, "exact_values")
    everything = list(states)
    waiting = [state for state in everything if not game.is_terminal(state)]
    for state in waiting:
        require_decision(game, state)
    constant = game.traits.constant
    if can_prove(game):
        prover = Prover(game, memory_mb=memory_mb, threads=threads)
        found = [prover.value(score.lower) for score in prover.scores(waiting)]
    else:
        solutions = [solve(game, state, memory_mb=memory_mb) for state in waiting]
        found = [(s.value_bounds[0], None if s.value == constant / 2 else s.plies) for s in solutions]
    solved = iter(
        ExactValue(game.traits.values_by_seat(game.to_move(state), value), plies)
        for state, (value, plies) in zip(waiting, found, strict=True)
    )
    return [
        ExactValue(tuple(game.utility(state)), 0) if game.is_terminal(state) else next(solved)
        for state in everything
    ]


MOST_STATES: Final = 1_000_000
_VISITS: Final = 30
"""Average visits of a state before its value is known, at most."""
_LEAST: Final = 10_000
"""States that it may visit so often, however few there may be."""


def solve_policy(
    game: Any,
    state: Any = None,
    *,
    plan: Plan | str = Plan.SEAT,
    seat: int | None = None,
    most_states: int = MOST_STATES,
    on_progress: Callable[[SolvingProgress], Any] | None = None,
) -> PolicyTable:
    """The optimal actions of every state that a policy may meet.

    Args:
        game: As ``solve`` takes it.
        state: As ``solve`` takes it.
        plan: ``"seat"``: the states of one seat that plays by the policy, whatever the others do; ``"full"``: all
            states that can be reached.
        seat: The owner of a plan for one seat; by default the player to move.
        most_states: The most states of the plan; to solve them it may visit thirty times as many.
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
    made = ProofSolver if can_prove(game) else AlphaBetaSolver
    limits = Limits(nodes=_VISITS * max(most_states, _LEAST))
    budget = WatchedBudget(limits, on_progress=on_progress)
    solver = made(game, budget)

    def best_of(here: Any) -> tuple[float, tuple[int, ...]]:
        values = solver.action_values(here)
        best = max(values.values())
        return best, tuple(sorted(action for action, value in values.items() if value == best))

    def note(solved: int, known: int) -> None:
        budget.solved = lambda: (solved, known)
        budget.check_clock()

    try:
        return _policy(game, state, best_of, plan=plan, seat=seat, most_states=most_states, note=note)
    except SearchStopped:
        raise UnsupportedGameError(
            f"{game.traits.name} was not solved from here with {limits.nodes:,} visits of states: give more with "
            "most_states, or a position nearer to the end"
        ) from None


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
    soonest, so that play does not go in circles. Other settings and errors are those of ``solve_policy``.
    """

    def best_of(here: Any) -> tuple[float, tuple[int, ...]]:
        return max(table.action_values(here).values()), table.best_actions(here)

    made = _policy(table.game, state, best_of, plan=plan, seat=seat, most_states=most_states)
    return dataclasses.replace(made, tolerance=table.tolerance)


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
    """The policy over all states that its owner may meet, or over all states without an owner.

    ``best_of`` gives a state's value and best actions; ``note`` hears how many states are done, of how many known.
    """
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
    return PolicyTable(game=game_identity(game), plan=plan, seat=owner, entries=entries)
