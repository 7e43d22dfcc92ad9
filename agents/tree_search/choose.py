"""Which tree search runs: compiled where the rules can be compiled, the same in plain Python otherwise.

To the same depth both find the same values. Under a limit on nodes or time they may not: their tables keep
different entries, and so they visit different nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.settings import Compile
from zermelo.agents.tree_search.interface import SearchSetup, TreeSearch
from zermelo.agents.tree_search.observer import Observer
from zermelo.agents.tree_search.plain import PlainSearch
from zermelo.agents.tree_search.sampled_game import looking_inside
from zermelo.agents.tree_search.settings import AlphaBetaConfig, MaxNConfig
from zermelo.envs.jit.cache.sources import sources_of
from zermelo.envs.rules.rules_game import RulesGame

if TYPE_CHECKING:
    from zermelo.envs.jit.kernel import Wanted


class Family(NamedTuple):
    """The searches of a family of algorithms; each is imported when it is needed.

    Attributes:
        plain: The class of the plain search for a root and settings.
        compiled: The class of the compiled search.
    """

    plain: Callable[[SearchSetup, Any], type[PlainSearch]]
    compiled: Callable[[], type[Any]]


def tree_search(
    root: SearchSetup,
    budget: Budget,
    config: AlphaBetaConfig | MaxNConfig,
    *,
    family: Family,
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
    reuse_key = game, sources, seat, root.evaluator, config
    if earlier is not None and earlier.reuse_key != reuse_key:
        earlier = None
    if earlier is not None and earlier.compiled and earlier.budget.limits != budget.limits:
        earlier = None  # whose memory was made for other limits
    if earlier is not None and earlier.compiled:
        earlier.set_root(root, budget)
        return earlier
    search = None if budget.compile is Compile.NEVER else _compiled(root, budget, config, family, on_node)
    if search is None:
        search = _plain(root, budget, config, family, on_node, None if earlier is None else earlier.table)
        if isinstance(game, RulesGame):
            with budget.off_the_clock():
                from zermelo.agents.kernels.program import why_plain

            search.why_plain = why_plain(
                game, root.evaluator, search.evaluator_name, budget, has_kernel=config.has_kernel,
                watched=on_node is not None, cut=root.stop_test is not None,
            )  # fmt: skip
    search.reuse_key = reuse_key
    return search


def _plain(
    root: SearchSetup,
    budget: Budget,
    config: AlphaBetaConfig | MaxNConfig,
    family: Family,
    on_node: Observer | None,
    table: Any,
) -> TreeSearch:
    if root.searched is not None:
        inside = looking_inside(root.evaluator), looking_inside(root.stop_test)
        root = root._replace(evaluator=inside[0], stop_test=inside[1])
    kind: type[Any] = family.plain(root, config)
    if on_node is not None:
        from zermelo.agents.tree_search.watched import watched

        kind = watched(kind, on_node)
    if root.news is not None:
        from zermelo.agents.tree_search.sharing import sharing

        kind = sharing(kind, root.news)
    return kind(root, budget, config, table=table)  # type: ignore[no-any-return]


def needed_kernels(
    root: SearchSetup, config: AlphaBetaConfig | MaxNConfig, family: Family, on_node: Observer | None
) -> list[Wanted]:
    """The kernel of the compiled search, if there is one."""
    compiled = _compiled_kind(root, config, family, on_node)
    if compiled is None:
        return []
    from zermelo.envs.jit.kernel import Wanted

    kind, root = compiled
    return [Wanted(root.game.rules, kind.program.kernel(*kind.variants(root, config)))]


def _compiled_kind(
    root: SearchSetup, config: AlphaBetaConfig | MaxNConfig, family: Family, on_node: Observer | None
) -> tuple[type[Any], SearchSetup] | None:
    """The compiled search, and the root with its network; None where there is none for game and settings."""
    if not config.has_kernel or not isinstance(root.game, RulesGame):
        return None
    if on_node is not None or root.stop_test is not None:
        return None
    from zermelo.agents.kernels.program import network_of

    kind = family.compiled()
    fitted = None if isinstance(config, MaxNConfig) else network_of(root.evaluator, root.game)
    root = root._replace(fitted=fitted)
    return (kind, root) if kind.can_search(root) else None


def _compiled(
    root: SearchSetup,
    budget: Budget,
    config: AlphaBetaConfig | MaxNConfig,
    family: Family,
    on_node: Observer | None,
) -> TreeSearch | None:
    """The compiled search; None where there is none, or it is not ready."""
    with budget.off_the_clock():  # the first search of a process imports it
        compiled = _compiled_kind(root, config, family, on_node)
    if compiled is None:
        return None
    kind, root = compiled
    if not kind.program.is_ready(root.game.rules, budget, *kind.variants(root, config)):
        return None
    return kind(root, budget, config)  # type: ignore[no-any-return]
