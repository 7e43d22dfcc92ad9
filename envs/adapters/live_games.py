"""The games that were made of live environments: who asks again gets the same one, while it still fits."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from zermelo.envs.adapters.rules import LiveRulesGame
from zermelo.envs.live.wrappers import is_gymnasium, seat_agents
from zermelo.envs.traits.declared import declared_traits
from zermelo.envs.traits.merging import AdaptedGame

Options = tuple[str, str]
"""The backend, and the given traits as text."""


@dataclass(slots=True)
class LiveGame:
    """A game, with the ``id`` of its environment below the wrappers, and what was told of that."""

    adapted: AdaptedGame
    raw: int
    told: Any


class LiveGames:
    """The games of live environments, kept while these live.

    The key is an environment's ``id``, as it may be unhashable, or define ``==``; one with ``__slots__`` has no
    weak references, and its games are made each time.
    """

    def __init__(self) -> None:
        self._of: dict[int, dict[Options, LiveGame]] = {}

    def knows(self, env: Any) -> bool:
        """Whether a game was made of this very environment."""
        return id(env) in self._of

    def find(
        self, env: Any, raw: Any, options: Options, patience: float, fits: Callable[[Any], bool]
    ) -> tuple[Any, Any]:
        """The game that was made, and its state if that was read on the way; Nones where it has to be made anew.

        That is where the environment has other layers, seats or declarations now, where something was seen since,
        or where more time is given to look at it than before. ``fits`` says whether a game would be chosen again.
        """
        made = self._of.get(id(env), {}).get(options)
        if made is None or made.raw != id(raw):
            return None, None
        game, adapted = made.adapted.game, made.adapted
        if patience > adapted.sufficient_patience or not adapted.is_current():
            return None, None
        if isinstance(game, LiveRulesGame):  # it sees whether it is still the game
            state = game.live_state(raw)
            return (None, None) if state is None else (game, state)
        return (game, None) if made.told == _told(raw, game) and fits(game) else (None, None)

    def keep(self, env: Any, raw: Any, options: Options, adapted: AdaptedGame) -> None:
        """Keeps a game that was just made."""
        if id(env) not in self._of:
            with contextlib.suppress(TypeError):
                weakref.finalize(env, self._of.pop, id(env), None)
                self._of[id(env)] = {}
        if (games := self._of.get(id(env))) is not None:
            games[options] = LiveGame(adapted, id(raw), _told(raw, adapted.game))


LIVE_GAMES: Final = LiveGames()
"""Those of this process."""


def _told(raw: Any, game: Any) -> tuple[tuple[Any, ...], Mapping[str, Any], Mapping[str, Any]] | None:
    """The seats and what is told of an environment, which a reset with other options may have changed."""
    if isinstance(game, LiveRulesGame):
        return None
    from zermelo.envs.traits.known_classes import known_class  # which brings all of ``clone``

    return () if is_gymnasium(raw) else seat_agents(raw), declared_traits(raw), known_class(raw).traits_of(raw)
