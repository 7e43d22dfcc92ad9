"""Optional abilities of games, one protocol each, which ``offers`` finds; and views, which pass them on.

Point of view: as in ``zermelo.envs.game``, values come as one number per seat, in the order of
``Game.traits.seat_names``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeGuard, TypeVar, runtime_checkable

from zermelo.envs.game import Game

if TYPE_CHECKING:
    import numpy as np

Ability = TypeVar("Ability")


@functools.cache
def members_of(ability: Callable[..., Any]) -> tuple[str, ...]:
    """The names of what a game of an ability has."""
    return tuple(name for name in vars(ability) if not name.startswith("_"))


def offers(game: Any, ability: Callable[..., Ability]) -> TypeGuard[Ability]:
    """Returns whether a game has an ability, one of the protocols below.

    As ``isinstance``, which is slow with protocols, and which since Python 3.12 does not ask ``__getattr__``.
    """
    return all(getattr(game, name, None) is not None for name in members_of(ability))


# -- values and searches


@runtime_checkable
class SupportsEvaluation(Protocol):
    """A static evaluation of an unfinished state, one number per seat, in units of utility."""

    def evaluation(self, state: Any) -> Sequence[float]: ...


@runtime_checkable
class SupportsOrdering(Protocol):
    """A move score: greater is searched earlier; from 2 ** 26 on before killers."""

    def ordering_hint(self, state: Any, action: int) -> float: ...


@runtime_checkable
class SupportsQuiescence(Protocol):
    """Noisy actions, which quiescence search follows beyond the depth limit."""

    def is_noisy(self, state: Any, action: int) -> bool: ...


@runtime_checkable
class SupportsNullMove(Protocol):
    """The state as if the player to move had skipped its turn, so that the next one is to move.

    It is no move of the game, and is asked only where a player, not chance, is to move: by null moves and by
    opponents in best-reply search.
    """

    def pass_turn(self, state: Any) -> Any: ...


@runtime_checkable
class SupportsSearchSettings(Protocol):
    """The settings of a search, such as ``"mcts"``, that are better in this game than its defaults.

    Of ``"selective"`` they are those of selective alpha-beta; nothing where none pay. ``"playout_moves"`` of
    ``"mcts"`` counts in every Monte Carlo search that is given no other number.
    """

    def search_settings(self, search: str) -> Mapping[str, Any]: ...


# -- Monte Carlo


@runtime_checkable
class SupportsPlayouts(Protocol):
    """Whole games played on one copy of a state, without another for each move.

    ``playout_state`` is a copy that ``play_on`` may change. ``play_on`` is as ``result``, or with a generator as
    ``sample_result``, but uses up the state given, which comes from one of the two; the action must be legal.
    ``play_out`` plays at random to the end at once, by numbers of 64 bits that ``random`` returns: the last state,
    and who (the seat) took which action on the way, chance left out; None if it must be played move by move. The
    state is not changed.
    """

    def playout_state(self, state: Any) -> Any: ...
    def play_on(self, state: Any, action: int, generator: np.random.Generator | None = None) -> Any: ...
    def play_out(self, state: Any, random: Callable[[], int]) -> tuple[Any, Sequence[tuple[int, int]]] | None: ...


@runtime_checkable
class SupportsPlayoutActions(Protocol):
    """An action for playouts chosen by 64 random bits; -1 for any legal one, all as likely."""

    def playout_action(self, state: Any, random: int) -> int: ...


@runtime_checkable
class SupportsActionPriors(Protocol):
    """For each action how many simulations, won if positive, lost if negative, it is as good as."""

    def action_priors(self, state: Any, actions: Sequence[int]) -> Sequence[float]: ...


# -- what players know


@runtime_checkable
class SupportsObservations(Protocol):
    """The observation of a seat, as the environment shows it to its player, without the action mask."""

    def observation(self, state: Any, seat: int) -> Any: ...


@runtime_checkable
class SupportsInformationStates(Protocol):
    """The information state of each seat, and states that it cannot tell apart.

    ``information_state_key`` is all that the seat has seen, its own actions included. ``resample`` draws a state
    from all those that the seat cannot tell from this one, as chance would have dealt them, whatever the other
    players' actions suggest. It depends on the generator and on what the seat has seen: sort what is dealt again.
    """

    def information_state_key(self, state: Any, seat: int) -> Hashable: ...
    def resample(self, state: Any, seat: int, generator: np.random.Generator) -> Any: ...


@runtime_checkable
class SupportsPast(Protocol):
    """The actions, chance outcomes among them, that lead from the initial state to this one."""

    def moves_so_far(self, state: Any) -> Sequence[int]: ...


@runtime_checkable
class SupportsSimultaneousMoves(Protocol):
    """Seats that decide at the same time, as they do where ``Traits.simultaneous`` is true."""

    def movers(self, state: Any) -> Sequence[int]:
        """The seats that decide now, together; none at a chance event or at the end.

        Where they are asked in turn, those that have been asked already are among them: nobody has seen it.
        """

    def actions_of(self, state: Any, seat: int) -> Sequence[int]:
        """The legal actions of one of these seats, in ascending order."""

    def joint_result(
        self, state: Any, actions: Mapping[int, int], generator: np.random.Generator | None = None
    ) -> Any:
        """The state after an action of each of these seats, by seat; what some have chosen so far does not count.

        Where chance is sampled, it is drawn with the generator; without one, from the game's own stream.
        """

    def hides_more(self) -> bool | None:
        """Whether anything besides the moves of the moment is hidden; None where nothing says it."""


# -- how people see it


@runtime_checkable
class SupportsText(Protocol):
    """A state as people draw it."""

    def text(self, state: Any) -> str: ...


@runtime_checkable
class SupportsPicture(Protocol):
    """An RGB picture of a state, an array of shape (height, width, 3) and type uint8."""

    def image(self, state: Any) -> Any: ...


@runtime_checkable
class SupportsActionText(Protocol):
    """A legal action in the game's usual notation, and the other ways to write it."""

    def action_text(self, state: Any, action: int) -> str: ...
    def action_aliases(self, state: Any, action: int) -> Sequence[str]: ...


# -- what is played by copies of an environment


@runtime_checkable
class SupportsCopies(Protocol):
    """A game played by copies of an environment, which may fail in a branch of the tree: searches leave it out."""

    @property
    def failures(self) -> int:
        """How many branches were left out so far; nothing is proven unless it is 0."""

    def record_failure(self, error: Exception) -> None:
        """Counts a branch that is left out."""

    def tell_once(self, text: str, kind: type[Warning], about: str = "") -> None:
        """Warns, once for environments of its class."""

    def state_bytes(self, state: Any) -> int:
        """The memory that a state takes, in bytes."""

    def watched(self, state: Any) -> Any:
        """A state as the root of a search, whose steps are watched where something is assumed."""


class CopyFacts(NamedTuple):
    """What a game says of how it is played; the defaults count for games that say nothing.

    Attributes:
        copying: Seconds that a copy of a state takes.
        keys_are_slow: Whether a key takes longer than several moves, so that searches do without.
        knows_what_was_paid: Whether utilities begin with what was received before a live environment was met.
        failures: How many branches were left out because the environment failed in them.
    """

    copying: float = 0.0
    keys_are_slow: bool = False
    knows_what_was_paid: bool = True
    failures: int = 0


def copy_facts(game: Any) -> CopyFacts:
    """What a game says of how it is played."""
    return CopyFacts._make(getattr(game, name, default) for name, default in CopyFacts._field_defaults.items())


# -- views


class GameView:
    """A game in another form: it answers what the game ``inside`` answers, and subclasses say what differs.

    Attributes:
        passes: Abilities that are those of the game inside, where it has them.
    """

    passes: ClassVar[tuple[type, ...]] = ()

    def __init__(self, inside: Game[Any]) -> None:
        self.inside = inside
        self.traits = inside.traits
        for ability in self.passes:
            if offers(inside, ability):
                vars(self).update({name: getattr(inside, name) for name in members_of(ability)})

    def root(self, state: Any) -> Any:
        """A state of the game inside as one of this form."""
        return state

    def inner(self, state: Any) -> Any:
        """A state of this form as one of the game inside."""
        return state

    def initial_state(self) -> Any:
        return self.root(self.inside.initial_state())

    def to_move(self, state: Any) -> int:
        return self.inside.to_move(self.inner(state))

    def legal_actions(self, state: Any) -> Sequence[int]:
        return self.inside.legal_actions(self.inner(state))

    def chance_outcomes(self, state: Any) -> Sequence[tuple[int, float]]:
        return self.inside.chance_outcomes(self.inner(state))

    def result(self, state: Any, action: int) -> Any:
        raise NotImplementedError

    def is_terminal(self, state: Any) -> bool:
        return self.inside.is_terminal(self.inner(state))

    def utility(self, state: Any) -> tuple[float, ...]:
        return self.inside.utility(self.inner(state))

    def key(self, state: Any) -> Hashable:
        return self.inside.key(self.inner(state))

    def to_env_action(self, state: Any, action: int) -> Any:
        return self.inside.to_env_action(self.inner(state), action)


def playout_game(game: Any) -> Any:
    """The game of the same states by which random playouts go: what a view names in ``playouts_by``, or itself."""
    return getattr(game, "playouts_by", game)


def innermost_game(game: Any) -> Any:
    """The game that views show; a game that is no view as it is."""
    while isinstance(game, GameView):
        game = game.inside
    return game


def rules_of(game: Any) -> Any | None:
    """The rules that a game is played by, or None."""
    return getattr(game, "rules", None)
