"""Scores from rewards: wins, draws, losses and scores by seat.

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
    """The quantity that standings rank by."""

    AUTO = "auto"
    """What the games paid decides. ``WINS`` where every win paid the same, every draw and every loss; else
    ``TEAM`` where all seats always earned alike, and ``REWARDS`` where not."""
    WINS = "wins"
    """The mean score of 1 for a win, 1/2 for a draw and 0."""
    REWARDS = "rewards"
    """The mean of what an agent earned in a game: chips, points, or whatever the environment pays."""
    TEAM = "team"
    """The game is cooperative: a team has one score, and every agent plays with itself and with the others."""


class SeatOutcome(enum.StrEnum):
    """How a game with two or more seats ended for one of them."""

    WIN = "win"
    DRAW = "draw"
    LOSS = "loss"


def ranks_of(rewards: Sequence[float], offender: int | None = None) -> tuple[int, ...]:
    """The rank of each seat: 0 for the most reward, equal ranks for equal rewards.

    Args:
        rewards: The summed rewards of each seat.
        offender: The seat whose failure ended the game, if one did: it is last, the others share the first rank.
    """
    if offender is not None:
        return tuple(int(seat == offender) for seat in range(len(rewards)))
    ranks = {reward: rank for rank, reward in enumerate(sorted(set(rewards), reverse=True))}
    return tuple(ranks[reward] for reward in rewards)


def half_points(ranks: Sequence[int]) -> list[int]:
    """For each seat, 2 for every other seat that it is ahead of and 1 for every other one that shares its rank."""
    return [sum(1 + (rank < other) - (rank > other) for other in ranks) - 1 for rank in ranks]


def outcomes_of(ranks: Sequence[int]) -> tuple[SeatOutcome, ...]:
    """Win, draw or loss for each seat; empty for a single seat."""
    if len(ranks) < 2:
        return ()
    top = SeatOutcome.WIN if ranks.count(0) == 1 else SeatOutcome.DRAW
    return tuple(top if rank == 0 else SeatOutcome.LOSS for rank in ranks)
