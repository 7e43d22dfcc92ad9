"""Wrong calls of the textbook's functions, answered by a sentence.

Only the call from outside is checked: where a function calls itself, nothing stands between.
"""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

import numpy as np

from zermelo.agents.base.settings import check_number, check_whole
from zermelo.envs.adapters.as_game import is_game
from zermelo.envs.capabilities import offers
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError, ZermeloError
from zermelo.envs.game import Chance, Traits
from zermelo.envs.live.wrappers import is_aec, is_gymnasium
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.spec_text import unknown_choice

Search = TypeVar("Search", bound=Callable[..., Any])

TIE_RULES: Final = ("first", "paranoid", "friendly", "spiteful", "generous")
_running = threading.local()


def textbook_call(
    *, needs: Any = None, bounds: bool = False, chance: bool = True, two_players: bool = False
) -> Callable[[Search], Search]:
    """A decorator of a function of a ``Game``, whose arguments are checked by their names.

    Args:
        needs: An ability of games that it uses, one of the ``Supports...`` protocols.
        bounds: Whether it needs finite utility bounds.
        chance: Whether it knows what to do where chance decides.
        two_players: Whether it takes all but seat 0 for one opponent.
    """

    def decorate(search: Search) -> Search:
        signature, explained = inspect.signature(search), checked_call(search)

        @functools.wraps(search)
        def call(*given: Any, **settings: Any) -> Any:
            if getattr(_running, "search", None) is not None:
                return search(*given, **settings)
            try:
                arguments = signature.bind(*given, **settings).arguments
            except TypeError:  # which is said better by what is made for that
                return explained(*given, **settings)
            _require_game(search.__name__, arguments)
            game = arguments["game"]
            _require_traits(search.__name__, game.traits, bounds=bounds, chance=chance, two_players=two_players)
            if needs is not None and not offers(game, needs):
                missing = [name for name in dir(needs) if name[0] != "_" and not hasattr(game, name)]
                raise UnsupportedGameError(
                    f"{search.__name__} needs {' and '.join(missing)}, which {game.traits.name} does not have"
                )
            for name, value in arguments.items():
                if value is None and signature.parameters[name].default is None:
                    continue
                if name == "state":
                    _check_state(search.__name__, value, game)
                elif name != "game":
                    _CHECKS[name](name, value, game.traits.seats)
            _running.search = search
            try:
                return search(*given, **settings)
            finally:
                _running.search = None

        return cast("Search", call)

    return decorate


def check_learner(actions: Sequence[int], lower: float, upper: float, exploration: float) -> None:
    """Refuses what no learner of simultaneous moves can begin with."""
    if not isinstance(actions, Sequence) or not actions or isinstance(actions, str):
        raise InvalidSettingError(f"actions must be a list of at least one action, not {actions!r}")
    for name, value in (("lower", lower), ("upper", upper)):
        check_number(name, value)
    if lower >= upper:
        raise InvalidSettingError(f"upper must be above lower, the bounds of utility, not {upper!r} and {lower!r}")
    check_number("exploration", exploration, lower=0)


def _require_game(search: str, arguments: Mapping[str, Any]) -> None:
    if is_game(game := arguments["game"]):
        return
    if any(map(is_game, arguments.values())):
        raise InvalidSettingError(
            f"{search} takes the game first, not {game!r}: were the arguments given the wrong way round?"
        )
    raise InvalidSettingError(
        f"{search} needs a Game, not {game!r}: tree_game(...) makes one of lists, as_game(env) of an environment"
    )


def _require_traits(search: str, traits: Traits, *, bounds: bool, chance: bool, two_players: bool) -> None:
    if two_players and traits.seats > 2:
        raise UnsupportedGameError(
            f"{search} is for two players, and {traits.name} has {traits.seats}: max_n and paranoid know more"
        )
    if not chance and traits.chance is not Chance.NONE:
        raise UnsupportedGameError(
            f"{search} knows no chance, which {traits.name} has: expectiminimax averages over it"
        )
    if bounds and not all(map(math.isfinite, traits.utility_bounds)):
        raise UnsupportedGameError(
            f"{search} needs finite utility bounds, which {traits.name} does not say: give them in its traits, or "
            "as tree_game(..., bounds=(low, high))"
        )


def _check_moves(name: str, value: Any, seats: int) -> None:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not is_number or value < 0 or value not in (math.inf, value // 1):
        raise InvalidSettingError(
            f"{name} must be a whole number of moves of at least 0, not {value!r}: leave it out for no limit"
        )


def _check_window(name: str, value: Any, seats: int) -> None:
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or math.isnan(value):
        raise InvalidSettingError(f"{name} must be a number, an end of the window, not {value!r}")


def _check_seat(name: str, value: Any, seats: int) -> None:
    is_number = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_number or not 0 <= value < seats:
        raise InvalidSettingError(f"{name} must be a seat, from 0 to {seats - 1}, not {value!r}")


def _check_count(name: str, value: Any, seats: int) -> None:
    check_whole(name, value, lower=1)


def _check_amount(name: str, value: Any, seats: int) -> None:
    check_number(name, value, lower=0)


def _check_tie_rule(name: str, value: Any, seats: int) -> None:
    if value not in TIE_RULES:
        raise unknown_choice(name, value, TIE_RULES)


def _check_random(name: str, value: Any, seats: int) -> None:
    if not all(callable(getattr(value, method, None)) for method in ("below", "draw")):
        raise InvalidSettingError(
            "random must have below(count) and draw(probabilities), as RandomNumbers(seed) of "
            f"zermelo.agents.base.playouts has, not {value!r}"
        )


def _check_generator(name: str, value: Any, seats: int) -> None:
    if not isinstance(value, np.random.Generator):
        raise InvalidSettingError(f"generator must be one of NumPy, as default_rng(seed) makes, not {value!r}")


def _check_function(name: str, value: Any, seats: int) -> None:
    if not callable(value):
        raise InvalidSettingError(f"{name} must be a function {_FUNCTIONS[name]}, not {value!r}")


_FUNCTIONS: Final = {
    "evaluate": "of a state",
    "replies": "of a state that returns actions with their probabilities",
    "policy": "of a state that returns the probability of each action",
    "sees": "of two seats",
    "learner": "that makes a learner, such as RegretMatching",
}
"""By the name of an argument that must be a function: what it takes, and what it returns."""
_CHECKS: Final[Mapping[str, Callable[[str, Any, int], None]]] = {
    "depth": _check_moves, "moves": _check_moves, "alpha": _check_window, "beta": _check_window,
    "seat": _check_seat, "root_seat": _check_seat, "chooser": _check_seat,
    "iterations": _check_count, "simulations": _check_count, "exploration": _check_amount,
    "tolerance": _check_amount, "tie_rule": _check_tie_rule, "random": _check_random,
    "generator": _check_generator, **dict.fromkeys(_FUNCTIONS, _check_function),
}  # fmt: skip
"""By the name of an argument what raises a sentence where it cannot be that; the last is the number of seats."""


def _check_state(search: str, state: Any, game: Any) -> None:
    """Asks the game about the state, as the search will."""
    try:
        is_right = not (is_aec(state) or is_gymnasium(state) or is_game(state))
        if is_right and not game.is_terminal(state):
            game.to_move(state)
            game.utility(state)
    except ZermeloError:
        raise
    except Exception:
        is_right = False
    if not is_right:
        raise InvalidSettingError(
            f"{search} needs a state of {game.traits.name}, not {state!r}: game.initial_state() is the first one, "
            "game.snapshot(env) that of an environment"
        ) from None
