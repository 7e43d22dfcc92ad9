"""Games in which both players move at the same time: of one move, and of several, solved from the end.

In a game of one move the first player chooses a row, the second a column, neither sees the other's choice. Arrays
are of shape (rows, columns); mixed strategies are probabilities of rows and of columns. Several moves are a
matrix game at each state (Shapley, "Stochastic games", PNAS 39, 1953). Players see everything but each other's
move of the moment, so a state's value does not depend on what led there.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from zermelo.agents.base.budget import Budget, SearchStopped
from zermelo.agents.base.limits import Limits
from zermelo.agents.base.requirements import no_legal_action, require_simultaneous, require_two_opposed
from zermelo.agents.base.settings import check_callable, check_whole
from zermelo.agents.base.solution import Solution, SolvingProgress, outcome_of, unsolved
from zermelo.agents.base.watched_budget import ProgressLines, WatchedBudget
from zermelo.agents.equilibrium.sequence_form import Floats
from zermelo.envs import Chance, InvalidSettingError, UnsupportedGameError
from zermelo.envs.position import search_game

_ROUNDING: Final = 1e-9
_DIGITS: Final = 12
_SMALL: Final = 1e-6
"""Less than this of a choice is the program's inaccuracy."""


class MatrixSolution(NamedTuple):
    """An equilibrium of a zero-sum game: the first player's value, and both players' mixed strategies."""

    value: float
    row: Floats
    column: Floats


class Dominated(NamedTuple):
    """A row or column that is worse than a mixture of others, whatever the other player does."""

    player: int  # 0 for rows, 1 for columns
    action: int
    by: Floats  # the mixture


def solve_matrix(payoffs: npt.ArrayLike) -> MatrixSolution:
    """The value and an equilibrium of a zero-sum game.

    ``payoffs`` are those of the second player to the first. Found are, in this order, a saddle point; in a square
    matrix, mixtures of all choices that make the other player indifferent; and a linear program's solution.
    """
    matrix = _matrix(payoffs)
    rows, columns = matrix.shape
    worst, best = matrix.min(axis=1), matrix.max(axis=0)
    if worst.max() == best.min():
        return MatrixSolution(float(worst.max()), _pure(rows, worst.argmax()), _pure(columns, best.argmin()))
    halves = matrix / 2  # their range is finite
    lowest, size = halves.min(), np.ptp(halves)
    scaled = (halves - lowest) / size
    row, column = _mixed(scaled, range(rows), range(columns)) or _programmed(scaled)
    return MatrixSolution(float(2 * (lowest + size * (row @ scaled @ column))), row, column)


def _mixed(payoffs: Floats, mine: Sequence[int], theirs: Sequence[int]) -> tuple[Floats, Floats] | None:
    """The equilibrium in which both mix just these choices, as many of each; None if there is none."""
    if len(mine) != len(theirs):
        return None
    inner, row, column = payoffs[np.ix_(mine, theirs)], np.zeros(len(payoffs)), np.zeros(payoffs.shape[1])
    one, other = _indifferent(inner.T), _indifferent(inner)
    if one is None or other is None:
        return None
    row[mine], column[theirs] = one, other
    gain = (payoffs @ column).max() - (row @ payoffs).min()
    return (row, column) if gain <= _ROUNDING else None


def _programmed(payoffs: Floats) -> tuple[Floats, Floats]:
    """An equilibrium by linear programming, worked out again from the choices that are mixed in it."""
    from scipy.optimize import linprog

    rows, columns = payoffs.shape
    # Maximize v, where a mixture of rows gets at least v against every column; v may be negative.
    objective = np.append(np.zeros(rows), -1.0)
    against = np.hstack([-payoffs.T, np.ones((columns, 1))])
    total = np.append(np.ones(rows), 0.0)[None]
    bounds = [(0.0, None)] * rows + [(None, None)]
    found: Any = linprog(objective, A_ub=against, b_ub=np.zeros(columns), A_eq=total, b_eq=[1.0], bounds=bounds)
    column = np.maximum(-found.ineqlin.marginals, 0.0)  # the dual program is the second player's
    row = np.maximum(found.x[:-1], 0.0)
    exact = _mixed(payoffs, *(np.flatnonzero(mixture > _SMALL).tolist() for mixture in (row, column)))
    return exact or (row / row.sum(), column / column.sum())


def pure_equilibria(first: npt.ArrayLike, second: npt.ArrayLike) -> list[tuple[int, int]]:
    """Rows and columns from which neither player gains by changing its own choice."""
    one, two = _matrices(first, second)
    stable = (one == one.max(axis=0)) & (two == two.max(axis=1)[:, None])
    return [(int(row), int(column)) for row, column in np.argwhere(stable)]


def equilibria(first: npt.ArrayLike, second: npt.ArrayLike) -> list[tuple[Floats, Floats]]:
    """Equilibria of a small game, mixed ones too, by support enumeration over both players' payoffs.

    Both players mix as many choices, so of degenerate games some equilibria may be missing. Nisan, Roughgarden,
    Tardos and Vazirani (eds.), *Algorithmic Game Theory* (2007), algorithm 3.4.
    """
    one, two = _matrices(first, second)
    rows, columns = one.shape
    found: list[tuple[Floats, Floats]] = []
    for size in range(1, min(rows, columns) + 1):
        for mine in itertools.combinations(range(rows), size):
            for theirs in itertools.combinations(range(columns), size):
                column = _indifferent(one[np.ix_(mine, theirs)])  # makes the first player indifferent
                row = _indifferent(two[np.ix_(mine, theirs)].T)
                if row is None or column is None:
                    continue
                x, y = np.zeros(rows), np.zeros(columns)
                x[list(mine)], y[list(theirs)] = row, column
                is_best = (one @ y).max() <= x @ one @ y + _ROUNDING and (x @ two).max() <= x @ two @ y + _ROUNDING
                if is_best:
                    found.append((x, y))
    return found


def _indifferent(payoffs: Floats) -> Floats | None:
    """The mixture of columns, all of them used, against which all rows get the same; None where there is none."""
    size = len(payoffs)
    system = np.zeros((size + 1, size + 1))
    system[:size, :size], system[:size, size], system[size, :size] = payoffs, -1.0, 1.0
    try:
        mixed: Floats = np.linalg.solve(system, np.append(np.zeros(size), 1.0))[:size]
    except np.linalg.LinAlgError:
        return None
    return mixed if (mixed > _ROUNDING).all() else None


def dominated(first: npt.ArrayLike, second: npt.ArrayLike) -> Iterator[Dominated]:
    """Strictly dominated choices, one after the other: each is left out before the next is looked for."""
    payoffs = _matrices(first, second)
    left = [list(range(payoffs[0].shape[0])), list(range(payoffs[0].shape[1]))]
    while True:
        step = next((each for player in (0, 1) for each in _dominated_by(player, payoffs, left)), None)
        if step is None:
            return
        left[step.player].remove(step.action)
        yield step


def _dominated_by(player: int, payoffs: tuple[Floats, Floats], left: list[list[int]]) -> Iterator[Dominated]:
    """The player's choices that a mixture of its others beats everywhere, in what is left."""
    mine = left[player]
    worth = payoffs[player][np.ix_(left[0], left[1])]
    worth = worth if player == 0 else worth.T
    for place, action in enumerate(mine):
        if len(mine) == 1:
            return
        others = [each for each in range(len(mine)) if each != place]
        margin = solve_matrix(worth[others] - worth[place])
        if margin.value > _ROUNDING:
            by = np.zeros(payoffs[player].shape[player])
            by[[mine[each] for each in others]] = margin.row
            yield Dominated(player, action, by)


def _pure(size: int, place: Any) -> Floats:
    chosen = np.zeros(size)
    chosen[int(place)] = 1.0
    return chosen


def _matrix(payoffs: npt.ArrayLike) -> Floats:
    try:
        matrix = np.asarray(payoffs, np.float64)
    except (TypeError, ValueError):  # text, or rows of different lengths
        matrix = np.empty(0)
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
        raise InvalidSettingError(
            f"payoffs must be a matrix of finite numbers, rows for the first player, not {payoffs!r}"
        )
    return matrix


def _matrices(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[Floats, Floats]:
    one, two = _matrix(first), _matrix(second)
    if one.shape != two.shape:
        raise InvalidSettingError(f"both players' payoffs need one shape, not {one.shape} and {two.shape}")
    return one, two


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


def solve_simultaneous(
    game: Any,
    state: Any = None,
    *,
    seconds: float | None = None,
    most_states: int = 200_000,
    most_rounds: int | None = None,
    on_progress: Callable[[SolvingProgress], Any] | None = None,
) -> Solution:
    """Solves a game for two opposed players who move at the same time, or in turn, by backward induction.

    Stochastic games, which can return to a state that they have left, are refused, not iterated. Where ``seconds``
    are over, the solution has bounds.

    Args:
        game: A ``Game`` with simultaneous moves and exact chance or none, in which nothing else is hidden, or what
            ``as_game`` makes one of.
        state: The state to solve; by default the initial state.
        seconds: The most time to take.
        most_states: The most states; those with equal keys count once.
        most_rounds: The most rounds from ``state`` to any other, chance events counted too.
        on_progress: Called ten times a second; ``actions_solved`` are states, of ``actions`` found so far. By
            default a line on standard error says it after 2, 4, 8, ... seconds.

    Raises:
        UnsupportedGameError: It is no such game, or has more states or rounds.
    """
    check_whole("most_states", most_states, lower=1)
    if most_rounds is not None:
        check_whole("most_rounds", most_rounds, lower=1)
    check_callable("on_progress", on_progress, "of a SolvingProgress")
    found: Any = search_game(game)
    limits = Limits(seconds=seconds)
    budget = WatchedBudget(limits, on_progress=on_progress or ProgressLines(found.traits.name))
    begin = found.initial_state() if state is None else state
    try:
        return backward_induction(found, begin, budget, most_states=most_states, most_rounds=most_rounds)
    except SearchStopped as stopped:
        return unsolved(found, begin, 0, budget.nodes, budget.seconds, stopped.reason)


def backward_induction(
    game: Any, state: Any, budget: Budget, *, most_states: float, most_rounds: int | None = None
) -> Solution:
    """``solve_simultaneous`` within a budget, which counts the states found; raises ``SearchStopped``."""
    require_simultaneous(game, "solve_simultaneous")
    require_two_opposed(game.traits, "solve_simultaneous")
    if game.traits.chance is Chance.SAMPLED:
        raise UnsupportedGameError(
            f"solve_simultaneous needs to know what chance does, but that of {game.traits.name} can only be "
            "simulated: use 'simultaneous_mcts', or traits={'chance': 'deterministic'} if it has none"
        )
    graph = _Graph(game, budget)
    if isinstance(budget, WatchedBudget):
        budget.solved = lambda: (len(graph.values), len(graph.states))
    graph.find(state, most_states, most_rounds)
    graph.solve()
    return graph.solution()


class _Successors(NamedTuple):
    """Returns the successors of a state, row by row of its matrix.

    Attributes:
        shape: How many actions each player has; None where chance decides, or the game has ended.
        after: The numbers of the states that follow; none at the end.
        rewards: What the first player is paid on the way there.
        chances: How likely they are where chance decides.
    """

    shape: tuple[int, ...] | None
    after: array[int]
    rewards: array[float]
    chances: array[float]


class _Graph:
    """All states of a game by number, the values to come of those that are solved, and what leads where."""

    def __init__(self, game: Any, budget: Budget) -> None:
        self.game, self.budget = game, budget
        self.states: list[Any] = []
        self.values: dict[int, float] = {}
        self._numbers: dict[Hashable, int] = {}
        self._found: list[_Successors] = []

    def find(self, state: Any, most_states: float, most_rounds: int | None) -> None:
        """Lists all states that can be reached from one, the nearest first."""
        game, numbers, rounds = self.game, self._numbers, [0]
        numbers[game.key(state)] = 0
        self.states.append(state)
        for here in self.states:  # it grows on the way
            self.budget.visit(0)
            away, so_far = rounds[len(self._found)], game.utility(here)[0]
            after, rewards, chances = array("q"), array("d"), array("d")
            for then, chance in _successors(game, here):
                self.budget.check_clock()
                number = numbers.setdefault(game.key(then), len(self.states))
                if number == len(self.states):
                    self._require_room(away + 1, most_states, most_rounds)
                    self.states.append(then)
                    rounds.append(away + 1)
                after.append(number)
                rewards.append(game.utility(then)[0] - so_far)
                chances.append(chance)
            if not after and not game.is_terminal(here):
                raise no_legal_action(game)
            shape = tuple(map(len, _actions(game, here))) if after and game.movers(here) else None
            self._found.append(_Successors(shape, after, rewards, chances))

    def _require_room(self, rounds: int, most_states: float, most_rounds: int | None) -> None:
        name, states = self.game.traits.name, len(self.states)
        if states >= most_states:
            raise UnsupportedGameError(
                f"{name} has more than {most_states:,} states, found within {rounds:,} rounds: search it with "
                "'simultaneous_mcts', or allow more (solve_simultaneous(most_states=...), solve(nodes=...))"
            )
        if most_rounds is not None and rounds > most_rounds:
            raise UnsupportedGameError(
                f"{name} has more than {most_rounds:,} rounds, and {states:,} states within them: search it with "
                "'simultaneous_mcts', or allow more (solve_simultaneous(most_rounds=...))"
            )

    def solve(self) -> None:
        """Solves each state when all that can follow it are solved, from the ends of the game on."""
        before: list[list[int]] = [[] for _ in self.states]
        waiting = [len(found.after) for found in self._found]
        for number, found in enumerate(self._found):
            for then in found.after:
                before[then].append(number)
        ready = [number for number, count in enumerate(waiting) if count == 0]
        for number in ready:  # it grows on the way
            self.budget.check_clock()
            self.values[number] = self._value(self._found[number])
            for one in before[number]:
                waiting[one] -= 1
                if waiting[one] == 0:
                    ready.append(one)
        if len(ready) < len(self.states):
            raise UnsupportedGameError(
                f"{self.game.traits.name} can come back to a state that it has left, so it has no end to be "
                "solved from: use 'simultaneous_mcts'"
            )

    def _value(self, found: _Successors) -> float:
        if not found.after:
            return 0.0
        if found.shape is not None:
            return solve_matrix(self._matrix(found)).value
        return float(np.dot(found.chances, self._matrix(found)))

    def _matrix(self, found: _Successors) -> Floats:
        """The first player's utility to come, by joint action or outcome of chance."""
        worth = np.array(found.rewards) + [self.values[number] for number in found.after]
        return worth if found.shape is None else worth.reshape(found.shape)

    def solution(self) -> Solution:
        """The solution of the first state."""
        game, traits, state = self.game, self.game.traits, self.states[0]
        value = round(game.utility(state)[0] + self.values[0], _DIGITS)
        policies: dict[int, Any] = {}
        if self._found[0].shape is not None:
            solved = solve_matrix(self._matrix(self._found[0]))
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
