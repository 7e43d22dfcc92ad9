"""The position that a search starts from, of whatever it was given: an environment, its name, rules or a game."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from zermelo.envs.adapters.as_game import as_game, game_and_state, is_game
from zermelo.envs.adapters.rules import RenumberedGame
from zermelo.envs.game import Traits
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.traits.merging import PATIENCE
from zermelo.envs.traits.openspiel import is_openspiel

_WITH_SEARCH_FORM: Final = (RulesGame, RenumberedGame)


class Position(NamedTuple):
    """A state to search.

    Attributes:
        game: The form of the game that searches run on: it has the same states, does not check actions, and may
            number them in its own way.
        source: What was given; the live environment where that was a name.
        renumbers: True if ``game`` numbers actions in another way than what was given.
        preparing: Seconds that finding out what the environment is has taken just now.
    """

    game: Any
    state: Any
    source: Any
    renumbers: bool
    preparing: float = 0.0

    def number(self, action: int) -> int:
        """The number that an action of ``game`` has in what was given."""
        return int(self.game.to_env_action(self.state, action)) if self.renumbers else action


def live_env(source: Any) -> Any:
    """The environment that a text names, reset with seed 0; anything else as it is."""
    if not isinstance(source, str):
        return source
    from zermelo.envs.registration.make import make

    env = make(source)
    env.reset(seed=0)
    return env


def position(
    source: Any,
    state: Any = None,
    *,
    backend: str = "auto",
    traits: Mapping[str, Any] | Traits | None = None,
    patience: float = PATIENCE,
) -> Position:
    """The position of a live environment now, or a given state, or the initial one.

    ``source`` is what ``as_game`` takes, or the name of an environment; ``state`` one of the game, or OpenSpiel's.
    The others are as ``as_game`` takes them.
    """
    if isinstance(source, str):
        source = live_env(source)
    outer, now, preparing = game_and_state(source, backend, traits, patience)
    game: Any = outer.for_search if isinstance(outer, _WITH_SEARCH_FORM) else outer
    if state is None and now is not None and isinstance(outer, RulesGame):
        state = now
    elif state is None:
        is_live = hasattr(source, "step") and not is_game(source)
        state = game.snapshot(source) if is_live or is_openspiel(source) else game.initial_state()
    elif is_openspiel(state):
        state = game.snapshot(state)
    return Position(game, state, source, isinstance(outer, RenumberedGame), preparing)


def search_game(source: Any) -> Any:
    """The form that searches run on of the game of anything that ``position`` takes."""
    game = as_game(live_env(source))
    return game.for_search if isinstance(game, _WITH_SEARCH_FORM) else game
