"""Kuhn poker, for two players or more.

Rules: H. W. Kuhn, "A simplified two-person poker", Contributions to the Theory of Games 1 (1950); for more players
D. Szafron, R. Gibson and N. Sturtevant, "A parameterized family of equilibrium profiles for three-player Kuhn
poker", AAMAS (2013). The deck has one card more than there are players, all of different rank. Each player antes
one chip and is dealt one card. In turn, players pass or bet one chip; once somebody has bet, each of the others
may answer once, by folding (pass) or calling (bet). Of those who have bet, or of all if nobody has, the highest
card takes the pot.

Actions: 0 passes or folds, 1 bets or calls. Chance outcomes: the rank of the card dealt, from 0.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.envs.game import CHANCE
from zermelo.envs.rules.bits import popcount
from zermelo.envs.rules.board_methods import require_limits
from zermelo.envs.rules.boards import all_squares, list_evenly

_NAMES: Final = "23456789TJQKA"  # ranks as players write them; the highest card in the deck is a king


class KuhnState(NamedTuple):
    """Everybody's card, the number of actions so far, that of the first bet (0 without any), and who has bet.

    A card has four bits, the first seat's lowest: its rank and one, 0 before it is dealt. Seats have a bit each.
    """

    cards: int
    moves: int
    first: int
    bets: int


class Kuhn(NamedTuple):
    """Kuhn poker: one card each, one chip to bet.

    Attributes:
        players: Number of players, 2 to 10.
    """

    players: int = 2

    def check(self) -> None:
        require_limits(self, players=(2, 10))

    def seats(self) -> int:
        return self.players

    def num_actions(self) -> int:
        return 2

    def num_outcomes(self) -> int:
        return self.players + 1

    def utility_bounds(self) -> tuple[int, int]:
        return -2, 2 * (self.players - 1)

    def initial_state(self) -> KuhnState:
        return KuhnState(0, 0, 0, 0)

    def to_move(self, state: KuhnState) -> int:
        if state.cards >> 4 * (self.players - 1) == 0:
            return CHANCE
        return state.moves % self.players

    def legal_actions(self, state: KuhnState, actions: list[int]) -> int:
        actions[0] = 0
        actions[1] = 1
        return 2

    def chance_outcomes(self, state: KuhnState, outcomes: list[int], probabilities: list[float]) -> int:
        dealt = 0
        for seat in range(self.players):
            dealt |= 1 << self._card(state, seat) >> 1
        return list_evenly(all_squares(self.players + 1) & ~dealt, outcomes, probabilities)

    def result(self, state: KuhnState, action: int) -> KuhnState:
        seat = 0
        while seat < self.players and self._card(state, seat):
            seat += 1
        if seat < self.players:
            return KuhnState(state.cards | (action + 1) << 4 * seat, 0, 0, 0)
        moves = state.moves + 1
        first = moves if action == 1 and state.first == 0 else state.first
        return KuhnState(state.cards, moves, first, state.bets | action << state.moves % self.players)

    def is_terminal(self, state: KuhnState) -> bool:
        return state.moves == self.players + max(state.first - 1, 0)

    def utility(self, state: KuhnState, seat: int) -> int:
        winner, best = 0, 0
        for other in range(self.players):
            in_play = state.bets == 0 or state.bets >> other & 1
            if in_play and self._card(state, other) > best:
                winner, best = other, self._card(state, other)
        pot, paid = self.players + popcount(state.bets), 1 + (state.bets >> seat & 1)
        return pot - paid if seat == winner else -paid

    def observation_box(self) -> tuple[tuple[int], tuple[int, int], str]:
        return (3 * self.players + 1,), (0, 1), "int8"

    def write_observation(self, state: KuhnState, seat: int, numbers: Any) -> None:
        """Shape (3 * players + 1,): the seat's card; who has acted; who has bet, both from the observer on."""
        if self._card(state, seat):
            numbers[self._card(state, seat) - 1] = 1
        for turn in range(self.players):
            other = (seat + turn) % self.players
            numbers[self.players + 1 + turn] = state.moves > other
            numbers[2 * self.players + 1 + turn] = state.bets >> other & 1

    def information_state_key(self, state: KuhnState, seat: int) -> Hashable:
        return self._card(state, seat), *state[1:]

    def resample(self, state: KuhnState, seat: int, generator: np.random.Generator) -> KuhnState:
        mine = self._card(state, seat)
        unseen = generator.permutation([card for card in range(1, self.players + 2) if card != mine]).tolist()
        cards = 0
        for other in range(self.players):
            if self._card(state, other):
                cards |= (mine if other == seat else unseen.pop()) << 4 * other
        return state._replace(cards=cards)

    def moves_so_far(self, state: KuhnState) -> list[int]:
        cards = (self._card(state, seat) for seat in range(self.players))
        return [*(card - 1 for card in cards if card), *self._actions(state)]

    def text(self, state: KuhnState) -> str:
        """Each player's card and the betting: p for pass, b for bet."""
        cards = [self._card(state, seat) for seat in range(self.players)]
        names = [_NAMES[10 - self.players + card] if card else "-" for card in cards]
        played = "".join("pb"[action] for action in self._actions(state))
        return "\n".join([*(f"player {seat}: {name}" for seat, name in enumerate(names)), f"bets: {played}"])

    def action_text(self, state: KuhnState, action: int) -> str:
        if self.to_move(state) == CHANCE:
            return _NAMES[11 - self.players + action]
        if state.first == 0:
            return "bet" if action else "pass"
        return "call" if action else "fold"

    def _card(self, state: KuhnState, seat: int) -> int:
        """A seat's rank and one; 0 before it is dealt."""
        return state.cards >> 4 * seat & 15

    def _actions(self, state: KuhnState) -> list[int]:
        """All actions so far: passes up to the first bet, then what each seat has made of it."""
        passes = [0] * (state.first - 1 if state.first else state.moves)
        return passes + [state.bets >> move % self.players & 1 for move in range(len(passes), state.moves)]
