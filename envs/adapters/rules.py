"""Live environments whose game is known as rules: their positions as states of the rules.

It counts for exactly the classes in ``zermelo.envs.games.tables``, and environments over rules. A position that
the rules cannot have, such as one that was set up by hand, is left to the clone.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from zermelo.envs.capabilities import (
    GameView,
    SupportsEvaluation,
    SupportsInformationStates,
    SupportsObservations,
    SupportsPast,
    SupportsPicture,
    SupportsText,
    offers,
)
from zermelo.envs.errors import UnsupportedGameError, illegal_action
from zermelo.envs.game import CHANCE
from zermelo.envs.live.wrappers import game_name, innermost, is_gymnasium, is_patched, require_reset, seat_agents
from zermelo.envs.rules.about import EquivalentRules
from zermelo.envs.rules.rules_game import RulesGame, is_rules


class LiveRulesGame(RulesGame):
    """The rules of a live environment, and the way from its positions to their states."""

    def __init__(self, env: Any, rules: Any, read: Callable[[Any], Any | None], scale: float = 1.0) -> None:
        super().__init__(rules)
        self._scale = scale
        self.text: Callable[[Any], str]
        self.action_text: Callable[[Any, int], str]
        self._read = read
        self._env_class = type(env)
        self._agents = None if is_gymnasium(env) else seat_agents(env)
        agents = self.traits.seat_names if self._agents is None else tuple(map(str, self._agents))
        lower, upper = self.traits.utility_bounds
        bounds = (scale * lower, scale * upper)
        self.traits = replace(self.traits, name=game_name(env), seat_names=agents, utility_bounds=bounds)

    def utility(self, state: Any) -> tuple[float, ...]:
        utility = super().utility(state)
        return utility if self._scale == 1 else tuple(self._scale * value for value in utility)

    def snapshot(self, env: Any) -> Any:
        require_reset(env)
        raw = innermost(env)
        if not self._is_of(raw):
            raise UnsupportedGameError(
                f"this game reads positions of {self.traits.name}, not of {game_name(env)} (class and seats "
                "must be the same): ask as_game(env) again"
            )
        state = self.live_state(raw)
        if state is None:
            raise UnsupportedGameError(
                f"{self.traits.name} is in a position that its rules cannot reach, or was ended by an illegal "
                "action: as_game(env, backend='clone') copies the environment as it is"
            )
        return state

    def live_state(self, raw: Any) -> Any | None:
        """The state of an environment, if its class, seats, turn, end and instance are as the rules have them."""
        if not self._is_of(raw) or is_patched(raw):
            return None
        state = self._read(raw)
        if state is None or self._agents is None:
            return state
        terminated, truncated, dead = raw.terminations, raw.truncations, 0
        for agent in raw.agents:
            if terminated[agent] or truncated[agent]:
                dead += 1
        over = dead == len(raw.agents)  # also when no agents are left
        if over != bool(self._played.is_terminal(state)) or (dead and not over):
            return None
        if over:
            return state
        seat = self.rules.to_move(state)
        return state if seat < 0 or self._agents[seat] == raw.agent_selection else None

    def _is_of(self, raw: Any) -> bool:
        is_class = type(raw) is self._env_class
        return is_class and (self._agents is None or tuple(raw.possible_agents) == self._agents)


def game_of_equivalent(given: EquivalentRules, env: Any) -> LiveRulesGame | None:
    """The game of an environment by equivalent rules; None where they cannot be in its position."""
    rules = given.rules if is_rules(given.rules) else given.rules(env)

    def read(other: Any) -> Any | None:
        theirs = given.rules(other)
        return given.read(other) if type(theirs) is type(rules) and theirs == rules else None

    game = LiveRulesGame(env, rules, given.read if rules is given.rules else read, given.scale)
    if given.symmetry:
        turn = functools.partial(rules.symmetric_state, symmetry=given.symmetry)
        turn_action = functools.partial(rules.symmetric_action, symmetry=given.symmetry)
        game.text = lambda state: rules.text(turn(state))
        game.action_text = lambda state, action: rules.action_text(state, turn_action(action))
        image = game.image
        game.image = lambda state: image(turn(state))  # type: ignore[method-assign]  # as the texts above
    return None if game.live_state(env) is None else game


_RULES_ENV: Final = EquivalentRules(rules=operator.attrgetter("rules"), read=operator.attrgetter("position"))


def game_of_own(env: Any) -> LiveRulesGame | None:
    """The game of an environment of our own, which has its rules and the state that they are in."""
    return game_of_equivalent(_RULES_ENV, env)


class RenumberedGame(GameView):
    """The rules of one of OpenSpiel's games with its numbers; searches run on ``inside``, with the rules' own."""

    inside: Any
    passes = (SupportsEvaluation, SupportsObservations, SupportsInformationStates, SupportsText, SupportsPicture)

    def __init__(self, inside: Any) -> None:
        super().__init__(inside)
        self.rules, self.snapshot = inside.rules, inside.snapshot
        if offers(inside, SupportsPast):
            self.moves_so_far = self._moves_so_far

    @property
    def for_search(self) -> Any:
        return self.inside.for_search

    def legal_actions(self, state: Any) -> Sequence[int]:
        return sorted(self.inside.to_env_action(state, action) for action in self.inside.legal_actions(state))

    def chance_outcomes(self, state: Any) -> Sequence[tuple[int, float]]:
        outcomes = self.inside.chance_outcomes(state)
        return [(self.inside.to_env_action(state, outcome), probability) for outcome, probability in outcomes]

    def result(self, state: Any, action: int) -> Any:
        if not self.inside.is_terminal(state) and self.inside.to_move(state) != CHANCE:
            legal = self.legal_actions(state)
            if action not in legal:
                raise illegal_action(action, f"in {self.inside.traits.name}", legal)
        return self.inside.result(state, self.inside.action_of(state, action))

    def to_env_action(self, state: Any, action: int) -> int:
        return action

    def action_text(self, state: Any, action: int) -> str:
        return str(self.inside.rules.action_text(state, self.inside.action_of(state, action)))

    def action_aliases(self, state: Any, action: int) -> Sequence[str]:
        return tuple(self.inside.action_aliases(state, self.inside.action_of(state, action)))

    def _moves_so_far(self, state: Any) -> Sequence[int]:
        now, moves = self.initial_state(), []
        for action in self.inside.moves_so_far(state):
            moves.append(self.inside.to_env_action(now, action))
            now = self.inside.result(now, action)
        return moves
