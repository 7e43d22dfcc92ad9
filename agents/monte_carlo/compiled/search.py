"""Monte Carlo tree search, compiled: what ``kernel`` does, and the tree that it leaves."""

from __future__ import annotations

import functools
import itertools
import math
import weakref
from collections.abc import Sequence
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from zermelo.agents.base.budget import Budget, SearchStopped
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.playouts import MAX_PLAYOUT_STEPS
from zermelo.agents.base.recursion import MAX_PLIES, GameTooLongError
from zermelo.agents.base.scores import undecided_reward
from zermelo.agents.kernels import layout
from zermelo.agents.kernels.blocks import MOST_SPARE, release, reuse_block
from zermelo.agents.kernels.program import Program, can_evaluate, can_search_any, can_use, evaluates, network_of
from zermelo.agents.kernels.threads import run_all, run_in_caller
from zermelo.agents.monte_carlo.compiled.record import (
    COUNT,
    EDGE_WORDS,
    EDGES,
    LOWER,
    MOVER,
    NODE_WORDS,
    TOTALS,
    UPPER,
    VISITED,
    MonteCarloRecord,
    MonteCarloVariant,
)
from zermelo.agents.monte_carlo.interface import MAX_REUSE_PROBES, Edge, MonteCarlo, RootSetup
from zermelo.agents.monte_carlo.selection_rules import RULES, Selection
from zermelo.envs.capabilities import SupportsEvaluation, SupportsPlayoutActions, offers
from zermelo.envs.jit.history import argument_maker
from zermelo.envs.jit.memory import load, load_float, words
from zermelo.envs.rules.bits import mix
from zermelo.envs.rules.rules_game import RulesGame

_FEW: Final = 64
"""Simulations that do not pay for a second thread."""
_BRIEF: Final = 2_000
"""States that may be visited before a thread takes over in which the clock and Ctrl-C are heeded."""
_LONGEST: Final = MAX_PLIES + MAX_PLAYOUT_STEPS
"""Moves of a simulation, where rules know the past."""


@functools.cache  # without a key: constants
def _weights() -> npt.NDArray[np.float64]:
    """sqrt(log(n + 1)) for each count n, then 1 / sqrt(n): by the functions that the plain search calls."""
    counts = range(layout.COUNTED)
    logarithms = [math.sqrt(math.log(count + 1)) for count in counts]
    return np.array(logarithms + [1.0 / math.sqrt(max(count, 1)) for count in counts])


def make_search(tree: MonteCarlo, words: int, *, evaluates: bool = False) -> MonteCarloRecord:
    """The numbers of one thread, and as many words for nodes and edges, or as many as the root needs."""
    game, config = tree.game, tree.config
    traits, width = game.traits, max(game.max_legal_actions, 1)
    lower, upper = traits.utility_bounds
    size = game.num_moves
    search = MonteCarloRecord()
    search.start = argument_maker(game.rules, _LONGEST)
    search.actions, search.width = size, width
    search.seats, search.num_values = traits.seats, tree.num_values
    search.total = int(traits.constant)
    search.max_ply, search.pause = MAX_PLIES, layout.NO_LIMIT
    search.solves = config.solver and tree.num_values == 1
    search.adapts = not tree.by_bounds
    search.low, search.high = (lower, upper) if tree.by_bounds else (math.inf, -math.inf)
    search.unit = 1.0 / (upper - lower) if tree.by_bounds else 0.0
    search.lower_value, search.upper_value = tree.bounds
    search.expected = undecided_reward(traits)
    search.lower_evaluation, search.upper_evaluation = game.rules_bounds
    search.has_prior, search.untried, search.tries_first = tree.rule.has_prior, tree.rule.untried, tree.tries_first
    search.node_words, search.edge_words = NODE_WORDS, tree.edge_words
    search.more = EDGE_WORDS + tree.num_values
    search.attach("weights", _weights())
    search.is_plain = tree.by_bounds and not (config.rave or tree.has_priors)
    search.exploration, search.rave = config.exploration, config.rave
    search.evaluated = evaluates
    search.has_evaluation = offers(game, SupportsEvaluation)
    search.has_priors = tree.has_priors
    search.guides = offers(game, SupportsPlayoutActions)
    search.playouts = config.playouts
    search.playout_moves = layout.NO_LIMIT if tree.playout_moves is None else tree.playout_moves
    search.attach("rows", np.zeros(2 * width, np.int64))
    search.attach("looks", np.zeros(2 * width, np.int64))
    search.attach("lines", np.zeros(2 * (MAX_PLIES + 2), np.int64))
    search.attach("scratch", np.zeros(max(tree.num_values, 1), np.int64))
    search.attach("history", np.full(size if config.rave else 1, -1, np.int64))
    size = max(words, 64 + tree.edge_words * width)
    spare = reuse_block("arena", size)
    search.attach("arena", np.empty(size, np.int64) if spare is None else spare)
    search.arena_top = search.arena
    search.arena_end = search.arena + 8 * len(search.arrays["arena"])
    return search


class CompiledMonteCarlo(MonteCarlo):
    """Monte Carlo tree search over compiled rules, in one thread or several on one tree: then no two are the same.

    The evaluator is ``"game"``'s, where the rules' own evaluation judges leaves, a network, or None for playouts.
    """

    program: ClassVar = Program(
        "mcts", "monte_carlo.compiled.kernel", "simulate", MonteCarloRecord, ("int64", "int64")
    )
    compiled = True

    def __init__(
        self, game: RulesGame, evaluator: Any, budget: Budget, *, limits: Limits, start: RootSetup
    ) -> None:
        super().__init__(start, budget)
        config, seed = start.config, start.seed
        threads = config.threads
        fitted = network_of(evaluator, game)
        self.kernel = self.program.load(game.rules, *self.variants(game, evaluator, config.selection))
        self.solves = config.solver and self.num_values == 1
        room = int(config.memory_mb * 2**17)
        self.searches = [
            make_search(self, room // threads, evaluates=evaluator is not None) for _ in range(threads)
        ]
        for number, search in enumerate(self.searches):
            search.random = seed if number == 0 else mix(seed + number) >> 2
            search.stamp, search.threads = number, threads
            search.counts_losses = threads > 1
            if fitted is not None:
                search.attach("fitted", fitted.words())
        self._fitted = fitted  # whose memory the kernel reads
        self._unclaimed = np.zeros(1, np.int64)
        first = self.searches[0]
        self.root = self.kernel(*first.start(self.root_state), 0, 0, first)
        self.budget.nodes += first.nodes
        self.tree_nodes = first.tree_nodes
        weakref.finalize(self, _let_arena_go, first).atexit = False

    @classmethod
    def can_search(cls, game: Any, evaluator: Any) -> bool:
        """True if the game and the evaluator fit; None asks for playouts."""
        if not can_search_any(game) or not game.traits.terminal_rewards_only:
            return False
        if evaluator is None or network_of(evaluator, game) is not None:
            return True
        return can_evaluate(evaluator) and evaluates(evaluator) and can_use(game, evaluator)

    @staticmethod
    def variants(game: Any, evaluator: Any, selection: Selection) -> tuple[Any, ...]:
        """The variants of the kernel."""
        return MonteCarloVariant(network=network_of(evaluator, game) is not None), RULES[selection].compiled

    def simulate(self, count: int) -> bool:
        self.budget.check_clock()
        left = count
        if count <= _FEW and self.config.playouts == 1:
            left -= self._run(self.searches[:1], count, pause=_BRIEF)
        if left > 0 and self.searches[0].stop == layout.GOING and not self.is_proven(self.root):
            left -= self._run(self.searches if count > _FEW else self.searches[:1], left)
        if self.is_proven(self.root):
            return True
        if any(search.stop == layout.TOO_DEEP for search in self.searches):
            raise GameTooLongError(self.game, MAX_PLIES)
        if left > 0:
            raise SearchStopped(StoppedBy.NODES)
        return False

    def _run(self, searches: Sequence[MonteCarloRecord], count: int, *, pause: int = layout.NO_LIMIT) -> int:
        """Returns how many simulations there were before a proof or a limit.

        With ``pause``, none begins after so many states, and they are made in the caller's thread.
        """
        left = int(min(self.budget.nodes_left, layout.NO_LIMIT))
        self._unclaimed[0] = left
        made = [0] * len(searches)
        for search in searches:
            search.stop, search.nodes, search.deepest = layout.GOING, 0, 0
            search.unclaimed, search.pause = 0, pause
            search.node_limit = left
            if len(searches) > 1:
                search.attach("unclaimed", self._unclaimed)
                search.node_limit = 0

        def call(search: MonteCarloRecord) -> None:
            number = searches.index(search)
            part = (count + number) // len(searches)
            made[number] = int(self.kernel(*search.start(self.root_state), self.root, part, search))

        try:
            if pause < layout.NO_LIMIT:
                run_in_caller(call, searches[0])
            else:
                run_all(call, searches, self.budget.check_clock)
        finally:
            self.simulations += sum(made)
            self.budget.nodes += sum(search.nodes for search in searches)
            self.tree_depth = max(self.tree_depth, *(search.deepest for search in searches))
            self.tree_nodes = sum(search.tree_nodes for search in self.searches)
        return sum(made)

    def edges(self, node: int) -> list[Edge]:
        count = load(node, COUNT) if load(node, EDGES) else 0
        rows = words(load(node, EDGES), count * self.edge_words).reshape(count, self.edge_words)
        sums = rows[:, TOTALS : TOTALS + self.num_values].view(np.float64).tolist()
        return [
            Edge(action, visits, totals, child or None)
            for (action, child, visits), totals in zip(rows[:, : VISITED + 1].tolist(), sums, strict=True)
        ]

    def mover(self, node: int) -> int:
        return load(node, MOVER)

    def bounds_of(self, node: int) -> tuple[float, float]:
        return load_float(node, LOWER), load_float(node, UPPER)

    def move_to(self, state: Any, budget: Budget, played: int) -> bool:
        search = self.searches[0]
        if 2 * (search.arena_top - search.arena) > search.arena_end - search.arena:
            return False  # the memory of what is forgotten is not freed: the tree is made anew
        game: RulesGame = self.game
        seat = self.mover(self.root)
        waiting = [(self.root, self.root_state)]
        waiting += [
            (edge.child, game.result(self.root_state, played))
            for edge in self.edges(self.root)
            if edge.action == played and edge.child is not None
        ]
        for node, here in itertools.islice(waiting, MAX_REUSE_PROBES):  # which grows on the way
            if here == state and load(node, EDGES):
                self.root, self.root_state, self.budget = node, state, budget
                self.simulations = self.tree_depth = 0
                return True
            if self.mover(node) != seat:
                below = [edge for edge in self.edges(node) if edge.child is not None]
                waiting += [(edge.child, game.result(here, edge.action)) for edge in below]
        return False


def _let_arena_go(search: MonteCarloRecord) -> None:
    if search.arena_top - search.arena <= MOST_SPARE:
        release("arena", search.arrays["arena"])
