"""Pig with any target, dice and number of players; with a coin, Piglet.

Rules: J. Scarne, "Scarne on Dice", 1945, as given by T. W. Neller and C. G. M. Presser, "Optimal Play of the Dice
Game Pig", The UMAP Journal 25(1), 2004. The player whose turn it is rolls or holds, as often as it likes. A roll
adds to the turn's points, unless a one shows: then the turn is over and its points are lost. A player who holds
adds the turn's points to its score, and the turn passes. The first to hold with at least ``target`` points has
won; a player who could do so does not roll again.

- Several dice are rolled together and add up; a one on any of them ends the turn. With ``snake_eyes``, ones on all
  of them cost the player's whole score too (Two-Dice Pig).
- Two sides make a coin: tails are a one, heads count one point each, as in Neller and Presser's Piglet.

The winner gets 1 from every other player.

Actions: 0 rolls, 1 holds. Chance outcomes: 0, a one showed; ``n``, the dice gave the ``n``-th smallest number of
points that they can give (so with one die, 1 stands for two points); the highest one, with ``snake_eyes``, ones on
all dice.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from zermelo.envs.game import CHANCE
from zermelo.envs.rules.board_methods import require_limits

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


class Pig(NamedTuple):
    """Roll for points or hold them; a one loses the turn's points. The first to the target wins.

    Attributes:
        target: The score that wins, at least 1; every player's takes its bits, of 62.
        dice: How many dice are rolled at once, at least 1.
        sides: Sides of a die, at least 2; a coin has two, and heads count one point.
        players: Number of players, at least 2.
        snake_eyes: Whether ones on all dice, of which there are then at least two, cost the whole score.
    """

    target: int = 100
    dice: int = 1
    sides: int = 6
    players: int = 2
    snake_eyes: bool = False

    def check(self) -> None:
        require_limits(
            self,
            ("players * bits of the target", self.players * self.target.bit_length(), 62),
            ("sides ** dice", self.sides ** min(max(self.dice, 0), 52), 1 << 52),
            ("snake_eyes without two dice", self.snake_eyes and self.dice < 2, False),
            target=(1, math.inf),
            dice=(1, 52),
            sides=(2, 1000),
            players=(2, 62),
            snake_eyes=bool,
        )

    def seats(self) -> int:
        return self.players

    def num_actions(self) -> int:
        return 2

    def num_outcomes(self) -> int:
        return self._sums() + 1 + self.snake_eyes

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
        """Writes a one, each sum of points, and ones on all dice.

        The ways to throw each sum are counted one die at a time, in the buffer of the probabilities; they are
        whole numbers below 2 ** 53, so nothing is rounded before the last division.
        """
        sums = self._sums()
        scoring = max(self.sides - 1, 1)  # sides of a die that score
        rolls = scored = 1
        probabilities[1] = 1.0
        for number in range(1, sums):
            probabilities[1 + number] = 0.0
        for _ in range(self.dice):
            rolls *= self.sides
            scored *= scoring
            for number in range(sums - 1, -1, -1):
                ways = 0.0
                for side in range(min(scoring, number + 1)):
                    ways += probabilities[1 + number - side]
                probabilities[1 + number] = ways
        for number in range(sums):
            outcomes[1 + number] = 1 + number
            probabilities[1 + number] /= rolls
        outcomes[0] = 0
        probabilities[0] = (rolls - scored - self.snake_eyes) / rolls
        if self.snake_eyes:
            outcomes[1 + sums] = 1 + sums
            probabilities[1 + sums] = 1.0 / rolls
        return 1 + sums + self.snake_eyes

    def result(self, state: PigState, action: int) -> PigState:
        score = self._score(state, state.seat)
        if state.rolling:
            if 0 < action <= self._sums():
                least = self.dice if self.sides == 2 else 2 * self.dice
                turn = state.turn + least + action - 1
                return PigState(state.scores, min(turn, self.target - score), state.seat, 0)
            following = (state.seat + 1) % self.players
            lost = score if action else 0
            return PigState(state.scores - (lost << self._bits() * state.seat), 0, following, 0)
        if action == _ROLL:
            return PigState(state.scores, state.turn, state.seat, 1)
        scores = state.scores + (state.turn << self._bits() * state.seat)
        return PigState(scores, 0, (state.seat + 1) % self.players, 0)

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
        lines = [f"  player {seat}: {self._score(state, seat)}" for seat in range(self.players)]
        lines[state.seat] = f">{lines[state.seat][1:]} + {state.turn}"
        return "\n".join(lines) + ("\n  rolling" if state.rolling else "")

    def observation_box(self) -> tuple[tuple[int], tuple[int, int], str]:
        return (self.players + 2,), (0, max(self.target, self.players - 1)), "int64"

    def write_observation(self, state: PigState, seat: int, numbers: Any) -> None:
        """Shape (players + 2,): the observer's score, the others' in turn, the turn's points, who is to move."""
        for turn in range(self.players):
            numbers[turn] = self._score(state, (seat + turn) % self.players)
        numbers[self.players] = state.turn
        numbers[self.players + 1] = (state.seat - seat) % self.players

    def action_text(self, state: PigState, action: int) -> str:
        if not state.rolling:
            return "hold" if action == _HOLD else "roll"
        if 0 < action <= self._sums():
            return f"{(1 if self.sides == 2 else 2) * self.dice + action - 1} points"
        return "ones" if action else "a one"

    def _sums(self) -> int:
        """The number of sums the dice can show without a one."""
        return self.dice * (self.sides - 2) + 1

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


def from_openspiel(diceoutcomes: int, horizon: int, piglet: bool, players: int, winscore: int) -> Pig | None:
    """For two players, whose Piglet throws a die of two sides; drawn after ``horizon`` actions."""
    if players != 2 or piglet != (diceoutcomes == 2):
        return None
    return Pig(winscore, 1, diceoutcomes)
