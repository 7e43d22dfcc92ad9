"""Games of simultaneous moves, solved from the end: a matrix game at each state (Shapley, 1953)."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.agents.base.budget import Budget, SearchStopped
from zermelo.agents.base.limits import Limits
from zermelo.agents.base.requirements import no_legal_action, require_simultaneous, require_two_opposed
from zermelo.agents.base.settings import check_callable, check_whole
from zermelo.agents.equilibrium.matrix_games import solve_matrix
from zermelo.agents.equilibrium.sequence_form import Floats
from zermelo.agents.solutions.solution import (
    ProgressLines,
    Solution,
    SolvingProgress,
    WatchedBudget,
    outcome_of,
    unknown_solution,
)
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.game import Chance
from zermelo.envs.position import search_game
from zermelo.envs.support.calls import checked_call

_DIGITS: Final = 12


def has_few_states(game: Any, state: Any, most: int) -> bool:
    """True if ``solve_simultaneous`` takes the game and visits at most ``most`` states."""
    if not game.traits.is_opposed or game.traits.chance is Chance.SAMPLED:
        return False
    seen, waiting = {game.key(state)}, [state]
    while waiting and len(seen) <= most:
        for after, _ in _successors(game, waiting.pop()):
            if (key := game.key(after)) not in seen:
                seen.add(key)
                waiting.append(after)
    return len(seen) <= most


def _successors(game: Any, state: Any) -> Iterator[tuple[Any, float]]:
    """The successors of a state, row by row of its matrix, with their probabilities where chance decides."""
    if game.is_terminal(state):
        return
    if not game.movers(state):
        yield from ((game.result(state, outcome), chance) for outcome, chance in game.chance_outcomes(state))
        return
    for row, column in itertools.product(*_actions(game, state)):
        joint = {seat: action for seat, action in ((0, row), (1, column)) if action is not None}
        yield game.joint_result(state, joint), 1.0


def _actions(game: Any, state: Any) -> list[list[int | None]]:
    """Both players' actions; who does not move has one, None."""
    movers = game.movers(state)
    return [list(game.actions_of(state, seat)) if seat in movers else [None] for seat in (0, 1)]


@checked_call
def solve_simultaneous(
    game: Any,
    state: Any = None,
    *,
    seconds: float | None = None,
    most_states: int = 200_000,
    on_progress: Callable[[SolvingProgress], Any] | None = None,
) -> Solution:
    """Solves a game for two opposed players who move at the same time, or in turn, by backward induction.

    Stochastic games, which can return to a state that they have left, are refused, not iterated. Where ``seconds``
    are over, the solution has bounds.

    Args:
        game: A ``Game`` with simultaneous moves and exact chance or none, in which nothing else is hidden, or what
            ``as_game`` makes one of.
        state: The state to solve; by default the initial state.
        seconds: Time limit, in seconds; None for no limit.
        most_states: States that may be visited at most; those with equal keys count once.
        on_progress: Called ten times a second; ``actions_solved`` are states, of ``actions`` found so far. By
            default a line on standard error says it after 2, 4, 8, ... seconds.

    Raises:
        UnsupportedGameError: It is no such game, or has more states.
    """
    check_whole("most_states", most_states, lower=1)
    check_callable("on_progress", on_progress, "of a SolvingProgress")
    game = search_game(game)
    budget = WatchedBudget(Limits(seconds=seconds), on_progress=on_progress or ProgressLines(game.traits.name))
    state = game.initial_state() if state is None else state
    try:
        return backward_induction(game, state, budget, most_states=most_states)
    except SearchStopped as stopped:
        return unknown_solution(game, state, 0, budget.nodes, budget.seconds, stopped.reason)


def backward_induction(game: Any, state: Any, budget: Budget, *, most_states: float) -> Solution:
    """``solve_simultaneous`` within a budget, which counts the states found; raises ``SearchStopped``."""
    require_simultaneous(game, "solve_simultaneous")
    require_two_opposed(game.traits, "solve_simultaneous")
    if game.traits.chance is Chance.SAMPLED:
        raise UnsupportedGameError(
            f"solve_simultaneous needs to know what chance does, but that of {game.traits.name} can only be "
            "simulated: use 'simultaneous_mcts', or traits={'chance': 'deterministic'} if it has none"
        )
    graph = _JointMoveGraph(game, budget)
    if isinstance(budget, WatchedBudget):
        budget.solved = lambda: (len(graph.values), len(graph.states))
    graph.find(state, most_states)
    graph.solve()
    return graph.solution()


class _Branches(NamedTuple):
    shape: tuple[int, ...] | None  # how many actions each player has; None where chance decides, or at the end
    after: array[int]  # the numbers of the states that follow
    rewards: array[float]  # what the first player is paid on the way there
    chances: array[float]  # how likely they are where chance decides


class _JointMoveGraph:
    """All states of a game by number, the values to come of those that are solved, and what leads where."""

    def __init__(self, game: Any, budget: Budget) -> None:
        self.game, self.budget = game, budget
        self.states: list[Any] = []
        self.values: dict[int, float] = {}
        self._numbers: dict[Hashable, int] = {}
        self._branches: list[_Branches] = []

    def find(self, state: Any, most_states: float) -> None:
        game, numbers, rounds = self.game, self._numbers, [0]
        numbers[game.key(state)] = 0
        self.states.append(state)
        for here in self.states:  # it grows on the way
            self.budget.visit(0)
            away, so_far = rounds[len(self._branches)], game.utility(here)[0]
            after, rewards, chances = array("q"), array("d"), array("d")
            for then, chance in _successors(game, here):
                self.budget.check_clock()
                number = numbers.setdefault(game.key(then), len(self.states))
                if number == len(self.states):
                    if number >= most_states:
                        raise UnsupportedGameError(
                            f"{game.traits.name} has more than {most_states:,} states, found within {away + 1:,} "
                            "rounds: search it with 'simultaneous_mcts', or allow more "
                            "(solve_simultaneous(most_states=...), solve(nodes=...))"
                        )
                    self.states.append(then)
                    rounds.append(away + 1)
                after.append(number)
                rewards.append(game.utility(then)[0] - so_far)
                chances.append(chance)
            if not after and not game.is_terminal(here):
                raise no_legal_action(game)
            shape = tuple(map(len, _actions(game, here))) if after and game.movers(here) else None
            self._branches.append(_Branches(shape, after, rewards, chances))

    def solve(self) -> None:
        """Solves each state when all that can follow it are solved, from the ends of the game on."""
        before: list[list[int]] = [[] for _ in self.states]
        waiting = [len(branches.after) for branches in self._branches]
        for number, branches in enumerate(self._branches):
            for then in branches.after:
                before[then].append(number)
        ready = [number for number, count in enumerate(waiting) if count == 0]
        for number in ready:  # it grows on the way
            self.budget.check_clock()
            self.values[number] = self._value(self._branches[number])
            for one in before[number]:
                waiting[one] -= 1
                if waiting[one] == 0:
                    ready.append(one)
        if len(ready) < len(self.states):
            raise UnsupportedGameError(
                f"{self.game.traits.name} can come back to a state that it has left, so it has no end to be "
                "solved from: use 'simultaneous_mcts'"
            )

    def _value(self, branches: _Branches) -> float:
        if not branches.after:
            return 0.0
        if branches.shape is not None:
            return solve_matrix(self._matrix(branches)).value
        return float(np.dot(branches.chances, self._matrix(branches)))

    def _matrix(self, branches: _Branches) -> Floats:
        worth = np.array(branches.rewards) + [self.values[number] for number in branches.after]
        return worth if branches.shape is None else worth.reshape(branches.shape)

    def solution(self) -> Solution:
        game, traits, state = self.game, self.game.traits, self.states[0]
        value = round(game.utility(state)[0] + self.values[0], _DIGITS)
        policies: dict[int, Any] = {}
        if self._branches[0].shape is not None:
            solved = solve_matrix(self._matrix(self._branches[0]))
            mixed = solved.row.tolist(), solved.column.tolist()
            actions = _actions(game, state)
            policies = {seat: dict(zip(actions[seat], mixed[seat], strict=True)) for seat in game.movers(state)}
        return Solution(
            seat=0,
            value=value,
            value_bounds=(value, value),
            values_by_seat=traits.values_by_seat(0, value),
            outcome=outcome_of(traits, 0, value, value),
            nodes=len(self.states),
            seconds=self.budget.seconds,
            proven=game.hides_more() is False,
            policies=policies,
        )
