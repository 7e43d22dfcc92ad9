"""Which tree search runs: compiled where the rules can be compiled, the same in plain Python otherwise.

To the same depth both find the same values. Under a limit on nodes or time they may not: their tables keep
different entries, and so they visit different nodes.
"""

from __future__ import annotations

from typing import Any

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.options import Compile
from zermelo.agents.tree_search.alpha_beta.plain import PlainAlphaBeta
from zermelo.agents.tree_search.config import AlphaBetaConfig, ChancePruning, MaxNConfig
from zermelo.agents.tree_search.inner_game import looking_inside
from zermelo.agents.tree_search.interface import Root, TreeSearch
from zermelo.agents.tree_search.observer import Observer
from zermelo.agents.tree_search.plain import PlainSearch
from zermelo.envs.game import Chance
from zermelo.envs.jit.cache.sources import sources_of
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
    sources = sources_of(game.rules, root.state) if isinstance(game, RulesGame) else None
    made_for = game, sources, seat, root.evaluator, config, budget.limits
    if earlier is not None and earlier.made_for != made_for:
        earlier = None
    if earlier is not None and earlier.compiled:
        earlier.restart(root, budget)
        return earlier
    search: TreeSearch | None = None
    has_kernel = isinstance(config, MaxNConfig) or config.replies is None
    may_compile = has_kernel and isinstance(game, RulesGame) and budget.compile is not Compile.NEVER
    if may_compile and on_node is None and root.stop_test is None:
        search = _compiled(root, budget, config)
    if search is None:
        search = _plain(root, budget, config, on_node, None if earlier is None else earlier.table)
        if isinstance(game, RulesGame):
            with budget.off_the_clock():
                from zermelo.agents.kernels.program import why_plain

            search.why_plain = why_plain(
                game, root.evaluator, search.evaluator_name, budget, has_kernel=has_kernel,
                watched=on_node is not None, cut=root.stop_test is not None,
            )  # fmt: skip
    search.made_for = made_for
    return search


def _plain(
    root: Root, budget: Budget, config: AlphaBetaConfig | MaxNConfig, on_node: Observer | None, table: Any
) -> TreeSearch:
    if root.searched is not None:
        inside = looking_inside(root.evaluator), looking_inside(root.stop_test)
        root = root._replace(evaluator=inside[0], stop_test=inside[1])
    kind: type[Any] = _plain_kind(root, config)
    if on_node is not None:
        from zermelo.agents.tree_search.watched import watched

        kind = watched(kind, on_node)
    return kind(root, budget, config, table=table)  # type: ignore[no-any-return]


def _plain_kind(root: Root, config: AlphaBetaConfig | MaxNConfig) -> type[PlainSearch]:
    """The plain search that a game and settings need; only its modules are imported."""
    if isinstance(config, MaxNConfig):
        from zermelo.agents.tree_search.many_players.plain import PlainMaxN

        return PlainMaxN
    game = root.view
    if config.replies is not None:
        from zermelo.agents.tree_search.many_players.plain_replies import PlainReplies

        return PlainReplies
    if game.traits.chance is not Chance.NONE:
        if config.pruning is ChancePruning.STAR2:
            from zermelo.agents.tree_search.chance.plain_probing import PlainProbing

            return PlainProbing
        from zermelo.agents.tree_search.chance.plain_star import PlainBeam, PlainStar

        return PlainBeam if config.beam_width and not config.prunes else PlainStar
    if config.quiescence:
        from zermelo.agents.tree_search.alpha_beta.plain_quiet import PlainQuiescence, quiescence_of

        return PlainQuiescence if quiescence_of(game, config) else PlainAlphaBeta
    return PlainAlphaBeta


def _compiled(root: Root, budget: Budget, config: AlphaBetaConfig | MaxNConfig) -> TreeSearch | None:
    """The compiled search; None where there is none for the game and the evaluator, or it is not ready."""
    kind: Any
    with budget.off_the_clock():  # the first search of a process imports them
        from zermelo.agents.kernels.program import tables_of

        if isinstance(config, MaxNConfig):
            from zermelo.agents.tree_search.many_players.compiled import CompiledMaxN

            kind = CompiledMaxN
        elif config.history_on_improvement:
            from zermelo.agents.tree_search.chance.compiled import CompiledGeneralSearch

            kind = CompiledGeneralSearch
        else:
            from zermelo.agents.tree_search.alpha_beta.compiled import CompiledAlphaBeta

            kind = CompiledAlphaBeta
        tables = None if isinstance(config, MaxNConfig) else tables_of(root.evaluator, root.game)
    root = root._replace(fitted=tables)
    if not kind.can_search(root) or not kind.program.is_ready(
        root.game.rules, budget, kind.constants(root, config)
    ):
        return None
    return kind(root, budget, config)  # type: ignore[no-any-return]


def can_compile_alpha_beta(game: Any, evaluator: Any, stop_test: Any) -> bool:
    """True if alpha-beta of two players can be compiled."""
    from zermelo.agents.kernels.program import can_evaluate, tables_of
    from zermelo.agents.tree_search.alpha_beta.compiled import can_search

    if stop_test is not None or not can_search(game):
        return False
    return can_evaluate(evaluator) or tables_of(evaluator, game) is not None
