"""A game against a policy: one seat decides, and the policy's moves in all others are chance.

Whatever searches games for one player with chance then finds a best response. Timbers et al., "Approximate
exploitability: learning a best response", IJCAI (2022).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from zermelo.agents.base.playouts import draw_outcome
from zermelo.agents.best_response.asking import AskedPolicy
from zermelo.agents.opponents.beliefs import Belief
from zermelo.envs.capabilities import (
    GameView,
    SupportsActionText,
    SupportsCopies,
    SupportsEvaluation,
    SupportsInformationStates,
    SupportsPast,
    SupportsText,
    copy_facts,
    offers,
)
from zermelo.envs.game import CHANCE, Chance, Game, RewardSum


class ResponseGame(GameView):
    """A game as one seat plays it against a policy.

    The policy is asked about what its player sees in a state of the search, never about the live game. Where the
    seat does not see everything, it deals again what it has not seen, as likely as chance and the policy's past
    moves make it (Bayes' rule), if the game says what was played (``moves_so_far``); else as chance alone does.
    Where chance can only be simulated, the policy's moves are drawn with it. Playouts are of the game itself, in
    which everybody plays at random: that leaves time for more of them than asking there too.
    """

    passes = (SupportsText, SupportsActionText, SupportsCopies)

    def __init__(self, game: Game[Any], seat: int, policy: AskedPolicy) -> None:
        super().__init__(game)
        inner = game.traits
        self.seat, self.policy, self.playouts_by = seat, policy, game
        self.draws = inner.chance is Chance.SAMPLED
        sources = {name: source for name, source in inner.sources.items() if name not in ("reward_sum", "chance")}
        self.traits = replace(
            inner,
            seat_names=(inner.seat_names[seat],),
            reward_sum=RewardSum.GENERAL,
            constant=0.0,
            chance=Chance.SAMPLED if self.draws else Chance.EXACT,
            simultaneous=False,
            sources=sources,
        )
        facts = copy_facts(game)
        self.copying, self.keys_are_slow, self.knows_what_was_paid = facts[:3]
        self._generator = np.random.default_rng(0)
        self._belief: tuple[Any, Belief] | None = None
        if offers(game, SupportsEvaluation):
            self.evaluation = lambda state: (game.evaluation(state)[seat],)
        if offers(game, SupportsInformationStates):
            self.information_state_key, self.resample = self._information_state_key, self._resample

    @property
    def failures(self) -> int:
        return copy_facts(self.inside).failures

    @property
    def weighs_deals(self) -> bool:
        """True if deals are weighed by the policy's past actions."""
        return offers(self.inside, SupportsPast)

    def initial_state(self) -> Any:
        return self._onward(self.inside.initial_state(), self._generator)

    def to_move(self, state: Any) -> int:
        return 0 if self.inside.to_move(state) == self.seat else CHANCE

    def chance_outcomes(self, state: Any) -> Sequence[tuple[int, float]]:
        if self.inside.to_move(state) == CHANCE:
            return self.inside.chance_outcomes(state)
        return self.policy.replies(state)

    def result(self, state: Any, action: int) -> Any:
        return self._onward(self.inside.result(state, action), self._generator)

    def sample_result(self, state: Any, action: int, generator: np.random.Generator) -> Any:
        inside: Any = self.inside
        return self._onward(inside.sample_result(state, action, generator), generator)

    def _onward(self, state: Any, generator: np.random.Generator) -> Any:
        """The next state in which the seat is to move, where the policy's moves are drawn."""
        game: Any = self.inside
        while self.draws and not game.is_terminal(state) and game.to_move(state) != self.seat:
            state = game.sample_result(state, draw_outcome(self.policy.replies(state), generator), generator)
        return state

    def utility(self, state: Any) -> tuple[float, ...]:
        return (self.inside.utility(state)[self.seat],)

    def _information_state_key(self, state: Any, seat: int) -> Hashable:
        game: Any = self.inside
        key: Hashable = game.information_state_key(state, self.seat)
        return key

    def _resample(self, state: Any, seat: int, generator: np.random.Generator) -> Any:
        game: Any = self.inside
        if not self.weighs_deals:
            return game.resample(state, self.seat, generator)
        if self._belief is None or self._belief[0] is not state:
            self._belief = state, Belief(self.policy.likelihoods, game, state, self.seat)
        return self._belief[1].deal(generator)
