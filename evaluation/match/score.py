"""What a game's rewards are worth: wins, draws, losses and scores by seat.

Two or more seats are compared, not added up: only the order of the final rewards counts, so a tournament
means the same on a game of +1/-1 as on one of 121 points. A seat's score is the mean over the other seats of
1 (more reward than that seat), 1/2 (the same) or 0 (less). With two seats that is the usual win, draw and loss.

- WIN: no other seat has as much. DRAW: shares the greatest reward. LOSS: some seat has more.
- A seat that failed (crashed, played an illegal action, ...) loses to every other seat, and the others draw
  with each other, because their game was never finished; whatever rewards had been paid are ignored.
- A single player has nobody to be compared with: its score is its return, the sum of its rewards, and it
  has no outcome.

Where a game pays amounts (chips, points), its tables rank by what was earned instead: see ``Scoring``.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence


class Scoring(enum.StrEnum):
    """What a table of standings ranks by."""

    AUTO = "auto"
    """What the games paid decides. ``WINS`` where every win paid the same, every draw and every loss; else
    ``TEAM`` where all seats always earned alike, and ``REWARDS`` where not."""
    WINS = "wins"
    """The mean score of 1 for a win, 1/2 for a draw and 0."""
    REWARDS = "rewards"
    """The mean of what an agent earned in a game: chips, points, or whatever the environment pays."""
    TEAM = "team"
    """The game is cooperative: a team has one score, and every agent plays with itself and with the others."""


class Outcome(enum.StrEnum):
    """How a game with two or more seats ended for one of them."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"


def scores_by_seat(rewards: Sequence[float], offender: int | None = None) -> tuple[float, ...]:
    """Scores in [0, 1], one per seat, with mean 1/2; for a single seat, its reward.

    Args:
        rewards: The summed rewards of each seat.
        offender: The seat whose failure ended the game, if one did.
    """
    if len(rewards) == 1:
        return (float(rewards[0]),)
    worth = _comparable(rewards, offender)
    others = len(worth) - 1
    return tuple(
        (sum(mine > theirs for theirs in worth) + (sum(mine == theirs for theirs in worth) - 1) / 2) / others
        for mine in worth
    )


def outcomes_by_seat(rewards: Sequence[float], offender: int | None = None) -> tuple[Outcome, ...]:
    """Win, draw or loss for each seat; empty for a single seat."""
    if len(rewards) == 1:
        return ()
    worth = _comparable(rewards, offender)
    best = max(worth)
    top = Outcome.WIN if sum(value == best for value in worth) == 1 else Outcome.DRAW
    return tuple(top if value == best else Outcome.LOSS for value in worth)


def _comparable(rewards: Sequence[float], offender: int | None) -> Sequence[float]:
    if offender is None:
        return rewards
    return [0.0 if seat == offender else 1.0 for seat in range(len(rewards))]
