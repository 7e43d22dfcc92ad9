"""CFR by external sampling: chance and the other players' actions are drawn, one player's are all tried.

An iteration costs a small part of the game, so it is for games too large to be written out, and converges slower.
Lanctot, Waugh, Zinkevich and Bowling, "Monte Carlo sampling for regret minimization in extensive games", NIPS
(2009), algorithm 1 with external sampling.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from zermelo.agents.core.gate import no_legal_action
from zermelo.agents.core.recursion import MAX_PLIES, UNSOLVED, GameTooLongError
from zermelo.agents.solving.policy_table import Entry, PolicyTable, game_identity, information_key
from zermelo.envs import CHANCE, Game


class _Decision:
    """An information state: its actions, their regrets, and how often each was to be played."""

    __slots__ = ("actions", "played", "regrets")

    def __init__(self, actions: Sequence[int]) -> None:
        self.actions = tuple(actions)
        self.regrets = [0.0] * len(self.actions)
        self.played = [0.0] * len(self.actions)


class _Open(NamedTuple):
    """A decision of the seat that is updated: the state, its policy, the values of the actions tried so far."""

    state: Any
    decision: _Decision
    shares: list[float]
    values: list[float]
    plies: int

    def update(self) -> float:
        """Adds to the regrets; returns the value of the policy."""
        value = sum(share * each for share, each in zip(self.shares, self.values, strict=True))
        regrets = self.decision.regrets
        self.decision.regrets = [before + each - value for before, each in zip(regrets, self.values, strict=True)]
        return value


def _matched(weights: list[float]) -> list[float]:
    """Probabilities in proportion to what is positive; uniform where nothing is."""
    positive = [weight if weight > 0 else 0.0 for weight in weights]
    total = sum(positive)
    if total <= 0:
        return [1 / len(weights)] * len(weights)
    return [weight / total for weight in positive]


class ExternalSampling:
    """Regrets and average policies, iteration by iteration; players are updated in turn.

    Args:
        game: A game with information states.
        seed: Where the random numbers start.
        check: Called at each state; what it raises ends the work.

    Attributes:
        iterations: How many have been made.
    """

    def __init__(self, game: Game[Any], seed: int, check: Callable[[], Any] = lambda: None) -> None:
        self.game: Any = game
        self.iterations = 0
        self._random = random.Random(seed)
        self._check = check
        self._decisions: dict[tuple[int, Hashable], _Decision] = {}

    def iterate(self, count: int) -> None:
        """Runs ``count`` more iterations."""
        for _ in range(count):
            self._check()
            self.iterations += 1
            for seat in range(self.game.traits.seats):
                self._walk(self.game.initial_state(), seat)

    def _walk(self, state: Any, seat: int) -> None:
        """One sample of the game, in which a seat tries all its actions; its regrets are updated."""
        game, open_nodes = self.game, list[_Open]()
        plies = 0
        while True:
            while not game.is_terminal(state):
                self._check()
                plies += 1
                if plies > MAX_PLIES:
                    raise GameTooLongError(game, MAX_PLIES, UNSOLVED)
                mover = game.to_move(state)
                if mover == CHANCE:
                    outcomes, chances = zip(*game.chance_outcomes(state), strict=True)
                    state = game.result(state, self._random.choices(outcomes, chances)[0])
                    continue
                decision = self._decision(state, mover)
                shares = _matched(decision.regrets)
                if mover == seat:
                    open_nodes.append(_Open(state, decision, shares, [], plies))
                    state = game.result(state, decision.actions[0])
                    continue
                # Its average is what it was to play whenever another was updated.
                decision.played = [before + share for before, share in zip(decision.played, shares, strict=True)]
                state = game.result(state, self._random.choices(decision.actions, shares)[0])
            value = float(game.utility(state)[seat])
            while open_nodes:
                node = open_nodes[-1]
                node.values.append(value)
                if len(node.values) < len(node.decision.actions):
                    break
                open_nodes.pop()
                value = node.update()
            else:
                return
            plies = node.plies
            state = game.result(node.state, node.decision.actions[len(node.values)])

    def _decision(self, state: Any, mover: int) -> _Decision:
        key = mover, self.game.information_state_key(state, mover)
        found = self._decisions.get(key)
        if found is None:
            actions = self.game.legal_actions(state)
            if not actions:
                raise no_legal_action(self.game)
            found = self._decisions[key] = _Decision(actions)
        return found

    def policy(self) -> PolicyTable:
        """The average policy, at all information states that were met."""
        entries: dict[str, Entry] = {}
        for (seat, key), each in self._decisions.items():
            shares = dict(zip(each.actions, _matched(each.played), strict=True))
            entries[information_key(self.game, seat, key)] = None, shares
        return PolicyTable(game=game_identity(self.game), entries=entries, is_hidden=True)
