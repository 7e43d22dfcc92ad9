"""OpenSpiel's games: a ``pyspiel.State`` is the state, with its cheap copies and its exact chance.

Of Shimmy's environment the state inside is read, as its ``last()`` doubles final rewards. Its one rule of its own
is kept: it truncates a game whose nodes, chance included, outnumber ``max_game_length()`` (which leaves chance
out). Utilities are ``State.returns()``: they count from the start of the game.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from zermelo.envs.errors import (
    EnvFailedError,
    GameOverError,
    IllegalActionError,
    UnsupportedGameError,
    illegal_action,
)
from zermelo.envs.game import CHANCE, Chance, Traits, TraitSource
from zermelo.envs.live.wrappers import game_name, innermost
from zermelo.envs.traits.declared import declared_traits
from zermelo.envs.traits.hanabi import key_of_hanabi, redealt_hanabi, sees_all
from zermelo.envs.traits.merging import AdaptedGame, merge_traits
from zermelo.envs.traits.openspiel import hides_cards, openspiel_traits, resampled

MARKOV_TEXT = frozenset(
    {
        "breakthrough", "catch", "clobber", "connect_four", "gomoku", "havannah", "hex", "mancala", "mnk", "nim",
        "othello", "pentago", "pig", "tic_tac_toe", "twixt", "ultimate_tic_tac_toe", "y",
    }
)  # fmt: skip
"""Games whose ``str(state)``, with the player and the numbers of moves and of decisions, decides what can follow.

EinStein wuerfelt nicht!, say, does not show its die; tests compare the futures of states with equal keys. Keys of
other games hold the history: always right, but no two move orders ever meet.
"""


_SEEDS: Final = (1 << 31) - 1


class OpenSpielGame:
    """The game of a ``pyspiel.Game`` or ``pyspiel.State``, or of Shimmy's environment after ``reset``."""

    def __init__(self, source: Any, given: Mapping[str, Any]) -> None:
        import pyspiel

        declared: Mapping[str, Any] = {}
        self._limit: int | None = None
        if isinstance(source, pyspiel.Game):
            self.source = source
        elif isinstance(source, pyspiel.State):
            self.source = source.get_game()
        else:
            self.source = source._env
            self._limit = self.source.max_game_length()
            declared = declared_traits(source)
        self._name = f"openspiel/{self.source}".removesuffix("()")
        seats = tuple(f"player_{seat}" for seat in range(self.source.num_players()))
        known = openspiel_traits(self.source)
        sources = (TraitSource.GIVEN, given), (TraitSource.DECLARED, declared), (TraitSource.KNOWN, known)
        self.traits = merge_traits(Traits(name=self._name, seat_names=seats), *sources)
        self._text_is_markov = self.source.get_type().short_name in MARKOV_TEXT
        self._exact = known["chance"] is not Chance.SAMPLED
        self._has_chance = known["chance"] is not Chance.NONE

    @property
    def longest(self) -> int:
        """The number of moves and chance events after which Shimmy truncates the game, if it does."""
        return 1 << 60 if self._limit is None else self._limit

    def fits(self, env: Any) -> bool:
        return str(env._env) == str(self.source)

    def plays(self, state: Any) -> bool:
        """Whether a ``pyspiel.State`` is of this game, with the same parameters."""
        return str(state.get_game()) == str(self.source)

    def snapshot(self, env: Any) -> Any:
        import pyspiel

        if isinstance(env, pyspiel.State):
            return env.clone()
        if isinstance(env, pyspiel.Game):
            return env.new_initial_state()
        state = getattr(innermost(env), "game_state", None)
        if not isinstance(state, pyspiel.State):
            raise UnsupportedGameError(
                f"{type(env).__name__} holds no OpenSpiel state: give Shimmy's environment after reset, or a "
                "pyspiel.State"
            )
        return state.clone()

    def initial_state(self) -> Any:
        return self.source.new_initial_state()

    def to_move(self, state: Any) -> int:
        player: int = state.current_player()
        if player >= 0 or state.is_terminal():
            return max(player, 0)
        if state.is_chance_node():
            return CHANCE
        raise UnsupportedGameError(f"in {self._name} players move at the same time: nobody is to move alone")

    def legal_actions(self, state: Any) -> list[int]:
        if state.is_chance_node() or self.is_terminal(state):
            return []
        actions: list[int] = state.legal_actions()
        if not actions:
            raise GameOverError(f"{self._name} is not over, but player {state.current_player()} has no action")
        return actions

    def chance_outcomes(self, state: Any) -> Sequence[tuple[int, float]]:
        if not state.is_chance_node():
            return ()
        if not self._exact:
            raise self._sampled_inside()
        return list(state.chance_outcomes())

    def result(self, state: Any, action: int) -> Any:
        if self.is_terminal(state):
            raise GameOverError(f"{self._name} is over: there is no action to play")
        if not self._exact and state.is_chance_node():
            raise self._sampled_inside()
        if action not in state.legal_actions():
            raise illegal_action(action, f"in {self._name}", state.legal_actions())
        import pyspiel

        try:
            return state.child(int(action))
        except pyspiel.SpielError as error:
            raise EnvFailedError(f"{self._name} raised SpielError in child({action!r}): {error}") from error

    def sample_result(self, state: Any, action: int, generator: np.random.Generator) -> Any:
        after = self.result(state, action)
        while after.is_chance_node() and not self.is_terminal(after):
            outcomes, probabilities = zip(*self.chance_outcomes(after), strict=True)
            after = self.result(after, outcomes[int(generator.choice(len(outcomes), p=probabilities))])
        return after

    def playout_state(self, state: Any) -> Any:
        return state.clone()

    def play_on(self, state: Any, action: int, generator: np.random.Generator | None = None) -> Any:
        if generator is not None or not self._exact:
            return self.sample_result(state, action, generator) if generator else self.result(state, action)
        state.apply_action(int(action))
        return state

    def play_out(self, state: Any, random: Callable[[], int]) -> tuple[Any, list[tuple[int, int]]] | None:
        import pyspiel

        bits = random() & _SEEDS
        if not self._exact:
            return None
        end = state.clone()
        players = [pyspiel.make_uniform_random_bot(seat, bits) for seat in range(self.traits.seats)]
        pyspiel.evaluate_bots(end, players, bits)
        if self._limit is not None and end.move_number() > self._limit:
            return None  # Shimmy would have ended it before
        played = end.full_history()[len(state.full_history()) :]
        return end, [(item.player, item.action) for item in played if item.player >= 0]

    def movers(self, state: Any) -> Sequence[int]:
        if state.is_chance_node() or self.is_terminal(state):
            return ()
        return range(self.traits.seats) if state.is_simultaneous_node() else (state.current_player(),)

    def actions_of(self, state: Any, seat: int) -> list[int]:
        return list(state.legal_actions(seat))

    def joint_result(
        self, state: Any, actions: Mapping[int, int], generator: np.random.Generator | None = None
    ) -> Any:
        movers = self.movers(state)
        for seat in {*movers, *actions}:
            action = actions.get(seat)
            if seat not in movers or action not in state.legal_actions(seat):
                raise IllegalActionError(f"{action!r} is not legal for player {seat} in {self._name} now")
        if not state.is_simultaneous_node():
            return self.result(state, actions[movers[0]])
        after = state.clone()
        after.apply_actions([actions[seat] for seat in movers])
        return after

    def hides_more(self) -> bool:
        return hides_cards(self.source.get_type())

    def is_terminal(self, state: Any) -> bool:
        return bool(state.is_terminal() or (self._limit is not None and state.move_number() >= self._limit))

    def utility(self, state: Any) -> tuple[float, ...]:
        return tuple(state.returns())

    def key(self, state: Any) -> Hashable:
        """State text and move numbers where that is enough (``MARKOV_TEXT``); else the history."""
        if self._text_is_markov:
            moves = state.move_number()
            decisions = sum(item.player >= 0 for item in state.full_history()) if self._has_chance else moves
            return state.current_player(), moves, decisions, str(state)
        return state.starting_state_str(), tuple(state.history())

    def moves_so_far(self, state: Any) -> list[int]:
        return list(state.history())

    def to_env_action(self, state: Any, action: int) -> int:
        return action

    def action_text(self, state: Any, action: int) -> str:
        return str(state.action_to_string(state.current_player(), action))

    def action_aliases(self, state: Any, action: int) -> Sequence[str]:
        return ()

    def observation(self, state: Any, seat: int) -> Any:
        return np.array(state.observation_tensor(seat), np.float32)

    def text(self, state: Any) -> str:
        return str(state)

    def _sampled_inside(self) -> UnsupportedGameError:
        return UnsupportedGameError(
            f"{self._name} draws its chance inside OpenSpiel, where a search would see it before it happens: it "
            "cannot be searched beyond a chance event"
        )


class _InformedGame(OpenSpielGame):
    """A game of which OpenSpiel says what each player knows."""

    def information_state_key(self, state: Any, seat: int) -> Hashable:
        return str(state.information_state_string(seat))

    def resample(self, state: Any, seat: int, generator: np.random.Generator) -> Any:
        dealt = resampled(state, seat, generator)
        if isinstance(dealt, str):
            raise UnsupportedGameError(f"OpenSpiel cannot deal {self._name} again: {dealt}")
        return dealt


class HiddenHands(OpenSpielGame):
    """Hanabi, of which OpenSpiel does not say what each player knows."""

    def information_state_key(self, state: Any, seat: int) -> Hashable:
        return key_of_hanabi(state, seat)

    def resample(self, state: Any, seat: int, generator: np.random.Generator) -> Any:
        return state if self.is_terminal(state) else redealt_hanabi(state, seat, generator)


class HanabiGame(HiddenHands):
    """The game of PettingZoo's Hanabi, of the environment below its checking wrappers; states are OpenSpiel's."""

    def __init__(self, env: Any, given: Mapping[str, Any]) -> None:
        super().__init__(env.hanabi_env, given)
        self._sees_all = sees_all(env)
        named = replace(self.traits, name=game_name(env), seat_names=tuple(map(str, env.possible_agents)))
        declared = declared_traits(env)
        self.traits = merge_traits(named, (TraitSource.GIVEN, given), (TraitSource.DECLARED, declared))

    def fits(self, env: Any) -> bool:
        return super().fits(env.hanabi_env) and sees_all(env) == self._sees_all

    def snapshot(self, env: Any) -> Any:
        inside = getattr(innermost(env), "hanabi_env", env)
        return super().snapshot(inside)

    def information_state_key(self, state: Any, seat: int) -> Hashable:
        return tuple(state.history()) if self._sees_all else super().information_state_key(state, seat)

    def resample(self, state: Any, seat: int, generator: np.random.Generator) -> Any:
        return state if self._sees_all else super().resample(state, seat, generator)


def make_game(source: Any, given: Mapping[str, Any], patience: float) -> AdaptedGame:
    """The game of Shimmy's environment, or of a game or state of OpenSpiel's; see ``as_game.Ecosystem``."""
    import pyspiel

    found = source.get_game() if isinstance(source, pyspiel.State) else source
    game = found if isinstance(found, pyspiel.Game) else source._env
    kind = game.get_type()
    informed = _InformedGame if kind.provides_information_state_string else OpenSpielGame
    return AdaptedGame((HiddenHands if kind.short_name == "hanabi" else informed)(source, given))


def make_hanabi(raw: Any, given: Mapping[str, Any], patience: float) -> AdaptedGame:
    """The game of PettingZoo's Hanabi, likewise."""
    return AdaptedGame(HanabiGame(raw, given))
