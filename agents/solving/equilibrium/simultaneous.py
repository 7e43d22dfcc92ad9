"""Games in which both players move at the same time, solved from the end: a matrix game at each state.

Shapley, "Stochastic games", PNAS 39 (1953), for games that end. Players see everything but each other's move of
the moment, so a state's value does not depend on what led there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from zermelo.agents.core.gate import require_simultaneous, require_two_opposed
from zermelo.agents.solving.equilibrium.matrix_games import MatrixSolution, solve_matrix
from zermelo.agents.solving.solution import Solution, outcome_of
from zermelo.envs import CHANCE, Chance, UnsupportedGameError
from zermelo.envs.position import search_game


def has_few_states(game: Any, state: Any, most: int) -> bool:
    """True if ``solve_simultaneous`` takes the game and visits at most ``most`` states."""
    traits = game.traits
    if not traits.is_opposed or traits.chance is Chance.SAMPLED:
        return False
    seen, waiting = {game.key(state)}, [state]
    while waiting:
        for after in _successors(game, waiting.pop()):
            key = game.key(after)
            if key not in seen:
                seen.add(key)
                waiting.append(after)
                if len(seen) > most:
                    return False
    return True


def _successors(game: Any, state: Any) -> Iterator[Any]:
    """The states that all moves, or outcomes of chance, lead to."""
    if game.is_terminal(state):
        return
    movers = game.movers(state)
    if not movers:
        yield from (game.result(state, outcome) for outcome, _ in game.chance_outcomes(state))
        return
    for joint in itertools.product(*(game.actions_of(state, seat) for seat in movers)):
        yield game.joint_result(state, dict(zip(movers, joint, strict=True)))


def solve_simultaneous(
    game: Any,
    state: Any = None,
    *,
    most_states: int = 200_000,
    check: Callable[[], Any] = lambda: None,
) -> Solution:
    """Solves a game for two opposed players who move at the same time, or in turn, by backward induction.

    The solution's ``policies`` say what to play in the state, and its ``nodes`` how many states there are.

    Args:
        game: A ``Game`` with simultaneous moves and exact chance or none, in which nothing else is hidden, or what
            ``as_game`` makes one of.
        state: The state to solve; the initial state, if not given.
        most_states: How many states may be looked at; states with equal keys count once.
        check: Called at each state; what it raises ends the work.

    Raises:
        UnsupportedGameError: It is no such game, or has more states.
    """
    found: Any = search_game(game)
    require_simultaneous(found, "solve_simultaneous")
    require_two_opposed(found.traits, "solve_simultaneous")
    if found.traits.chance is Chance.SAMPLED:
        raise UnsupportedGameError(
            f"solve_simultaneous needs to know what chance does, but that of {found.traits.name} can only be "
            "simulated: use 'simultaneous_mcts', or traits={'chance': 'deterministic'} if it has none"
        )
    return _Induction(found, most_states, check).solution(found.initial_state() if state is None else state)


class _Induction:
    """Values of states, each worked out once."""

    def __init__(self, game: Any, most_states: int, check: Callable[[], Any]) -> None:
        self.game, self.most_states, self.check = game, most_states, check
        self.known: dict[Hashable, float] = {}

    def solution(self, state: Any) -> Solution:
        value, movers, traits = self.value(state), self.game.movers(state), self.game.traits
        policies = {}
        if movers:
            solved, actions = self._solved(state, movers)
            for seat, mixed in zip((0, 1), (solved.row, solved.column), strict=True):
                if seat in movers:
                    policies[seat] = dict(zip(actions[seat], map(float, mixed), strict=True))
        return Solution(
            seat=0,
            value=value,
            value_bounds=(value, value),
            values_by_seat=traits.values_by_seat(0, value),
            outcome=outcome_of(traits, 0, value, value),
            nodes=len(self.known),
            proven=self.game.hides_more() is False,
            policies=policies,
        )

    def value(self, state: Any) -> float:
        """The first player's value, rewards so far included."""
        game, known = self.game, self.known
        entered: set[Hashable] = set()
        waiting = [(state, False)]
        while waiting:
            at, are_known = waiting.pop()
            key = self._key(at)
            if are_known:
                known[key] = self._backed_up(at)
            elif key in entered and key not in known:
                raise UnsupportedGameError(
                    f"{game.traits.name} can come back to a state that it has left, so it has no end to be solved "
                    "from: use 'simultaneous_mcts'"
                )
            elif key not in known:
                self.check()
                entered.add(key)
                if len(entered) > self.most_states:
                    raise UnsupportedGameError(
                        f"{game.traits.name} has more than {self.most_states:,} states: raise most_states"
                    )
                waiting.append((at, True))
                waiting.extend((after, False) for after in _successors(game, at))
        return known[self._key(state)]

    def _key(self, state: Any) -> Hashable:
        return self.game.key(state), tuple(self.game.utility(state))

    def _backed_up(self, state: Any) -> float:
        """The value of a state whose successors are known."""
        game = self.game
        if game.is_terminal(state):
            return float(game.utility(state)[0])
        movers = game.movers(state)
        if movers:
            return self._solved(state, movers)[0].value
        assert game.to_move(state) == CHANCE
        outcomes = game.chance_outcomes(state)
        return float(
            sum(chance * self.known[self._key(game.result(state, outcome))] for outcome, chance in outcomes)
        )

    def _solved(self, state: Any, movers: Any) -> tuple[MatrixSolution, list[list[int]]]:
        """The matrix game at a state, and both players' actions; who does not move has one that is none."""
        game = self.game
        actions = [list(game.actions_of(state, seat)) if seat in movers else [-1] for seat in (0, 1)]
        payoffs = [
            [
                self.known[
                    self._key(game.joint_result(state, {s: a for s, a in ((0, row), (1, column)) if s in movers}))
                ]
                for column in actions[1]
            ]
            for row in actions[0]
        ]
        return solve_matrix(payoffs), actions
