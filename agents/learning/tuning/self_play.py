"""Games of an agent against itself, and the value of their positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from zermelo.agents.core.playouts import after, past_chance
from zermelo.agents.evaluators.fitted.evaluator import FittedEvaluator
from zermelo.agents.evaluators.fitted.observed import Entries, FeatureSet
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.envs import CHANCE, Chance
from zermelo.envs.rules import RulesGame

_MOST_LEAVES: Final = 8
"""Leaves that are evaluated of a state, drawn, where states are copies of an environment, which are slow.

More games teach more than better ones.
"""
_MAX_MOVES: Final = 2_000
_EXPLORE: Final = 0.3
"""Probability of a random move in the opening."""


class Choice(NamedTuple):
    """An action, and the utility that its player expects; None if that is unknown."""

    action: int
    value: float | None


Player: TypeAlias = Callable[[Any], Choice]


def searching(game: Any, agent: SearchAgent, *, is_learned: bool) -> Player:
    """A player that searches; its value counts only if its evaluation was learned."""

    def choose(state: Any) -> Choice:
        result = agent.search_state(game, state)
        return Choice(result.action, result.value if is_learned else None)

    return choose


class OnePly:
    """A player that looks one move ahead and evaluates all states after its moves at once.

    Without an evaluator it plays at random, but takes an action that wins at once.
    """

    def __init__(
        self, game: Any, features: FeatureSet, evaluator: FittedEvaluator | None, generator: np.random.Generator
    ) -> None:
        self.game, self.features, self.evaluator, self.generator = game, features, evaluator, generator
        self._sees_wins = game.traits.seats == 2 and game.traits.terminal_rewards_only
        is_slow = not isinstance(game, RulesGame) and game.traits.chance is Chance.NONE
        self._most_leaves = _MOST_LEAVES if is_slow else None

    def __call__(self, state: Any) -> Choice:
        """One of the best actions."""
        actions = self.game.legal_actions(state)
        if self.evaluator is None and not self._sees_wins:
            return Choice(actions[int(self.generator.integers(len(actions)))], None)
        values = self._values(state, actions)
        best = np.flatnonzero(values == values.max())
        chosen = int(best[self.generator.integers(len(best))])
        return Choice(actions[chosen], None if self.evaluator is None else float(values[chosen]))

    def _values(self, state: Any, actions: Sequence[int]) -> npt.NDArray[np.float64]:
        game, mover = self.game, self.game.to_move(state)
        values = np.zeros(len(actions))
        leaves: list[tuple[Any, int, float]] = []

        def add(index: int, probability: float, child: Any) -> None:
            if game.is_terminal(child):
                values[index] += probability * game.utility(child)[mover]
            elif game.to_move(child) == CHANCE:
                for outcome, share in game.chance_outcomes(child):
                    add(index, probability * share, game.result(child, outcome))
            else:
                leaves.append((child, index, probability))

        for index, action in enumerate(actions):
            add(index, 1.0, after(game, state, action, self.generator))
        if self.evaluator is None:
            for _, index, probability in leaves:
                values[index] += probability * game.traits.constant / 2
            return values
        if self._most_leaves is not None and len(leaves) > self._most_leaves:
            chosen = self.generator.permutation(len(leaves))
            values[[leaves[number][1] for number in chosen[self._most_leaves :]]] = -np.inf
            leaves = [leaves[number] for number in chosen[: self._most_leaves]]
        if leaves:
            entries = self.features.entries(game, [leaf for leaf, _, _ in leaves])
            expected = self.evaluator.expected(game.traits, entries)
            for (leaf, index, probability), value, seat in zip(leaves, expected, entries.seats, strict=True):
                total = value + game.utility(leaf)[seat]
                values[index] += probability * (total if seat == mover else game.traits.constant - total)
        return values


@dataclass(frozen=True)
class Played:
    """Positions of one game in which a player is to move, their features, and the entries' returns."""

    states: Sequence[Any]
    entries: Entries
    returns: npt.NDArray[np.float64]  # without the rewards before


class SelfPlay:
    """Plays games against itself, or a ``partner`` in one seat of every other game; opening moves may be random.

    Only positions that no random move follows are recorded: there the end of the game is the value between equals,
    also after moves that nobody would choose, and searches ask about such positions most.

    Args:
        opening: Moves after which none is random, at most.
        positions: Positions recorded of a game, at most: neighbours say the same.
        records: Says of a position and what was chosen whether to record it.
    """

    def __init__(
        self,
        game: Any,
        starts: Sequence[Any],
        player: Player,
        partner: Player | None = None,
        *,
        opening: int,
        positions: int,
        generator: np.random.Generator,
        records: Callable[[Any, Choice], bool] = lambda state, choice: True,
    ) -> None:
        self.game, self.starts, self.generator = game, starts, generator
        self.player, self.partner = player, partner
        self.opening, self.positions, self.records = opening, positions, records

    def play(self) -> tuple[list[tuple[Any, Choice]], Sequence[float]]:
        """Positions of one game, and its utilities; no positions if it was over before any, or too long."""
        game, generator = self.game, self.generator
        state = self.starts[int(generator.integers(len(self.starts)))]
        until = int(generator.integers(self.opening + 1))
        players = [self.player, self.player]
        partner_seat = int(generator.integers(4))
        if self.partner is not None and partner_seat < 2:
            players[partner_seat] = self.partner
        recorded: list[tuple[Any, Choice]] = []
        for move in range(_MAX_MOVES):
            state = past_chance(game, state, generator)
            if game.is_terminal(state):
                break
            if move < until and generator.random() < _EXPLORE:
                actions = game.legal_actions(state)
                action = actions[int(generator.integers(len(actions)))]
            else:
                choice = players[game.to_move(state)](state)
                action = choice.action
                if move >= until and self.records(state, choice):
                    recorded.append((state, choice))
            state = after(game, state, action, generator)
        if not game.is_terminal(state):
            return [], ()
        chosen = np.sort(generator.permutation(len(recorded))[: self.positions])
        return [recorded[place] for place in chosen], game.utility(state)


def with_returns(
    game: Any,
    features: FeatureSet,
    recorded: Sequence[tuple[Any, Choice]],
    final: Sequence[float],
    outcome_share: float,
) -> list[Played]:
    """The positions of a game with features and returns; nothing of none.

    ``outcome_share`` is the weight of the outcome in a return; the rest is the player's value, where it has one.
    """
    if not recorded:
        return []
    states = [position for position, _ in recorded]
    entries, returns = features.entries(game, states), np.empty(len(states))
    for place, ((position, choice), seat) in enumerate(zip(recorded, entries.seats, strict=True)):
        total = final[seat]
        if choice.value is not None:
            own = choice.value if game.to_move(position) == seat else game.traits.constant - choice.value
            total = outcome_share * total + (1.0 - outcome_share) * own
        returns[place] = total - game.utility(position)[seat]
    return [Played(states, entries, returns)]
