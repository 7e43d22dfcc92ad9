"""Which tree search runs: compiled where the rules can be compiled, the same in plain Python otherwise.

A compiled search takes rules, an evaluation that can be compiled (the rules' own, or a network), and no stop test.
To the same depth both find the same values. Under a limit on nodes or time they may not: their tables keep
different entries, and so they visit different nodes.
"""

from __future__ import annotations

from typing import Any

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.options import Compile
from zermelo.agents.evaluators.registry import evaluator_name
from zermelo.agents.kernels.program import can_evaluate, tables_of, why_plain
from zermelo.agents.tree_search.alpha_beta.compiled import CompiledAlphaBeta, can_search
from zermelo.agents.tree_search.alpha_beta.plain import PlainAlphaBeta
from zermelo.agents.tree_search.chance.compiled import CompiledGeneralSearch
from zermelo.agents.tree_search.compiled import compiled_search
from zermelo.agents.tree_search.config import AlphaBetaConfig, MaxNConfig
from zermelo.agents.tree_search.inner_game import looking_inside
from zermelo.agents.tree_search.interface import Root, TreeSearch
from zermelo.agents.tree_search.many_players.compiled import CompiledMaxN
from zermelo.agents.tree_search.many_players.plain import PlainMaxN
from zermelo.agents.tree_search.observer import Observer


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
    plain.why_plain = why_plain(
        game, root.evaluator, name, budget, has_kernel=has_kernel, watched=watched, cut=cut
    )
    return plain


def _kernel(
    config: AlphaBetaConfig | MaxNConfig,
) -> type[CompiledAlphaBeta | CompiledGeneralSearch | CompiledMaxN] | None:
    if isinstance(config, MaxNConfig):
        return CompiledMaxN
    if config.replies is not None:
        return None
    return CompiledGeneralSearch if config.history_on_improvement else CompiledAlphaBeta


def can_compile_alpha_beta(game: Any, evaluator: Any, stop_test: Any) -> bool:
    """True if alpha-beta of two players can be compiled."""
    if stop_test is not None or not can_search(game):
        return False
    return can_evaluate(evaluator) or tables_of(evaluator, game) is not None
