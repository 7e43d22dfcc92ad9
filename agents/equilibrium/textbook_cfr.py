"""Counterfactual regret minimization, and best responses in games in which players do not see the whole state."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeAlias

from zermelo.agents.base.textbook_calls import textbook_call
from zermelo.envs.capabilities import SupportsInformationStates
from zermelo.envs.game import CHANCE

Mixed: TypeAlias = Mapping[int, float]  # the probability of each action


@textbook_call(needs=SupportsInformationStates)
def cfr(game: Any, iterations: int) -> dict[tuple[int, Hashable], dict[int, float]]:
    """The average policy of each seat at its information states: near an equilibrium of two opposed players.

    Zinkevich, Johanson, Bowling and Piccione, "Regret minimization in games with incomplete information", NIPS
    (2007); players are updated in turn. For exact chance or none, and a few thousand states at most.
    """
    regrets: dict[tuple[int, Hashable], dict[int, float]] = {}
    played: dict[tuple[int, Hashable], dict[int, float]] = {}

    def matched(weights: Mixed) -> dict[int, float]:
        positive = {action: max(weight, 0.0) for action, weight in weights.items()}
        total = sum(positive.values())
        return {action: each / total if total > 0 else 1 / len(weights) for action, each in positive.items()}

    def walk(state: Any, seat: int, own: float, others: float) -> float:
        """The value for a seat; ``own`` and ``others``: how likely it, and all else, lead to this state."""
        if game.is_terminal(state):
            return float(game.utility(state)[seat])
        mover = game.to_move(state)
        if mover == CHANCE:
            outcomes: list[tuple[int, float]] = game.chance_outcomes(state)
            return sum(p * walk(game.result(state, outcome), seat, own, others * p) for outcome, p in outcomes)
        info = mover, game.information_state_key(state, mover)
        nothing = dict.fromkeys(game.legal_actions(state), 0.0)
        if mover != seat:
            shares = matched(regrets.get(info, nothing))
            return sum(p * walk(game.result(state, a), seat, own, others * p) for a, p in shares.items())
        shares = current.setdefault(info, matched(regrets.setdefault(info, dict(nothing))))
        values = {a: walk(game.result(state, a), seat, own * p, others) for a, p in shares.items()}
        value = sum(p * values[a] for a, p in shares.items())
        for action in shares:
            regrets[info][action] += others * (values[action] - value)
        reached.setdefault(info, own)
        return value

    for _ in range(iterations):
        for seat in range(game.traits.seats):
            current: dict[tuple[int, Hashable], dict[int, float]] = {}
            reached: dict[tuple[int, Hashable], float] = {}
            walk(game.initial_state(), seat, 1.0, 1.0)
            for info, own in reached.items():
                sums = played.setdefault(info, dict.fromkeys(current[info], 0.0))
                for action, share in current[info].items():
                    sums[action] += own * share
    return {info: matched(sums) for info, sums in played.items()}


@textbook_call(needs=SupportsInformationStates)
def best_response_value(game: Any, seat: int, policy: Callable[[Any], Mixed]) -> float:
    """The value of a best response to a policy of all others, which gives each action's probability.

    States that the seat cannot tell apart must get the same answer: they are looked at together.
    """

    def respond(histories: list[tuple[Any, float]]) -> float:
        total, groups = 0.0, dict[Hashable, list[tuple[Any, float]]]()
        while histories:
            state, weight = histories.pop()
            if game.is_terminal(state):
                total += weight * game.utility(state)[seat]
            elif game.to_move(state) == seat:
                groups.setdefault(game.information_state_key(state, seat), []).append((state, weight))
            else:
                is_chance = game.to_move(state) == CHANCE
                ways = game.chance_outcomes(state) if is_chance else policy(state).items()
                histories += [(game.result(state, action), weight * p) for action, p in ways]
        for group in groups.values():
            actions = game.legal_actions(group[0][0])
            total += max(respond([(game.result(state, a), weight) for state, weight in group]) for a in actions)
        return total

    return respond([(game.initial_state(), 1.0)])
