"""Scores: pairs (value, mate distance) of one seat, ordered as tuples are; its opponents want the smaller.

The distance makes a player win as soon, and lose as late, as possible without touching the value. It is 0 at the
end of the game; one ply further from it, that of a win is one less and that of a loss one more. It is counted from
the node itself, so a score found on one path is right on every other. A window handed down to a child is shifted
the other way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from zermelo.agents.base.settings import ChanceAtLimit
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.game import Chance, Game, RewardSum, Traits

Score: TypeAlias = tuple[float, float]
"""(value, mate distance), both for the seat that maximizes."""

INFINITE_WINDOW: tuple[Score, Score] = ((-math.inf, 0), (math.inf, 0))
"""Alpha and beta of a search that prunes nothing."""

FITTED_UNIT: Final = 1 << 16
"""Fitted evaluations are whole in so many parts of a point: in 1024ths, sure wins would look the same."""

SLACK = 1e-9
"""How far outside the window an average must lie to be cut off, as sums are rounded (times the greatest value)."""

_TOLERANCE = 1e-9
_KNOWN, _SLOPE, _LARGEST_SIZE = 1.0, 0.5, 1 - 1 / 1024
_MOST_FRAMES: Final = 1024
"""Rewards so far whose frames are stored; then it begins anew."""


def count_values(traits: Traits) -> int:
    """Seats with a value of their own: one for one player, or for two whose utilities have a constant sum."""
    return 1 if traits.seats == 1 or traits.is_opposed else traits.seats


def finite(traits: Traits, utility: Sequence[float]) -> Sequence[float]:
    """The same utilities, unless one of them is infinite or no number: those are refused."""
    if not math.isfinite(sum(utility)):
        raise UnsupportedGameError(
            f"utilities of {traits.name} must be finite numbers, as searches add them, not {tuple(utility)}: pay "
            "a number that is large enough instead"
        )
    return utility


def has_sum(traits: Traits) -> bool:
    """True if the utilities of several seats add up to a constant."""
    return traits.seats > 1 and traits.reward_sum is not RewardSum.GENERAL


def has_room(traits: Traits) -> bool:
    """True if evaluations lie strictly inside the bounds: of two opposed players who are paid at the end."""
    return traits.is_opposed and traits.terminal_rewards_only


def share_to_come(traits: Traits, paid: Sequence[float]) -> float:
    """A seat's share of what is left of a constant sum; nothing where the sum is not constant."""
    return (traits.constant - sum(paid)) / traits.seats if has_sum(traits) else 0.0


def bounds_to_come(traits: Traits, paid: Sequence[float]) -> tuple[float, float]:
    """The bounds of the utility to come of every seat: what is left of a constant sum goes to somebody."""
    lower, upper = traits.utility_bounds
    if not has_sum(traits):
        return lower, upper
    to_come, others = traits.constant - sum(paid), traits.seats - 1
    return max(lower, to_come - others * upper), min(upper, to_come - others * lower)


def expected_reward(traits: Traits, paid: Sequence[float] = ()) -> float:
    """The utility to come of every seat where nothing is known of a state: ``share_to_come``, in the bounds."""
    lower, upper = traits.utility_bounds
    return min(max(share_to_come(traits, paid), lower), upper)


def undecided_reward(traits: Traits, paid: Sequence[float] = ()) -> float:
    """The utility to come of every seat where play was cut off.

    It is ``expected_reward``; the middle between the bounds if all is paid at the end, and not a constant sum.
    """
    is_open = traits.terminal_rewards_only and not has_sum(traits)
    return traits.middle if is_open else expected_reward(traits, paid)


class Frame(NamedTuple):
    """How scores read at one state: what the maximizing seat has been paid, and what is neither win nor loss.

    ``lowest`` and ``highest`` are the bounds of the score of an unfinished state here.
    """

    so_far: float
    middle: float
    lowest: Score
    highest: Score
    prefer_short_wins: bool

    def to_parent(self, score: Score) -> Score:
        """A child's score, as it counts one ply earlier."""
        if not self.prefer_short_wins:
            return score
        value, distance = score
        if value > self.middle:
            return value, distance - 1
        if value < self.middle:
            return value, distance + 1
        return score

    def to_child(self, edge: Score) -> Score:
        """A window edge, as a child sees it: the inverse of ``to_parent``."""
        if not self.prefer_short_wins:
            return edge
        value, distance = edge
        if value > self.middle:
            return value, distance + 1
        if value < self.middle:
            return value, distance - 1
        return edge


class Scale:
    """The frames of one game as the maximizing ``seat`` sees it, with the game's bounds where they may be used."""

    def __init__(
        self, game: Game[Any], *, prefer_short_wins: bool = True, use_bounds: bool = True, seat: int = 0
    ) -> None:
        self._game = game
        self._traits = game.traits
        self._seat = seat
        self._prefer_short_wins = prefer_short_wins
        self._use_bounds = use_bounds
        self._fixed: Frame | None = None
        self._frames: dict[tuple[float, ...], Frame] = {}
        if game.traits.terminal_rewards_only:
            self._fixed = self._frame((0.0,) * game.traits.seats)

    def frame(self, state: Any) -> Frame:
        if self._fixed is not None:
            return self._fixed
        so_far = tuple(self._game.utility(state))
        frame = self._frames.get(so_far)
        if frame is None:
            if len(self._frames) >= _MOST_FRAMES:
                self._frames.clear()
            frame = self._frames[so_far] = self._frame(so_far)
        return frame

    def terminal(self, state: Any) -> Score:
        """The score of a finished state: its outcome for the seat."""
        utility = finite(self._traits, self._game.utility(state))
        if self._fixed is not None and self._use_bounds:
            lower, upper = self._traits.utility_bounds
            for seat, value in enumerate(utility):
                if not lower - _TOLERANCE <= value <= upper + _TOLERANCE:
                    raise UnsupportedGameError(
                        f"{self._traits.name} ended with utility {value} for {self._traits.seat_names[seat]}, "
                        f"outside its utility_bounds {lower} to {upper} "
                        f"({self._traits.source('utility_bounds')}): give the bounds that hold"
                    )
        return utility[self._seat], 0

    def bounds(self, so_far: tuple[float, ...]) -> tuple[float, float]:
        """The lower and upper bound on the final value for the seat, given the rewards so far."""
        if not self._use_bounds:
            return -math.inf, math.inf
        lower, upper = bounds_to_come(self._traits, so_far)
        return so_far[self._seat] + lower, so_far[self._seat] + upper

    def _frame(self, so_far: tuple[float, ...]) -> Frame:
        lowest, highest = self.bounds(so_far)
        middle = so_far[self._seat] + share_to_come(self._traits, so_far)
        # The first frame only serves to shift the bounds: whoever is not there yet is a ply away at least.
        plain = Frame(so_far[self._seat], middle, (lowest, 0), (highest, 0), self._prefer_short_wins)
        return plain._replace(lowest=plain.to_parent((lowest, 0)), highest=plain.to_parent((highest, 0)))


def known_win(value: float, lower: float, upper: float) -> float:
    """The value of a won state, near the end of the utility: its log odds grow as ``size / (1 - size)`` did."""
    middle, half = (lower + upper) / 2.0, (upper - lower) / 2.0
    size = min(abs(value - middle) / half, _LARGEST_SIZE)
    found = half * math.tanh(_KNOWN + _SLOPE * size / (1.0 - size))
    return middle + found if value > middle else middle - found


def evaluates_chance(setting: ChanceAtLimit, game: Any, evaluator: Any) -> bool:
    """True if chance states at the depth limit are evaluated as they are, with an evaluator or None.

    With ``"auto"`` they are if the game has a method ``evaluates_before_chance()`` that says so, for its own
    evaluation, or if another evaluator has an attribute ``before_chance`` that is true. Rewards and ends that come
    with an outcome are then not seen. Sampled chance is always averaged.
    """
    if evaluator is None or game.traits.chance is not Chance.EXACT:
        return False
    if setting is not ChanceAtLimit.AUTO:
        return setting is ChanceAtLimit.EVALUATE
    if getattr(evaluator, "spec", lambda: None)() == "game":
        asks = getattr(game, "evaluates_before_chance", None)
        return asks is not None and bool(asks())
    return bool(getattr(evaluator, "before_chance", False))
