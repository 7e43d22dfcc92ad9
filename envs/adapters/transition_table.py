"""Gymnasium environments that carry their transition table: exact single-player games with chance.

They keep ``P[state][action]``, a list of (probability, next state, reward, end), and the state ``s``. Equal
outcomes are merged. Gymnasium's ``TimeLimit`` is part of the game; ``without_time_limit`` is that of the table
alone.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.clone.generators import global_random_guard
from zermelo.envs.clone.kinds import full_name
from zermelo.envs.errors import GameOverError, IllegalActionError, UnsupportedGameError, illegal_action
from zermelo.envs.game import CHANCE, Chance, Information, RewardSum, Traits, TraitSource
from zermelo.envs.live.wrappers import TIME_LIMIT, game_layers, game_name, layers
from zermelo.envs.traits.declared import declared_traits
from zermelo.envs.traits.merging import AdaptedGame, merge_traits


class TableState(NamedTuple):
    """A state of the table, or the chance event after an action in it.

    Attributes:
        state: The table's state.
        action: The action whose outcome is about to be drawn, or -1 where the player decides.
        over: Whether the game has ended.
        total: The rewards so far.
        left: Steps that the time limit still allows; infinite without one.
    """

    state: int
    action: int
    over: bool
    total: float
    left: float


class _Outcome(NamedTuple):
    probability: float
    state: int
    reward: float
    over: bool


def has_table(raw: Any) -> bool:
    """Whether a Gymnasium environment has a transition table that decides everything it does.

    No wrapper may change the game (time limits apart), and Taxi's fickle passengers are not in its table.
    """
    env = raw.unwrapped
    if any(full_name(type(layer)) != TIME_LIMIT for layer in game_layers(raw)[:-1]):
        return False
    table, now = getattr(env, "P", None), getattr(env, "s", None)
    if not isinstance(table, Mapping) or now is None or np.ndim(now) or getattr(env, "fickle_passenger", False):
        return False
    actions = table.get(int(now))
    first = next(iter(actions.values()), None) if isinstance(actions, Mapping) else None
    return isinstance(first, Sequence) and len(first) > 0 and len(first[0]) == 4


def _time_limits(env: Any) -> list[Any]:
    return [layer for layer in layers(env) if full_name(type(layer)) == TIME_LIMIT]


def _merged(entries: Sequence[Any]) -> tuple[_Outcome, ...]:
    """The outcomes of an action, equal ones merged, in the table's order."""
    merged: dict[tuple[int, float, bool], list[float]] = {}
    for probability, after, reward, over in entries:
        if probability > 0:
            merged.setdefault((int(after), float(reward), bool(over)), []).append(float(probability))
    return tuple(_Outcome(math.fsum(parts), *outcome) for outcome, parts in merged.items())


class TableGame:
    """The game of an environment with a transition table; ``step_limit`` is that of its time limit, if any."""

    def __init__(self, env: Any, given: Mapping[str, Any] | None = None) -> None:
        self._source = env.unwrapped.P
        self._table: dict[int, dict[int, tuple[_Outcome, ...]]] = {
            int(state): {int(action): _merged(entries) for action, entries in sorted(actions.items())}
            for state, actions in self._source.items()
        }
        limits = [layer._max_episode_steps for layer in _time_limits(env)]
        self.step_limit: int | None = min(limits, default=None)
        self._template = clone_env(env)
        self._name = game_name(env)
        for state, actions in self._table.items():
            for action, outcomes in actions.items():
                if not math.isfinite(sum(one.reward for one in outcomes)):
                    raise UnsupportedGameError(
                        f"a reward of {self._name} must be a finite number, not as in P[{state}][{action}] = "
                        f"{self._source[state][action]!r}: pay a number that is large enough instead"
                    )
        choices = [outcomes for actions in self._table.values() for outcomes in actions.values()]
        known = {
            "reward_sum": RewardSum.GENERAL,
            "chance": Chance.EXACT if any(len(outcomes) > 1 for outcomes in choices) else Chance.NONE,
            "information": Information.PERFECT,
            "terminal_rewards_only": not any(one.reward and not one.over for each in choices for one in each),
            "num_actions": len(next(iter(self._table.values()))),
        }
        self.traits = merge_traits(
            Traits(name=self._name, seat_names=("player",)),
            (TraitSource.GIVEN, given or {}),
            (TraitSource.DECLARED, declared_traits(env)),
            (TraitSource.KNOWN, known),
        )

    @property
    def num_states(self) -> int:
        return len(self._table)

    def fits(self, env: Any) -> bool:
        return getattr(env.unwrapped, "P", None) is self._source and has_table(env)

    def snapshot(self, env: Any) -> TableState:
        """The state of a live environment now; one that every action ends in, unchanged, is an end."""
        state, left = int(env.unwrapped.s), math.inf
        if self.step_limit is not None:
            left = min(limit._max_episode_steps - (limit._elapsed_steps or 0) for limit in _time_limits(env))
        outcomes = [outcome for each in self._table[state].values() for outcome in each]
        over = left <= 0 or all(one.over and one.state == state and not one.reward for one in outcomes)
        return TableState(state, -1, over, 0.0, left)

    def initial_state(self, seed: int = 0) -> TableState:
        env = clone_env(self._template)
        with global_random_guard(seed):
            env.reset(seed=seed)
        return self.snapshot(env)

    @functools.cached_property
    def without_time_limit(self) -> TableGame:
        """The game of the table alone; it takes this game's states and counts no steps."""
        if self.step_limit is None:
            return self
        timeless = copy.copy(self)
        timeless.step_limit = None
        return timeless

    def to_move(self, state: TableState) -> int:
        return 0 if state.action < 0 else CHANCE

    def legal_actions(self, state: TableState) -> tuple[int, ...]:
        return () if state.over or state.action >= 0 else tuple(self._table[state.state])

    def chance_outcomes(self, state: TableState) -> tuple[tuple[int, float], ...]:
        outcomes = self._table[state.state][state.action] if state.action >= 0 else ()
        return tuple((number, one.probability) for number, one in enumerate(outcomes))

    def result(self, state: TableState, action: int) -> TableState:
        if state.over:
            raise GameOverError(f"{self._name} is over: there is no action to play")
        actions = self._table[state.state]
        if state.action >= 0:
            outcomes = actions[state.action]
            if not 0 <= action < len(outcomes):
                raise IllegalActionError(f"{action!r} is not a chance outcome: there are {len(outcomes)}, from 0")
            return self._after(state, outcomes[action])
        if action not in actions:
            raise illegal_action(action, f"in {self._name}", self.legal_actions(state))
        if len(actions[action]) == 1:
            return self._after(state, actions[action][0])
        return state._replace(action=int(action))

    def _after(self, state: TableState, outcome: _Outcome) -> TableState:
        left = state.left - 1 if self.step_limit is not None else math.inf
        return TableState(outcome.state, -1, outcome.over or left <= 0, state.total + outcome.reward, left)

    def is_terminal(self, state: TableState) -> bool:
        return state.over

    def utility(self, state: TableState) -> tuple[float, ...]:
        return (state.total,)

    def key(self, state: TableState) -> Hashable:
        """All of the state but the rewards so far."""
        return state.state, state.action, state.over, state.left if self.step_limit is not None else math.inf

    def to_env_action(self, state: TableState, action: int) -> int:
        return action

    def text(self, state: TableState) -> str:
        return f"state {state.state}" + (f", action {state.action} under way" if state.action >= 0 else "")


def make_game(raw: Any, given: Mapping[str, Any], patience: float) -> AdaptedGame:
    """The game of an environment; see ``as_game.Ecosystem``."""
    return AdaptedGame(TableGame(raw, given))
