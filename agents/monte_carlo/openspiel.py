"""OpenSpiel's Monte Carlo tree search, in C++: a peer in tables of its games, and what ``auto`` takes for them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.machine import check_memory
from zermelo.agents.base.request import Request
from zermelo.agents.base.result import SearchResult
from zermelo.agents.base.settings import choice, flag, function, integer, number
from zermelo.agents.monte_carlo.selection_rules import RULES, Selection
from zermelo.agents.search_agent import SearchAgent
from zermelo.envs.adapters.openspiel import OpenSpielGame
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.game import CHANCE, Chance

_LONGEST: Final = 1.0
"""Seconds of one call of OpenSpiel, which nothing can interrupt: longer searches add up several trees."""
_SHORTEST: Final = 1e-3
"""With less time than this left another tree would tell nothing."""
_FOR_TREES: Final = 0.95
"""The share of the time that trees may take where replies are checked."""
_ALL: Final = 1 << 30


class _Action(NamedTuple):
    visits: int
    reward: float
    proven: float | None  # its value, if that is certain


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class OpenSpielMCTSAgent(SearchAgent):
    """OpenSpiel's own Monte Carlo tree search in C++, for its games: ``openspiel/hex(board_size=5)``.

    Its tree cannot be kept: every move, and every second of a longer search, begins a new one; statistics of all
    trees of a search are added up. OpenSpiel counts no states, so ``nodes`` are simulations.

    Attributes:
        backend: The backend of ``as_game``: OpenSpiel's own state, not rules of ours.
        simulations: Simulations for a move; 1,000 if no limit is given.
        seconds: Time for a move, from the call on.
        selection: How an action is chosen in the tree: ``"uct"`` tries each action once first; ``"puct"`` does
            not, which is better with many actions.
        exploration: Weight of exploration, for utilities as they are (``uct_c``): the higher, the more often
            actions with few visits are tried. For ``"puct"`` it is multiplied by the square root of the number of
            actions at the root, as all of them have the same prior.
        playouts: Random games for each leaf.
        solver: Whether to prove wins and losses.
        check_replies: Whether to put actions last that let the opponent win at once.
        memory_mb: The memory for the tree, in MiB.
        on_iteration: Called with a ``SearchResult`` after each tree; False ends the search there.
    """

    kind: ClassVar[str] = "openspiel_mcts"
    default_limits = Limits(simulations=1_000)

    backend: str = "environment"
    simulations: int | None = None
    seconds: float | None = None
    selection: Selection = choice(Selection.UCT)
    exploration: float = number(2.0, "weight", lower=0)
    playouts: int = integer(1, "games", lower=1)
    solver: bool = flag(True)
    check_replies: bool = flag(False)
    memory_mb: int = integer(1_000, "MiB", lower=1)
    on_iteration: Any = function("of a SearchResult")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_memory("memory_mb", self.memory_mb)
        if not RULES[self.selection].openspiel:
            raise InvalidSettingError(f"OpenSpiel has no selection rule {str(self.selection)!r}: use 'mcts'")

    def choose(self, request: Request, budget: Budget) -> SearchResult:
        game, state = request.game, request.state
        if reason := why_not_in_openspiel(game):
            raise UnsupportedGameError(f"openspiel_mcts does not play {game.traits.name}, {reason}: use 'mcts'")
        found = _Found(game, state, trusts=self.solver)
        if self.limits.seconds is not None:  # which may be too short for a playout
            found.look_one_ply(budget)
        left = self.limits.simulations
        seconds = min(self.limits.seconds or 0.0, budget.seconds_left)
        kept = (1 - _FOR_TREES) * seconds if self.check_replies else 0.0
        while True:
            seconds = min(budget.seconds_left - kept, _LONGEST)
            root = self._bot(found, left, seconds).mcts_search(state)
            left = None if left is None else left - root.explore_count
            found.add(root)
            stopped_by = StoppedBy.INTERRUPT
            if root.outcome:
                stopped_by = StoppedBy.COMPLETED
            elif not budget.stop.is_set:
                if budget.seconds_left - kept < _SHORTEST:
                    stopped_by = StoppedBy.SECONDS
                elif left is not None and left <= 0:
                    stopped_by = StoppedBy.SIMULATIONS
                elif self._goes_on(request, found, budget):
                    continue
            if self.check_replies and game.traits.is_opposed:
                found.check_replies(budget)
            return self._result(request, found, budget, stopped_by)

    def _goes_on(self, request: Request, found: _Found, budget: Budget) -> bool:
        so_far = self._result(request, found, budget, StoppedBy.SIMULATIONS)
        return request.should_continue(self.on_iteration, so_far)

    def _bot(self, found: _Found, simulations: int | None, seconds: float) -> Any:
        import pyspiel

        seeds = [int(seed) for seed in self.generator.integers(2**31, size=2)]
        return pyspiel.MCTSBot(
            found.game.source,
            pyspiel.RandomRolloutEvaluator(self.playouts, seeds[0]),
            self.exploration * (math.sqrt(len(found.actions)) if RULES[self.selection].has_prior else 1.0),
            _ALL if simulations is None else simulations,
            self.memory_mb,
            self.solver,
            seeds[1],
            False,
            getattr(pyspiel.ChildSelectionPolicy, RULES[self.selection].openspiel),
            max_wall_clock_time=-1.0 if self.limits.seconds is None else max(seconds, _SHORTEST),
        )

    def _result(self, request: Request, found: _Found, budget: Budget, stopped_by: StoppedBy) -> SearchResult:
        game, state = found.game, found.state
        seat, traits = game.to_move(state), game.traits
        tied = found.best()
        action = tied[int(self.generator.integers(len(tied)))]
        values = {
            each: one.reward / one.visits if one.proven is None else one.proven
            for each, one in found.actions.items()
            if one.visits or one.proven is not None
        }
        value = values.get(action, traits.middle)
        proven = found.is_sound and stopped_by is StoppedBy.COMPLETED
        budget.nodes = sum(one.visits for one in found.actions.values())
        return request.result(
            budget,
            action=action,
            value=value,
            values_by_seat=traits.values_by_seat(seat, value),
            action_values=values,
            principal_variation=found.line(action),
            stopped_by=stopped_by,
            proven=proven,
            is_estimate=not proven,
            visits={each: one.visits for each, one in found.actions.items()},
            simulations=budget.nodes,
            actions_tried=len(found.actions),
            evaluator="playouts",
            stats={"simulations": budget.nodes, "trees": found.trees},
        )


class _Found:
    """Statistics of the root's actions over the trees of one search."""

    def __init__(self, game: Any, state: Any, *, trusts: bool) -> None:
        traits = game.traits
        self.game, self.state = game, state
        self.actions = dict.fromkeys(game.legal_actions(state), _Action(0, 0.0, None))
        self.trees = 0
        ends_early = traits.chance is not Chance.NONE and game.longest < 1 << 60
        self.is_sound = trusts and not ends_early and (traits.is_opposed or traits.seats == 1)
        """True if what its solver proves is so: of three players or more it takes ties for what they are not."""
        self._last: Any = None

    def add(self, root: Any) -> None:
        self.trees += 1
        self._last = root
        for child in root.children:
            visits, reward, proven = self.actions[child.action]
            if child.outcome:
                proven = child.outcome[child.player]
            self.actions[child.action] = _Action(visits + child.explore_count, reward + child.total_reward, proven)

    def look_one_ply(self, budget: Budget) -> None:
        """Marks the actions that end the game as proven, while there is time."""
        seat = self.game.to_move(self.state)
        for action in self.actions:
            if budget.seconds_left <= 0:
                return
            after = self.game.result(self.state, action)
            if self.game.is_terminal(after):
                self.actions[action] = _Action(0, 0.0, self.game.utility(after)[seat])

    def merit(self, action: int) -> tuple[float, int, float]:
        """Proven wins first and proven losses last, as OpenSpiel has it; then what was visited most."""
        visits, reward, proven = self.actions[action]
        return (0.0 if proven is None else proven - self.game.traits.middle), visits, reward

    def best(self) -> list[int]:
        most = max(map(self.merit, self.actions))
        return [action for action in self.actions if self.merit(action) == most]

    def check_replies(self, budget: Budget) -> None:
        """Puts best actions last that let the opponent win at once, while there is time."""
        safe: set[int] = set()
        while budget.seconds_left > 0:
            unknown = [each for each in self.best() if each not in safe and self.actions[each].proven is None]
            if not unknown:
                return
            action = unknown[0]
            if self._loses_at_once(action):
                self.actions[action] = self.actions[action]._replace(proven=self.game.traits.utility_bounds[0])
            else:
                safe.add(action)

    def _loses_at_once(self, action: int) -> bool:
        """True if the opponent has a reply that ends the game with the lowest utility for the player to move."""
        game, seat = self.game, self.game.to_move(self.state)
        after = game.result(self.state, action)
        if game.is_terminal(after) or game.to_move(after) in (seat, CHANCE):
            return False
        ends = (game.result(after, reply) for reply in game.legal_actions(after))
        lowest = game.traits.utility_bounds[0]
        return any(game.is_terminal(end) and game.utility(end)[seat] == lowest for end in ends)

    def line(self, action: int) -> tuple[int, ...]:
        node = next((child for child in self._last.children if child.action == action), None)
        line = [action]
        while node is not None and node.children:
            node = max(node.children, key=lambda child: child.explore_count)
            if node.player < 0 or not node.explore_count:
                break
            line.append(node.action)
        return tuple(line)


def why_not_in_openspiel(game: Any) -> str:
    """Why OpenSpiel's search in C++ cannot search a game, or nothing if it can."""
    if not isinstance(game, OpenSpielGame):
        return "which is not one of OpenSpiel's games, such as openspiel/hex"
    import pyspiel

    kind = game.source.get_type()
    if kind.reward_model != pyspiel.GameType.RewardModel.TERMINAL:
        return "which has rewards before the end"
    if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        return "in which players move at the same time"
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        return "whose chance can only be simulated"
    return ""
