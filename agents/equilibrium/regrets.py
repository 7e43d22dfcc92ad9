"""Counterfactual regret minimization as in ``textbook_cfr``: over a sequence form, or samples of a larger game."""

from __future__ import annotations

import enum
import random
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

import numpy as np

from zermelo.agents.base.recursion import (
    MAX_PLIES,
    PLIES_AT_ONCE,
    UNSOLVED,
    GameTooLongError,
    deep_recursion,
    make_room,
)
from zermelo.agents.base.requirements import no_legal_action
from zermelo.agents.equilibrium.sequence_form import Floats, SeatForm, SequenceForm
from zermelo.agents.solutions.policy_table import Entry, PolicyTable, game_identity, information_key, rules_of
from zermelo.envs.game import CHANCE, Game

_ALPHA: Final = 1.5
_BETA: Final = 0.0
_GAMMA: Final = 2.0  # Brown and Sandholm's recommendation


class Variant(enum.StrEnum):
    """Variants of CFR, by the weight of earlier iterations."""

    CFR = "cfr"
    """All alike."""
    PLUS = "plus"
    """CFR+: regrets never fall below zero, and later policies weigh more. Tammelin, "Solving large imperfect
    information games using CFR+", arXiv:1407.5042 (2014)."""
    DISCOUNTED = "discounted"
    """Earlier regrets fade, bad ones faster, and so do earlier policies. Brown and Sandholm, "Solving
    imperfect-information games via discounted regret minimization", AAAI (2019)."""
    EXTERNAL_SAMPLING = "external_sampling"
    """CFR over a sample of chance and of the opponents' actions, for games too large to be written out."""


class CFR:
    """Regrets and average policies, iteration by iteration; players are updated in turn."""

    def __init__(self, form: SequenceForm, variant: Variant) -> None:
        self.form, self.variant = form, variant
        self.iterations = 0
        self._regrets = [np.zeros(seat.size - 1) for seat in form.seats]
        self._sums = [np.zeros(seat.size) for seat in form.seats]
        self._behaviours = [seat.uniform() for seat in form.seats]
        self._plans = [seat.plan(each) for seat, each in zip(form.seats, self._behaviours, strict=True)]

    def iterate(self, count: int = 1) -> None:
        for _ in range(count):
            self.iterations += 1
            for seat, form in enumerate(self.form.seats):
                if len(form.keys):
                    self._update(seat, form)

    def _update(self, seat: int, form: SeatForm) -> None:
        values = self.form.sequence_values(seat, self._plans)
        behaviour, regrets, sums = self._behaviours[seat], self._regrets[seat], self._sums[seat]
        # 1. From the last decisions to the first: the value of each decision, which adds to what led there.
        for level in reversed(form.levels):
            lower, upper = level.sequences.start, level.sequences.stop
            here = values[lower:upper]
            worth = np.add.reduceat(behaviour[lower - 1 : upper - 1] * here, level.starts)
            regrets[lower - 1 : upper - 1] += here - worth[level.owners]
            np.add.at(values, level.parents, worth)
        # 2. What was played counts for the average; earlier iterations fade.
        sums += self._plans[seat] * (self.iterations if self.variant is Variant.PLUS else 1.0)
        if self.variant is Variant.PLUS:
            np.maximum(regrets, 0.0, out=regrets)
        elif self.variant is Variant.DISCOUNTED:
            positive, negative = (self.iterations**power for power in (_ALPHA, _BETA))
            regrets *= np.where(regrets > 0, positive / (positive + 1), negative / (negative + 1))
            sums *= (self.iterations / (self.iterations + 1)) ** _GAMMA
        # 3. Regret matching.
        self._behaviours[seat] = form.normalized(np.maximum(regrets, 0.0))
        self._plans[seat] = form.plan(self._behaviours[seat])

    def average(self) -> list[Floats]:
        """The average behaviour of each player. S - 1 each."""
        return [form.normalized(sums[1:]) for form, sums in zip(self.form.seats, self._sums, strict=True)]


class _Decision:
    """An information state: its actions, their regrets, and how often each was to be played."""

    __slots__ = ("actions", "played", "regrets")

    def __init__(self, actions: Sequence[int]) -> None:
        self.actions = tuple(actions)
        self.regrets, self.played = [0.0] * len(self.actions), [0.0] * len(self.actions)


def _matched(weights: list[float]) -> list[float]:
    """Probabilities in proportion to what is positive; uniform where nothing is."""
    positive = [weight if weight > 0 else 0.0 for weight in weights]
    total = sum(positive)
    if total <= 0:
        return [1 / len(weights)] * len(weights)
    return [weight / total for weight in positive]


class ExternalSampling:
    """Regrets and average policies over samples of a game; ``check`` is called at each state."""

    def __init__(self, game: Game[Any], seed: int, check: Callable[[], Any] = lambda: None) -> None:
        self.game: Any = game
        self._random = random.Random(seed)
        self._check = check
        self._decisions: dict[tuple[int, Hashable], _Decision] = {}

    def iterate(self, count: int) -> None:
        with deep_recursion(self.game, UNSOLVED):
            for _ in range(count):
                self._check()
                for seat in range(self.game.traits.seats):
                    self._sample(self.game.initial_state(), seat, 0)

    def _sample(self, state: Any, seat: int, ply: int) -> float:
        """A seat's value by one sample of the game, in which it tries all its actions; updates its regrets."""
        game = self.game
        if game.is_terminal(state):
            return float(game.utility(state)[seat])
        self._check()
        if ply > MAX_PLIES:
            raise GameTooLongError(game, MAX_PLIES, UNSOLVED)
        if ply % PLIES_AT_ONCE == 0:
            make_room()
        mover = game.to_move(state)
        if mover == CHANCE:
            outcomes, chances = zip(*game.chance_outcomes(state), strict=True)
            return self._sample(game.result(state, self._random.choices(outcomes, chances)[0]), seat, ply + 1)
        decision = self._decision(state, mover)
        shares = _matched(decision.regrets)
        if mover != seat:
            # Its average is what it was to play whenever another was updated.
            decision.played = [before + share for before, share in zip(decision.played, shares, strict=True)]
            action = self._random.choices(decision.actions, shares)[0]
            return self._sample(game.result(state, action), seat, ply + 1)
        values = [self._sample(game.result(state, action), seat, ply + 1) for action in decision.actions]
        value = sum(share * each for share, each in zip(shares, values, strict=True))
        gains = zip(decision.regrets, values, strict=True)
        decision.regrets = [regret + each - value for regret, each in gains]
        return value

    def _decision(self, state: Any, mover: int) -> _Decision:
        key = mover, self.game.information_state_key(state, mover)
        decision = self._decisions.get(key)
        if decision is None:
            actions = self.game.legal_actions(state)
            if not actions:
                raise no_legal_action(self.game)
            decision = self._decisions[key] = _Decision(actions)
        return decision

    def policy(self) -> PolicyTable:
        entries: dict[str, Entry] = {}
        for (seat, key), each in self._decisions.items():
            shares = dict(zip(each.actions, _matched(each.played), strict=True))
            entries[information_key(self.game, seat, key)] = None, shares
        rules = rules_of(self.game)
        return PolicyTable(game=game_identity(self.game), entries=entries, is_hidden=True, rules=rules)
