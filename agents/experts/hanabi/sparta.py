"""Search one move ahead of a blueprint: another action is played only where it is surely better."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.base.budget import Budget, SearchStopped
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.base.request import Request
from zermelo.agents.base.requirements import require_information_states
from zermelo.agents.base.result import SearchResult
from zermelo.agents.base.settings import converted, integer, number
from zermelo.agents.opponents.beliefs import blueprint_of, make_blueprint_agent
from zermelo.agents.search_agent import SearchAgent
from zermelo.envs.game import Game
from zermelo.envs.jit.kernel import Wanted
from zermelo.envs.position import Position
from zermelo.envs.traits.merging import PATIENCE

_FIRST: Final = 4  # samples in the first batch, which shows how long one takes
_BATCH: Final = 20  # samples in a batch at most, and before actions that are surely worse are dropped
_INSTANT: Final = 1e-6
_SHARE: Final = 0.25  # how much of the time that is left may go into a batch


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SpartaAgent(SearchAgent):
    """Search on top of another agent, the blueprint, that all players follow after the searched action.

    Hands that it does not see are dealt again, such that the others would have played as they did by the
    blueprint; each action is tried on the same deals, and games are played to their end. It plays what the
    blueprint would unless another action is better by more than chance explains. Lerer, Hu, Foerster and Brown,
    "Improving policies via search in cooperative partially observable games", AAAI (2020).

    Attributes:
        blueprint: The agent that everybody is taken to be, by its spec.
        samples: Deals to try, at most.
        seconds: Time for a move, from the call on.
        margin: By how much another action must be better, in units of utility.
        certainty: By how many standard errors it must be better.
    """

    kind: ClassVar[str] = "sparta"

    blueprint: Any = converted("hanabi", make_blueprint_agent, "the spec of an agent")
    samples: int = integer(200, "deals", lower=2)
    seconds: float | None = None
    margin: float = number(0.05, "utility", lower=0)
    certainty: float = number(2.0, "standard errors", lower=0)

    def given_limits(self) -> dict[str, Any]:
        return {"seconds": self.seconds}

    def check_game(self, game: Game[Any]) -> None:
        require_information_states(game, self.kind)
        self.blueprint.check_game(game)

    def prepare(self, env: Any, seconds: float = PATIENCE) -> None:
        self.blueprint.prepare(env, seconds)

    def kernels(self, root: Position) -> list[Wanted]:
        found: list[Wanted] = self.blueprint.kernels(root)
        return found

    def choose(self, request: Request, budget: Budget) -> SearchResult:
        game, state = request.game, request.state
        blueprint = blueprint_of(self.blueprint, game, budget)
        usual = blueprint.action(state)
        tried = [usual, *(action for action in game.legal_actions(state) if action != usual)]
        found = _Comparison(tried)
        stopped_by, batch = StoppedBy.COMPLETED, _FIRST
        while len(found.left) > 1 and found.samples < self.samples:
            count, before = min(batch, self.samples - found.samples), budget.seconds
            seed = int(self.generator.integers(2**62))
            try:
                if found.samples:
                    budget.check_clock()
                found.add(blueprint.returns(state, found.left, count, seed))
            except SearchStopped as stopped:
                stopped_by = stopped.reason
                break
            if found.samples >= _BATCH:
                found.drop(self.certainty)
            pace = max(budget.seconds - before, _INSTANT) / count
            batch = max(int(min(_BATCH, _SHARE * budget.seconds_left / pace)), 1)
        action = found.best(self.margin, self.certainty)
        seat, value = game.to_move(state), found.means.get(action, 0.0)
        return request.result(
            budget,
            action=action,
            value=value,
            values_by_seat=game.traits.values_by_seat(seat, value),
            action_values=found.means,
            nodes=max(budget.nodes, 1),
            stopped_by=stopped_by,
            is_estimate=True,
            visits={each: found.counts[each] for each in game.legal_actions(state)},
            evaluator=self.blueprint.name,
            stats={"samples": found.samples, "deviates": float(action != usual)},
        )


class _Comparison:
    """The values of actions compared with the first one, on the same deals; those not ``left`` are worse."""

    def __init__(self, actions: list[int]) -> None:
        self.left, self.samples = actions, 0
        self.usual = actions[0]
        self.counts = dict.fromkeys(actions, 0)
        self.means: dict[int, float] = {}
        self._gains = dict.fromkeys(actions, np.zeros(0))
        self._usual_values = np.zeros(0)

    def add(self, values: NDArray[np.float64]) -> None:
        """Takes in more deals: the utility of each action that is left on each."""
        self.samples += len(values)
        self._usual_values = np.append(self._usual_values, values[:, 0])
        for place, action in enumerate(self.left):
            self._gains[action] = np.append(self._gains[action], values[:, place] - values[:, 0])
            self.counts[action] = self.samples
            self.means[action] = float(self._usual_values.mean() + self._gains[action].mean())

    def drop(self, certainty: float) -> None:
        lower = max(self._gain(action) - certainty * self._error(action) for action in self.left)
        self.left = [
            action
            for action in self.left
            if action == self.usual or self._gain(action) + certainty * self._error(action) >= lower
        ]

    def best(self, margin: float, certainty: float) -> int:
        if not self.samples:
            return self.usual
        action = max(self.left, key=self._gain)
        gain = self._gain(action)
        return action if gain > max(margin, certainty * self._error(action)) else self.usual

    def _gain(self, action: int) -> float:
        return float(self._gains[action].mean())

    def _error(self, action: int) -> float:
        gains = self._gains[action]
        return float(gains.std(ddof=1)) / math.sqrt(len(gains)) if len(gains) > 1 else math.inf
