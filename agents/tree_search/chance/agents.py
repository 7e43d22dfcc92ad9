"""Minimax, expectiminimax and expectimax: searches that leave nothing out, unless they are asked to."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from zermelo.agents.base.requirements import require_one_or_two_opposed, require_perfect_information
from zermelo.agents.base.settings import ChanceAtLimit, choice, converted, integer
from zermelo.agents.opponents.models import OpponentModel, make_opponent, replies
from zermelo.agents.tree_search.agent import TreeSearchAgent
from zermelo.agents.tree_search.chance.searches import GENERAL
from zermelo.agents.tree_search.interface import RootNode, SearchSetup, TreeSearch
from zermelo.agents.tree_search.sampled_game import looking_inside
from zermelo.agents.tree_search.settings import (
    AlphaBetaConfig,
    ChancePruning,
    PruningSettings,
    TableSettings,
)
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.spec_text import Spec, parse_spec


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ExpectiminimaxAgent(PruningSettings, TreeSearchAgent):
    """Minimax with chance nodes, over the whole tree down to ``depth`` or pruned by Star1 or Star2.

    For one player, or two with a constant sum, with nothing hidden. Depth counts moves, not chance. Where the
    game's chance can only be simulated it is sampled: the result then is an estimate, and says how wide. Without
    pruning every root action's value is exact, and actions are tried in ascending order. Evaluations must be a
    positive linear transformation of expected utility, as averages of them are compared.

    Attributes:
        pruning: ``"none"``; or ``"star1"`` or ``"star2"``, which use the game's utility bounds to leave out what
            cannot change the value.
        beam_width: How many actions are searched further at each node below the root, in games with chance: those
            that look best one move deep. One or two pay where they allow a larger depth; 0 is all. Without pruning
            only.
        samples: How many draws stand for a chance event that can only be simulated.
        chance_at_limit: What a chance event is worth at the depth limit: ``"evaluate"`` asks the evaluator before
            anything is drawn, ``"average"`` after each outcome. ``"auto"`` does what the evaluation says is better
            for it (``evaluates_before_chance`` of a game's own, ``before_chance`` of any other), and averages if
            it says nothing. Sampled chance is always averaged.
    """

    kind: ClassVar[str] = "expectiminimax"
    family = GENERAL

    requires = (require_perfect_information, require_one_or_two_opposed)

    pruning: ChancePruning = choice(ChancePruning.NONE)
    beam_width: int = integer(0, "actions")
    samples: int = integer(8, "draws", lower=1)
    chance_at_limit: ChanceAtLimit = choice(ChanceAtLimit.AUTO)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.beam_width and self.pruning is not ChancePruning.NONE:
            raise InvalidSettingError(
                f"beam_width={self.beam_width} is for pruning='none', not {self.pruning.value!r}: leave one of "
                "them out"
            )

    @property
    def fixed(self) -> Mapping[str, Any]:
        return {"history_on_improvement": True}

    @property
    def iterations_help(self) -> bool:
        return self.pruning is not ChancePruning.NONE

    @property
    def is_exact(self) -> bool:
        return self.exact or self.pruning is ChancePruning.NONE


def _written(opponent: Any) -> Any:
    if isinstance(opponent, str) and ":" not in opponent:
        opponent = parse_spec(opponent)
    return opponent.name if isinstance(opponent, Spec) and not opponent.arguments else opponent


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ExpectimaxAgent(TableSettings, TreeSearchAgent):
    """Best reply to fallible opponents: their moves are averaged, with the probabilities of a model.

    For any number of players (also one) and any sums, with or without chance, as long as nothing is hidden.
    Minimax is too pessimistic against a weak opponent: this takes risks that the opponent is unlikely to punish.
    Every root action's value is exact, and ``proven`` means proven against that model. Depth counts moves, every
    player's, and not chance; sampled chance makes the result an estimate. Evaluations must be a positive linear
    transformation of expected utility.

    Attributes:
        opponent: What all other seats do: ``"random"``; ``"softmax(evaluator=..., temperature=1)"``; an agent or
            its name; ``"noisy(agent=greedy, epsilon=0.1)"``; or a function of game and state that gives each legal
            action's probability, or its ``"module:name"``.
        samples: How many draws stand for a chance event that can only be simulated.
        chance_at_limit: What a chance event is worth at the depth limit, as in ``ExpectiminimaxAgent``.
    """

    kind: ClassVar[str] = "expectimax"
    family = GENERAL

    opponent: Any = converted("random", _written, "a model of opponents, or its spec")
    samples: int = integer(8, "draws", lower=1)
    chance_at_limit: ChanceAtLimit = choice(ChanceAtLimit.AUTO)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.model  # noqa: B018 - what is no model is refused now

    @functools.cached_property
    def model(self) -> OpponentModel:
        """The ``opponent`` setting as a function of game and state."""
        return make_opponent(self.opponent)

    @property
    def fixed(self) -> Mapping[str, Any]:
        averaged = functools.partial(replies, self.model)
        return {"depends_on_seat": True, "pruning": ChancePruning.NONE, "replies": averaged}

    @property
    def iterations_help(self) -> bool:
        return False

    def config_for(self, root: SearchSetup) -> AlphaBetaConfig:
        if root.width is None:
            return self.config
        return replace(self.config, replies=functools.partial(replies, looking_inside(self.model)))

    def corrections(self, search: TreeSearch, node: RootNode, found: Mapping[str, Any]) -> dict[str, Any]:
        return {} if search.game.traits.seats == 1 else {"plies": None}
