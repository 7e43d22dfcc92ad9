"""Settings of the searches that remember positions, and of those among them that prune."""

from __future__ import annotations

from dataclasses import dataclass

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.options import Ordering
from zermelo.agents.core.settings import choice, flag, number
from zermelo.agents.core.tree_config import AlphaBetaConfig, MaxNConfig
from zermelo.agents.core.tree_search import Root, TreeSearch
from zermelo.agents.players.search_agent import TreeSearchAgent
from zermelo.agents.search.backend import tree_search


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TableAgent(TreeSearchAgent):
    """Settings of every search with a transposition table.

    Attributes:
        memory_mb: The memory that the transposition table may use, in MiB; 0 does without.
        reuse: Whether the table of one move serves the next ones of the same game, until ``reset``. Not with
            a cut-off test or sampled chance, and only where ``as_game`` gives an equal game for each move.
    """

    memory_mb: float = number(64, lower=0)
    reuse: bool = flag(False)

    def build(self, config: AlphaBetaConfig | MaxNConfig, root: Root, budget: Budget) -> TreeSearch:
        kept_root, table = self.__dict__["_kept"]
        now = root.game, root.max_seat(config)
        may_serve = self.reuse and self.cutoff is None and kept_root == now
        search = tree_search(root, budget, config, on_node=self.on_node, table=table if may_serve else None)
        if self.reuse:
            self._set("_kept", (now, search.table))
        return search

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        self._set("_kept", (None, None))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PruningAgent(TableAgent):
    """Settings of every search that leaves out what cannot change the value.

    Attributes:
        seconds: Time to take, from the call on; None takes as long as it needs. ``"auto"`` is a second where there
            is no other limit.
        exact: Whether every root action gets its exact value, not only those that are best.
        ordering: In which order actions are tried: ``"auto"``, or ``"fixed"`` for ascending.
        deepening: Whether to search one move deep first, then two, and so on; None does so where a node or time
            limit may stop the search half way, or one iteration helps the next (max^n: only the former).
    """

    seconds: float | str | None = "auto"
    exact: bool = flag(False)
    ordering: Ordering = choice(Ordering.AUTO)
    deepening: bool | None = flag(None)

    @property
    def default_seconds(self) -> float | None:
        return None if self.deepening is False else super().default_seconds

    def deepens(self, *, helps: bool) -> bool:
        """Whether to search step by step, if one iteration ``helps`` the next."""
        if self.deepening is not None:
            return self.deepening
        return self.has_budget or (self.limits.depth is not None and helps)
