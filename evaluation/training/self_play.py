"""Games of an evaluation against itself, and what their positions were worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from zermelo.agents.evaluators.fitted.evaluator import FittedEvaluator
from zermelo.agents.evaluators.fitted.observed import Entries, FeatureSet
from zermelo.agents.players.search_agent import SearchAgent
from zermelo.envs import CHANCE, Chance
from zermelo.envs.rules import RulesGame

_LOOKS: Final = 8
"""How many actions that do not end the game are looked at where each look takes a copy of an environment.

More games teach more than better ones, and what is drawn are as many other moves; an action that wins is seen.
"""


@dataclass(frozen=True)
class Played:
    """One game.

    Attributes:
        states: Its positions, or some of them, in which a player is to move.
        entries: Their features.
        returns: What the seat of each was worth there: the lambda-return, without rewards received before.
    """

    states: Sequence[Any]
    entries: Entries
    returns: npt.NDArray[np.float64]


def past_chance(game: Any, state: Any, generator: np.random.Generator) -> Any:
    """The state in which a player is to move, or the game is over: what chance does is drawn."""
    while not game.is_terminal(state) and game.to_move(state) == CHANCE:
        outcomes = game.chance_outcomes(state)
        draw, chosen = generator.random(), outcomes[-1][0]
        for outcome, probability in outcomes:
            draw -= probability
            if draw < 0:
                chosen = outcome
                break
        state = game.result(state, chosen)
    return state


def after(game: Any, state: Any, action: int, generator: np.random.Generator) -> Any:
    """The state after an action; drawn, where chance can only be simulated."""
    if game.traits.chance is Chance.SAMPLED:
        return game.sample_result(state, action, generator)
    return game.result(state, action)


def is_copied(game: Any) -> bool:
    """Whether states are copies of an environment, which take long to make and to look at."""
    return not isinstance(game, RulesGame)


class SelfPlay:
    """Plays games in which both sides look one action ahead, or search.

    Every game begins with random actions, as many as are drawn, and some later ones are random too. Where each
    look at a state takes a copy of an environment, few actions are looked at.

    Args:
        game, starts: The game, and states to begin at.
        features: What is written down of positions.
        evaluator: Who plays; None plays at random, but on copies of an environment wins at once where it can.
        mixed: Lambda: 1 for how games end, 0 for what the evaluator says of the next position.
        opening: The most random actions at the beginning.
        explore: The probability of a random action after that.
        longest: Moves after which a game ends as it stands.
        generator: Of all that is drawn.
        teacher: A search that plays instead; how its games end is all that is learned then.
    """

    def __init__(
        self,
        game: Any,
        starts: Sequence[Any],
        features: FeatureSet,
        evaluator: FittedEvaluator | None,
        *,
        mixed: float,
        opening: int,
        explore: float,
        longest: int,
        generator: np.random.Generator,
        teacher: SearchAgent | None = None,
    ) -> None:
        self.teacher = teacher
        self.game, self.starts, self.features, self.evaluator = game, starts, features, evaluator
        self.mixed, self.opening, self.explore, self.longest = mixed, opening, explore, longest
        self.generator = generator
        self._looks = _LOOKS if is_copied(game) and game.traits.chance is Chance.NONE else None

    def play(self) -> list[Played]:
        """One game; none if it was over before anything was written down."""
        game, generator = self.game, self.generator
        state = self.starts[int(generator.integers(len(self.starts)))]
        at_random = int(generator.integers(self.opening + 1))
        states: list[Any] = []
        told: list[float | None] = []
        for _ in range(self.longest):
            state = past_chance(game, state, generator)
            if game.is_terminal(state):
                break
            actions = game.legal_actions(state)
            action, worth = actions[int(generator.integers(len(actions)))], None
            if at_random > 0:
                at_random -= 1
            else:
                states.append(state)
                if self.teacher is not None:
                    if generator.random() >= self.explore:
                        action = self.teacher.search_state(game, state).action
                elif self.evaluator is not None:
                    values = self._worths(state, actions)
                    best = int(np.argmax(values))
                    if generator.random() < self.explore:
                        worth = float(values[best])
                    else:
                        action = actions[best]
                elif self._looks is not None:
                    wins = self._winning(state, actions)
                    action = action if wins is None else wins
                told.append(worth)
            state = after(game, state, action, generator)
        if not states:
            return []
        entries = self.features.entries(game, states)
        return [Played(states, entries, self._returns(states, told, entries, game.utility(state)))]

    def _winning(self, state: Any, actions: Sequence[int]) -> int | None:
        """An action that wins at once, if there is one.

        Of a game at random that is all that costs little to see, and who wins then says more about its positions:
        there are few games.
        """
        game, mover = self.game, self.game.to_move(state)
        if game.traits.seats != 2 or not game.traits.terminal_rewards_only:
            return None
        for action in actions:
            child = game.result(state, action)
            if game.is_terminal(child) and game.utility(child)[mover] > game.utility(child)[1 - mover]:
                return action
        return None

    def _returns(
        self, states: Sequence[Any], told: Sequence[float | None], entries: Entries, final: Sequence[float]
    ) -> npt.NDArray[np.float64]:
        """Lambda-returns (Sutton and Barto, 2nd ed., chapter 12); a random action cuts off what came later."""
        game, constant = self.game, self.game.traits.constant
        two = game.traits.seats == 2
        so_far = [game.utility(state) for state in states]
        evaluator = self.evaluator if self.teacher is None else None
        expected = None if evaluator is None else evaluator.expected(game.traits, entries)
        returns = np.empty(len(states))
        total = float(final[0])  # of the first seat, all rewards together
        for place in range(len(states) - 1, -1, -1):
            if place + 1 < len(states) and expected is not None:
                seat = entries.seats[place + 1]
                looks = expected[place + 1] + so_far[place + 1][seat]
                looks = constant - looks if two and seat == 1 else looks
                total = self.mixed * total + (1.0 - self.mixed) * looks
            worth = told[place]
            if worth is not None:  # for the player to move, who then moved at random
                total = constant - worth if two and game.to_move(states[place]) == 1 else worth
            seat = entries.seats[place]
            mine = constant - total if two and seat == 1 else total
            returns[place] = mine - so_far[place][seat]
        return returns

    def _worths(self, state: Any, actions: Sequence[int]) -> npt.NDArray[np.float64]:
        """What each action is worth to the player to move, rewards so far included."""
        game, mover = self.game, self.game.to_move(state)
        worths = np.zeros(len(actions))
        leaves: list[Any] = []
        places: list[int] = []
        shares: list[float] = []

        def add(place: int, share: float, child: Any) -> None:
            if game.is_terminal(child):
                worths[place] += share * game.utility(child)[mover]
            elif game.to_move(child) == CHANCE:
                for outcome, probability in game.chance_outcomes(child):
                    add(place, share * probability, game.result(child, outcome))
            else:
                leaves.append(child)
                places.append(place)
                shares.append(share)

        for place, action in enumerate(actions):
            add(place, 1.0, after(game, state, action, self.generator))
        if self._looks is not None and len(leaves) > self._looks:
            chosen = set(self.generator.permutation(len(leaves))[: self._looks].tolist())
            for number, place in enumerate(places):
                worths[place] = 0.0 if number in chosen else -math.inf
            leaves, places, shares = (
                [each for number, each in enumerate(some) if number in chosen] for some in (leaves, places, shares)
            )
        if leaves:
            assert self.evaluator is not None
            entries = self.features.entries(game, leaves)
            expected = self.evaluator.expected(game.traits, entries)
            for leaf, place, share, worth, seat in zip(
                leaves, places, shares, expected.tolist(), entries.seats.tolist(), strict=True
            ):
                total = worth + game.utility(leaf)[seat]
                worths[place] += share * (total if seat == mover else game.traits.constant - total)
        return worths
