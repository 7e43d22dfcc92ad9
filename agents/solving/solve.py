"""Solving: the value of a position, and who wins, by how much and how soon, when all play best.

Allis, *Searching for Solutions in Games and Artificial Intelligence* (1994), chapter 1, tells who wins
(``outcome_only``) from the value of the position and of every action in it.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from zermelo.agents.base.budget import Budget, SearchStopped
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.machine import check_memory, check_threads
from zermelo.agents.base.requirements import require_decision, require_facts, require_plain_game, unproven
from zermelo.agents.base.result import renumbered
from zermelo.agents.base.settings import Compile, check_callable, check_choice, check_flag
from zermelo.agents.equilibrium.backward_induction import backward_induction
from zermelo.agents.equilibrium.equilibrium import solve_equilibrium
from zermelo.agents.kernels.threads import number_of_threads
from zermelo.agents.solutions.solution import (
    ProgressLines,
    Solution,
    SolvingProgress,
    WatchedBudget,
    outcome_of,
    unknown_solution,
)
from zermelo.agents.solving.proof_numbers import ProofNumberSolver
from zermelo.agents.solving.solvers import AlphaBetaSolver, ProofSolver, Solver
from zermelo.agents.solving.value_iteration import value_iteration
from zermelo.agents.tree_search.exact.prover import PROOF, Prover, can_prove
from zermelo.envs.capabilities import SupportsInformationStates, copy_facts, offers, rules_of
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.game import Chance, Information, Traits
from zermelo.envs.position import position, search_game
from zermelo.envs.support.calls import checked_call


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


@checked_call
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
        nodes: States that each thread may visit, a short try in plain Python not counted; None for no limit.
        seconds: Time limit, in seconds; None for no limit.
        memory_mb: Memory for the table, in MiB; more than the processor's cache is slower.
        threads: Threads, where rules are compiled; only the line found may depend on them.
        tolerance: How far off a value may be, in the game's utility; None is 1e-9. With hidden cards the policy's
            exploitability; None is 1e-3.
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
    check_memory("memory_mb", memory_mb, above=True)
    check_threads("threads", threads)
    check_callable("on_progress", on_progress, "of a SolvingProgress")
    limits = Limits(nodes=nodes, seconds=seconds)
    root = position(game, state)
    traits = root.game.traits
    by_policy = is_solved_by_policy(root.game)
    if by_policy or is_solved_by_values(traits) or traits.simultaneous:
        if outcome_only or (nodes is not None and not traits.simultaneous):
            raise InvalidSettingError(
                f"outcome_only and nodes are not for {traits.name}, which has chance, one player, hidden cards or "
                "moves at the same time: use seconds, or tolerance"
            )
        if by_policy and state is not None:
            raise InvalidSettingError("a game of hidden information is solved from its start: give no state")
        if by_policy:
            return _by_policy(root.game, 1e-3 if tolerance is None else tolerance, seconds)
        watched = WatchedBudget(limits, started, on_progress=on_progress or ProgressLines(traits.name))
        solution = _by_values(root.game, root.state, 1e-9 if tolerance is None else tolerance, watched)
    else:
        require_plain_game(traits, _NAME)
        require_decision(root.game, root.state)
        chosen, by = check_choice("compile", compile, Compile), check_choice("method", method, SolveBy)
        if by is SolveBy.PROOF_NUMBER and tables is not None:
            raise InvalidSettingError("proof numbers read no endgame tables: use method='alpha_beta'")
        search = _Search(root.game, root.state, outcome_only, limits, memory_mb, threads, tables, on_progress)
        solution = search.solution(by, chosen, started)
    return renumbered(solution, root.game, root.state) if root.renumbers else solution


class _Search(NamedTuple):
    """A search to the end of a game for two players without chance; the fields are as ``solve`` takes them."""

    game: Any
    state: Any
    outcome_only: bool
    limits: Limits
    memory_mb: float
    threads: int
    tables: str | None
    on_progress: Callable[[SolvingProgress], Any] | None

    def solution(self, by: SolveBy, compiled: Compile, started: float) -> Solution:
        if by is SolveBy.PROOF_NUMBER:
            return _on_trust(self._by(ProofNumberSolver, compiled, started), self.game)
        is_plain = compiled is Compile.NEVER or by is SolveBy.ALPHA_BETA or self.tables is not None
        if is_plain or not can_prove(self.game):
            return _on_trust(self._by(AlphaBetaSolver, compiled, started), self.game)
        # A small game is done in plain Python before its rules are compiled, or read back from disk.
        nodes = self.limits.nodes
        few = dataclasses.replace(self.limits, nodes=_FEW if nodes is None else min(_FEW, nodes))
        tried = self._replace(limits=few, on_progress=None)._by(AlphaBetaSolver, Compile.NEVER, started)
        if tried.stopped_by is StoppedBy.COMPLETED or few.nodes == nodes:
            return tried
        budget = Budget(self.limits, started, compile=compiled)
        if PROOF.is_ready(self.game.rules, budget):
            return self._by(ProofSolver, compiled, budget.started)
        return self._by(AlphaBetaSolver, Compile.NEVER, budget.started)

    def _by(self, kind: type[Solver], compiled: Compile, started: float) -> Solution:
        budget = WatchedBudget(self.limits, started, compile=compiled, on_progress=self.on_progress)
        solver = kind(self.game, budget, self.memory_mb, self.threads, self.tables)
        return solver.solve(self.state, outcome_only=self.outcome_only)


def _on_trust(solution: Solution, game: Any) -> Solution:
    """A solution that claims no more than is known: not who wins where a live environment has paid on the way."""
    traits = game.traits
    if not copy_facts(game).knows_what_was_paid and not traits.terminal_rewards_only:
        solution = unproven(dataclasses.replace(solution, outcome=None))
    return unproven(solution) if traits.guessed or copy_facts(game).failures else solution


def is_solved_by_policy(game: Any) -> bool:
    """True for games of hidden information that ``solve`` answers by an equilibrium."""
    traits = game.traits
    return (
        traits.information is Information.HIDDEN
        and not traits.simultaneous
        and traits.is_opposed
        and traits.chance is not Chance.SAMPLED
        and offers(game, SupportsInformationStates)
    )


def is_solved_by_values(traits: Traits) -> bool:
    """True for games that ``solve`` answers by value iteration: one player, or known chances."""
    return traits.information is Information.PERFECT and (traits.chance is Chance.EXACT or traits.seats == 1)


def _by_policy(game: Any, tolerance: float, seconds: float | None) -> Solution:
    equilibrium = solve_equilibrium(game, tolerance=tolerance, seconds=seconds)
    bounds = equilibrium.value_bounds(game.traits.constant)
    return Solution(
        seat=0,
        value=None,
        value_bounds=bounds,
        outcome=outcome_of(game.traits, 0, *bounds),
        nodes=equilibrium.states,
        seconds=equilibrium.seconds,
        stopped_by=equilibrium.stopped_by,
        policy=equilibrium.policy,
    )


def _by_values(game: Any, state: Any, tolerance: float, budget: WatchedBudget) -> Solution:
    traits, seat = game.traits, 0
    try:
        if traits.simultaneous:
            few = _MOST_RULES if rules_of(game) is not None else _MOST_COPIES
            most = few if budget.limits.nodes is None else math.inf
            return backward_induction(game, state, budget, most_states=most)
        require_decision(game, state)
        seat = game.to_move(state)
        table = value_iteration(game, tolerance, states=[state], check=lambda: budget.visit(0))
    except SearchStopped as stopped:
        return unknown_solution(game, state, seat, budget.nodes, budget.seconds, stopped.reason)
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


@checked_call
def exact_values(
    game: Any, states: Iterable[Any], *, threads: int | None = None, memory_mb: float = 16
) -> list[ExactValue]:
    """The exact values of many states of one game, as ``solve`` takes it, finished ones too, in their order.

    Args:
        game: The game, as ``solve`` takes it.
        states: The states.
        threads: Threads, each with states of its own; by default one a processor.
        memory_mb: Memory for the table that they share, in MiB.
    """
    check_memory("memory_mb", memory_mb, above=True)
    threads = number_of_threads(threads)
    game = search_game(game)
    require_plain_game(game.traits, _NAME)
    require_facts(game.traits, "exact_values")
    everything = list(states)
    waiting = [state for state in everything if not game.is_terminal(state)]
    for state in waiting:
        require_decision(game, state)
    draw = game.traits.constant / 2
    if can_prove(game):
        prover = Prover(game, memory_mb=memory_mb, threads=threads)
        values = [prover.value(score.lower) for score in prover.scores(waiting)]
    else:
        solutions = [solve(game, state, memory_mb=memory_mb) for state in waiting]
        values = [(s.value_bounds[0], None if s.value == draw else s.plies) for s in solutions]
    solved = iter(
        ExactValue(game.traits.values_by_seat(game.to_move(state), value), plies)
        for state, (value, plies) in zip(waiting, values, strict=True)
    )
    return [
        ExactValue(tuple(game.utility(state)), 0) if game.is_terminal(state) else next(solved)
        for state in everything
    ]
