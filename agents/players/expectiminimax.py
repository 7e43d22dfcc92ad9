"""Expectiminimax: best play where there is chance, and planning for one player in an uncertain world."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import ClassVar

from zermelo.agents.core.gate import require_one_or_two_opposed, require_perfect_information
from zermelo.agents.core.options import ChanceAtLimit, ChancePruning
from zermelo.agents.core.settings import choice, number, settings_of, whole
from zermelo.agents.core.tree_config import AlphaBetaConfig
from zermelo.agents.players.tree_agent import PruningAgent
from zermelo.envs import InvalidSettingError


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ExpectiminimaxAgent(PruningAgent):
    """Minimax with chance nodes, over the whole tree down to ``depth`` or pruned by Star1 or Star2.

    For one player, or two with a constant sum, with nothing hidden. Depth counts moves, not chance. Where the
    game's chance can only be simulated it is sampled: the result then is an estimate, and says how wide. Without
    pruning every root action's value is exact, and actions are tried in ascending order. Evaluations must be a
    positive linear transformation of expected utility, as averages of them are compared.

    Attributes:
        pruning: ``"none"``; or ``"star1"`` or ``"star2"``, which use the game's utility bounds to leave out what
            cannot change the value.
        min_probability: How probable a state must be for the search to look further: the product of the
            probabilities of all chance events on the way there. Less probable states are evaluated, as those at
            the depth limit are. Without pruning only.
        samples: How many draws stand for a chance event that can only be simulated.
        chance_at_limit: What a chance event is worth at the depth limit: ``"evaluate"`` asks the evaluator before
            anything is drawn, ``"average"`` after each outcome. ``"auto"`` does what the evaluation says is better
            for it (``evaluates_before_chance`` of a game's own, ``before_chance`` of any other), and averages if
            it says nothing. Sampled chance is always averaged.
    """

    kind: ClassVar[str] = "expectiminimax"

    requires = (require_perfect_information, require_one_or_two_opposed)

    pruning: ChancePruning = choice(ChancePruning.NONE)
    min_probability: float = number(0.0, lower=0.0, upper=1.0)
    samples: int = whole(8, lower=1)
    chance_at_limit: ChanceAtLimit = choice(ChanceAtLimit.AUTO)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.min_probability and self.pruning is not ChancePruning.NONE:
            raise InvalidSettingError(
                f"min_probability={self.min_probability} is for pruning='none', not {self.pruning.value!r}: leave "
                "one of them out"
            )

    @functools.cached_property
    def config(self) -> AlphaBetaConfig:
        return replace(settings_of(self, AlphaBetaConfig), history_on_improvement=True)

    @property
    def iterations_help(self) -> bool:
        return self.config.prunes

    @property
    def is_exact(self) -> bool:
        return self.exact or not self.config.prunes
