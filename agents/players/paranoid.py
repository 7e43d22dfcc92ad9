"""Paranoid search: one against all the others, as if they had nothing else in mind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.core.checks import check_choice, check_flag, check_number, check_whole
from zermelo.agents.core.gate import require_perfect_information
from zermelo.agents.core.options import Ordering
from zermelo.agents.core.result import SearchResult
from zermelo.agents.players.search_agent import TreeSearchAgent
from zermelo.agents.search import backend
from zermelo.envs import Game, Traits

__all__ = ["OneAgainstAllAgent", "ParanoidAgent"]


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
        root = self.root(game, state, self.samples)
        searched, top = self.as_searched(root.game, root.state)
        search = backend.paranoid(
            root.game,
            root.evaluator,
            self.new_budget(started),
            searched=searched,
            limits=self.limits,
            seat=searched.to_move(top),
            sooner=self.sooner,
            ordering=self.ordering,
            table_mb=self.table_mb,
            cutoff=root.cutoff,
            on_node=self.observer,
            width=root.width,
        )
        deepening = self.deepening
        if deepening is None:
            deepening = self.has_budget or (self.depth is not None and self.table_mb > 0)
        return self.deepened(search, top, step_by_step=deepening, exact=self.exact, is_estimate=root.is_sampled)

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
