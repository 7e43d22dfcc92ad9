"""Expectimax: the best answer to opponents that err, and planning for one player in an uncertain world."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from zermelo.agents.core.checks import check_choice, check_number, check_whole
from zermelo.agents.core.gate import require_perfect_information
from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.tree_search import TreeSearch
from zermelo.agents.players.opponents import OpponentModel, make_opponent, replies
from zermelo.agents.players.search_agent import TreeSearchAgent
from zermelo.agents.search import backend
from zermelo.agents.search.chance_limit import ChanceAtLimit, evaluates_chance
from zermelo.agents.search.sampling import looking_inside
from zermelo.envs import Game, Traits
from zermelo.envs.spec_text import Spec, parse_spec

__all__ = ["ExpectimaxAgent"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ExpectimaxAgent(TreeSearchAgent):
    """Best play against opponents that err: their moves are averaged over, as likely as a model says.

    For any number of players (also one) and any sums, with or without chance, as long as nothing is hidden.
    Minimax is too pessimistic against a weak opponent: this takes risks that the opponent is unlikely to punish.
    Every root action's value is exact, and ``proven`` means proven against that model. Depth counts moves, every
    player's, and not chance; where chance can only be simulated it is sampled, and the result is an estimate.

    Evaluations must be a positive linear transformation of expected utility, as averages of them are compared.

    Attributes:
        opponent: What all other seats do: ``"random"``; ``"softmax(evaluator=..., temperature=1)"``; an agent or
            its name, such as ``"alphabeta(depth=2)"``; ``"noisy(agent=greedy, epsilon=0.1)"``; or a function of
            game and state that gives each legal action's probability, or its ``"module:name"``.
        samples: How many draws stand for a chance event that can only be simulated.
        table_mb: The memory that the transposition table may use, in MiB; 0 does without.
        chance_at_limit: What a chance event is worth where the search looks no further, as in
            ``ExpectiminimaxAgent``.
    """

    kind: ClassVar[str] = "expectimax"

    opponent: Any = "random"
    samples: int = 8
    table_mb: float = 64
    chance_at_limit: ChanceAtLimit = ChanceAtLimit.AUTO

    def __post_init__(self) -> None:
        self._set("chance_at_limit", check_choice("chance_at_limit", self.chance_at_limit, ChanceAtLimit))
        self._set("_model", make_opponent(self.opponent))
        if isinstance(self.opponent, str) and ":" not in self.opponent:
            self._set("opponent", parse_spec(self.opponent))
        if isinstance(self.opponent, Spec) and not self.opponent.arguments:
            self._set("opponent", self.opponent.name)
        check_whole("samples", self.samples, least=1)
        check_number("table_mb", self.table_mb, least=0)
        super().__post_init__()

    @property
    def model(self) -> OpponentModel:
        """The ``opponent`` setting as a function of game and state."""
        model: OpponentModel = self.__dict__["_model"]
        return model

    def check_game(self, traits: Traits) -> None:
        """Any number of players and any sums, as long as nothing is hidden."""
        require_perfect_information(traits, self.kind)

    def choose(self, game: Game[Any], state: Any, started: float) -> SearchResult:
        """Searches a state that this agent can search and in which there is something to decide."""
        root = self.root(game, state, self.samples)
        model: OpponentModel = looking_inside(self.model) if root.is_sampled else self.model
        search = backend.expectimax(
            root.game,
            root.evaluator,
            self.new_budget(started),
            table_mb=self.table_mb,
            sooner=self.sooner,
            cutoff=root.cutoff,
            on_node=self.observer,
            width=root.width,
            seat=game.to_move(state),
            replies=lambda game, state: replies(model, game, state),
            at_chance=evaluates_chance(self.chance_at_limit, root.game, root.evaluator),
        )
        return self.deepened(
            search, root.state, step_by_step=self.has_budget, exact=True, is_estimate=root.is_sampled
        )

    def adjusted(self, search: TreeSearch, state: Any, result: SearchResult) -> SearchResult:
        """How long a game lasts against opponents that may do anything is not known."""
        return result if search.game.traits.seats == 1 else replace(result, plies=None)
