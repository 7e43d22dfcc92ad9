"""Minimax: both players play as well as can be."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import ClassVar

from zermelo.agents.core.gate import require_plain_game
from zermelo.agents.core.options import ChancePruning
from zermelo.agents.core.settings import settings_of
from zermelo.agents.core.tree_config import AlphaBetaConfig
from zermelo.agents.players.tree_agent import TreeSearchAgent


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MinimaxAgent(TreeSearchAgent):
    """Minimax over the whole tree, or down to ``depth``; the value of every root action is exact.

    For two players with a constant sum, no chance and nothing hidden. ``AlphaBetaAgent`` gives the same values and
    is faster.
    """

    kind: ClassVar[str] = "minimax"
    requires = (require_plain_game,)

    @functools.cached_property
    def config(self) -> AlphaBetaConfig:
        return replace(settings_of(self, AlphaBetaConfig), pruning=ChancePruning.NONE)
