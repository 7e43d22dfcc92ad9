"""Games in which both players move at the same time: of one move, and of several, solved from the end.

In a game of one move the first player chooses a row, the second a column, neither sees the other's choice. Arrays
are of shape (rows, columns); mixed strategies are probabilities of rows and of columns. Several moves are a
matrix game at each state (Shapley, "Stochastic games", PNAS 39, 1953). Players see everything but each other's
move of the moment, so a state's value does not depend on what led there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from zermelo.agents.base.requirements import require_simultaneous, require_two_opposed
from zermelo.agents.base.solution import Solution, outcome_of
from zermelo.agents.equilibrium.sequence_form import Floats
from zermelo.envs import CHANCE, Chance, InvalidSettingError, UnsupportedGameError
from zermelo.envs.position import search_game

_ROUNDING: Final = 1e-9


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
    """The value and an equilibrium of a zero-sum game, by linear programming.

    ``payoffs`` are those of the second player to the first. A saddle point is found without a program.
    """
    matrix = _matrix(payoffs)
    rows, columns = matrix.shape
    worst, best = matrix.min(axis=1), matrix.max(axis=0)
    if worst.max() == best.min():
        return MatrixSolution(float(worst.max()), _pure(rows, worst.argmax()), _pure(columns, best.argmin()))
    from scipy.optimize import linprog

    # Maximize v, where a mixture of rows gets at least v against every column; v may be negative.
    objective = np.append(np.zeros(rows), -1.0)
    against = np.hstack([-matrix.T, np.ones((columns, 1))])
    total = np.append(np.ones(rows), 0.0)[None]
    bounds = [(0.0, None)] * rows + [(None, None)]
    found: Any = linprog(objective, A_ub=against, b_ub=np.zeros(columns), A_eq=total, b_eq=[1.0], bounds=bounds)
    column = np.maximum(-found.ineqlin.marginals, 0.0)  # the dual program is the second player's
    row = np.maximum(found.x[:-1], 0.0)
    return MatrixSolution(float(found.x[-1]), row / row.sum(), column / column.sum())


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
    matrix = np.asarray(payoffs, np.float64)
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

    Args:
        game: A ``Game`` with simultaneous moves and exact chance or none, in which nothing else is hidden, or what
            ``as_game`` makes one of.
        state: The state to solve; by default the initial state.
        most_states: The most states; those with equal keys count once.
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
                        f"{game.traits.name} has more than {self.most_states:,} states: search it with "
                        "'simultaneous_mcts', or solve it with more (solve_simultaneous(most_states=...))"
                    )
                waiting.append((at, True))
                waiting.extend((after, False) for after in _successors(game, at))
        return known[self._key(state)]

    def _key(self, state: Any) -> Hashable:
        return self.game.key(state), tuple(self.game.utility(state))

    def _backed_up(self, state: Any) -> float:
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
        """The matrix game at a state, and both players' actions; who does not move has one, -1."""
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
