"""Goofspiel, the game of pure strategy, for two players.

Rules: both hold the cards 1 to n; a third suit, of prizes, lies in the middle. In each round a prize is turned up,
both bid one of their cards at the same time, and the higher card wins as many points as the prize says; equal bids
throw it away. Bids are spent. Who has more points at the end wins. S. M. Ross, "Goofspiel: the game of pure
strategy", Journal of Applied Probability 8 (1971).

Prizes come by chance, or from the highest to the lowest, which both know. With ``hidden`` players are told who won
a round, but not what the other has bid. The last round is played without asking, as nobody has a choice. All this
is OpenSpiel's ``goofspiel`` too, whose ``point_difference`` is half of what players get here with ``difference``.

Actions: the card bid, from 0 for the 1. Chance outcomes: the next prize, likewise. The first player of a round is
asked first, and the second one does not see its bid.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from zermelo.envs.game import CHANCE
from zermelo.envs.games.hidden.goofspiel.hidden import HiddenBids, cards_of
from zermelo.envs.rules.about import listed
from zermelo.envs.rules.bits import bit_index, mix
from zermelo.envs.rules.boards import all_squares, list_evenly, list_squares
from zermelo.envs.rules.declared import limits, observes, with_methods


class GoofspielState(NamedTuple):
    """The bids of both players and the prizes so far, four bits a round, the last one lowest; the points won.

    Prizes from the highest down are not noted.
    """

    first: int
    second: int
    prizes: int
    first_points: int = 0
    second_points: int = 0


@listed(kind="cards")
@limits(cards=(2, 13), shuffled=bool, hidden=bool, difference=bool)
@observes(lambda rules: (4 * rules.cards + 2,), lambda rules: (0, rules.cards * (rules.cards + 1) // 2))
@with_methods(HiddenBids)
class Goofspiel(NamedTuple):
    """Goofspiel: bid for prizes, both at the same time.

    Attributes:
        cards: How many cards each player has, from 2 to 13.
        shuffled: Whether prizes come in any order; else from the highest to the lowest.
        hidden: Whether players see who won a round, but not the other's bids.
        difference: Whether players get as many points as they have more than the other; else 1 for a win.
    """

    cards: int = 13
    shuffled: bool = True
    hidden: bool = False
    difference: bool = False

    def num_actions(self) -> int:
        return self.cards

    def utility_bounds(self) -> tuple[int, int]:
        most = self.cards * (self.cards + 1) // 2 if self.difference else 1
        return -most, most

    def initial_state(self) -> GoofspielState:
        return GoofspielState(0, 0, 0, 0, 0)

    def to_move(self, state: GoofspielState) -> int:
        first = self._rounds(state.first)
        if first > self._rounds(state.second):
            return 1
        if self.shuffled and self._rounds(state.prizes) == first and first < self.cards - 1:
            return CHANCE
        return 0

    def legal_actions(self, state: GoofspielState, actions: list[int]) -> int:
        seat = self.to_move(state)
        return list_squares(self._left(state.second if seat == 1 else state.first), actions)

    def chance_outcomes(self, state: GoofspielState, outcomes: list[int], probabilities: list[float]) -> int:
        return list_evenly(self._left(state.prizes), outcomes, probabilities)

    def result(self, state: GoofspielState, action: int) -> GoofspielState:
        first, second, prizes, first_points, second_points = state
        seat, card = self.to_move(state), action + 1
        if seat == CHANCE:
            return GoofspielState(first, second, prizes << 4 | card, first_points, second_points)
        if seat == 0:
            return GoofspielState(first << 4 | card, second, prizes, first_points, second_points)
        prize = prizes & 15 if self.shuffled else self.cards - self._rounds(second)
        first_points += prize if first & 15 > card else 0
        second_points += prize if first & 15 < card else 0
        return GoofspielState(first, second << 4 | card, prizes, first_points, second_points)

    def is_terminal(self, state: GoofspielState) -> bool:
        """True before the last round, in which nobody has a choice."""
        return self._rounds(state.second) == self.cards - 1

    def utility(self, state: GoofspielState, seat: int) -> int:
        first, second = self._last(state.first), self._last(state.second)
        more = state.first_points - state.second_points
        prize = self._last(state.prizes) if self.shuffled else 1
        if first != second:
            more += prize if first > second else -prize
        if seat == 1:
            more = -more
        if self.difference or more == 0:
            return more
        return 1 if more > 0 else -1

    def key(self, state: GoofspielState) -> int:
        """The cards that are left and the lead, whatever the order in which cards were played."""
        rounds = self._rounds(state.second)
        pending = self._rounds(state.first) - rounds
        mixed = mix(self._spent(state.first) | self._spent(state.second) << 16 | self._spent(state.prizes) << 32)
        mixed = mix(mixed ^ state.first_points - state.second_points + 128)
        turned_up = self._rounds(state.prizes) - rounds
        return mix(mixed ^ ((state.first & 15) * pending << 8 | (state.prizes & 15) * turned_up))

    # -- what players see -----------------------------------------------------------------------------------------

    def write_observation(self, state: GoofspielState, seat: int, numbers: Any) -> None:
        """Each card: in the own hand, in the other's (0 if hidden), still to be won, to be won now; points."""
        rounds, now = self._rounds(state.second), 0
        if not self.shuffled:
            now = self.cards - rounds
        elif self._rounds(state.prizes) > rounds:
            now = state.prizes & 15
        gone = self._spent(state.prizes) if self.shuffled else -1 << self.cards - rounds + 1
        is_pending = self._rounds(state.first) > rounds  # a bid that the second player has not answered
        first = self._spent(state.first >> 4 if seat and is_pending else state.first)
        second = self._spent(state.second)
        own, other = (second, first) if seat else (first, second)
        for card in range(1, self.cards + 1):
            numbers[card - 1] = 1 - (own >> card & 1)
            numbers[self.cards + card - 1] = 0 if self.hidden else 1 - (other >> card & 1)
            numbers[2 * self.cards + card - 1] = 1 if card == now else 1 - (gone >> card & 1)
            numbers[3 * self.cards + card - 1] = card == now
        numbers[4 * self.cards] = state.second_points if seat else state.first_points
        numbers[4 * self.cards + 1] = state.first_points if seat else state.second_points

    # -- the same for searches, never compiled --------------------------------------------------------------------

    def round_start(self, state: GoofspielState) -> GoofspielState:
        return state if self.to_move(state) != 1 else state._replace(first=state.first >> 4)

    def text(self, state: GoofspielState) -> str:
        shown = [cards_of(cards) for cards in state[:3]]
        if not self.shuffled:
            shown[-1] = [self.cards - number for number in range(len(shown[1]) + 1)]
        first, second, prizes = (" ".join(map(str, cards)) or "-" for cards in shown)
        points = f"{state.first_points} to {state.second_points}"
        return f"player 0: {first}\nplayer 1: {second}\nprizes: {prizes}\npoints: {points}"

    def action_text(self, state: GoofspielState, action: int) -> str:
        return str(action + 1)

    # -- helpers -----------------------------------------------------------------------------------------------

    def _rounds(self, packed: int) -> int:
        count = 0
        while packed >> 4 * count:
            count += 1
        return count

    def _spent(self, packed: int) -> int:
        """The cards noted, as bits ``card``."""
        spent = 0
        while packed:
            spent |= 1 << (packed & 15)
            packed >>= 4
        return spent

    def _left(self, packed: int) -> int:
        """The cards that have not been noted, as bits ``card - 1``."""
        return all_squares(self.cards) & ~(self._spent(packed) >> 1)

    def _last(self, packed: int) -> int:
        """The one card that has not been noted."""
        return bit_index(self._left(packed)) + 1
