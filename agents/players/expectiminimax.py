"""Expectiminimax: best play where there is chance, and planning for one player in an uncertain world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.core.checks import check_choice, check_flag, check_number, check_whole
from zermelo.agents.core.gate import require_one_or_two_opposed, require_perfect_information
from zermelo.agents.core.options import ChancePruning, Ordering
from zermelo.agents.core.result import SearchResult
from zermelo.agents.players.search_agent import TreeSearchAgent
from zermelo.agents.search import backend
from zermelo.agents.search.chance_limit import ChanceAtLimit, evaluates_chance
from zermelo.envs import Game, Traits

__all__ = ["ExpectiminimaxAgent"]


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
        root = self.root(game, state, self.samples)
        search = backend.expectiminimax(
            root.game,
            root.evaluator,
            self.new_budget(started),
            limits=self.limits,
            pruning=self.pruning,
            ordering=self.ordering,
            table_mb=self.table_mb,
            cutoff=root.cutoff,
            on_node=self.observer,
            width=root.width,
            sooner=self.sooner,
            at_chance=evaluates_chance(self.chance_at_limit, root.game, root.evaluator),
        )
        prunes = self.pruning is not ChancePruning.NONE
        deepening = self.deepening
        if deepening is None:
            deepening = self.has_budget or (self.depth is not None and prunes)
        return self.deepened(
            search,
            root.state,
            step_by_step=deepening,
            exact=self.exact or not prunes,
            is_estimate=root.is_sampled,
        )
