"""Leduc hold'em for two players, with antes as in the literature or with blinds as in RLCard.

Rules: F. Southey et al., "Bayes' bluff: opponent modelling in poker", UAI (2005). Two cards of each rank; each
player antes one chip and is dealt a card. There are two rounds of betting, in which the players in turn check,
raise, call or fold; a raise is two chips in the first round and four in the second, and there are at most two of
them in each. Between the rounds one card is laid open. A player who makes a pair with it wins; else the higher
card does; equal cards share the pot. The first player begins both rounds, and only a player who faces a raise may
fold.

``blinds=True`` is RLCard's game, PettingZoo's ``classic/leduc_holdem-v4``: instead of antes, one player, drawn by
chance, puts in one chip and begins, the other two chips; a player may always fold; in the second round the player
begins who did not act last in the first.

Utilities are in chips. Cards of the same rank are not told apart.

Actions: 0 calls, 1 raises, 2 folds, 3 checks. Chance outcomes: the rank of the card dealt, from 0; with blinds,
before the cards, the seat that begins.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.envs.game import CHANCE
from zermelo.envs.rules.about import EquivalentRules, OpenSpielRules
from zermelo.envs.rules.board_methods import require_limits

CALL, RAISE, FOLD, CHECK = range(4)
NAMES: Final = ("call", "raise", "fold", "check")
_RANKS: Final = "23456789TJQKA"
MOST_RAISES: Final = 2
_CHIPS: Final = 15  # more than a player can have put in


class LeducState(NamedTuple):
    """A position.

    Attributes:
        begins: The seat that begins; -1 before chance has drawn it.
        first_card, second_card, open_card: Ranks, from 1; 0 before they are dealt.
        first_chips, second_chips: What each has put in.
        bets: Raises of this round, and four times the number of actions since the last raise, itself included.
        stage: 0 and 1, the rounds; 2 after the showdown; 3 or 4, the first or the second seat has folded.
        history: The actions so far, two bits each, the last one lowest, below a leading one.
    """

    begins: int
    first_card: int
    second_card: int
    open_card: int
    seat: int
    first_chips: int
    second_chips: int
    bets: int
    stage: int
    history: int


class Leduc(NamedTuple):
    """Leduc hold'em: two rounds of betting, one open card.

    Attributes:
        ranks: How many ranks there are, of 2 to 13; each has two cards.
        blinds: Whether it is played with blinds, as in RLCard; else with antes.
    """

    ranks: int = 3
    blinds: bool = False

    def check(self) -> None:
        require_limits(self, ranks=(2, 13), blinds=bool)

    def num_actions(self) -> int:
        return 4

    def num_outcomes(self) -> int:
        return self.ranks

    def utility_bounds(self) -> tuple[int, int]:
        return (-14, 14) if self.blinds else (-13, 13)

    def initial_state(self) -> LeducState:
        if self.blinds:
            return LeducState(-1, 0, 0, 0, 0, 0, 0, 0, 0, 1)
        return LeducState(0, 0, 0, 0, 0, 1, 1, 0, 0, 1)

    def to_move(self, state: LeducState) -> int:
        if self.is_terminal(state):
            return state.seat
        if state.begins < 0 or state.second_card == 0 or (state.stage == 1 and state.open_card == 0):
            return CHANCE
        return state.seat

    def legal_actions(self, state: LeducState, actions: list[int]) -> int:
        faces_raise = self._chips(state, state.seat) < self._chips(state, 1 - state.seat)
        legal = faces_raise, state.bets & 3 < MOST_RAISES, faces_raise or self.blinds == 1, not faces_raise
        count = 0
        for action in range(4):
            if legal[action]:
                actions[count] = action
                count += 1
        return count

    def chance_outcomes(self, state: LeducState, outcomes: list[int], probabilities: list[float]) -> int:
        if state.begins < 0:
            for seat in range(2):
                outcomes[seat] = seat
                probabilities[seat] = 0.5
            return 2
        left = 2 * self.ranks - (state.first_card > 0) - (state.second_card > 0)
        count = 0
        for rank in range(self.ranks):
            of_rank = 2 - (state.first_card == rank + 1) - (state.second_card == rank + 1)
            if of_rank:
                outcomes[count] = rank
                probabilities[count] = of_rank / left
                count += 1
        return count

    def result(self, state: LeducState, action: int) -> LeducState:
        begins, first_card, second_card, open_card, seat, first, second, bets, stage, history = state
        if begins < 0:  # the small blind begins
            return LeducState(action, 0, 0, 0, action, 1 + action, 2 - action, 0, 0, 1)
        if first_card == 0:
            return LeducState(begins, action + 1, 0, 0, seat, first, second, bets, stage, history)
        if second_card == 0:
            return LeducState(begins, first_card, action + 1, 0, seat, first, second, bets, stage, history)
        if stage == 1 and open_card == 0:
            return LeducState(begins, first_card, second_card, action + 1, seat, first, second, bets, 1, history)
        history = history << 2 | action
        if action == FOLD:
            stage = 3 + seat
        else:
            mine = self._chips(state, 1 - seat)  # a call or a check makes both equal
            if action == RAISE:
                mine += 4 if stage else 2
                bets = (bets & 3) + 1 | 4
            else:
                bets += 4
            first, second = (mine, second) if seat == 0 else (first, mine)
        seat = 1 - seat
        if bets >> 2 == 2 and stage < 2:
            bets, stage = 0, stage + 1
            seat = seat if self.blinds else begins
        return LeducState(begins, first_card, second_card, open_card, seat, first, second, bets, stage, history)

    def is_terminal(self, state: LeducState) -> bool:
        return state.stage >= 2

    def utility(self, state: LeducState, seat: int) -> int:
        if state.stage > 2:
            loser = state.stage - 3
        else:
            first, second = state.first_card, state.second_card
            first += 100 * (first == state.open_card)
            second += 100 * (second == state.open_card)
            if first == second:
                return 0
            loser = 0 if first < second else 1
        lost = self._chips(state, loser)
        return -lost if seat == loser else lost

    def observation_box(self) -> tuple[tuple[int], tuple[int, int], str]:
        return (2 * self.ranks + 2 * _CHIPS,), (0, 1), "int8"

    def write_observation(self, state: LeducState, seat: int, numbers: Any) -> None:
        """One-hot rows as in RLCard: the seat's card, the open card, its chips and the other's."""
        mine = state.second_card if seat else state.first_card
        if mine:
            numbers[mine - 1] = 1
        if state.open_card:
            numbers[self.ranks + state.open_card - 1] = 1
        numbers[2 * self.ranks + self._chips(state, seat)] = 1
        numbers[2 * self.ranks + _CHIPS + self._chips(state, 1 - seat)] = 1

    def information_state_key(self, state: LeducState, seat: int) -> Hashable:
        """The seat's card, the open card, who began, and all actions."""
        return (state.second_card if seat else state.first_card), state.open_card, state.begins, state.history

    def resample(self, state: LeducState, seat: int, generator: np.random.Generator) -> LeducState:
        """Deals the other player's card again; at the end returns the state itself."""
        mine, other = (state.second_card, state.first_card) if seat else (state.first_card, state.second_card)
        if not other or self.is_terminal(state):
            return state
        unseen = [rank for rank in range(1, self.ranks + 1) for _ in range(2)]
        for seen in (mine, state.open_card):
            if seen:
                unseen.remove(seen)
        drawn = unseen[int(generator.integers(len(unseen)))]
        return state._replace(first_card=drawn) if seat else state._replace(second_card=drawn)

    def moves_so_far(self, state: LeducState) -> list[int]:
        moves = [state.begins] if self.blinds and state.begins >= 0 else []
        moves += [card - 1 for card in (state.first_card, state.second_card) if card]
        here = functools.reduce(self.result, moves, self.initial_state())
        for action in self._actions(state):
            if self.to_move(here) == CHANCE:
                moves.append(state.open_card - 1)
                here = self.result(here, moves[-1])
            moves.append(action)
            here = self.result(here, action)
        return [*moves, state.open_card - 1] if state.open_card != here.open_card else moves

    def text(self, state: LeducState) -> str:
        players = zip((state.first_card, state.second_card), (state.first_chips, state.second_chips), strict=True)
        named = enumerate((self._name(card), chips) for card, chips in players)
        lines = [f"  player {seat}: {card}, {chips} in the pot" for seat, (card, chips) in named]
        lines[state.seat] = f">{lines[state.seat][1:]}"
        played = " ".join(NAMES[action] for action in self._actions(state))
        return "\n".join([*lines, f"  open: {self._name(state.open_card)}", f"  bets: {played}"])

    def action_text(self, state: LeducState, action: int) -> str:
        if self.to_move(state) != CHANCE:
            return NAMES[action]
        return f"player {action} begins" if state.begins < 0 else self._name(action + 1)

    def _actions(self, state: LeducState) -> list[int]:
        bits = f"{state.history:b}"[1:]
        return [int(bits[place : place + 2], 2) for place in range(0, len(bits), 2)]

    def _chips(self, state: LeducState, seat: int) -> int:
        return state.second_chips if seat else state.first_chips

    def _name(self, card: int) -> str:
        """With three ranks jack, queen and king."""
        highest = 12 if self.ranks > 12 else 11
        return _RANKS[highest - self.ranks + card] if card else "-"


def _pettingzoo(env: Any) -> LeducState | None:
    """Played over again from RLCard's record; its rewards are in big blinds."""
    game, played = env.env.game, env.env.action_recorder
    if len(game.players) != 2 or game.allowed_raise_num != MOST_RAISES:
        return None
    rules = Leduc(blinds=True)
    begins = played[0][0] if played else game.game_pointer
    cards = ["JQK".index(player.hand.rank) for player in game.players]
    state = rules.initial_state()
    for outcome in (begins, *cards):
        state = rules.result(state, outcome)
    for _, name in played:
        if rules.is_terminal(state):
            return None
        state = rules.result(state, NAMES.index(name))
        if not rules.is_terminal(state) and rules.to_move(state) == CHANCE:
            if game.public_card is None:
                return None
            state = rules.result(state, "JQK".index(game.public_card.rank))
    chips = [player.in_chips for player in game.players]
    return state if chips == [state.first_chips, state.second_chips] else None


PETTINGZOO: Final = EquivalentRules(Leduc(blinds=True), _pettingzoo, scale=0.5)
"""PettingZoo's environment of this game."""


def _to_openspiel(state: LeducState, action: int) -> int:
    """There 0 folds, 1 calls and checks, 2 raises; of each rank there are the cards 2 * rank and 2 * rank + 1."""
    if Leduc().to_move(state) == CHANCE:
        return 2 * action + (state.first_card == action + 1 or state.second_card == action + 1)
    return (1, 2, 0, 1)[action]


def _from_openspiel(state: LeducState, number: int) -> int:
    if Leduc().to_move(state) == CHANCE:
        return number // 2
    return (FOLD, CHECK if state.first_chips == state.second_chips else CALL, RAISE)[number]


def from_openspiel(
    action_mapping: bool, players: int, starting_player: int, suit_isomorphism: bool
) -> OpenSpielRules | None:
    """For two players, the first beginning, and with cards that have suits."""
    if action_mapping or players != 2 or starting_player != 0 or suit_isomorphism:
        return None
    return OpenSpielRules(rules=Leduc(), to_openspiel=_to_openspiel, from_openspiel=_from_openspiel)
