"""What plain and compiled Monte Carlo tree searches share: how they choose, random numbers, what they found."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from zermelo.agents.core.budget import Budget, SearchStopped
from zermelo.agents.core.limits import Limits, StoppedBy
from zermelo.envs import CHANCE, Chance, Game, RewardSum, Traits
from zermelo.envs.capabilities import SupportsActionPriors, SupportsPlayoutLimit
from zermelo.envs.rules.bits import mix, shift_right

MAX_REUSE_PROBES: Final = 2_000
"""Nodes checked when looking for the new root in a kept tree."""
_NODE_WORDS: Final = 8
EDGE_WORDS: Final = 6
"""Words of eight bytes of every node of the compiled tree, and of every edge besides one for each value kept."""
_TRANSPOSITION_WORDS: Final = 2
_MORE_EDGE_WORDS: Final = 4
"""Further words of a node where transpositions share it, and of an edge where chance or a setting needs them."""
MAX_PLAYOUT_STEPS: Final = 10_000
"""Moves and chance events after which a playout is cut off in any game, so that it ends."""
PRIOR_DRAWS: Final = 10.0
"""Virtual drawn visits of an action where the game has priors."""


class Selection(enum.StrEnum):
    """Which action a simulation follows inside the tree."""

    UCT = "uct"
    """UCB1 at every node: mean value, and a bonus for what was tried less. Kocsis and Szepesvari, "Bandit based
    Monte-Carlo planning", ECML (2006)."""
    PUCT = "puct"
    """A bonus in proportion to a prior probability, all the same without a policy. Silver et al., "Mastering the
    game of Go without human knowledge", Nature 550 (2017)."""


@dataclass(frozen=True, kw_only=True)
class TreePolicy:
    """How a Monte Carlo tree search chooses; ``MCTSAgent`` explains each."""

    selection: Selection
    exploration: float
    rave: float
    solver: bool
    transpositions: bool
    widening: float
    memory_mb: float
    playouts: int
    playout_moves: int | None


class Start(NamedTuple):
    """What a Monte Carlo tree search starts from.

    Attributes:
        game: The game.
        state: The root, which must be one where somebody has a choice.
        policy: How the search chooses.
        seed: Where the random numbers start.
    """

    game: Any
    state: Any
    policy: TreePolicy
    seed: int


class RootAction(NamedTuple):
    """What a search has found of one action at the root.

    Attributes:
        action: An integer of the game.
        visits: How many simulations followed it.
        values: Mean utility, of each seat that is kept (``kept_seats``); empty without visits.
        lower, upper: What the first seat is proven to get at least and at most.
    """

    action: int
    visits: int
    values: tuple[float, ...]
    lower: float
    upper: float


class Edge(NamedTuple):
    """An action of an expanded node, as a finished batch of simulations leaves it.

    Attributes:
        action: An integer of the game; of chance, an outcome.
        visits: How many simulations followed it.
        totals: Sums of utilities, of each seat that is kept.
        child: The node below, or None.
    """

    action: int
    visits: int
    totals: Sequence[float]
    child: Any


def kept_seats(traits: Traits) -> int:
    """Of how many seats values are kept: one for one player, or for two whose utilities have a constant sum."""
    if traits.seats == 1 or (traits.seats == 2 and traits.reward_sum is not RewardSum.GENERAL):
        return 1
    return traits.seats


def proven_bounds(game: Game[Any]) -> tuple[float, float]:
    """What the first seat gets at least and at most in any game, as far as nothing else is known."""
    traits = game.traits
    if traits.terminal_rewards_only:
        return traits.utility_bounds
    return float("-inf"), float("inf")


class RandomNumbers:
    """A counter, scrambled (``bits.mix``), as kernels have it: a seed gives the same numbers here and there."""

    __slots__ = ("counter",)

    def __init__(self, seed: int) -> None:
        self.counter = seed

    def bits(self) -> int:
        """The next 64 bits, as a signed integer."""
        self.counter += 1
        return mix(self.counter)

    def below(self, count: int) -> int:
        """A whole number from 0 up to ``count``, which is excluded."""
        return shift_right(self.bits(), 32) * count >> 32

    def uniform(self) -> float:
        """A number from 0.0 up to 1.0, which is excluded."""
        return shift_right(self.bits(), 11) * 2.0**-53

    def draw(self, probabilities: Sequence[float]) -> int:
        """A place, as likely as it says there."""
        threshold = self.uniform()
        for place, probability in enumerate(probabilities):
            threshold -= probability
            if threshold < 0:
                return place
        return len(probabilities) - 1


class SimulationSearch:
    """A search that goes on simulation by simulation.

    Attributes:
        simulations: How many have been made.
    """

    budget: Budget
    simulations = 0

    def run(self, limits: Limits, batch: int) -> StoppedBy | None:
        """So many more simulations; why they ended, or None where they may go on."""
        left = batch if limits.simulations is None else min(batch, limits.simulations - self.simulations)
        try:
            if left <= 0:
                return StoppedBy.SIMULATIONS
            return StoppedBy.COMPLETED if self.simulate(left) else None
        except SearchStopped as stopped:
            return stopped.reason

    def simulate(self, count: int) -> bool:
        """So many simulations, or fewer where the root gets proven, which is the answer.

        Raises:
            SearchStopped: A limit was reached; the simulation that it came in is forgotten.
        """
        raise NotImplementedError


class MonteCarlo(SimulationSearch):
    """A Monte Carlo tree search from one state: simulations until a limit, then what is known at the root.

    Args:
        start: The root, and how to choose.
        budget: Counts states, those of playouts too, and stops.

    Attributes:
        root: The root, which is expanded.
        solves: Whether nodes have proven bounds.
        tree_nodes: How many nodes the tree has.
        tree_depth: How many moves below the root the lowest one is.
        leaves, leaf_seconds: How many leaves were judged in plain Python, and the time that took.
        compiled, why_plain: Whether a kernel simulates, and why not, of rules that can be compiled.
    """

    root: Any
    solves: bool
    tree_nodes: int
    tree_depth: int
    leaves: int = 0
    leaf_seconds: float = 0.0
    compiled: bool = False
    why_plain: str = ""

    def __init__(self, start: Start, budget: Budget) -> None:
        self.game, self.root_state, self.policy, self.seed = start
        self.budget = budget
        self.kept = kept_seats(self.game.traits)
        self.bounds = proven_bounds(self.game)
        """What the first seat gets at least and at most, before anything is proven."""
        policy, traits = self.policy, self.game.traits
        lower, upper = traits.utility_bounds
        has_bounds = traits.terminal_rewards_only and math.isfinite(upper - lower) and lower < upper
        self.by_bounds = has_bounds and traits.seats > 1
        """Whether values from 0 to 1 span the bounds of utility, or else the outcomes so far.

        One player collects what it can, often far inside the bounds. Schrittwieser et al., "Mastering Atari, Go,
        chess and shogi by planning with a learned model", Nature 588 (2020), scales by outcomes too.
        """
        self.has_priors = isinstance(self.game, SupportsActionPriors) and policy.selection is not Selection.PUCT
        """Whether actions begin with what the game says of them."""
        self.playout_moves = policy.playout_moves
        """After so many moves a playout is cut off, or None."""
        if self.playout_moves is None and isinstance(self.game, SupportsPlayoutLimit):
            self.playout_moves = self.game.playout_moves()
        needs_more = (
            traits.chance is Chance.EXACT
            or policy.selection is not Selection.UCT
            or policy.rave > 0
            or self.has_priors
        )
        self.node_words = _NODE_WORDS + _TRANSPOSITION_WORDS * policy.transpositions
        self.edge_words = EDGE_WORDS + self.kept + _MORE_EDGE_WORDS * needs_more
        """The memory that a node and an edge take, in words of eight bytes."""
        self.tree_nodes = self.tree_depth = 0

    def edges(self, node: Any) -> Sequence[Edge]:
        """The actions of a node; none of one that is not expanded."""
        raise NotImplementedError

    def mover(self, node: Any) -> int:
        """The seat to move at a node, or ``CHANCE``."""
        raise NotImplementedError

    def bounds_of(self, node: Any) -> tuple[float, float]:
        """What the first seat is proven to get at least and at most from a node on."""
        raise NotImplementedError

    def move_to(self, state: Any, budget: Budget, played: int) -> bool:
        """Makes a state the root, and forgets what led there; whether it was found.

        It is looked for at the root, and where the player of the root moves next after the action ``played``.
        """
        raise NotImplementedError

    def is_proven(self, node: Any) -> bool:
        """Whether the value of a node is proven."""
        lower, upper = self.bounds_of(node)
        return self.solves and lower == upper

    def root_actions(self) -> list[RootAction]:
        """All actions at the root, in ascending order."""
        found = []
        for action, visits, totals, child in self.edges(self.root):
            values = tuple(total / visits for total in totals) if visits else ()
            bounds = self.bounds if child is None else self.bounds_of(child)
            found.append(RootAction(action, visits, values, *bounds))
        return sorted(found)

    def line_after(self, action: int) -> tuple[int, ...]:
        """The principal variation after an action at the root, as far as chance.

        It follows the most visited actions, the smallest of several; from a proven node on, one that ends in its
        value.
        """
        node = next(edge.child for edge in self.edges(self.root) if edge.action == action)
        line: list[int] = []
        seen = {self.root}
        while node is not None and node not in seen and self.mover(node) != CHANCE:
            if self.is_proven(node):
                return (*line, *self._proven_line(node))
            seen.add(node)
            edge = min(self.edges(node), key=lambda edge: (-edge.visits, edge.action), default=None)
            if edge is None or not edge.visits:
                break
            line.append(edge.action)
            node = edge.child
        return tuple(line)

    def _proven_line(self, node: Any) -> tuple[int, ...]:
        """Actions from a proven node to an end of the game, or to chance, each of which keeps the value.

        Positions may come again where several move sequences share a node, so a way may lead nowhere.
        """
        value = self.bounds_of(node)
        waiting: list[tuple[Any, tuple[int, ...]]] = [(node, ())]
        seen = set()
        while waiting:
            node, line = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            edges = () if self.mover(node) == CHANCE else self.edges(node)
            if not edges:
                return line
            keeping = [edge for edge in edges if edge.child is not None and self.bounds_of(edge.child) == value]
            keeping.sort(key=lambda edge: (edge.visits, -edge.action))
            waiting += [(edge.child, (*line, edge.action)) for edge in keeping]
        return ()

    def add_noise(self, noise: dict[int, float], weight: float) -> None:
        """Mixes noise into the priors of the root's actions, for PUCT."""
        raise NotImplementedError
