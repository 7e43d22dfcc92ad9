"""OpenSpiel's games that our rules play too: searched by the rules, compiled, instead of through its states.

Games declare these twins themselves (``zermelo.envs.rules.about.openspiel_twin``); tests play each at random on
both sides. Searches number actions as the rules do; callers see OpenSpiel's numbers (``RenumberedGame``). A
position is read by playing its history over again on the rules. What the rules cannot be in is left to OpenSpiel's
own states: a state that was not reached from the start of the game, and games with chance that come near the
length at which OpenSpiel, or Shimmy's environment, breaks them off.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import zermelo.envs.games  # noqa: F401  # for the twins that it declares
from zermelo.envs.adapters.facts.declared import declared_traits
from zermelo.envs.adapters.openspiel.game import OpenSpielGame, is_openspiel
from zermelo.envs.adapters.wrappers import is_patched
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError, illegal_action
from zermelo.envs.game import CHANCE, Chance, Game, Traits, TraitSource
from zermelo.envs.rules.about import OPENSPIEL, OpenSpielTwin, same_number
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.traits import merge_traits

_AHEAD: Final = 200
"""How far the end by length must be, in moves and chance events, from where a search starts."""


class OpenSpielRulesGame(RulesGame):
    """The rules of one of OpenSpiel's games, and the way from its states and actions to theirs and back.

    Args:
        twin: The rules, and how actions are numbered.
        inner: The same game over OpenSpiel's own states, which knows its name, its players and its source.
    """

    def __init__(self, twin: OpenSpielTwin, inner: OpenSpielGame) -> None:
        super().__init__(twin.rules)
        self._twin = twin
        self._inner = inner
        self._read: tuple[list[int], Any] = ([], super().initial_state())
        self.traits = replace(self.traits, name=inner.traits.name, seat_names=inner.traits.seat_names)
        has_chance = self.traits.chance is not Chance.NONE
        self._longest = min(twin.longest, inner.longest) - _AHEAD if has_chance else inner.longest

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
            state = self._played.result(state, self._twin.from_openspiel(state, number))
        self._read = history, state
        return state if self._twin.read is None else self._twin.read(theirs, state)

    def to_env_action(self, state: Any, action: int) -> int:
        return self._twin.to_openspiel(state, action)

    @functools.cached_property
    def numbered(self) -> Game[Any]:
        """This game with OpenSpiel's numbers of actions."""
        return self if self._twin.to_openspiel is same_number else RenumberedGame(self, self._twin)

    def observation(self, state: Any, seat: int) -> Any:
        """No observation is OpenSpiel's, so a network that was trained on those would see something else.

        Raises:
            UnsupportedGameError: Always.
        """
        raise UnsupportedGameError(
            f"{self.traits.name} is searched by rules, which do not make OpenSpiel's observations: with "
            "backend='environment' a network sees them"
        )


class RenumberedGame:
    """The rules of one of OpenSpiel's games, with its numbers of actions and of chance outcomes.

    States are those of the rules. Searches run on ``inside``, which has the rules' own numbers (``search_game``).
    """

    def __init__(self, inside: OpenSpielRulesGame, twin: OpenSpielTwin) -> None:
        self.inside, self.rules, self._twin = inside, inside.rules, twin
        alike = ("image", "information_state_key", "moves_so_far", "observation", "resample", "snapshot", "text")
        for name in alike:
            if hasattr(inside, name):
                setattr(self, name, getattr(inside, name))

    @property
    def traits(self) -> Traits:
        return self.inside.traits

    def initial_state(self) -> Any:
        return self.inside.initial_state()

    def to_move(self, state: Any) -> int:
        return self.inside.to_move(state)

    def legal_actions(self, state: Any) -> Sequence[int]:
        return sorted(self._twin.to_openspiel(state, action) for action in self.inside.legal_actions(state))

    def chance_outcomes(self, state: Any) -> Sequence[tuple[int, float]]:
        outcomes = self.inside.chance_outcomes(state)
        return [(self._twin.to_openspiel(state, outcome), probability) for outcome, probability in outcomes]

    def result(self, state: Any, action: int) -> Any:
        if not self.is_terminal(state) and self.to_move(state) != CHANCE:
            legal = self.legal_actions(state)
            if action not in legal:
                raise illegal_action(action, f"in {self.traits.name}", legal)
        return self.inside.result(state, self._twin.from_openspiel(state, action))

    @property
    def for_search(self) -> RulesGame:
        return self.inside.for_search

    def is_terminal(self, state: Any) -> bool:
        return self.inside.is_terminal(state)

    def utility(self, state: Any) -> tuple[float, ...]:
        return self.inside.utility(state)

    def key(self, state: Any) -> Hashable:
        return self.inside.key(state)

    def to_env_action(self, state: Any, action: int) -> int:
        return action

    def action_text(self, state: Any, action: int) -> str:
        return str(self.rules.action_text(state, self._twin.from_openspiel(state, action)))

    def action_aliases(self, state: Any, action: int) -> Sequence[str]:
        aliases = getattr(self.rules, "action_aliases", None)
        return () if aliases is None else aliases(state, self._twin.from_openspiel(state, action))


def rules_of(source: Any, given: Mapping[str, Any]) -> OpenSpielRulesGame | None:
    """The rules of OpenSpiel's game, if they are known and its position now is one of theirs.

    Args:
        source: A ``pyspiel.Game``, a ``pyspiel.State``, or Shimmy's environment after ``reset``.
        given: Fields of ``Traits`` that the caller gave.
    """
    is_env = not is_openspiel(source)
    if is_env and is_patched(source):
        return None
    inner = OpenSpielGame(source, given)
    try:
        twin = _twin_of(inner.source)
        if twin is None:
            return None
        game = OpenSpielRulesGame(twin, inner)
    except InvalidSettingError:  # a board that is too large for the rules
        return None
    declared = declared_traits(source) if is_env else {}
    game.traits = merge_traits(game.traits, (TraitSource.GIVEN, given), (TraitSource.DECLARED, declared))
    return game if game.position(inner.snapshot(source)) is not None else None


def _twin_of(game: Any) -> OpenSpielTwin | None:
    """The twin of a ``pyspiel.Game``; None too where it has a parameter that the declaration does not know."""
    kind = game.get_type()
    make = OPENSPIEL.get(kind.short_name)
    if make is None:
        return None
    parameters = {**kind.parameter_specification, **game.get_parameters()}
    known = set(inspect.signature(make).parameters)
    made = make(**parameters) if known >= set(parameters) else None
    return made if made is None or isinstance(made, OpenSpielTwin) else OpenSpielTwin(rules=made)
