"""Which search runs: a compiled one where the rules can be compiled, the same in plain Python otherwise.

This is the one place that chooses. A compiled search takes rules, an evaluation that can be compiled, and no
cut-off test; a limit on time holds for the compiler too, so what is not compiled in time is searched in plain
Python. Which of the two it is changes how long a search takes, never what it finds.

Each function takes the game, its evaluator (None where the search goes to the end), what counts nodes, and the
limits that it counts against; ``cutoff`` as agents have it; and gives a search for
``iterative_deepening.deepen``. They raise ``RulesError`` where rules do not compile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from zermelo.agents.compiled.general import can_search_through_chance, compiled_general_search
from zermelo.agents.compiled.max_n import compiled_max_n
from zermelo.agents.compiled.table import CompiledTable
from zermelo.agents.compiled.two_player import CompiledSearch, can_search, compiled_search, search_kernel
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.options import ChancePruning, Ordering, TieRule
from zermelo.agents.core.tree_search import TreeSearch
from zermelo.agents.evaluators.protocol import Evaluator
from zermelo.agents.search.alpha_beta import AlphaBetaSearch
from zermelo.agents.search.full_width import FullWidthSearch
from zermelo.agents.search.max_n import MaxNSearch
from zermelo.agents.search.move_ordering import MoveOrder
from zermelo.agents.search.observer import Observer, WatchedAlphaBeta, WatchedFullWidth, WatchedMaxN
from zermelo.agents.search.sampling import looking_inside
from zermelo.agents.search.transposition_table import TranspositionTable
from zermelo.envs import Game

__all__ = [
    "Cutoff",
    "alpha_beta",
    "can_compile_alpha_beta",
    "expectimax",
    "expectiminimax",
    "is_compiled",
    "load_alpha_beta",
    "max_n",
    "minimax",
    "paranoid",
]

Cutoff: TypeAlias = Callable[[Game[Any], Any, int], bool]
"""``cutoff(game, state, ply)``: true where the search should evaluate instead of going on."""


def alpha_beta(
    game: Game[Any],
    evaluator: Evaluator | None,
    budget: Budget,
    *,
    limits: Limits,
    ordering: Ordering,
    table_mb: float,
    threads: int = 1,
    cutoff: Cutoff | None = None,
    may_compile: bool = True,
    futility: float = 0.0,
    singular: float = 0.0,
    on_node: Observer | None = None,
    kept: Any = None,
    **settings: Any,
) -> TreeSearch:
    """Alpha-beta for two players with a constant sum, without chance.

    Args:
        game: The game.
        evaluator: Values states at the depth limit.
        budget: Counts nodes.
        limits: Its limits.
        ordering: In which order actions are tried.
        table_mb: Memory for the transposition table, in MiB; 0 for none.
        threads: How many threads search together, if it is compiled.
        cutoff: Where to evaluate instead of going on.
        may_compile: False for plain Python in any case.
        futility: As ``AlphaBetaSearch`` takes it, as ``singular``; both are searched in plain Python.
        singular: See there.
        on_node: Called with what happens at every node of a search, which then is in plain Python.
        kept: The table of an earlier search of this game with these settings, to go on with, or None.
        settings: Further ones, as ``AlphaBetaSearch`` takes them.
    """
    if cutoff is None and may_compile and on_node is None and not (futility or singular):
        compiled = compiled_search(
            game,
            evaluator,
            budget,
            limits=limits,
            ordering=ordering,
            table_mb=table_mb,
            threads=threads,
            table=kept if isinstance(kept, CompiledTable) else None,
            **settings,
        )
        if compiled is not None:
            return compiled
    order, table = MoveOrder(game, ordering), _table(table_mb)
    if isinstance(kept, TranspositionTable):
        table = kept
        table.hits = table.stores = 0
    settings |= {"order": order, "table": table, "cutoff": cutoff, "futility": futility, "singular": singular}
    return _alpha_beta(game, budget, evaluator, on_node, **settings)


def minimax(
    game: Game[Any],
    evaluator: Evaluator | None,
    budget: Budget,
    *,
    limits: Limits,
    sooner: bool,
    cutoff: Cutoff | None,
    on_node: Observer | None = None,
) -> TreeSearch:
    """Every node of the tree, for two players with a constant sum, without chance."""
    if cutoff is None and on_node is None:
        compiled = compiled_search(game, evaluator, budget, limits=limits, full_width=True, sooner=sooner)
        if compiled is not None:
            return compiled
    return _full_width(game, budget, evaluator, on_node, sooner=sooner, cutoff=cutoff)


def expectiminimax(
    game: Game[Any],
    evaluator: Evaluator | None,
    budget: Budget,
    *,
    limits: Limits,
    pruning: ChancePruning,
    ordering: Ordering,
    table_mb: float,
    cutoff: Cutoff | None,
    width: int | None,
    on_node: Observer | None = None,
    **settings: Any,
) -> TreeSearch:
    """Through chance, for one player or two with a constant sum: every node, or with Star1 or Star2.

    Args:
        game: The game; one of sampled chance as ``sampling.as_sampled`` makes it.
        evaluator: Values states at the depth limit.
        budget: Counts nodes.
        limits: Its limits.
        pruning: What to leave out.
        ordering: In which order actions are tried; without pruning ascending.
        table_mb: Memory for the transposition table, in MiB; 0 for none.
        cutoff: Where to evaluate instead of going on.
        width: How many draws a chance state stands for; None where chance is exact.
        on_node: Called with what happens at every node of a search, which then is in plain Python.
        settings: Further ones, as ``AlphaBetaSearch`` and ``FullWidthSearch`` take them.
    """
    if cutoff is None and on_node is None and can_search_through_chance(game):
        compiled = compiled_general_search(
            game,
            evaluator,
            budget,
            limits=limits,
            pruning=pruning,
            ordering=ordering,
            table_mb=table_mb,
            **settings,
        )
        if compiled is not None:
            return compiled
    settings |= {"table": _table(table_mb), "cutoff": cutoff, "width": width}
    if pruning is ChancePruning.NONE:
        return _full_width(game, budget, evaluator, on_node, **settings)
    settings |= {"order": MoveOrder(game, ordering), "probing": pruning is ChancePruning.STAR2}
    return _alpha_beta(game, budget, evaluator, on_node, credits_best=True, **settings)


def expectimax(
    game: Game[Any],
    evaluator: Evaluator | None,
    budget: Budget,
    *,
    table_mb: float,
    on_node: Observer | None = None,
    **settings: Any,
) -> TreeSearch:
    """Best play against opponents whose actions are averaged over; in plain Python only.

    Args:
        game: The game.
        evaluator: Values states at the depth limit.
        budget: Counts nodes.
        table_mb: Memory for the transposition table, in MiB; 0 for none.
        on_node: Called with what happens at every node of a search, which then is in plain Python.
        settings: Further ones, as ``FullWidthSearch`` takes them.
    """
    return _full_width(game, budget, evaluator, on_node, table=_table(table_mb), **settings)


def max_n(
    game: Game[Any],
    evaluator: Evaluator | None,
    budget: Budget,
    *,
    limits: Limits,
    seat: int,
    tie_rule: TieRule,
    sooner: bool,
    prunes: bool,
    ordering: Ordering,
    table_mb: float,
    cutoff: Cutoff | None,
    width: int | None,
    on_node: Observer | None = None,
) -> TreeSearch:
    """max^n, for any number of players; the arguments are those of ``MaxNSearch``.

    The search raises ``SumNotConstantError`` where it ``prunes`` and evaluations do not add up to the game's sum.
    """
    shared: dict[str, Any] = {"seat": seat, "tie_rule": tie_rule, "sooner": sooner, "prunes": prunes}
    if cutoff is None and on_node is None:
        compiled = compiled_max_n(
            game, evaluator, budget, limits=limits, ordering=ordering, table_mb=table_mb, **shared
        )
        if compiled is not None:
            return compiled
    shared |= {"order": MoveOrder(game, ordering), "table": _table(table_mb), "cutoff": cutoff, "width": width}
    if on_node is not None:
        return WatchedMaxN(game, budget, evaluator, on_node=on_node, **shared)
    return MaxNSearch(game, budget, evaluator, **shared)


def paranoid(
    game: Game[Any],
    evaluator: Evaluator | None,
    budget: Budget,
    *,
    searched: Game[Any],
    limits: Limits,
    seat: int,
    sooner: bool,
    ordering: Ordering,
    table_mb: float,
    cutoff: Cutoff | None,
    width: int | None,
    on_node: Observer | None = None,
) -> TreeSearch:
    """One seat against all others.

    Args:
        game: The game that is played.
        evaluator: Of the game: values states at the depth limit.
        budget: Counts nodes.
        searched: The game of whose states the tree is built: the same, or a ``RepliesGame`` of it.
        limits: The limits of the budget.
        seat: The seat that maximizes.
        sooner: Whether wins should come sooner and losses later.
        ordering: In which order actions are tried.
        table_mb: Memory for the transposition table, in MiB; 0 for none.
        cutoff: Of the game: where to evaluate instead of going on.
        width: How many draws a chance state stands for; None where chance is exact.
        on_node: Called with what happens at every node of a search, which then is in plain Python.
    """
    if cutoff is None and on_node is None:
        compiled = compiled_general_search(
            game,
            evaluator,
            budget,
            limits=limits,
            searched=searched,
            pruning=ChancePruning.STAR1,
            seat=seat,
            sooner=sooner,
            ordering=ordering,
            table_mb=table_mb,
        )
        if compiled is not None:
            return compiled
    if searched is not game:
        evaluator, cutoff = looking_inside(evaluator), looking_inside(cutoff)
    return _alpha_beta(
        searched,
        budget,
        evaluator,
        on_node,
        order=MoveOrder(searched, ordering),
        table=_table(table_mb),
        cutoff=cutoff,
        width=width,
        seat=seat,
        sooner=sooner,
        credits_best=True,
    )


def can_compile_alpha_beta(game: Any, evaluator: Any, cutoff: Any) -> bool:
    """Whether ``alpha_beta`` would be compiled, if the compiler is done in time."""
    is_known = evaluator is None or getattr(evaluator, "spec", lambda: "")() in ("game", "rewards")
    return cutoff is None and is_known and can_search(game)


def load_alpha_beta(game: Any) -> None:
    """Compiles alpha-beta for a game, or reads it from disk, if it can be compiled."""
    if can_search(game):
        search_kernel(game.rules, full_width=False)


def is_compiled(search: TreeSearch) -> bool:
    """Whether this is compiled alpha-beta or minimax."""
    return isinstance(search, CompiledSearch)


def _alpha_beta(
    game: Game[Any], budget: Budget, evaluator: Any, on_node: Observer | None, **how: Any
) -> TreeSearch:
    if on_node is None:
        return AlphaBetaSearch(game, budget, evaluator, **how)
    return WatchedAlphaBeta(game, budget, evaluator, on_node=on_node, **how)


def _full_width(
    game: Game[Any], budget: Budget, evaluator: Any, on_node: Observer | None, **how: Any
) -> TreeSearch:
    if on_node is None:
        return FullWidthSearch(game, budget, evaluator, **how)
    return WatchedFullWidth(game, budget, evaluator, on_node=on_node, **how)


def _table(megabytes: float) -> TranspositionTable | None:
    return TranspositionTable(megabytes) if megabytes else None
