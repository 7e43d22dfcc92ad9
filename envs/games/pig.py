"""Pig with any target, die and number of players; with a coin, Piglet.

Rules: J. Scarne, "Scarne on Dice", 1945, as given by T. W. Neller and C. G. M. Presser, "Optimal Play of the Dice
Game Pig", The UMAP Journal 25(1), 2004. The player whose turn it is rolls or holds, as often as it likes. A roll
adds to the turn's points, unless a one shows: then the turn is over and its points are lost. Who holds adds the
turn's points to its score, and the turn passes. The first to hold with at least ``target`` points has won; who
could do so does not roll again. Two sides make a coin: tails are a one, heads count one point each, as in Neller
and Presser's Piglet. The winner gets 1 from every other player.

Actions: 0 rolls, 1 holds. Chance outcomes: the face less one, so 0 is a one.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from zermelo.envs.game import CHANCE
from zermelo.envs.rules.about import listed, openspiel_rules
from zermelo.envs.rules.declared import limits

_ROLL: Final = 0
_HOLD: Final = 1


class PigState(NamedTuple):
    """Scores, the points of this turn, the seat to move, and whether the dice are about to fall.

    Each score has as many bits as ``target`` needs, the first player's lowest; no more than wins.
    """

    scores: int
    turn: int
    seat: int
    rolling: int


@listed(players="2 or more", kind="dice, exact chance")
@limits(
    ("players * bits of the target", lambda rules: rules.players * rules.target.bit_length(), 62),
    target=(1, math.inf),
    sides=(2, 1000),
    players=(2, 62),
)
class Pig(NamedTuple):
    """Roll for points or hold them; a one loses the turn's points. The first to the target wins.

    Attributes:
        target: The score that wins, at least 1; every player's takes its bits, of 62.
        sides: Sides of the die, 2 to 1000; a coin has two, and heads count one point.
        players: At least 2.
    """

    target: int = 100
    sides: int = 6
    players: int = 2

    def num_actions(self) -> int:
        return 2

    def num_outcomes(self) -> int:
        return self.sides

    def seats(self) -> int:
        return self.players

    def utility_bounds(self) -> tuple[int, int]:
        return -1, self.players - 1

    def initial_state(self) -> PigState:
        return PigState(0, 0, 0, 0)

    def to_move(self, state: PigState) -> int:
        return CHANCE if state.rolling else state.seat

    def legal_actions(self, state: PigState, actions: list[int]) -> int:
        if self._score(state, state.seat) + state.turn >= self.target:
            actions[0] = _HOLD
            return 1
        actions[0] = _ROLL
        actions[1] = _HOLD
        return 2

    def chance_outcomes(self, state: PigState, outcomes: list[int], probabilities: list[float]) -> int:
        for face in range(self.sides):
            outcomes[face] = face
            probabilities[face] = 1.0 / self.sides
        return self.sides

    def result(self, state: PigState, action: int) -> PigState:
        score = self._score(state, state.seat)
        following = (state.seat + 1) % self.players
        if state.rolling and action == 0:
            return PigState(state.scores, 0, following, 0)
        if state.rolling:
            turn = state.turn + (1 if self.sides == 2 else action + 1)
            return PigState(state.scores, min(turn, self.target - score), state.seat, 0)
        if action == _ROLL:
            return PigState(state.scores, state.turn, state.seat, 1)
        return PigState(state.scores + (state.turn << self._bits() * state.seat), 0, following, 0)

    def is_terminal(self, state: PigState) -> bool:
        last = (state.seat + self.players - 1) % self.players
        return self._score(state, last) >= self.target

    def utility(self, state: PigState, seat: int) -> int:
        return self.players - 1 if (seat + 1) % self.players == state.seat else -1

    def evaluation(self, state: PigState, seat: int) -> int:
        """The seat's lead over each opponent, as a fraction of the target; the turn's points count."""
        mine = self._points(state, seat)
        ahead = 0
        for other in range(self.players):
            ahead += mine - self._points(state, other)
        return 1000 * ahead // self.target if ahead > 0 else -(-1000 * ahead // self.target)

    def text(self, state: PigState) -> str:
        lines = [
            f"{'>' if seat == state.seat else ' '} player {seat}: {self._score(state, seat)}"
            + (f" + {state.turn}" if seat == state.seat else "")
            for seat in range(self.players)
        ]
        return "\n".join(lines) + ("\n  rolling" if state.rolling else "")

    def observation_shape(self) -> tuple[int]:
        """Shape (players + 2,): the observer's score, the others' in turn, the turn's points, who is to move."""
        return (self.players + 2,)

    def observation_dtype(self) -> str:
        return "int64"

    def write_observation(self, state: PigState, seat: int, numbers: Any) -> None:
        for turn in range(self.players):
            numbers[turn] = self._score(state, (seat + turn) % self.players)
        numbers[self.players] = state.turn
        numbers[self.players + 1] = (state.seat - seat) % self.players

    def observation_bounds(self) -> tuple[int, int]:
        return 0, max(self.target, self.players - 1)

    def action_text(self, state: PigState, action: int) -> str:
        if not state.rolling:
            return "hold" if action == _HOLD else "roll"
        return f"{1 if self.sides == 2 else action + 1} points" if action else "a one"

    def _bits(self) -> int:
        """Bits for a score, 0 to ``target``."""
        bits = 0
        while self.target >> bits:
            bits += 1
        return bits

    def _score(self, state: PigState, seat: int) -> int:
        bits = self._bits()
        return state.scores >> bits * seat & (1 << bits) - 1

    def _points(self, state: PigState, seat: int) -> int:
        """A score, with the turn's points for the player whose turn it is."""
        return self._score(state, seat) + (state.turn if seat == state.seat else 0)


@openspiel_rules("pig")
def _openspiel(diceoutcomes: int, horizon: int, piglet: bool, players: int, winscore: int) -> Pig | None:
    """A draw after ``horizon`` actions, unless somebody wins before.

    Its Piglet throws no coin but a die with one side that scores nothing, unless that die has two sides. For more
    than two players its utilities are parts of ours.
    """
    if players != 2 or piglet != (diceoutcomes == 2):
        return None
    return Pig(winscore, diceoutcomes)
