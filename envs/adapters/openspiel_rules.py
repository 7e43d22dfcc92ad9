"""OpenSpiel's games that our rules play too (``zermelo.envs.games.tables``): searched by the rules, compiled.

A position is read by playing its history on the rules. States that were not reached from the start, and games with
chance near the length at which OpenSpiel or Shimmy breaks them off, are left to OpenSpiel's own states.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from zermelo.envs.adapters.openspiel import OpenSpielGame
from zermelo.envs.adapters.rules import RenumberedGame
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.game import Chance, TraitSource
from zermelo.envs.games import tables
from zermelo.envs.live.wrappers import is_patched
from zermelo.envs.rules.about import OpenSpielRules
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.traits.declared import declared_traits
from zermelo.envs.traits.merging import merge_traits
from zermelo.envs.traits.openspiel import is_openspiel

_AHEAD: Final = 200  # how far the end by length must be, in moves and chance events, from where a search starts


class OpenSpielRulesGame(RulesGame):
    """The rules of one of OpenSpiel's games, and the way from its states to theirs."""

    def __init__(self, declared: Any, inner: OpenSpielGame, longest: int) -> None:
        numbers = declared if isinstance(declared, OpenSpielRules) else None
        super().__init__(declared if numbers is None else numbers.rules)
        self.numbers, self._inner = numbers, inner
        self._read: tuple[list[int], Any] = ([], super().initial_state())
        self.traits = replace(self.traits, name=inner.traits.name, seat_names=inner.traits.seat_names)
        has_chance = self.traits.chance is not Chance.NONE
        self._longest = min(longest, inner.longest) - _AHEAD if has_chance else inner.longest

    def snapshot(self, env: Any) -> Any:
        theirs = self._inner.snapshot(env)
        if not self._inner.plays(theirs):
            raise UnsupportedGameError(
                f"this game reads positions of {self.traits.name}, not of {theirs.get_game()}: ask as_game again"
            )
        state = self.position(theirs)
        if state is None:
            raise UnsupportedGameError(
                f"{self.traits.name} was not begun at its start, or comes near the length at which it is broken "
                "off, of which its rules know nothing: as_game(env, backend='environment') searches OpenSpiel's "
                "states"
            )
        return state

    def fits(self, raw: Any) -> bool:
        return not is_patched(raw) and self.position(raw.game_state) is not None

    def position(self, theirs: Any) -> Any | None:
        """The state of the rules that an OpenSpiel state is in, if they can be in it."""
        if not self._inner.plays(theirs) or theirs.starting_state_str():
            return None
        if not theirs.is_terminal() and theirs.move_number() >= self._longest:
            return None
        history = theirs.history()
        seen, state = self._read
        if history[: len(seen)] != seen:
            seen, state = [], super().initial_state()
        for number in history[len(seen) :]:
            state = self._played.result(state, self.action_of(state, number))
        self._read = history, state
        return state

    def action_of(self, state: Any, number: int) -> int:
        """The action or outcome that has this number in OpenSpiel; -1 if there is none."""
        if self.numbers is None:
            return number
        if self.numbers.from_openspiel is not None:
            return self.numbers.from_openspiel(state, number)
        actions = self.legal_actions(state)
        return next((action for action in actions if self.numbers.to_openspiel(state, action) == number), -1)

    def to_env_action(self, state: Any, action: int) -> int:
        return action if self.numbers is None else self.numbers.to_openspiel(state, action)

    @functools.cached_property
    def numbered(self) -> Any:
        """This game with OpenSpiel's numbers of actions."""
        return self if self.numbers is None else RenumberedGame(self)

    def observation(self, state: Any, seat: int) -> Any:
        """Raises ``UnsupportedGameError``: none is OpenSpiel's, on which a network may have been trained."""
        raise UnsupportedGameError(
            f"{self.traits.name} is searched by rules, which do not make OpenSpiel's observations: with "
            "backend='environment' a network sees them"
        )


def rules_of(source: Any, given: Mapping[str, Any]) -> OpenSpielRulesGame | None:
    """The rules of OpenSpiel's game, if they are known and its position now is one of theirs."""
    is_env = not is_openspiel(source)
    if is_env and is_patched(source):
        return None
    inner = OpenSpielGame(source, given)
    try:
        kind = inner.source.get_type()
        parameters = {**kind.parameter_specification, **inner.source.get_parameters()}
        place = tables.OPENSPIEL.get(kind.short_name)
        make = None if place is None else tables.load(place)
        if make is None or not {*inspect.signature(make).parameters} >= {*parameters}:
            return None
        rules, most_turns = make(**parameters), parameters.get("max_player_turns", 1 << 59)
        if rules is None:
            return None
        game = OpenSpielRulesGame(rules, inner, parameters.get("horizon", 2 * most_turns))
    except InvalidSettingError:  # a board that is too large for the rules
        return None
    declared = declared_traits(source) if is_env else {}
    game.traits = merge_traits(game.traits, (TraitSource.GIVEN, given), (TraitSource.DECLARED, declared))
    return game if game.position(inner.snapshot(source)) is not None else None
