"""``as_game``: the best way there is to search an environment, behind one interface.

In this order: rules registered for exactly that class, the OpenSpiel state behind a Shimmy environment, a
Gymnasium environment's transition table, the copy, with chance that is declared.
"""

from __future__ import annotations

import functools
import pkgutil
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from zermelo.envs.adapters.live_games import LIVE_GAMES
from zermelo.envs.clone.kinds import full_name
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.game import Game, Traits, TraitSource
from zermelo.envs.games import tables
from zermelo.envs.live.wrappers import game_name, innermost, is_gymnasium, require_reset
from zermelo.envs.rules.rules_game import RulesGame, is_rules
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.spec_text import unknown_choice
from zermelo.envs.traits.merging import PATIENCE, AdaptedGame, checked_traits, merge_traits
from zermelo.envs.traits.openspiel import SHIMMY, is_openspiel


class Ecosystem(NamedTuple):
    """Environments of one kind, and the module that makes games of them, imported when one is met.

    Attributes:
        make: ``"module:function"`` in this folder; called with an environment below its checking wrappers, given
            fields of ``Traits``, and with the seconds that finding out the others may take.
        accepts: Says whether an environment is of this kind.
        copies: True if states are copies of the environment, so that it serves for ``backend="clone"`` as well.
    """

    make: str
    accepts: Callable[[Any], bool]
    copies: bool = False


def _is_hanabi(raw: Any) -> bool:
    """PettingZoo's Hanabi; with a random start player the environment itself asks the wrong agent first."""
    is_hanabi = full_name(type(raw)) == "pettingzoo.classic.hanabi.hanabi.raw_env"
    return is_hanabi and not raw._config["random_start_player"]


def _has_table(raw: Any) -> bool:
    return is_gymnasium(raw) and _load("transition_table:has_table")(raw)


def _load(place: str) -> Any:
    return pkgutil.resolve_name(f"zermelo.envs.adapters.{place}")


_OPENSPIEL: Final = Ecosystem("openspiel:make_game", lambda raw: full_name(type(raw)) == SHIMMY)
_ECOSYSTEMS: Final = (
    _OPENSPIEL,
    Ecosystem("openspiel:make_hanabi", _is_hanabi),
    Ecosystem("transition_table:make_game", _has_table),
    Ecosystem("gymnasium:make_game", is_gymnasium, copies=True),
    Ecosystem("aec:make_game", lambda raw: True, copies=True),
)
"""The first that accepts an environment serves it."""
_WITH_RULES: Final = ("auto", "rules")
BACKENDS = ("auto", "rules", "environment", "clone")

_GAME_METHODS = (
    "initial_state", "to_move", "legal_actions", "chance_outcomes", "result", "is_terminal", "utility", "key",
)  # fmt: skip


def _of_own(raw: Any) -> Any | None:
    return _load("rules:game_of_own")(raw)


def _of_equivalent(place: str, raw: Any) -> Any | None:
    return _load("rules:game_of_equivalent")(tables.load(place), raw)


def _of_openspiel(raw: Any) -> Any | None:
    return _load("openspiel_rules:rules_of")(raw, {})


_rules: dict[type | str, Callable[[Any], Game[Any] | None]] = {
    SHIMMY: _of_openspiel,
    "zermelo.envs.rules.env.RulesEnv": _of_own,
    **{row.gymnasium.replace(":", "."): _of_own for row in tables.GAMES.values() if row.gymnasium},
    **{name: functools.partial(_of_equivalent, place) for name, place in tables.SAME_GAME.items()},
}
"""The games of rules, by the class of an environment or its full name; ``register_rules`` adds to it."""


@checked_call
def as_game(
    env_or_rules: Any,
    *,
    backend: str = "auto",
    traits: Mapping[str, Any] | Traits | None = None,
    patience: float = PATIENCE,
) -> Any:
    """The game of a live environment, to be searched; ``game.snapshot(env)`` is its position now.

    The environment is copied, never changed. Asking again for the same live environment returns the same game,
    until something is seen that it was assumed not to do.

    Args:
        env_or_rules: A live AEC or Gymnasium environment that has been reset, an OpenSpiel game or state, or an
            object that is a ``Game`` already (rules, for instance), which is returned as it is.
        backend: ``"auto"`` takes the fastest exact way there is; ``"rules"`` only registered rules;
            ``"environment"`` what the environment itself offers, such as OpenSpiel's states; ``"clone"`` copies.
        traits: What the caller knows better: fields of ``Traits`` with their values, trusted above all else.
        patience: Seconds that random play on copies may take, once for environments that are made alike; what it
            does not show is assumed (``traits.assumed``), and everything if it is 0.

    Raises:
        UnsupportedGameError: It is no environment that can be searched; the message says why.
        InvalidSettingError: There is no such backend, or no such trait.
    """
    return game_and_state(env_or_rules, backend, traits, patience)[0]


def game_and_state(
    source: Any, backend: str, traits: Mapping[str, Any] | Traits | None, patience: float
) -> tuple[Any, Any, float]:
    """The game, as ``as_game`` has it; its state, if it was read on the way; the seconds that making it took."""
    begun = time.perf_counter()
    if backend not in BACKENDS:
        raise unknown_choice("backend", backend, BACKENDS)
    given = checked_traits(traits)
    if not LIVE_GAMES.knows(source):
        if is_rules(source):
            source = RulesGame(source)
        if is_game(source):
            if given:
                raise InvalidSettingError(
                    f"traits cannot be given for {type(source).__name__}, which is a game with traits of its own"
                )
            return source, None, 0.0
        if is_openspiel(source):
            return _openspiel_game(source, backend, given), None, 0.0
        require_reset(source)
    options, raw = (backend, repr(given)), innermost(source)
    game, state = LIVE_GAMES.find(source, raw, options, patience, lambda game: _fits(game, raw, backend))
    prepared = 0.0
    if game is None:
        adapted = _build(source, backend, given, patience)
        LIVE_GAMES.keep(source, raw, options, adapted)
        game, prepared = adapted.game, time.perf_counter() - begun
    if state is not None:
        return game, state, 0.0
    return game.numbered if isinstance(game, RulesGame) else game, None, prepared


def is_game(thing: Any) -> bool:
    """Whether an object (not a class) has the methods of ``Game``."""
    if isinstance(thing, type) or not isinstance(getattr(thing, "traits", None), Traits):
        return False
    return all(callable(getattr(thing, name, None)) for name in _GAME_METHODS)


@checked_call
def register_rules(env_class: type | str, to_game: Callable[[Any], Game[Any] | None]) -> None:
    """Says which rules stand for an environment class; ``as_game`` then prefers them.

    Args:
        env_class: The class of the environment below its checking wrappers, or its full name, so that it need not
            be imported. It counts for exactly this class: a subclass may have changed the game.
        to_game: Called with such an environment. Returns a game whose ``snapshot(env)`` accepts the live
            environment with its wrappers on, or None where these rules do not cover its settings.
    """
    _rules[env_class] = to_game


def _build(env: Any, backend: str, given: Mapping[str, Any], patience: float) -> AdaptedGame:
    raw = innermost(env)
    if backend in _WITH_RULES:
        game = _rules_game(raw)
        if game is not None:
            if given:
                game.traits = merge_traits(game.traits, (TraitSource.GIVEN, given))
            return AdaptedGame(game)
        if backend == "rules":
            raise _no_rules(game_name(env))
    fitting = (one for one in _ECOSYSTEMS if (one.copies or backend != "clone") and one.accepts(raw))
    adapted: AdaptedGame = _load(next(fitting).make)(raw, given, patience)
    return adapted


def _openspiel_game(source: Any, backend: str, given: Mapping[str, Any]) -> Any:
    game = _load("openspiel_rules:rules_of")(source, given) if backend in _WITH_RULES else None
    if game is None and backend == "rules":
        raise _no_rules(str(source if not hasattr(source, "get_game") else source.get_game()))
    return _load(_OPENSPIEL.make)(source, given, PATIENCE).game if game is None else game.numbered


def _no_rules(name: str) -> UnsupportedGameError:
    return UnsupportedGameError(
        f"no rules are registered for {name} with these settings: use backend='auto' or 'clone'"
    )


def _rules_game(raw: Any) -> Any | None:
    to_game = _rules.get(type(raw)) or _rules.get(full_name(type(raw)))
    return to_game(raw) if to_game is not None else None


def _fits(game: Any, raw: Any, backend: str) -> bool:
    """Whether a game would be chosen again for its environment, which may have been reset with other options."""
    if hasattr(game, "fits") and not game.fits(raw):
        return False
    return isinstance(game, RulesGame) or backend not in _WITH_RULES or _rules_game(raw) is None
