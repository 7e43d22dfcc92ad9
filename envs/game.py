"""The game that a search sees: states, players, actions, results, chance and utilities.

The elements and their names are those of the textbook definition of a game (Russell and Norvig,
*Artificial Intelligence: A Modern Approach*, 4th ed., section 5.1): initial state, player to move,
actions, result, terminal test, utility; chance is one more player.

Point of view: a utility always comes as one number per seat, in the order of
``Game.traits.seat_names``. Nothing here is relative to the player to move.
"""

from __future__ import annotations

import enum
import functools
import math
import numbers
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.spec_text import unknown_choice

CHANCE: Final = -1
"""The value of ``Game.to_move`` where dice, cards or nature decide."""

State = TypeVar("State")


class RewardSum(enum.StrEnum):
    """The sum of the seats' final utilities."""

    ZERO = "zero_sum"
    CONSTANT = "constant_sum"
    GENERAL = "general_sum"


class Chance(enum.StrEnum):
    """Whether the game has chance, and how much of it can be known."""

    NONE = "deterministic"
    EXACT = "exact"
    """``chance_outcomes`` lists every outcome with its probability."""
    SAMPLED = "sampled"
    """Only a simulator is there: ``result`` draws one outcome, ``sample_result`` draws with a given generator."""


class Information(enum.StrEnum):
    """Whether every player knows the whole state when it moves."""

    PERFECT = "perfect"
    HIDDEN = "hidden"
    """Hidden cards, or moves made at the same time."""


class TraitSource(enum.StrEnum):
    """The source of a trait, in falling order of trust.

    The first three are told, and proofs may rest on them. What was seen is certain: it happened. What was only not
    seen is an assumption, which proves nothing, and which searches watch.
    """

    GIVEN = "given by the caller"
    DECLARED = "declared by the environment"
    KNOWN = "known to zermelo"
    SEEN = "seen in play"
    ASSUMED = "assumed, as play showed nothing else"


class Evidence(NamedTuple):
    """The evidence for a trait that was seen or is assumed.

    Attributes:
        text: Such as "no chance in 812 steps of 9 games".
        is_thin: Whether users should be warned: no payoff, no end, or few steps.
        is_late: Whether it was seen only after searches had assumed something else.
    """

    text: str
    is_thin: bool = False
    is_late: bool = False


@checked_call
@dataclass(frozen=True, kw_only=True)
class Traits:
    """The traits of a game: what a search needs to know before it starts.

    Attributes:
        name: What messages call the game, such as ``connect_four_v3``.
        seat_names: The players, in seat order; ``seats`` is their number.
        reward_sum: What the seats' final utilities add up to.
        constant: That sum, where it is constant (0.0 for zero sum).
        chance: Whether there is chance, and whether its probabilities are known.
        information: Whether the players see the whole state.
        simultaneous: Whether players decide at the same time. Where they are asked in turn all the same,
            information is hidden; ``perfect`` then says that nothing else is.
        utility_bounds: Lower and upper bound of the utility that any seat can still get from any position on
            (rewards already received left out), or infinities where that is not known.
        terminal_rewards_only: All rewards come at the end, so ``utility`` of an unfinished game is zero.
        one_side: Whether one player makes all moves of a Gymnasium environment that says itself whose move it is.
        num_actions: How many different actions the game has, or None where that is not known.
        deals_again: Whether a search can deal again what a player has not seen.
        drawn_again: Where the lists are whose order nobody sees, such as a deck: searches draw it again before
            every move, as chance, and see no more than players do.
        sources: For each field that was decided, where the decision came from; a field without one is declared.
        evidence: For each field that was seen or is assumed, what that rests on.
    """

    name: str
    seat_names: tuple[str, ...]
    reward_sum: RewardSum = RewardSum.GENERAL
    constant: float = 0.0
    chance: Chance = Chance.NONE
    information: Information = Information.PERFECT
    simultaneous: bool = False
    utility_bounds: tuple[float, float] = (-math.inf, math.inf)
    terminal_rewards_only: bool = False
    one_side: bool = False
    num_actions: int | None = None
    deals_again: bool = True
    drawn_again: tuple[tuple[Any, ...], ...] = ()
    sources: Mapping[str, TraitSource] = field(default_factory=dict)
    evidence: Mapping[str, Evidence] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "seat_names", tuple(str(name) for name in self.seat_names))
        object.__setattr__(self, "drawn_again", tuple(map(tuple, self.drawn_again)))
        for name, kind in (("reward_sum", RewardSum), ("chance", Chance), ("information", Information)):
            value = getattr(self, name)
            if not isinstance(value, str) or value not in list(kind):
                raise unknown_choice(name, value, kind)
            object.__setattr__(self, name, kind(value))
        for name in ("simultaneous", "terminal_rewards_only", "one_side"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidSettingError(f"{name} must be True or False, not {getattr(self, name)!r}")
        if isinstance(self.constant, bool) or not isinstance(self.constant, numbers.Real):
            raise InvalidSettingError(f"constant must be a number, not {self.constant!r}")
        if self.num_actions is not None and not isinstance(self.num_actions, numbers.Integral):
            raise InvalidSettingError(f"num_actions must be a whole number or None, not {self.num_actions!r}")
        bounds = self.utility_bounds
        is_pair = isinstance(bounds, Sequence) and len(bounds) == 2
        if not (is_pair and all(isinstance(end, numbers.Real) for end in bounds) and bounds[0] <= bounds[1]):
            raise InvalidSettingError(f"utility_bounds must be (lower, upper), not {bounds!r}")

    @functools.cached_property
    def seats(self) -> int:
        """The number of players."""
        return len(self.seat_names)

    @functools.cached_property
    def is_opposed(self) -> bool:
        """Whether there are two players, and what one wins the other loses."""
        return self.seats == 2 and self.reward_sum is not RewardSum.GENERAL

    @property
    def middle(self) -> float:
        """The utility half way between the bounds; 0.0 where they are infinite."""
        lower, upper = self.utility_bounds
        return (lower + upper) / 2 if math.isfinite(upper - lower) else 0.0

    def values_by_seat(self, seat: int, value: float) -> tuple[float, ...]:
        """All seats' values where one has this one; not a number for those that it does not determine."""
        values = [self.constant - value if self.is_opposed else math.nan] * self.seats
        if seat >= 0:
            values[seat] = value
        return tuple(values)

    def source(self, name: str) -> TraitSource:
        """The source of the field ``name``."""
        return self.sources.get(name, TraitSource.DECLARED)

    @functools.cached_property
    def assumed(self) -> tuple[str, ...]:
        """The fields that searches rest on although nobody told them: play has only not shown the contrary."""
        names = []
        if self.information is Information.PERFECT:
            names.append("information")
        if self.chance is Chance.NONE:
            names.append("chance")
        if self.seats > 1 and self.reward_sum is not RewardSum.GENERAL:
            names.append("reward_sum")
        return tuple(name for name in names if self.source(name) is TraitSource.ASSUMED)

    @functools.cached_property
    def guessed(self) -> tuple[str, ...]:
        """The fields that a proof would rest on, and that are assumed or seen not to hold."""
        return ("information", *self.assumed) if self.peeks else self.assumed

    @functools.cached_property
    def is_watched(self) -> bool:
        """Whether something is assumed, or was seen in play: what nobody has told."""
        return bool(self.assumed) or TraitSource.SEEN in self.sources.values()

    @functools.cached_property
    def peeks(self) -> bool:
        """Whether searches see what players do not: play has shown that something is hidden, but not what."""
        is_seen = self.source("information") is TraitSource.SEEN
        return self.information is Information.HIDDEN and is_seen and not self.deals_again

    @functools.cached_property
    def is_open(self) -> bool:
        """Whether searches look at whole states: nothing is hidden, or its order is drawn again, or they peek."""
        return self.information is Information.PERFECT or bool(self.drawn_again) or self.peeks


class Game(Protocol[State]):
    """A game over states of some type; states are values and are never changed.

    Actions are integers: of an environment with a ``Discrete`` action space its own, unless the game is searched
    by rules that number them differently. ``to_env_action`` turns one into what ``env.step`` takes.
    """

    @property
    def traits(self) -> Traits:
        """What a search needs to know before it starts."""

    def initial_state(self) -> State:
        """The state the game starts in (for an adapted environment, after ``reset`` of a copy)."""

    def to_move(self, state: State) -> int:
        """The seat that decides, 0 to ``seats`` - 1, or ``CHANCE``. Meaningless at a terminal state."""

    def legal_actions(self, state: State) -> Sequence[int]:
        """The legal actions of the seat to move, in ascending order; empty only at a terminal state."""

    def chance_outcomes(self, state: State) -> Sequence[tuple[int, float]]:
        """At a chance state, each outcome and its probability; they sum to one."""

    def result(self, state: State, action: int) -> State:
        """The state after an action, or after a chance outcome at a chance state. Never changes ``state``."""

    def is_terminal(self, state: State) -> bool:
        """Whether the game has ended (terminated or truncated)."""

    def utility(self, state: State) -> tuple[float, ...]:
        """One number per seat: the rewards received so far; at a terminal state, the outcome."""

    def key(self, state: State) -> Hashable:
        """Equal keys mean the same future: same moves, same ends, same rewards still to come.

        Rewards already received may be left out, so a table keeps values to come, not totals.
        """

    def to_env_action(self, state: State, action: int) -> Any:
        """The action as ``env.step`` takes it (the action itself, unless the space is not Discrete)."""
