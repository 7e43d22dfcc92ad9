"""Paranoid search: one against all the others, as if they had nothing else in mind."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.compiled.general import CompiledGeneralSearch, compiled_general_search
from zermelo.agents.core.checks import check_choice, check_flag, check_number, check_whole
from zermelo.agents.core.gate import require_perfect_information
from zermelo.agents.core.options import ChancePruning, Ordering
from zermelo.agents.core.result import SearchResult
from zermelo.agents.evaluators.protocol import Evaluator
from zermelo.agents.players.search_agent import TreeSearchAgent
from zermelo.agents.search.alpha_beta import AlphaBetaSearch
from zermelo.agents.search.move_ordering import MoveOrder
from zermelo.agents.search.sampling import as_sampled, looking_inside
from zermelo.agents.search.transposition_table import TranspositionTable
from zermelo.envs import CHANCE, Chance, Game, Traits

__all__ = ["OneAgainstAllAgent", "ParanoidAgent", "paranoid"]


def paranoid(game: Game[Any], state: Any, seat: int) -> float:
    """What a seat can be sure of when all others play against it together; chance is averaged over.

    Sturtevant and Korf, "On Pruning Techniques for Multi-Player Games", AAAI (2000).
    """
    if game.is_terminal(state):
        return game.utility(state)[seat]
    mover = game.to_move(state)
    if mover == CHANCE:
        return math.fsum(p * paranoid(game, game.result(state, o), seat) for o, p in game.chance_outcomes(state))
    values = [paranoid(game, game.result(state, action), seat) for action in game.legal_actions(state)]
    return max(values) if mover == seat else min(values)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class OneAgainstAllAgent(TreeSearchAgent):
    """Settings of the searches in which the seat to move maximizes its own utility and all others minimize it.

    Attributes:
        exact: Whether every root action gets its exact value, not only those that are best.
        table_mb: The memory that the transposition table may use, in MiB; 0 does without.
        ordering: ``"auto"``, or ``"fixed"`` for ascending.
        samples: How many draws stand for a chance event that can only be simulated.
        deepening: Whether to search one move deep first, then two, and so on; None does so where a node or time
            limit may stop the search half way, and where a table carries over what one iteration learns.
    """

    exact: bool = False
    table_mb: float = 64
    ordering: Ordering = Ordering.AUTO
    samples: int = 8
    deepening: bool | None = None

    def __post_init__(self) -> None:
        check_flag("exact", self.exact)
        check_number("table_mb", self.table_mb, least=0)
        check_whole("samples", self.samples, least=1)
        if self.deepening is not None:
            check_flag("deepening", self.deepening)
        self._set("ordering", check_choice("ordering", self.ordering, Ordering))
        super().__post_init__()

    def check_game(self, traits: Traits) -> None:
        """Any number of players, as long as nothing is hidden."""
        require_perfect_information(traits, self.kind)

    def choose(self, game: Game[Any], state: Any, started: float) -> SearchResult:
        """Searches a state that this agent can search and in which there is something to decide."""
        evaluator: Evaluator | None = self.evaluator_for(game, state)
        cutoff: Callable[[Any, Any, int], bool] | None = self.cutoff_test
        is_sampled = game.traits.chance is Chance.SAMPLED
        if is_sampled:
            game, state, evaluator, cutoff = as_sampled(
                game, state, self.samples, self.generator, evaluator, cutoff
            )
        searched, state = self.as_searched(game, state)
        budget = self.new_budget(started)
        shared: dict[str, Any] = {"sooner": self.sooner, "seat": searched.to_move(state)}
        search: CompiledGeneralSearch | AlphaBetaSearch | None = None
        if cutoff is None:
            search = compiled_general_search(
                game,
                evaluator,
                budget,
                limits=self.limits,
                searched=searched,
                pruning=ChancePruning.STAR1,
                ordering=self.ordering,
                table_mb=self.table_mb,
                **shared,
            )
        if search is None:
            if searched is not game:
                evaluator, cutoff = looking_inside(evaluator), looking_inside(cutoff)
            search = AlphaBetaSearch(
                searched,
                budget,
                evaluator,
                order=MoveOrder(searched, self.ordering),
                table=TranspositionTable(self.table_mb) if self.table_mb else None,
                cutoff=cutoff,
                width=self.samples if is_sampled else None,
                credits_best=True,
                **shared,
            )
        deepening = self.deepening
        if deepening is None:
            deepening = self.has_budget or (self.depth is not None and search.table is not None)
        return self.deepened(
            search, state, step_by_step=deepening, exact=self.exact, table=search.table, is_estimate=is_sampled
        )

    def as_searched(self, game: Game[Any], state: Any) -> tuple[Game[Any], Any]:
        """The game that the tree is built of, and its root."""
        return game, state


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ParanoidAgent(OneAgainstAllAgent):
    """Alpha-beta of one against all: what the player to move can be sure of, whatever the others do.

    For any number of players and any sums, with or without chance, as long as nothing is hidden. The value is that
    of the player to move, and ``proven`` means that it is guaranteed; the other seats' values are what they get if
    all play so.
    """

    kind: ClassVar[str] = "paranoid"
