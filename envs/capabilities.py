"""What a game may offer besides the methods of ``Game``: protocols that a search asks for with ``isinstance``.

Point of view: as in ``zermelo.envs.game``, values come as one number per seat, in the order of
``Game.traits.seat_names``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np


@runtime_checkable
class SupportsSnapshot(Protocol):
    """The game of live environments."""

    def snapshot(self, env: Any) -> Any:
        """The position of a live environment, now. The environment is not changed."""
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
