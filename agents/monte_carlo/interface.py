"""Config, random numbers and results that plain and compiled Monte Carlo tree searches share."""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from zermelo.agents.base.branches import no_action_works, skip_branch
from zermelo.agents.base.budget import Budget, SearchStopped
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.machine import megabytes, thread_count
from zermelo.agents.base.scores import count_values
from zermelo.agents.base.settings import choice, flag, function, integer, number
from zermelo.agents.monte_carlo.compiled.record import EDGE_WORDS, MORE_EDGE_WORDS
from zermelo.agents.monte_carlo.selection_rules import RULES, Selection
from zermelo.envs.capabilities import SupportsActionPriors, SupportsSearchSettings, offers, rules_of
from zermelo.envs.errors import EnvFailedError
from zermelo.envs.game import CHANCE, Chance, Traits

MAX_REUSE_PROBES: Final = 2_000
"""Nodes checked when looking for the new root in a kept tree."""
PRIOR_DRAWS: Final = 10.0
"""Virtual drawn visits of an action where the game has priors."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MonteCarloConfig:
    """Settings of a Monte Carlo tree search.

    Attributes:
        selection: How an action is chosen in the tree: ``"uct"``, or ``"puct"`` with priors of the actions.
        exploration: Weight of exploration: the higher, the more often actions with few visits are tried. Utilities
            are scaled to 0 to 1 first. At 300 and 3,000 simulations 0.5 beats 1 in most games.
        rave: How many visits an action needs until its own outcomes count as much as those of all simulations in
            which it came later (RAVE); 0 turns RAVE off.
        solver: Whether wins, losses and draws are proven where the tree reaches the end of the game.
        playouts: Random games for each leaf.
        playout_moves: After so many moves a playout is judged by the evaluation, or as undecided without one; None
            leaves it to the game, which has 10,000 moves and chance events at most.
        memory_mb: Memory for the tree, in MiB; once it is used up no nodes are added. At most the machine's. In
            environments without rules half of it is for copies: the oldest are dropped, and made again by replay,
            except in games whose chance is drawn.
        threads: Threads that search together, where rules are compiled; with more than one the answer differs from
            time to time. At most eight for each processor, or 64.
        batch_size: How many leaves a policy-value network (``evaluators.PolicyValue``) is asked about at once.
        on_simulation: Called with a ``Simulation`` after each simulation; the search is then in plain Python.
    """

    selection: Selection = choice(Selection.UCT)
    exploration: float = number(0.5, "weight", lower=0)
    rave: float = number(0.0, "visits", lower=0)
    solver: bool = flag(True)
    playouts: int = integer(1, "games", lower=1)
    playout_moves: int | None = integer(None, "plies", lower=0)
    memory_mb: float = megabytes(256)
    threads: int = thread_count(1)
    batch_size: int = integer(1, "states", lower=1)
    on_simulation: Any = function("of a Simulation")


class RootSetup(NamedTuple):
    """The start of a Monte Carlo tree search: a state in which somebody has a choice, and the seed."""

    game: Any
    state: Any
    config: MonteCarloConfig
    seed: int


class RootEdge(NamedTuple):
    """Visits of an action at the root, mean utility of each seat that is kept (none without), proven bounds.

    Kept are the seats that ``count_values`` counts; the bounds are those of the first.
    """

    action: int
    visits: int
    values: tuple[float, ...]
    lower: float = -math.inf
    upper: float = math.inf


class Edge(NamedTuple):
    """An action, or outcome, of an expanded node, with sums of utilities and the node below, or None."""

    action: int
    visits: int
    totals: Sequence[float]
    child: Any


class RewardScale:
    """Brings utilities to 0 to 1: by given bounds, or the outcomes so far; to ``default`` if these are alike."""

    __slots__ = ("default", "high", "is_given", "low", "unit")

    def __init__(self, bounds: tuple[float, float] | None, default: float = 0.0) -> None:
        self.is_given, self.default = bounds is not None, default
        self.low, self.high = bounds or (math.inf, -math.inf)
        self.unit = 1.0 / (self.high - self.low) if self.is_given else 0.0

    def to_unit(self, utility: float) -> float:
        return (utility - self.low) * self.unit if self.unit else self.default

    def widen(self, outcome: Sequence[float]) -> None:
        if not self.is_given:
            self.low, self.high = min(self.low, *outcome), max(self.high, *outcome)
            self.unit = 1.0 / (self.high - self.low) if self.high > self.low else 0.0


def given_bounds(traits: Traits) -> tuple[float, float] | None:
    """The bounds of utility, if they are finite and rewards come at the end."""
    lower, upper = traits.utility_bounds
    has_bounds = traits.terminal_rewards_only and math.isfinite(upper - lower) and lower < upper
    return (lower, upper) if has_bounds else None


_FEWEST_SIMULATIONS: Final = 60
"""A time limit should leave time for so many, as far as states can be copied and played on as fast."""
_TRIES: Final = 1.5
"""And for so many of each action of the root."""
_MOST_FAILURES: Final = 1_000
"""Simulations in a row in which the environment failed."""


class BestPlayout(NamedTuple):
    """The shortest simulated game in which the only player got most, and its actions from the root on.

    Where nothing is left to chance it can be played again, so its total is a promise and no mean. Schadd et al.,
    "Single-player Monte-Carlo tree search", Computers and Games (2008).
    """

    total: float = -math.inf
    actions: tuple[int, ...] = ()

    def after(self, action: int) -> BestPlayout:
        """Returns the rest of it after an action; an empty one if it began with another."""
        return BestPlayout(self.total, self.actions[1:]) if self.actions[:1] == (action,) else BestPlayout()


class SimulationSearch:
    """A search that goes on simulation by simulation."""

    game: Any
    budget: Budget
    root_state: Any
    simulations = 0
    """How many have been made."""
    best_line = BestPlayout()
    """Of one player without chance; empty elsewhere, and over rules."""
    tree_nodes: int = 0
    tree_depth: int = 0
    """How many moves below the root its lowest node is."""
    leaves: int = 0
    """How many were judged in plain Python; the next are the seconds that took."""
    leaf_seconds: float = 0.0
    compiled: bool = False
    why_plain: str = ""
    """Why no kernel simulates, of rules that can be compiled."""
    num_legal: int = 0  # legal actions at the root, to share the time among
    _shared: Budget | None = None
    _shared_seconds: float = 0.0
    """Seconds that the budget had left when the first simulation began."""

    def root_actions(self) -> list[RootEdge]:
        """All actions at the root, in ascending order."""
        raise NotImplementedError

    def root_totals(self) -> Mapping[int, tuple[float, ...]]:
        """The rewards of each seat after each action of the root whose state is in the tree."""
        return {}

    def line_after(self, action: int) -> tuple[int, ...]:
        """The principal variation after an action at the root, as far as chance."""
        return ()

    def run(self, limits: Limits, batch: int) -> StoppedBy | None:
        """Runs up to ``batch`` simulations; returns the stop reason or None."""
        left = batch if limits.simulations is None else min(batch, limits.simulations - self.simulations)
        try:
            if left <= 0:
                return StoppedBy.SIMULATIONS
            return StoppedBy.COMPLETED if self.simulate(left) else None
        except SearchStopped as stopped:
            return stopped.reason

    def simulate(self, count: int) -> bool:
        """Runs ``count`` simulations, or fewer if the root is proven; returns whether it is.

        Raises:
            SearchStopped: A limit was reached; the simulation that it came in is forgotten.
        """
        failures = 0
        while count > 0:
            try:
                self.simulate_once()
            except EnvFailedError as error:
                skip_branch(self.game, error)
                failures += 1
                if failures > _MOST_FAILURES:
                    raise no_action_works(self.game) from error
                continue
            failures, count = 0, count - 1
        return False

    def simulate_once(self) -> None:
        raise NotImplementedError

    def ends(self) -> float:
        """The time at which a simulation that begins now should end: games of environments may be long."""
        budget = self.budget
        if budget.limits.seconds is None or budget.is_endless or rules_of(self.game) is not None:
            return math.inf
        if self._shared is not budget:  # another search may have spent some of it
            self._shared, self._shared_seconds = budget, min(budget.limits.seconds, max(budget.seconds_left, 0.0))
        fewest = max(_FEWEST_SIMULATIONS, _TRIES * self.num_legal)
        return budget.now() + self._shared_seconds / fewest


class MonteCarlo(SimulationSearch, abc.ABC):
    """A Monte Carlo tree search from one state: simulations until a limit, then what is known at the root.

    Attributes:
        root: The root, which is expanded.
        solves: Whether nodes have proven bounds.
        bounds: Those of the first seat's utility before anything is proven.
        by_bounds: True if values are scaled by the bounds of utility, False if by the outcomes so far. One player
            collects what it can, often far inside the bounds. Schrittwieser et al., "Mastering Atari, Go, chess
            and shogi by planning with a learned model", Nature 588 (2020), scales by outcomes too.
        rule: The selection rule.
        has_priors: True if actions begin with virtual visits given by the game.
        tries_first: True if each action is tried once before any is chosen.
        playout_moves: After so many moves a playout is cut off, or None.
        edge_words: The memory that an edge takes, in words of eight bytes.
    """

    root: Any
    solves: bool

    def __init__(self, start: RootSetup, budget: Budget) -> None:
        self.game, self.root_state, self.config, self.seed = start
        self.budget = budget
        game, config, traits = self.game, self.config, self.game.traits
        self.num_values = count_values(traits)
        self.bounds = traits.utility_bounds if traits.terminal_rewards_only else (-math.inf, math.inf)
        self.by_bounds = given_bounds(traits) is not None and traits.seats > 1
        self.rule = RULES[config.selection]
        self.has_priors = offers(game, SupportsActionPriors) and not self.rule.has_prior
        self.tries_first = self.rule.tries_first and not (config.rave or self.has_priors)
        self.playout_moves = config.playout_moves
        if self.playout_moves is None and offers(game, SupportsSearchSettings):
            self.playout_moves = game.search_settings("mcts").get("playout_moves")
        needs_more = traits.chance is Chance.EXACT or self.rule.has_prior or config.rave > 0 or self.has_priors
        self.edge_words = EDGE_WORDS + self.num_values + MORE_EDGE_WORDS * needs_more

    def know_children(self, children: Mapping[int, Any]) -> None:
        """Takes states that actions of the root lead to, which need not be made again."""

    @abc.abstractmethod
    def edges(self, node: Any) -> Sequence[Edge]:
        """The actions of a node; none if it is not expanded."""

    @abc.abstractmethod
    def mover(self, node: Any) -> int:
        """The seat to move at a node, or ``CHANCE``."""

    @abc.abstractmethod
    def bounds_of(self, node: Any) -> tuple[float, float]:
        """Proven bounds of the first seat's utility at a node."""

    @abc.abstractmethod
    def move_to(self, state: Any, budget: Budget, played: int) -> bool:
        """Makes a state the root, and forgets what led there; whether it was found.

        It is looked for at the root, and where the player of the root moves next after the action ``played``.
        """

    def is_proven(self, node: Any) -> bool:
        lower, upper = self.bounds_of(node)
        return self.solves and lower == upper

    def root_actions(self) -> list[RootEdge]:
        found = []
        for action, visits, totals, child in self.edges(self.root):
            values = tuple(total / visits for total in totals) if visits else ()
            bounds = self.bounds if child is None else self.bounds_of(child)
            found.append(RootEdge(action, visits, values, *bounds))
        return sorted(found)

    def line_after(self, action: int) -> tuple[int, ...]:
        """The most visited actions; from a proven node on, those of them that keep its value."""
        node = next(edge.child for edge in self.edges(self.root) if edge.action == action)
        line: list[int] = []
        while node is not None and self.mover(node) != CHANCE:
            edges, is_proven = self.edges(node), self.is_proven(node)
            if is_proven:
                value = self.bounds_of(node)
                edges = [each for each in edges if each.child is not None and self.bounds_of(each.child) == value]
            edge = min(edges, key=lambda edge: (-edge.visits, edge.action), default=None)
            if edge is None or not (edge.visits or is_proven):
                break
            line.append(edge.action)
            node = edge.child
        return tuple(line)
