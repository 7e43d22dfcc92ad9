"""The game that a search sees: states, players, actions, results, chance and utilities.

The elements and their names are those of the textbook definition of a game (Russell and Norvig,
*Artificial Intelligence: A Modern Approach*, 4th ed., section 5.1): initial state, player to move,
actions, result, terminal test, utility; chance is one more player.

Point of view: a utility always comes as one number per seat, in the order of
``Game.traits.seat_names``. Nothing here is relative to the player to move.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, runtime_checkable

from zermelo.envs.errors import InvalidSettingError

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "CHANCE",
    "Chance",
    "Game",
    "Information",
    "RewardSum",
    "SupportsActionAliases",
    "SupportsActionPriors",
    "SupportsActionText",
    "SupportsEnvActions",
    "SupportsEvaluation",
    "SupportsInformationStates",
    "SupportsNullMove",
    "SupportsObservations",
    "SupportsOrdering",
    "SupportsPast",
    "SupportsPicture",
    "SupportsPlayoutActions",
    "SupportsPlayoutLimit",
    "SupportsPlayouts",
    "SupportsQuiescence",
    "SupportsSampling",
    "SupportsSearchSettings",
    "SupportsSimultaneousMoves",
    "SupportsSnapshot",
    "SupportsText",
    "SupportsWholePlayouts",
    "TraitSource",
    "Traits",
]

CHANCE: Final = -1
"""What ``Game.to_move`` returns where dice, cards or nature decide."""

State = TypeVar("State")


class RewardSum(enum.StrEnum):
    """What the seats' final utilities add up to."""

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
    """Where a trait comes from, in falling order of trust."""

    GIVEN = "given by the caller"
    DECLARED = "declared by the environment"
    KNOWN = "known to zermelo"
    INFERRED = "inferred from random play"
    ASSUMED = "assumed, as random play did not show it"


@dataclass(frozen=True, kw_only=True)
class Traits:
    """What a search must know of a game before it starts.

    Attributes:
        name: What messages call the game, such as ``connect_four_v3``.
        seat_names: The players, in seat order; ``seats`` is their number.
        reward_sum: What the seats' final utilities add up to.
        constant: That sum, where it is constant (0.0 for zero sum).
        chance: Whether there is chance, and whether its probabilities are known.
        information: Whether the players see the whole state.
        simultaneous: Whether players decide at the same time. Where they are asked in turn all the same, each
            before it sees what the others chose, information is hidden; ``perfect`` then says that nothing else
            is.
        utility_bounds: The least and greatest utility that any seat can still get from any position on
            (rewards already received left out), or infinities where that is not known.
        terminal_rewards_only: All rewards come at the end, so ``utility`` of an unfinished game is zero.
        num_actions: How many different actions the game has, or None where that is not known.
        sources: For each field that was decided, where the decision came from; a field without one is declared.
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
    num_actions: int | None = None
    sources: Mapping[str, TraitSource] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "seat_names", tuple(str(name) for name in self.seat_names))
        for name, kind in (("reward_sum", RewardSum), ("chance", Chance), ("information", Information)):
            value = getattr(self, name)
            try:
                object.__setattr__(self, name, kind(value))
            except ValueError:
                allowed = ", ".join(repr(member.value) for member in kind)
                raise InvalidSettingError(f"{name} must be one of {allowed}, not {value!r}") from None
        low, high = self.utility_bounds
        if not low <= high:
            raise InvalidSettingError(f"utility_bounds must be (least, greatest), not {self.utility_bounds!r}")

    @property
    def seats(self) -> int:
        """The number of players."""
        return len(self.seat_names)

    def source(self, name: str) -> TraitSource:
        """Where the value of the field ``name`` comes from."""
        return self.sources.get(name, TraitSource.DECLARED)

    def guessed(self) -> tuple[str, ...]:
        """The fields that a proof would rest on, and that were only seen in random play or assumed."""
        names = ["information", "chance"]
        if self.seats > 1 and self.reward_sum is not RewardSum.GENERAL:
            names.append("reward_sum")
        return tuple(name for name in names if self.source(name) in (TraitSource.INFERRED, TraitSource.ASSUMED))


class Game(Protocol[State]):
    """A game over states of some type; states are values and are never changed.

    Actions are integers. For an environment with a ``Discrete`` action space they are the environment's own
    actions, unless the game is searched by rules that number them differently; ``to_env_action`` turns one into
    what ``env.step`` takes, for other enumerable spaces as well.
    """

    @property
    def traits(self) -> Traits:
        """What a search must know before it starts."""
        ...

    def initial_state(self) -> State:
        """The state the game starts in (for an adapted environment, after ``reset`` of a copy)."""
        ...

    def to_move(self, state: State) -> int:
        """The seat that decides, 0 to ``seats`` - 1, or ``CHANCE``. Meaningless at a terminal state."""
        ...

    def legal_actions(self, state: State) -> Sequence[int]:
        """The legal actions of the seat to move, in ascending order; empty only at a terminal state."""
        ...

    def chance_outcomes(self, state: State) -> Sequence[tuple[int, float]]:
        """At a chance state, each outcome and its probability; they sum to one."""
        ...

    def result(self, state: State, action: int) -> State:
        """The state after an action, or after a chance outcome at a chance state. Never changes ``state``."""
        ...

    def is_terminal(self, state: State) -> bool:
        """Whether the game has ended (terminated or truncated)."""
        ...

    def utility(self, state: State) -> tuple[float, ...]:
        """One number per seat: the rewards received so far; at a terminal state, the outcome."""
        ...

    def key(self, state: State) -> Hashable:
        """Equal keys mean the same future: same moves, same ends, same rewards still to come.

        Rewards already received may be left out, so a table keeps values to come, not totals.
        """
        ...

    def to_env_action(self, state: State, action: int) -> Any:
        """What ``env.step`` takes for this action (the action itself, unless the space is not Discrete)."""
        ...


# Abilities that a game may have besides: what can use one asks ``isinstance(game, SupportsOrdering)``.


@runtime_checkable
class SupportsSnapshot(Protocol):
    """The game of live environments."""

    def snapshot(self, env: Any) -> Any:
        """The position of a live environment, now. The environment is not changed."""
        ...


@runtime_checkable
class SupportsEnvActions(Protocol):
    """The game may number actions as its environment does not: ``to_env_action`` has a way back."""

    def from_env_action(self, state: Any, action: int) -> int:
        """The game's number of an action as ``env.step`` takes it."""
        ...


@runtime_checkable
class SupportsText(Protocol):
    """Positions can be shown to people."""

    def text(self, state: Any) -> str:
        """How people draw the state."""
        ...


@runtime_checkable
class SupportsPicture(Protocol):
    """Positions can be drawn."""

    def image(self, state: Any) -> Any:
        """An RGB picture of the state, an array of shape (height, width, 3) and type uint8."""
        ...


@runtime_checkable
class SupportsActionText(Protocol):
    """Actions can be written as people do."""

    def action_text(self, state: Any, action: int) -> str:
        """A legal action in the game's usual notation."""
        ...


@runtime_checkable
class SupportsActionAliases(Protocol):
    """There are several ways to write an action."""

    def action_aliases(self, state: Any, action: int) -> Sequence[str]:
        """The other ways to write a legal action."""
        ...


@runtime_checkable
class SupportsEvaluation(Protocol):
    """The game has a static evaluation of its own."""

    def evaluation(self, state: Any) -> Sequence[float]:
        """How good an unfinished state looks, one number per seat, in units of utility."""
        ...


@runtime_checkable
class SupportsOrdering(Protocol):
    """The game knows which actions to try first."""

    def ordering_hint(self, state: Any, action: int) -> float:
        """A move score: greater is searched earlier; from 2 ** 26 on before killers."""
        ...


@runtime_checkable
class SupportsQuiescence(Protocol):
    """The game tells noisy actions from quiet ones."""

    def is_noisy(self, state: Any, action: int) -> bool:
        """Whether quiescence search follows the action beyond the depth limit."""
        ...


@runtime_checkable
class SupportsExtension(Protocol):
    """The game knows states, such as checks in chess, that are settled only one move later."""

    def is_urgent(self, state: Any) -> bool:
        """Whether selective searches look one move further from there."""
        ...


@runtime_checkable
class SupportsNullMove(Protocol):
    """A turn can be skipped, by null moves and by opponents in best-reply search."""

    def pass_turn(self, state: Any) -> Any:
        """The state as if the player to move had skipped its turn, so that the next one is to move.

        It is no move of the game, and is asked only where a player, not chance, is to move.
        """
        ...


@runtime_checkable
class SupportsSampling(Protocol):
    """Chance can be drawn with a given generator."""

    def sample_result(self, state: Any, action: int, generator: np.random.Generator) -> Any:
        """As ``result``, with every random number drawn from ``generator``."""
        ...


@runtime_checkable
class SupportsSearchSettings(Protocol):
    """The game knows how it is best searched."""

    def search_settings(self, search: str) -> Mapping[str, Any]:
        """The settings of a search, such as ``"mcts"``, that are better here than its defaults."""
        ...


@runtime_checkable
class SupportsObservations(Protocol):
    """It is known what players see of a state."""

    def observation(self, state: Any, seat: int) -> Any:
        """What a seat observes, as the environment shows it to its player, without the action mask."""
        ...


@runtime_checkable
class SupportsPlayouts(Protocol):
    """Whole games can be played on one copy of a state, without another for each move."""

    def playout_state(self, state: Any) -> Any:
        """A copy of a state that ``play_on`` may change."""
        ...

    def play_on(self, state: Any, action: int, generator: np.random.Generator | None = None) -> Any:
        """As ``result``, or with a generator as ``sample_result``, but the state given is used up.

        It must come from ``playout_state`` or from this method, and the action must be legal: that need not be
        checked.
        """
        ...


@runtime_checkable
class SupportsWholePlayouts(Protocol):
    """A game at random is played to its end at once, faster than move by move."""

    def play_out(self, state: Any, seed: int) -> tuple[Any, Sequence[tuple[int, int]]] | None:
        """A game at random from a state on; seeds give the same one each time. The state is not changed.

        Returns:
            The state at its end, and who (the seat) took which action on the way, chance left out; None where it
            must be played move by move.
        """
        ...


@runtime_checkable
class SupportsPlayoutActions(Protocol):
    """The game knows better actions for playouts than any that is legal."""

    def playout_action(self, state: Any, random: int) -> int:
        """An action chosen by 64 random bits; -1 for any legal one, all as likely."""
        ...


@runtime_checkable
class SupportsPlayoutLimit(Protocol):
    """Playouts of the game may go on for ever, or for very long."""

    def playout_moves(self) -> int:
        """After so many moves a playout is cut off, where no other number is asked for."""
        ...


@runtime_checkable
class SupportsActionPriors(Protocol):
    """The game says which actions look good before any of them is tried."""

    def action_priors(self, state: Any, actions: Sequence[int]) -> Sequence[float]:
        """For each action how many simulations, won if positive, lost if negative, it is as good as."""
        ...


@runtime_checkable
class SupportsInformationStates(Protocol):
    """It is known what each seat has seen, and what it has not seen can be dealt again."""

    def information_state_key(self, state: Any, seat: int) -> Hashable:
        """All that the seat has seen, its own actions included: equal for states that it cannot tell apart."""
        ...

    def resample(self, state: Any, seat: int, generator: np.random.Generator) -> Any:
        """A state that the seat cannot tell from this one.

        It is drawn from all of them as chance would have dealt them, whatever the other players' actions suggest.
        What is drawn depends on the generator and on what the seat has seen: sort what is dealt again.
        """
        ...


@runtime_checkable
class SupportsPast(Protocol):
    """States know how they came about."""

    def moves_so_far(self, state: Any) -> Sequence[int]:
        """The actions, chance outcomes among them, that lead from the initial state to this one."""
        ...


@runtime_checkable
class SupportsSimultaneousMoves(Protocol):
    """Several seats may decide at the same time, as they do where ``Traits.simultaneous`` is true."""

    def movers(self, state: Any) -> Sequence[int]:
        """The seats that decide now, together; none at a chance event or at the end.

        Where they are asked in turn, those that have been asked already are among them: nobody has seen it.
        """
        ...

    def actions_of(self, state: Any, seat: int) -> Sequence[int]:
        """The legal actions of one of these seats, in ascending order."""
        ...

    def joint_result(
        self, state: Any, actions: Mapping[int, int], generator: np.random.Generator | None = None
    ) -> Any:
        """The state after an action of each of these seats, by seat; what some have chosen so far does not count.

        Where chance is sampled, it is drawn with the generator; without one, from the game's own stream.
        """
        ...

    def hides_more(self) -> bool | None:
        """Whether anything besides the moves of the moment is hidden; None where nothing says it."""
        ...
