"""Value iteration: the values of games that can return to an earlier state or last for ever, such as Pig.

The textbook's ``value_iteration`` says how it works. Small changes do not show that the values are near where they
are going (Haddad and Monmege, "Interval iteration algorithm for MDPs and IMDPs", Theoretical Computer Science 735,
2018): they only say when to try a proof, that of optimistic value iteration (Hartmanns and Kaminski, CAV 2020),
from both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from zermelo.agents.base.branches import child_of, choices_in, no_action_works
from zermelo.agents.base.requirements import (
    no_legal_action,
    require_one_or_two_opposed,
    require_perfect_information,
)
from zermelo.agents.base.scores import finite
from zermelo.agents.base.settings import check_number, check_whole
from zermelo.envs.adapters.transition_table import TableGame
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.game import CHANCE, Chance, Game, Traits
from zermelo.envs.position import position
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.support.calls import checked_call

_NAME = "value_iteration"
_MOST_SWEEPS = 100_000
_END = -2
"""The mover at the end of the game."""


@dataclass(frozen=True, eq=False)
class ValueTable:
    """The values of all states of a game.

    Attributes:
        numbers: The number of each state, by ``game.key``.
        values_to_come: By number, the first player's value without the rewards so far.
        tolerance, sweeps: How far off a value may be, and the sweeps it took.
        moves_to_end: By number, the fewest moves in which best play may end the game; the number of states where
            it cannot.
    """

    game: Game[Any]
    numbers: Mapping[Hashable, int] = field(repr=False)
    values_to_come: npt.NDArray[np.float64] = field(repr=False)
    tolerance: float
    sweeps: int
    moves_to_end: npt.NDArray[np.int64] = field(repr=False)

    def __len__(self) -> int:
        return len(self.numbers)

    def __contains__(self, state: Any) -> bool:
        return self.game.key(state) in self.numbers

    def value(self, state: Any) -> float:
        """The first player's value of a state under best play, rewards so far included."""
        number = self.numbers.get(self.game.key(state))
        if number is None:
            raise InvalidSettingError(
                f"{state} is none of the {len(self)} states in the table: give it to value_iteration among states"
            )
        return self.game.utility(state)[0] + float(self.values_to_come[number])

    def action_values(self, state: Any) -> dict[int, float]:
        """For each legal action, what the player to move gets by it."""
        mine, total = self.game.to_move(state) == 0, float(self.game.traits.constant)
        values = {action: self.value(self.game.result(state, action)) for action in self.game.legal_actions(state)}
        return {action: value if mine else total - value for action, value in values.items()}

    def action(self, state: Any) -> int:
        """A best action; of several, the one with the smallest number."""
        return self.best_actions(state)[0]

    def best_actions(self, state: Any) -> tuple[int, ...]:
        """The best actions, ascending; of several those with which the game may end soonest, without circles."""
        values = self.action_values(state)
        best = max(values.values())
        tied = [action for action, value in values.items() if value >= best - 2 * self.tolerance]
        numbers = [self.numbers[self.game.key(self.game.result(state, action))] for action in tied]
        moves = self.moves_to_end[numbers]
        return tuple(action for action, number in zip(tied, moves, strict=True) if number == moves.min())


def stationary(game: Any) -> Any:
    """A game whose states are the same position however long the game has lasted."""
    if isinstance(game, RulesGame):
        return game.with_rewards_on_the_way().for_search
    return game.without_time_limit if isinstance(game, TableGame) else game


@checked_call
def value_iteration(
    game: Any,
    tolerance: float = 1e-9,
    *,
    states: Iterable[Any] | None = None,
    most_states: int = 2_000_000,
    steps: int | None = None,
    check: Callable[[], Any] = lambda: None,
) -> ValueTable:
    """The values of all states that can be reached, for one player, or two with a constant sum.

    Args:
        game: A ``Game``, or what ``as_game`` makes one of, with chance that is exact or none.
        tolerance: How far off a value may be, in the game's utility.
        states: Where to start from; by default where a live environment stands, else the initial state.
        most_states: States that the game may have at most.
        steps: Moves after which the game ends; None for no limit.
        check: Called at each state and each sweep; what it raises ends the work.

    Raises:
        UnsupportedGameError: The game has more players, other sums, hidden parts or sampled chance; it has too
            many states; or the values do not settle, as where rewards can go on for ever.
    """
    check_number("tolerance", tolerance, lower=1e-14)
    check_whole("most_states", most_states, lower=1)
    root = position(game)
    game = root.game
    require_finite(game.traits)
    if states is None:
        states = [root.state]
    game = stationary(game)
    graph = _Graph(game, list(states), most_states, check)
    if steps is None:
        values, sweeps = graph.values(tolerance, check)
    else:
        values, sweeps = graph.values_within(steps, check)
    return ValueTable(game, graph.numbers, values, tolerance, sweeps, graph.moves_to_end(values, tolerance))


def require_finite(traits: Traits) -> None:
    """Refuses more than two players, other sums, hidden parts and sampled chance."""
    require_perfect_information(traits, _NAME)
    require_one_or_two_opposed(traits, _NAME)
    if traits.chance is Chance.SAMPLED:
        raise UnsupportedGameError(
            f"{_NAME} needs the probabilities of chance, but that of {traits.name} can only be sampled: use "
            "'expectiminimax'"
        )


class _Graph:
    """All states of a game, and what leads where, as arrays; the ways out of a state begin at its start."""

    def __init__(self, game: Game[Any], roots: list[Any], most_states: int, check: Callable[[], Any]) -> None:
        self.game = game
        self.numbers: dict[Hashable, int] = {}
        states: list[Any] = []

        def number(state: Any) -> int:
            place = self.numbers.setdefault(game.key(state), len(states))
            if place == len(states):
                if place == most_states:
                    raise UnsupportedGameError(
                        f"{game.traits.name} has more than {most_states:,} states: raise most_states (of zermelo "
                        "solve: --states), leave counters and clocks out of the state, which make every position "
                        "a new one, or use 'expectiminimax' with a depth"
                    )
                states.append(state)
            return place

        for root in roots:
            number(root)
        movers: list[int] = []
        starts: list[int] = []
        after: list[int] = []
        rewards: list[float] = []
        chances: list[float] = []
        for state in states:  # it grows on the way
            check()
            starts.append(len(after))
            if game.is_terminal(state):
                movers.append(_END)
                after.append(len(starts) - 1)  # it stays where it is, for nothing
                rewards.append(0.0)
                chances.append(0.0)
                continue
            mover, so_far = game.to_move(state), game.utility(state)[0]
            movers.append(mover)
            if mover == CHANCE:
                ways: Sequence[tuple[int, float]] = game.chance_outcomes(state)
            else:
                ways = [(action, 1.0) for action in choices_in(game, state)]
            following = [(child_of(game, state, way), probability) for way, probability in ways]
            works = [(then, probability) for then, probability in following if then is not None]
            if not works:
                raise no_legal_action(game) if not ways else no_action_works(game)
            whole = sum(probability for _, probability in works) if mover == CHANCE else 1.0
            for then, probability in works:
                after.append(number(then))
                rewards.append(finite(game.traits, game.utility(then))[0] - so_far)
                chances.append(probability / whole if len(works) < len(ways) else probability)
        self.movers = np.array(movers, dtype=np.int8)
        self.starts = np.array(starts, dtype=np.int64)
        self.after = np.array(after, dtype=np.int64)
        self.rewards = np.array(rewards, dtype=np.float64)
        self.chances = np.array(chances, dtype=np.float64)

    def values(self, tolerance: float, check: Callable[[], Any]) -> tuple[npt.NDArray[np.float64], int]:
        """The first player's utility to come of each state, and the number of sweeps."""
        values = np.zeros(len(self.movers))
        before = 0.0
        bounds: _Bounds | None = None
        for sweep in range(1, _MOST_SWEEPS + 1):
            check()
            new = self.swept(values)
            change = float(np.abs(new - values).max())
            values = new
            if change == 0.0 or (bounds is not None and bounds.hold_after_a_sweep()):
                return values, sweep
            rate = change / before if before > 0 else 1.0
            seems_settled = rate < 1.0 and change * rate / (1.0 - rate) <= tolerance and change <= tolerance
            if seems_settled and (bounds is None or sweep >= bounds.until):
                bounds = _Bounds(self, values, tolerance, until=2 * sweep)
            before = change
        raise UnsupportedGameError(
            f"the values of {self.game.traits.name} still change by {change:.3g} after {_MOST_SWEEPS:,} sweeps: "
            "where rewards can go on for ever there are no values; else give value_iteration a greater tolerance"
        )

    def values_within(self, steps: int, check: Callable[[], Any]) -> tuple[npt.NDArray[np.float64], int]:
        """The first player's utility to come of each state within ``steps`` moves, and the number of sweeps."""
        is_chance = self.movers == CHANCE
        values = np.zeros(len(self.movers))
        values = np.where(is_chance, self.swept(values), values)
        for sweep in range(steps):
            check()
            moved = np.where(is_chance, values, self.swept(values))
            new = np.where(is_chance, self.swept(moved), moved)  # chance takes no time
            if np.array_equal(new, values):
                return new, sweep
            values = new
        return values, steps

    def swept(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        worth = self.rewards + values[self.after]
        best = np.maximum.reduceat(worth, self.starts)
        worst = np.minimum.reduceat(worth, self.starts)
        mean = np.add.reduceat(worth * self.chances, self.starts)
        chosen = np.where(self.movers == 1, worst, best)
        return np.where(self.movers == CHANCE, mean, np.where(self.movers == _END, 0.0, chosen))

    def moves_to_end(self, values: npt.NDArray[np.float64], tolerance: float) -> npt.NDArray[np.int64]:
        """The fewest moves in which best play may end the game, as far as luck allows."""
        number = len(values)
        ways = np.diff(self.starts, append=len(self.after))
        lost = np.abs(self.rewards + values[self.after] - np.repeat(values, ways))
        is_way = (lost <= 2 * tolerance) | np.repeat(self.movers < 0, ways)
        moves = np.where(self.movers == _END, 0, number)
        costs = np.repeat(np.where(self.movers >= 0, 1, 0), ways)
        while True:
            ahead = np.where(is_way, moves[self.after] + costs, number)
            new = np.minimum(np.minimum.reduceat(ahead, self.starts), moves)
            if (new == moves).all():
                return moves
            moves = new


class _Bounds:
    """Values a tolerance above and below those that the sweeps have reached, and whether they are bounds.

    A sweep keeps the order of values. So if some sweeps take the upper ones to values that are nowhere greater,
    then as many sweeps again do so too, and the values below never get beyond them. After sweep ``until`` it is
    better to begin again with better values.
    """

    def __init__(self, graph: _Graph, values: npt.NDArray[np.float64], tolerance: float, *, until: int) -> None:
        self._graph, self.until = graph, until
        margin = np.where(graph.movers == _END, 0.0, tolerance)
        self._upper, self._lower = values + margin, values - margin
        self._upper_holds = self._lower_holds = False
        self._sweeps = 0

    def hold_after_a_sweep(self) -> bool:
        """Makes one sweep of both, and says whether both are bounds."""
        # Compared with those 1, 2, 4, ... sweeps after the beginning, as Brent finds a cycle: values may go round.
        if self._sweeps & (self._sweeps - 1) == 0:
            self._upper_before, self._lower_before = self._upper, self._lower
        self._sweeps += 1
        self._upper, self._lower = self._graph.swept(self._upper), self._graph.swept(self._lower)
        self._upper_holds = self._upper_holds or bool((self._upper <= self._upper_before).all())
        self._lower_holds = self._lower_holds or bool((self._lower >= self._lower_before).all())
        return self._upper_holds and self._lower_holds
