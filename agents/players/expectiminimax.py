"""Expectiminimax: best play where dice are rolled, and planning for one player in an uncertain world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.compiled.general import (
    CompiledGeneralSearch,
    can_search_through_chance,
    compiled_general_search,
)
from zermelo.agents.core.checks import check_choice, check_flag, check_number, check_whole
from zermelo.agents.core.gate import require_one_or_two_opposed, require_perfect_information
from zermelo.agents.core.options import ChancePruning, Ordering
from zermelo.agents.core.result import SearchResult
from zermelo.agents.evaluators.protocol import Evaluator
from zermelo.agents.players.search_agent import TreeSearchAgent
from zermelo.agents.search.alpha_beta import AlphaBetaSearch
from zermelo.agents.search.chance_limit import ChanceAtLimit, evaluates_chance
from zermelo.agents.search.full_width import FullWidthSearch
from zermelo.agents.search.move_ordering import MoveOrder
from zermelo.agents.search.sampling import as_sampled
from zermelo.agents.search.transposition_table import TranspositionTable
from zermelo.envs import CHANCE, Chance, Game, Traits

__all__ = ["ExpectiminimaxAgent", "expectiminimax"]


def expectiminimax(game: Game[Any], state: Any) -> float:
    """The expected value of a state for seat 0 (MAX) when both play best; chance is averaged over.

    Russell and Norvig, 4th ed., section 5.5. With one player it is expectimax.
    """
    if game.is_terminal(state):
        return game.utility(state)[0]
    if game.to_move(state) == CHANCE:
        return sum(p * expectiminimax(game, game.result(state, o)) for o, p in game.chance_outcomes(state))
    values = [expectiminimax(game, game.result(state, action)) for action in game.legal_actions(state)]
    return max(values) if game.to_move(state) == 0 else min(values)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ExpectiminimaxAgent(TreeSearchAgent):
    """Visits the whole tree down to ``depth``, chance included; or, with pruning, no more of it than decides.

    For one player, or two with a constant sum, with nothing hidden. Depth counts moves, not chance. Where the
    game's chance can only be simulated it is sampled: the result then is an estimate, and says how wide.

    Evaluations must be a positive linear transformation of expected utility, as averages of them are compared.

    Attributes:
        pruning: ``"none"``; or ``"star1"`` or ``"star2"``, which use the game's utility bounds to leave out what
            cannot change the value (without bounds they prune as alpha-beta does, but not at chance nodes).
        exact: Whether every root action gets its exact value, not only those that are best; without pruning it
            always does.
        ordering: ``"auto"``, or ``"fixed"`` for ascending; matters only with pruning.
        deepening: Whether to search one move deep first, then two, and so on; None does so where a node or time
            limit may stop the search half way, and with pruning, which saves most where the best comes first.
        samples: How many draws stand for a chance event that can only be simulated.
        table_mb: The memory that the transposition table may use, in MiB; 0 does without.
        chance_at_limit: What a chance event is worth where the search looks no further: ``"evaluate"`` asks the
            evaluator before anything is drawn, ``"average"`` after each outcome; ``"auto"`` does what the
            evaluation says is better for it (``evaluates_before_chance`` of a game's own, ``before_chance`` of any
            other), and averages if it says nothing. Sampled chance is always averaged.
    """

    kind: ClassVar[str] = "expectiminimax"

    pruning: ChancePruning = ChancePruning.NONE
    exact: bool = False
    ordering: Ordering = Ordering.AUTO
    deepening: bool | None = None
    samples: int = 8
    table_mb: float = 64
    chance_at_limit: ChanceAtLimit = ChanceAtLimit.AUTO

    def __post_init__(self) -> None:
        self._set("pruning", check_choice("pruning", self.pruning, ChancePruning))
        self._set("ordering", check_choice("ordering", self.ordering, Ordering))
        self._set("chance_at_limit", check_choice("chance_at_limit", self.chance_at_limit, ChanceAtLimit))
        check_flag("exact", self.exact)
        if self.deepening is not None:
            check_flag("deepening", self.deepening)
        check_whole("samples", self.samples, least=1)
        check_number("table_mb", self.table_mb, least=0)
        super().__post_init__()

    def check_game(self, traits: Traits) -> None:
        """One player, or two opposed, with everything seen."""
        require_perfect_information(traits, self.kind)
        require_one_or_two_opposed(traits, self.kind)

    def choose(self, game: Game[Any], state: Any, started: float) -> SearchResult:
        """Searches a state that this agent can search and in which there is something to decide."""
        evaluator: Evaluator | None = self.evaluator_for(game, state)
        cutoff: Callable[[Any, Any, int], bool] | None = self.cutoff_test
        is_sampled = game.traits.chance is Chance.SAMPLED
        if is_sampled:
            game, state, evaluator, cutoff = as_sampled(
                game, state, self.samples, self.generator, evaluator, cutoff
            )
        budget = self.new_budget(started)
        shared: dict[str, Any] = {
            "sooner": self.sooner,
            "at_chance": evaluates_chance(self.chance_at_limit, game, evaluator),
        }
        search: CompiledGeneralSearch | FullWidthSearch | AlphaBetaSearch | None = None
        if cutoff is None and can_search_through_chance(game):
            search = compiled_general_search(
                game,
                evaluator,
                budget,
                limits=self.limits,
                pruning=self.pruning,
                ordering=self.ordering,
                table_mb=self.table_mb,
                **shared,
            )
        if search is None:
            shared["table"] = TranspositionTable(self.table_mb) if self.table_mb else None
            shared["cutoff"] = cutoff
            shared["width"] = self.samples if is_sampled else None
            if self.pruning is ChancePruning.NONE:
                search = FullWidthSearch(game, budget, evaluator, **shared)
            else:
                order, probing = MoveOrder(game, self.ordering), self.pruning is ChancePruning.STAR2
                search = AlphaBetaSearch(
                    game, budget, evaluator, order=order, probing=probing, credits_best=True, **shared
                )
        deepening = self.deepening
        if deepening is None:
            deepening = self.has_budget or (self.depth is not None and self.pruning is not ChancePruning.NONE)
        return self.deepened(
            search,
            state,
            step_by_step=deepening,
            exact=self.exact or self.pruning is ChancePruning.NONE,
            table=search.table,
            is_estimate=is_sampled,
        )
