"""Which search runs: a compiled one where the rules can be compiled, the same in plain Python otherwise.

This is the one place that chooses. A compiled search takes rules, an evaluation that can be compiled (the rules'
own, and for two players what was fitted to patterns), and no cut-off test. To the same depth both find the same
values. Under a limit on nodes or time they may not: their tables keep different entries, and so they visit
different nodes.

Each function takes a root and what counts nodes; ``limits``, ``ordering``, ``memory_mb`` and ``on_node`` as agents
have them; the table of an earlier search (``kept``) of this game with these settings and for the same seat, to go
on with; and settings of the search itself. They raise ``RulesError`` where rules do not compile.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple, cast

from zermelo.agents.compiled.front_end import CompiledTreeSearch
from zermelo.agents.compiled.general.search import CompiledGeneralSearch, can_search_through_chance
from zermelo.agents.compiled.max_n.search import CompiledMaxN
from zermelo.agents.compiled.monte_carlo.search import CompiledMonteCarlo
from zermelo.agents.compiled.program import can_evaluate, compiled_search
from zermelo.agents.compiled.table import CompiledTable
from zermelo.agents.compiled.two_player.search import CompiledAlphaBeta, CompiledMinimax, can_search
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.monte_carlo import MonteCarlo, Start
from zermelo.agents.core.move_ordering import MoveOrder
from zermelo.agents.core.options import ChancePruning, Compile, Ordering
from zermelo.agents.core.tree_search import TreeSearch
from zermelo.agents.evaluators.fitted.evaluator import FittedEvaluator
from zermelo.agents.evaluators.policy_value import PolicyValue
from zermelo.agents.evaluators.protocol import Evaluator, expected_totals
from zermelo.agents.evaluators.registry import evaluator_name, make_evaluator
from zermelo.agents.search.monte_carlo.batches import BatchedMonteCarlo
from zermelo.agents.search.monte_carlo.search import PlainMonteCarlo
from zermelo.agents.search.observer import Observer, WatchedAlphaBeta, WatchedFullWidth, WatchedMaxN
from zermelo.agents.search.transposition_table import TranspositionTable
from zermelo.agents.search.tree.alpha_beta import AlphaBetaSearch
from zermelo.agents.search.tree.full_width import FullWidthSearch
from zermelo.agents.search.tree.max_n import MaxNSearch
from zermelo.agents.search.tree.plain_search import Cutoff, PlainSearch
from zermelo.agents.search.tree.sampling import looking_inside
from zermelo.envs import Game
from zermelo.envs.capabilities import SupportsEvaluation
from zermelo.envs.jit.compiling import why_not_compiled
from zermelo.envs.rules.protocol import EVALUATION_UNIT
from zermelo.envs.rules.rules_game import RulesGame

_WATCHED: dict[type[PlainSearch], type[PlainSearch]] = {
    AlphaBetaSearch: WatchedAlphaBeta,
    FullWidthSearch: WatchedFullWidth,
    MaxNSearch: WatchedMaxN,
}


class Root(NamedTuple):
    """What a search starts from: a game and a state of it, not finished, an evaluator and a cut-off test or None.

    Where chance can only be simulated, the game is one of sampled chance and ``width`` says how many draws a
    chance state stands for.
    """

    game: Game[Any]
    state: Any
    evaluator: Evaluator | None
    cutoff: Cutoff | None = None
    width: int | None = None

    @property
    def is_sampled(self) -> bool:
        """Whether what a search finds is an estimate."""
        return self.width is not None


def alpha_beta(
    root: Root,
    budget: Budget,
    *,
    ordering: Ordering,
    threads: int = 1,
    futility: float = 0.0,
    singular: float = 0.0,
    **rest: Any,
) -> TreeSearch:
    """Alpha-beta for two players with a constant sum, without chance.

    ``threads`` search together, if it is compiled. Margins are rounded up to whole units of compiled evaluations,
    so that both kinds of search use the same.
    """
    rest |= {"ordering": ordering, "futility": _in_units(futility), "singular": _in_units(singular)}
    return _search((CompiledAlphaBeta, {"threads": threads}), (AlphaBetaSearch, {}), root, budget, **rest)


def minimax(root: Root, budget: Budget, **rest: Any) -> TreeSearch:
    """Every node of the tree, for two players with a constant sum, without chance."""
    return _search((CompiledMinimax, {}), (FullWidthSearch, {}), root, budget, **rest)


def expectiminimax(
    root: Root,
    budget: Budget,
    *,
    pruning: ChancePruning,
    ordering: Ordering,
    min_probability: float = 0.0,
    **rest: Any,
) -> TreeSearch:
    """Through chance, for one player or two with a constant sum: every node, or with Star1 or Star2.

    Without pruning, states that are less probable than ``min_probability`` are evaluated.
    """
    kind = CompiledGeneralSearch if can_search_through_chance(root.game) else None
    by_kernel = kind, {"pruning": pruning, "ordering": ordering}
    if pruning is ChancePruning.NONE:
        rest["min_probability"] = min_probability
        return _search(by_kernel, (FullWidthSearch, {}), root, budget, **rest)
    how = {"ordering": ordering, "probing": pruning is ChancePruning.STAR2, "credits_best": True}
    return _search(by_kernel, (AlphaBetaSearch, how), root, budget, **rest)


def expectimax(root: Root, budget: Budget, **rest: Any) -> TreeSearch:
    """Best play against opponents whose actions are averaged over; in plain Python only."""
    return _search((None, {}), (FullWidthSearch, {}), root, budget, **rest)


def max_n(root: Root, budget: Budget, **rest: Any) -> TreeSearch:
    """max^n, for any number of players.

    The search raises ``SumNotConstantError`` where it ``prunes`` and evaluations do not add up to the game's sum.
    """
    return _search((CompiledMaxN, {}), (MaxNSearch, {}), root, budget, **rest)


def paranoid(root: Root, budget: Budget, *, searched: Game[Any], **rest: Any) -> TreeSearch:
    """One seat against all others.

    The tree is built of the states of ``searched``: the root's game itself, or a ``RepliesGame`` of it.
    """
    by_kernel = CompiledGeneralSearch, {"searched": searched, "pruning": ChancePruning.STAR1}
    return _search(by_kernel, (AlphaBetaSearch, {"credits_best": True}), root, budget, searched=searched, **rest)


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
        compiled = compiled_search(CompiledMonteCarlo, game, evaluator, budget, limits=limits, start=start)
        if compiled is not None:
            return compiled
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


def can_compile_alpha_beta(game: Any, evaluator: Any, cutoff: Any) -> bool:
    """Whether ``alpha_beta`` can be compiled."""
    if cutoff is not None or not can_search(game):
        return False
    return can_evaluate(evaluator) or (
        isinstance(evaluator, FittedEvaluator) and evaluator.tables(game) is not None
    )


def _why_plain(game: Any, evaluator: Any, budget: Budget, *, has_kernel: bool, watched: bool, cut: bool) -> str:
    """Why rules that can be compiled are searched in plain Python, and what to do about it."""
    if not isinstance(game, RulesGame):
        return ""
    if reason := why_not_compiled():
        return reason
    if watched:
        return "a search that is watched runs in plain Python: leave its observer out"
    if cut:
        return "a cut-off test is plain Python: limit depth, nodes or seconds instead"
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


def _search(
    by_kernel: tuple[type[CompiledTreeSearch] | None, dict[str, Any]],
    in_python: tuple[type[PlainSearch], dict[str, Any]],
    root: Root,
    budget: Budget,
    *,
    limits: Limits,
    memory_mb: float | None = None,
    on_node: Observer | None = None,
    kept: Any = None,
    searched: Game[Any] | None = None,
    **settings: Any,
) -> TreeSearch:
    """The compiled search where there can be one, else the plain one; each with the settings it alone has.

    A search that has no table is not given ``memory_mb``.
    """
    game, _, evaluator, cutoff, width = root
    name = evaluator_name(evaluator)
    kind, own = by_kernel
    if kind is not None and cutoff is None and on_node is None and budget.compile is not Compile.NEVER:
        own = own | settings
        fitted = None
        if isinstance(evaluator, FittedEvaluator) and issubclass(kind, CompiledAlphaBeta) and can_search(game):
            with budget.off_the_clock():
                fitted = evaluator.tables(game)
        if fitted is not None:
            own["fitted"] = fitted
        if memory_mb is not None:
            own |= {"memory_mb": memory_mb, "table": kept if isinstance(kept, CompiledTable) else None}
        by_rules = evaluator if fitted is None else None
        search = compiled_search(kind, game, by_rules, budget, limits=limits, **own)
        if search is not None:
            search.evaluator_name = name
            return search
    plain, own = in_python
    if searched is not None and searched is not game:
        game, evaluator, cutoff = searched, looking_inside(evaluator), looking_inside(cutoff)
    own = own | settings | {"cutoff": cutoff, "width": width}
    if "ordering" in own:
        own["order"] = MoveOrder(game, own.pop("ordering"))
    if memory_mb is not None:
        own["table"] = TranspositionTable(memory_mb) if memory_mb else None
        if isinstance(kept, TranspositionTable):
            kept.hits = kept.stores = 0
            own["table"] = kept
    if on_node is not None:
        plain, own["on_node"] = _WATCHED[plain], on_node
    found = plain(game, budget, evaluator, **own)
    found.evaluator_name = name
    reasons = {"has_kernel": kind is not None, "watched": on_node is not None, "cut": cutoff is not None}
    found.why_plain = _why_plain(root.game, root.evaluator, budget, **reasons)
    return found


def _in_units(margin: float) -> float:
    """A margin rounded up to whole 1024ths of a point of utility."""
    return math.ceil(margin * EVALUATION_UNIT) / EVALUATION_UNIT
