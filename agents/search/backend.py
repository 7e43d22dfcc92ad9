"""Which search runs: a compiled one where the rules can be compiled, the same in plain Python otherwise.

This is the one place that chooses. A compiled search takes rules, an evaluation that can be compiled (the rules'
own, or a network), and no stop test. To the same depth both find the same
values. Under a limit on nodes or time they may not: their tables keep different entries, and so they visit
different nodes.
"""

from __future__ import annotations

import functools
from typing import Any, cast

from zermelo.agents.compiled.front_end import compiled_search
from zermelo.agents.compiled.general.search import CompiledGeneralSearch, CompiledMaxN
from zermelo.agents.compiled.monte_carlo.search import CompiledMonteCarlo
from zermelo.agents.compiled.program import can_evaluate, tables_of
from zermelo.agents.compiled.two_player.search import CompiledAlphaBeta, can_search
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.monte_carlo import MonteCarlo, Start
from zermelo.agents.core.options import Compile
from zermelo.agents.core.tree_config import AlphaBetaConfig, MaxNConfig
from zermelo.agents.core.tree_search import Root, TreeSearch
from zermelo.agents.evaluators.policy_value import PolicyValue
from zermelo.agents.evaluators.protocol import Evaluator, expected_totals
from zermelo.agents.evaluators.registry import evaluator_name, make_evaluator
from zermelo.agents.search.monte_carlo.batches import BatchedMonteCarlo
from zermelo.agents.search.monte_carlo.search import PlainMonteCarlo
from zermelo.agents.search.observer import Observer
from zermelo.agents.search.tree.alpha_beta import PlainAlphaBeta
from zermelo.agents.search.tree.inner_game import looking_inside
from zermelo.agents.search.tree.max_n import PlainMaxN
from zermelo.envs.capabilities import SupportsEvaluation
from zermelo.envs.jit.compiling import why_not_compiled
from zermelo.envs.rules.rules_game import RulesGame


def tree_search(
    root: Root,
    budget: Budget,
    config: AlphaBetaConfig | MaxNConfig,
    *,
    on_node: Observer | None = None,
    earlier: TreeSearch | None = None,
) -> TreeSearch:
    """The search of a game tree: compiled where it can be, and nobody watches it.

    ``earlier`` is one of the same agent. If it was made for this game, these settings and the same seat, its table
    is used on, and if it is compiled all of its memory.

    Raises:
        RulesError: The rules do not compile; the message names the method and the line.
    """
    game = root.game
    seat = root.max_seat(config) if config.depends_on_seat else 0
    made_for = game, seat, root.evaluator, config, budget.limits
    if earlier is not None and earlier.made_for != made_for:
        earlier = None
    if earlier is not None and earlier.compiled:
        earlier.restart(root, budget)
        return earlier
    name, kernel = evaluator_name(root.evaluator), _kernel(config)
    if kernel is not None and root.stop_test is None and on_node is None and budget.compile is not Compile.NEVER:
        with budget.off_the_clock():
            tables = tables_of(root.evaluator, game)
        if tables is not None and kernel is not CompiledMaxN:
            root = root._replace(fitted=tables)
        search = compiled_search(kernel, root, budget, config)
        if search is not None:
            search.evaluator_name, search.made_for = name, made_for
            return search
    if root.searched is not None:
        inside = looking_inside(root.evaluator), looking_inside(root.stop_test)
        root = root._replace(evaluator=inside[0], stop_test=inside[1])
    table = None if earlier is None else earlier.table
    plain: TreeSearch
    if isinstance(config, MaxNConfig):
        plain = PlainMaxN(root, budget, config, table=table, on_node=on_node)
    else:
        plain = PlainAlphaBeta(root, budget, config, table=table, on_node=on_node)
    plain.evaluator_name, plain.made_for = name, made_for
    watched, cut, has_kernel = on_node is not None, root.stop_test is not None, kernel is not None
    plain.why_plain = _why_plain(game, root.evaluator, budget, has_kernel=has_kernel, watched=watched, cut=cut)
    return plain


def _kernel(
    config: AlphaBetaConfig | MaxNConfig,
) -> type[CompiledAlphaBeta | CompiledGeneralSearch | CompiledMaxN] | None:
    if isinstance(config, MaxNConfig):
        return CompiledMaxN
    if config.replies is not None:
        return None
    return CompiledGeneralSearch if config.history_on_improvement else CompiledAlphaBeta


def monte_carlo(
    start: Start,
    budget: Budget,
    evaluator: Evaluator | None,
    *,
    limits: Limits,
) -> MonteCarlo:
    """Monte Carlo tree search, for any game: with playouts, or with an evaluator for the leaves.

    A search that is watched is a plain one.
    """
    game = start.game
    watched = start.config.on_simulation is not None
    if not watched:
        fits = CompiledMonteCarlo.can_search(game, evaluator)
        constants = CompiledMonteCarlo.constants(game, evaluator) if fits else {}
        if fits and CompiledMonteCarlo.program.is_ready(game.rules, budget, constants):
            return CompiledMonteCarlo(game, evaluator, budget, limits=limits, start=start)
    if isinstance(evaluator, PolicyValue):
        ask = functools.partial(expected_totals, cast("Any", evaluator), game)
        return BatchedMonteCarlo(start, budget, network=evaluator, evaluation=ask)
    own = make_evaluator("game") if isinstance(game, SupportsEvaluation) else None
    believes, prior = evaluator or own, getattr(evaluator, "prior", None)
    search = PlainMonteCarlo(
        start,
        budget,
        evaluation=None if believes is None else functools.partial(expected_totals, believes, game),
        plays_out=evaluator is None,
        prior=None if prior is None else functools.partial(prior, game),
    )
    search.why_plain = _why_plain(game, evaluator, budget, has_kernel=True, watched=watched, cut=False)
    return search


def can_compile_alpha_beta(game: Any, evaluator: Any, stop_test: Any) -> bool:
    """True if alpha-beta of two players can be compiled."""
    if stop_test is not None or not can_search(game):
        return False
    return can_evaluate(evaluator) or tables_of(evaluator, game) is not None


def _why_plain(game: Any, evaluator: Any, budget: Budget, *, has_kernel: bool, watched: bool, cut: bool) -> str:
    if not isinstance(game, RulesGame):
        return ""
    if reason := why_not_compiled():
        return reason
    if watched:
        return "a search that is watched runs in plain Python: leave its observer out"
    if cut:
        return "a stop test is plain Python: limit depth, nodes or seconds instead"
    if not has_kernel:
        return "this search has no compiled form"
    if budget.compile is Compile.NEVER:
        return "compile='never' was asked for"
    if not can_evaluate(evaluator):
        return (
            f"the evaluator {evaluator_name(evaluator)} is plain Python: write evaluation(state, seat) into the "
            "rules, or use evaluator='rewards'"
        )
    if budget.compile is Compile.BACKGROUND:
        return "its rules are still being compiled, in the background: compile='wait' waits for them"
    return "no kernel takes these rules with these settings"
