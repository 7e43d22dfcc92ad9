"""Rules seen as a ``Game``: what every search, table and tournament works with."""

from __future__ import annotations

import copy
import enum
import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, ForwardRef

import numpy as np
import numpy.typing as npt

from zermelo.envs.errors import GameOverError, RulesError, illegal_action, require_actions_of
from zermelo.envs.game import CHANCE, Chance, Information, RewardSum, Traits, TraitSource
from zermelo.envs.rules.contract import METHODS, REQUIRED, method_or_default, require_known_names
from zermelo.envs.rules.history import RulesWithHistory, has_history
from zermelo.envs.rules.observations import observation
from zermelo.envs.rules.protocol import EVALUATION_UNIT, GENERAL_SUM

HIDDEN: Final = ("information_state_key", "resample")
"""The methods of rules in which players do not see the whole state."""


def is_rules(thing: Any) -> bool:
    """Whether an object (not a class) is a game's rules: a named tuple that has, at least, ``initial_state``."""
    return isinstance(thing, tuple) and hasattr(thing, "_fields") and hasattr(thing, "initial_state")


def parameter_types(rules: Any) -> tuple[type, ...]:
    """The types of the parameters, for keys: 1, 1.0 and True are equal."""
    return tuple(map(type, rules))


def is_shipped(rules: Any) -> bool:
    """True for rules of this package; those of others may have their names and parameters."""
    return type(rules).__module__.startswith("zermelo.envs.games.")


class RulesGame:
    """The game that rules describe, in plain Python: the kernels' oracle, and what runs where Numba is missing.

    States are the rules' own named tuples; with ``repetition_key`` they know their past (``history``).

    Attributes:
        max_legal_actions: The most actions, or outcomes of chance, that a state can have.
        num_moves: The number of actions, or of outcomes of chance where there are more of these.
        symmetries: How many symmetries searches may use; only the identity where the past matters.

    Raises:
        RulesError: A method that every game needs is not there, one is misspelt, or a parameter is not an integer.
    """

    _scale = 1.0
    _checks = True
    """Whether ``result`` refuses actions that are not legal."""

    def __init__(self, rules: Any) -> None:
        if isinstance(rules, type):
            raise RulesError(f"{rules.__name__} is a class: make rules of it, as in {rules.__name__}()")
        kind: type = type(rules)
        require_known_names(kind)
        needed: tuple[str, ...] = REQUIRED
        if hasattr(kind, HIDDEN[0]) or hasattr(kind, HIDDEN[1]):  # without the last, players would observe it all
            observing = "observation" if hasattr(kind, "observation") else "write_observation"
            needed = (*REQUIRED, *HIDDEN, observing)
        missing = [name for name in needed if not callable(getattr(kind, name, None))]
        if not is_rules(rules) or missing:
            lacks = f"{kind.__name__} has no {', '.join(missing)}" if missing else f"{rules!r} is no named tuple"
            raise RulesError(f"{lacks}: see zermelo.envs.rules for the methods that rules have")
        for name, value in zip(rules._fields, rules, strict=True):
            if not isinstance(value, int) and not (isinstance(value, float) and _is_float(kind, name)):
                raise RulesError(f"{kind.__name__}.{name} must be an integer, not {value!r}")
        if any(isinstance(value, enum.IntEnum) for value in rules):  # which kernels do not take
            rules = kind._make(int(value) if isinstance(value, enum.IntEnum) else value for value in rules)  # type: ignore[attr-defined]
        if hasattr(rules, "check"):
            rules.check()
        self.rules = rules
        self._played: Any = RulesWithHistory(rules) if has_history(rules) else rules
        self._key = getattr(self._played, "key", None)
        passed_on = [name for name in METHODS if hasattr(rules, name) and not hasattr(type(self), name)]
        vars(self).update({name: getattr(rules, name) for name in passed_on})
        vars(self).update({name: make(self) for name, (need, make) in _OFFERED.items() if hasattr(rules, need)})
        self.max_legal_actions = int(method_or_default(rules, "max_legal_actions")())
        self.num_moves = int(max(rules.num_actions(), method_or_default(rules, "num_outcomes")()))
        self.symmetries = 1 if has_history(rules) else int(method_or_default(rules, "symmetries")())
        self.traits = _traits(rules)
        self._seats = range(self.traits.seats)
        self._zeros = (0.0,) * self.traits.seats

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RulesGame) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity()[:3])

    def _identity(self) -> tuple[Any, ...]:
        return type(self), type(self.rules), self.rules, parameter_types(self.rules), self._scale, self.traits

    def __repr__(self) -> str:
        return f"RulesGame({self.rules!r})"

    def initial_state(self) -> Any:
        return self._played.initial_state()

    def to_move(self, state: Any) -> int:
        return int(self.rules.to_move(state))

    def legal_actions(self, state: Any) -> Sequence[int]:
        """The legal actions, ascending; none at a terminal state."""
        if self._played.is_terminal(state):
            return []
        actions = [0] * self.max_legal_actions
        return actions[: self._played.legal_actions(state, actions)]

    def chance_outcomes(self, state: Any) -> Sequence[tuple[int, float]]:
        outcomes = [0] * self.max_legal_actions
        probabilities = [0.0] * self.max_legal_actions
        count = self.rules.chance_outcomes(state, outcomes, probabilities)
        return list(zip(outcomes[:count], probabilities[:count], strict=True))

    def result(self, state: Any, action: int) -> Any:
        """The state after an action or a chance outcome.

        Raises:
            IllegalActionError: It is not legal.
            GameOverError: The game is over.
        """
        if self.is_terminal(state):
            raise GameOverError(f"{self.traits.name} is over: there is no action to play")
        chance = self.traits.chance is not Chance.NONE and self.to_move(state) == CHANCE
        legal = [each for each, _ in self.chance_outcomes(state)] if chance else self.legal_actions(state)
        if action not in legal:
            raise illegal_action(action, f"in {self.traits.name}", legal)
        return self._played.result(state, action)

    @property
    def numbered(self) -> Any:
        """This game with the numbers of actions that the environment has."""
        return self

    @functools.cached_property
    def for_search(self) -> RulesGame:
        """This game with the rules' own methods that searches ask millions of times: ``result`` checks nothing."""
        if not self._checks:
            return self
        game, played = copy.copy(self), self._played
        own = {"result": played.result, "is_terminal": played.is_terminal, "to_move": self.rules.to_move}
        vars(game).update(own, _checks=False)
        return game

    def is_terminal(self, state: Any) -> bool:
        return bool(self._played.is_terminal(state))

    def utility(self, state: Any) -> tuple[float, ...]:
        """The outcome for every seat; zeros before the end."""
        if not self._played.is_terminal(state):
            return self._zeros
        return tuple(float(self._played.utility(state, seat)) for seat in self._seats)

    def key(self, state: Any) -> Hashable:
        """The rules' own key, else the state itself; where they matter, with the positions that may come again."""
        key: Hashable = state if self._key is None else self._key(state)
        return key

    def position_key(self, state: Any) -> Hashable:
        """The key without the past: the rules' own, else the state itself."""
        key: Hashable = getattr(self.rules, "key", tuple)(state)
        return key

    def reach(self, state: Any) -> int:
        """Plies since the position whose repetition ends the game here, or forbids an action."""
        return self._played.reach(state) if has_history(self.rules) else 0

    def with_rewards_on_the_way(self) -> RulesGame:
        """This game with what has been received so far as the utility of unfinished states, and no part of a key.

        For rules without ``received`` and ``future`` this is the game as it is.
        """
        return _RewardsOnTheWay(self.rules) if hasattr(self.rules, "future") else self

    def observation(self, state: Any, seat: int) -> Any:
        """The observation of a seat: the rules' own planes, or else the bits of the state."""
        return observation(self.rules, state, seat)

    def image(self, state: Any) -> npt.NDArray[np.uint8]:
        from zermelo.envs.pictures.boards import draw

        return draw(self.rules, state)

    def to_env_action(self, state: Any, action: int) -> int:
        return action

    def _evaluation(self, state: Any) -> tuple[float, ...]:
        lower, upper = self.rules_bounds
        values = (self.rules.evaluation(state, seat) for seat in self._seats)
        return tuple(min(max(value, lower), upper) / EVALUATION_UNIT for value in values)

    def _action_priors(self, state: Any, actions: Sequence[int]) -> list[float]:
        priors = [0.0] * len(actions)
        self.rules.action_priors(state, actions, len(actions), priors)
        return priors

    # -- moves at the same time: rules ask seats in turn, and ``round_start`` takes back what they have chosen ----

    def _movers(self, state: Any) -> Sequence[int]:
        return () if self.is_terminal(state) or self.to_move(state) == CHANCE else self._seats

    def _actions_of(self, state: Any, seat: int) -> Sequence[int]:
        """The legal actions of one of the seats; what others choose makes no difference to them."""
        state = self.rules.round_start(state)
        while self.to_move(state) != seat:
            state = self.result(state, self.legal_actions(state)[0])
        return self.legal_actions(state)

    def _joint_result(
        self, state: Any, actions: Mapping[int, int], generator: np.random.Generator | None = None
    ) -> Any:
        require_actions_of(self._movers(state), actions, self.traits.name)
        state = self.rules.round_start(state)
        for _ in actions:
            seat = self.to_move(state)
            legal = self.legal_actions(state)
            if actions[seat] not in legal:
                raise illegal_action(actions[seat], f"for player {seat} in {self.traits.name}", legal)
            state = self.result(state, actions[seat])
        return state

    @property
    def rules_bounds(self) -> tuple[int, int]:
        """Lower and upper bound of evaluations, in 1024ths: strictly inside the utility bounds."""
        lower, upper = self.traits.utility_bounds
        return int(lower) * EVALUATION_UNIT + 1, int(upper) * EVALUATION_UNIT - 1


_OFFERED: Final[Mapping[str, tuple[str, Callable[[Any], Any]]]] = {
    "movers": ("round_start", lambda game: game._movers),
    "actions_of": ("round_start", lambda game: game._actions_of),
    "joint_result": ("round_start", lambda game: game._joint_result),
    "hides_more": ("round_start", lambda game: method_or_default(game.rules, "hides_more")),
    "pass_turn": ("pass_turn", lambda game: game._played.pass_turn),
    "evaluation": ("evaluation", lambda game: game._evaluation),
    "action_aliases": ("action_text", lambda game: method_or_default(game.rules, "action_aliases")),
    "action_priors": ("action_priors", lambda game: game._action_priors),
}
"""What games have besides where the rules have a certain method. All others that searches ask are the rules' own,
in the instance: that is one call less a node."""


def _is_float(kind: type, name: str) -> bool:
    declared = (vars(each).get("__annotations__", {}).get(name) for each in kind.__mro__)
    return next((each for each in declared if each is not None), None) in (float, "float", ForwardRef("float"))


class _RewardsOnTheWay(RulesGame):
    def utility(self, state: Any) -> tuple[float, ...]:
        if self._played.is_terminal(state):
            return super().utility(state)
        return tuple(float(self.rules.received(state, seat)) for seat in self._seats)

    def key(self, state: Any) -> Hashable:
        return super().key(self._played.future(state))


def _traits(rules: Any) -> Traits:
    def ask(name: str) -> Any:
        return method_or_default(rules, name)()

    defaults = type(rules)._field_defaults
    settings = [f"{name}={value}" for name, value in rules._asdict().items() if defaults.get(name) != value]
    seats, total = int(ask("seats")), ask("utility_sum")
    names = getattr(rules, "seat_names", None)
    varying = RewardSum.GENERAL if total == GENERAL_SUM else RewardSum.CONSTANT
    reward_sum = varying if total else RewardSum.ZERO
    lower, upper = ask("utility_bounds")
    declared = ("reward_sum", "constant", "chance", "information", "utility_bounds", "terminal_rewards_only")
    return Traits(
        name=type(rules).__name__ + (f"({', '.join(settings)})" if settings else ""),
        seat_names=tuple(names()) if names is not None else tuple(f"player_{seat}" for seat in range(seats)),
        reward_sum=reward_sum,
        constant=float(total) if reward_sum is RewardSum.CONSTANT else 0.0,
        chance=Chance.EXACT if hasattr(rules, "chance_outcomes") else Chance.NONE,
        information=Information.HIDDEN if hasattr(rules, HIDDEN[0]) else Information.PERFECT,
        simultaneous=hasattr(rules, "round_start"),
        utility_bounds=(float(lower), float(upper)),
        terminal_rewards_only=True,
        num_actions=int(ask("num_actions")),
        sources=dict.fromkeys((*declared, "num_actions"), TraitSource.DECLARED),
    )
