"""Hanabi by conventions, as an agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.core.budget import Budget
from zermelo.agents.core.gate import require_decision
from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.settings import choice
from zermelo.agents.players.hanabi.policy import Convention, HanabiPolicy, require_hanabi
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.envs import Game
from zermelo.envs.position import position


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class HanabiAgent(SearchAgent):
    """Plays Hanabi by rules: it reads hints by a convention, and gives hints that the others read alike.

    It keeps account of what each card can be, by hints given and cards seen, and of what that makes playable, dead
    or critical. ``"smart"`` is in the manner of SmartBot (Quuxplusone/Hanabi): a hint points at a card to play, or
    saves one that would be discarded next. Players who read hints as people do get on with it. ``"hats"`` tells
    all others something at once, by the number of the hint, as in puzzles of hats: Cox, De Silva, DeOrsey, Kenter,
    Retter and Tobin, "How to make the perfect fireworks display", Mathematics Magazine 88 (2015); all players must
    use it. The agent sees no card of its own hand, remembers nothing, and can take over in any position. Its value
    is what has been scored so far; ``sparta(blueprint=hanabi)`` searches on top of it.

    Attributes:
        convention: How hints are read: ``"smart"``, or ``"hats"`` for four or five players.
    """

    kind: ClassVar[str] = "hanabi"

    convention: Convention = choice(Convention.SMART)

    def blueprint(self, game: Game[Any], budget: Budget) -> HanabiPolicy:
        """The agent's policy over the states of a game."""
        kept = self.__dict__.get("_policy")
        if kept is None or kept[0] is not game or not kept[1].compiled:
            kept = game, HanabiPolicy(game, self.convention, budget)
            self._set("_policy", kept)
        return kept[1]

    def decide(self, env: Any) -> Any:
        """Acts in half the time of ``search``: a result has nothing to add to the action."""
        root = position(env, backend=self.backend, traits=self.traits)
        require_decision(root.game, root.state)
        return self.blueprint(root.game, self.new_budget(Budget.now())).action(root.state)

    def check_game(self, game: Game[Any]) -> None:
        require_hanabi(game)

    def prepare(self, env: Any) -> None:
        self.search(env)

    def choose(self, game: Game[Any], state: Any, budget: Budget) -> SearchResult:
        policy = self.blueprint(game, budget)
        points = tuple(map(float, game.utility(state)))
        return SearchResult(
            action=policy.action(state),
            value=points[game.to_move(state)],
            values_by_seat=points,
            nodes=1,
            is_estimate=True,
            evaluator="points so far",
            compiled=policy.compiled,
        )
