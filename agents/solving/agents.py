"""Best-first search: a way through a puzzle for one player, planned once and then followed."""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, NamedTuple

from zermelo.agents.base.branches import child_of, choices_in
from zermelo.agents.base.budget import Budget, SearchStopped
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.memory import AgentState
from zermelo.agents.base.request import Request
from zermelo.agents.base.requirements import require_deterministic, require_one_player, require_perfect_information
from zermelo.agents.base.result import SearchResult
from zermelo.agents.base.scores import Scale, finite
from zermelo.agents.base.settings import integer, number
from zermelo.agents.search_agent import DEFAULT_SECONDS, SearchAgent
from zermelo.agents.solving.value_iteration import ValueTable, require_finite, stationary, value_iteration
from zermelo.envs.adapters.transition_table import TableGame
from zermelo.envs.game import Game
from zermelo.envs.support.calls import checked_call


class _PathNode(NamedTuple):
    state: Any
    parent: _PathNode | None
    action: int
    depth: int


class _Plan(NamedTuple):
    """A way to an end of the game: by the key of each state on it, the action to take and the rewards to come."""

    steps: Mapping[Hashable, tuple[int, float]]
    is_best: bool = False
    """True if the answer is final: every reachable state was visited, or no other one can be better."""
    is_settled: bool = False
    """It is followed from now on; else the search goes on at the next move."""


_NOTHING = _Plan({})


class _Planned(AgentState):
    game: Game[Any] | None = None
    plan = _NOTHING


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BestFirstAgent(SearchAgent):
    """Best-first search for puzzles: one player, no chance, nothing hidden.

    Of all states reached it goes on from the one with the most rewards so far, of equal ones from the nearest.
    Where rewards are costs that is uniform-cost search; where only the end pays, breadth first. It ends when all
    states were looked at or a limit is reached, and what it has found it follows as long as the game goes as
    planned: an end that pays more than any other step, or the cheapest of ends that only cost. It is not for games
    in which rewards come as long as they last, such as CartPole: it then says no value.

    Attributes:
        nodes: States to visit.
        seconds: Time for a move, from the call on; 1 if no limit is given.
    """

    kind: ClassVar[str] = "best_first"
    default_limits = Limits(seconds=DEFAULT_SECONDS)
    requires = (require_perfect_information, require_one_player, require_deterministic)

    nodes: int | None = None
    seconds: float | None = None

    _planned: _Planned = field(init=False, default_factory=_Planned)

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        self._planned.game, self._planned.plan = None, _NOTHING

    def choose(self, request: Request, budget: Budget) -> SearchResult:
        game, state = request.game, request.state
        plan = self._planned.plan
        if self._planned.game != game or game.key(state) not in plan.steps:
            plan = _NOTHING
        stopped_by = StoppedBy.COMPLETED
        if not plan.is_settled:
            plan, stopped_by = _better_plan(game, state, plan, budget)
            self._planned.game, self._planned.plan = game, plan
        line = _line(game, state, plan)
        values = {line[0]: _total(game, state, plan)} if line and plan.is_settled else {}
        action = line[0] if line else game.legal_actions(state)[0]
        value = values.get(action, float(game.utility(state)[0]))
        return request.result(
            budget,
            action=action,
            value=value,
            values_by_seat=(value,),
            action_values=values,
            principal_variation=line,
            depth=len(line),
            stopped_by=stopped_by,
            proven=plan.is_best,
            plies=len(line) if plan.is_best else None,
        )


def _better_plan(game: Game[Any], root: Any, plan: _Plan, budget: Budget) -> tuple[_Plan, StoppedBy]:
    so_far = game.utility(root)[0]
    most = so_far + game.traits.utility_bounds[1]
    number = itertools.count()
    frontier: list[tuple[float, int, int, _PathNode]] = [(0.0, 0, next(number), _PathNode(root, None, -1, 0))]
    reached = {game.key(root): so_far}
    best, of_its_end, most_of_a_step = _total(game, root, plan), -math.inf, 0.0
    try:
        while frontier:
            *_, node = heapq.heappop(frontier)
            budget.visit(0)
            total = game.utility(node.state)[0]
            if game.is_terminal(node.state):
                if total > best:
                    assert node.parent is not None, "a search begins before the end"
                    best, of_its_end = total, total - game.utility(node.parent.state)[0]
                    plan = _Plan(_steps(game, node))
                if best >= most:
                    break
                continue
            for action in choices_in(game, node.state):
                budget.check_clock()
                after = child_of(game, node.state, action)
                if after is None:
                    continue
                key, reward = game.key(after), finite(game.traits, game.utility(after))[0]
                if not game.is_terminal(after):
                    most_of_a_step = max(most_of_a_step, reward - total)
                if key not in reached or reward > reached[key]:
                    reached[key] = reward
                    found = _PathNode(after, node, action, node.depth + 1)
                    heapq.heappush(frontier, (-reward, found.depth, next(number), found))
    except SearchStopped as stopped:
        is_way = of_its_end > most_of_a_step or (most_of_a_step == 0 and best < so_far)
        return plan._replace(is_settled=bool(plan.steps) and is_way), stopped.reason
    is_known = bool(plan.steps)
    return plan._replace(is_best=is_known, is_settled=is_known), StoppedBy.COMPLETED


def _steps(game: Game[Any], end: _PathNode) -> dict[Hashable, tuple[int, float]]:
    total, node = game.utility(end.state)[0], end
    steps: dict[Hashable, tuple[int, float]] = {}
    while node.parent is not None:
        before = node.parent.state
        steps[game.key(before)] = node.action, total - game.utility(before)[0]
        node = node.parent
    return steps


def _total(game: Game[Any], state: Any, plan: _Plan) -> float:
    _, to_come = plan.steps.get(game.key(state), (-1, -math.inf))
    return float(game.utility(state)[0]) + to_come


def _line(game: Game[Any], state: Any, plan: _Plan) -> tuple[int, ...]:
    line: list[int] = []
    while len(line) < len(plan.steps) and (step := plan.steps.get(game.key(state))) is not None:
        line.append(step[0])
        state = game.result(state, step[0])
    return tuple(line)


_MOST_STEPS: Final = 1_000
"""With more steps left than this a time limit is taken for none: its end is far away."""


class _Solved(AgentState):
    table: ValueTable | None = None
    is_settled = False
    """More steps would change nothing."""


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ValueIterationAgent(SearchAgent):
    """Computes the values of all states by value iteration, and plays by that table.

    For one player, or two with a constant sum, exact chance or none, and as many states as memory holds; games may
    return to earlier states. Of an environment with a transition table the steps that a time limit leaves count.

    Attributes:
        tolerance: How far off a value may be, in the game's utility.
        most_states: States that a game may have at most.
    """

    kind: ClassVar[str] = "value_iteration"

    tolerance: float = number(1e-9, "utility", lower=1e-14)
    most_states: int = integer(2_000_000, "states", lower=1)

    _solved: _Solved = field(init=False, default_factory=_Solved)

    def check_game(self, game: Game[Any]) -> None:
        require_finite(game.traits)

    def choose(self, request: Request, budget: Budget) -> SearchResult:
        game, state = request.game, request.state
        table, is_settled = self._solved.table, self._solved.is_settled
        steps = int(state.left) - 1 if isinstance(game, TableGame) and state.left <= _MOST_STEPS else None
        game = stationary(game)
        seat = game.to_move(state)
        stopped_by, nodes, stats = StoppedBy.COMPLETED, 0, {}
        try:
            serves = table is not None and (table.game is game or table.game == game) and state in table
            # Values that have settled after some steps are those of more steps as well.
            if table is None or not serves or not is_settled or (steps is not None and steps < table.sweeps):
                most, check = self.most_states, budget.check_clock
                table = value_iteration(
                    game, self.tolerance, states=[state], most_states=most, steps=steps, check=check
                )
                self._solved.table, self._solved.is_settled = table, steps is None or table.sweeps < steps
            action, action_values = table.action(state), table.action_values(state)
            value = action_values[action]
            nodes, stats = len(table), {"sweeps": table.sweeps, "tolerance": table.tolerance}
        except SearchStopped as stopped:  # nothing is known before the end
            action, action_values, stopped_by = game.legal_actions(state)[0], {}, stopped.reason
            value = Scale(game, seat=seat).frame(state).middle
        return request.result(
            budget,
            action=action,
            value=value,
            values_by_seat=game.traits.values_by_seat(seat, value),
            action_values=action_values,
            nodes=nodes,
            stopped_by=stopped_by,
            stats=stats,
        )
