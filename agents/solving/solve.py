"""Solving: who wins, by how much and how soon, when both play best.

Two questions (Allis, *Searching for Solutions in Games and Artificial Intelligence*, 1994, chapter 1): who wins
(``outcome_only``), or the value of the position and of every action in it. Rules that compile are proven by null
windows to the end (``compiled.proof``); any other game by alpha-beta with a table.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final

from zermelo.agents.compiled.proof.prover import PROOF, can_prove
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.checks import check_callable, check_choice, check_flag, check_number, check_whole
from zermelo.agents.core.gate import on_facts, require_decision, require_plain_game
from zermelo.agents.core.limits import Limits, StoppedBy
from zermelo.agents.core.numbering import renumbered
from zermelo.agents.core.options import Compile
from zermelo.agents.solving.alpha_beta_solver import AlphaBetaSolver
from zermelo.agents.solving.equilibrium.equilibrium import solve_equilibrium
from zermelo.agents.solving.progress import outcome_of
from zermelo.agents.solving.proof import ProofSolver
from zermelo.agents.solving.solution import Solution, SolvingProgress
from zermelo.envs import Chance, Information, InvalidSettingError, Traits
from zermelo.envs.capabilities import SupportsInformationStates
from zermelo.envs.position import position

_NAME: Final = "solve"
_FEW: Final = 3000
"""States that plain Python visits in about the time that it takes to read machine code from disk."""


def solve(
    game: Any,
    state: Any = None,
    *,
    outcome_only: bool = False,
    nodes: int | None = None,
    seconds: float | None = None,
    memory_mb: float = 16,
    threads: int = 1,
    tolerance: float = 1e-3,
    compile: Compile | str = Compile.WAIT,  # noqa: A002 - the agents' setting
    on_progress: Callable[[SolvingProgress], Any] | None = None,
) -> Solution:
    """Solves a position of a game for two players with a constant sum, no chance and nothing hidden.

    A small game for two in which players do not see everything, and which says what they see, is solved from its
    start, as ``solve_equilibrium`` does: the solution has a policy, and bounds of the value for the first player.

    Args:
        game: A ``Game``, rules, a live environment, which is copied and never changed, or its name.
        state: The position; if not given, where a live environment stands, else the initial state.
        outcome_only: Only who wins: the search stops as soon as that is proven.
        nodes: The most states to visit, not counting a short try in plain Python first; with several threads,
            about that many by each.
        seconds: The most time to take.
        memory_mb: Memory for the table, in MiB. More than the processor's cache holds makes every state slower.
        threads: How many threads work on it together, where rules are compiled. Only the line found may depend on
            it.
        tolerance: Where something is hidden, what a player may gain against the policy, on average over both.
        compile: When rules are compiled that are not yet, as agents have it: ``"wait"``, ``"background"`` or
            ``"never"``.
        on_progress: Called ten times a second, if the game's own code allows it; what it raises stops the search
            and is passed on.

    Returns:
        What is proven. Reaching a limit is no error: the solution then has bounds, and ``proven`` is False. Of an
        environment whose traits were only seen in random play nothing is proven: give or declare them.

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
    if is_solved_by_policy(root.game):
        if state is not None:
            raise InvalidSettingError("a game of hidden information is solved from its start: give no state")
        if outcome_only or nodes is not None:
            raise InvalidSettingError(
                "games of hidden information have no outcome_only and no nodes: use seconds, tolerance"
            )
        return _policy_solution(root.game, tolerance, seconds)
    game, state = root.game, root.state
    require_solvable(game.traits)
    require_decision(game, state)
    settings: dict[str, Any] = {"memory_mb": memory_mb, "threads": threads}
    budget = Budget(limits, started, compile=check_choice("compile", compile, Compile))

    def solved_by(kind: type[AlphaBetaSolver | ProofSolver], **how: Any) -> Solution:
        solver = kind(game, limits, budget.started, on_progress=on_progress, **settings, **how)
        return reported(solver.solve(state, outcome_only=outcome_only))

    def reported(solution: Solution) -> Solution:
        return renumbered(solution, game, state) if root.renumbers else solution

    if budget.compile is Compile.NEVER or not can_prove(game):
        return on_facts(solved_by(AlphaBetaSolver, compile=budget.compile), game.traits)
    # A small game is done in plain Python before its rules are compiled, or read back from disk.
    few = dataclasses.replace(limits, nodes=_FEW if nodes is None else min(_FEW, nodes))
    tried = AlphaBetaSolver(game, few, started, compile=Compile.NEVER, on_progress=None, **settings).solve(
        state, outcome_only=outcome_only
    )
    if tried.stopped_by is StoppedBy.COMPLETED or few.nodes == nodes:
        return reported(tried)
    with budget.off_the_clock():
        is_ready = PROOF.is_ready(game.rules, budget.waits)
    return solved_by(ProofSolver) if is_ready else solved_by(AlphaBetaSolver, compile=Compile.NEVER)


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


def _policy_solution(game: Any, tolerance: float, seconds: float | None) -> Solution:
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


def require_solvable(traits: Traits) -> None:
    """Refuses games that ``solve`` cannot solve, whatever their size.

    Raises:
        UnsupportedGameError: It has not two players, or another sum, or chance, or something hidden.
    """
    require_plain_game(traits, _NAME)
