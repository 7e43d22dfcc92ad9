"""Expectiminimax, paranoid and best-reply search, compiled: what ``general_kernel`` does, as ``deepen`` wants it.

``compiled_general_search`` gives a search where the rules can be compiled and None where the plain one has to be
used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from zermelo.agents.compiled.front_end import Program, Runner, can_evaluate, evaluates, fits, plies_of
from zermelo.agents.compiled.layout import CHANCE_KEY, Search
from zermelo.agents.compiled.table import CompiledTable
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.mate_distance import INFINITE_WINDOW, SLACK, Frame, Scale, Score
from zermelo.agents.core.options import ChancePruning, Ordering
from zermelo.agents.core.recursion import MAX_PLIES
from zermelo.agents.core.tree_search import Bound, Visit
from zermelo.agents.evaluators.protocol import inside_bounds
from zermelo.agents.search.best_reply import RepliesGame
from zermelo.agents.search.move_ordering import MoveOrder
from zermelo.envs import Chance, Game, RewardSum
from zermelo.envs.rules.rules_game import RulesGame

__all__ = [
    "GENERAL",
    "CompiledGeneralSearch",
    "can_search_any",
    "can_search_through_chance",
    "compiled_general_search",
    "expected_reward",
    "most_states",
]

_GREATEST_UTILITY: Final = 1 << 40
"""Beyond that an evaluation would not be exact as a float."""

GENERAL: Final = Program("general", "general_kernel", "visit", ("int64", *("float64",) * 4, *("int64",) * 3))


def can_search_any(game: Any) -> bool:
    """Whether a game of rules can be searched compiled, whoever plays and whatever they play for."""
    if not fits(game) or game.traits.chance is Chance.SAMPLED:
        return False
    least, greatest = game.traits.utility_bounds
    return bool(least < greatest and max(-least, greatest) <= _GREATEST_UTILITY)


def can_search_through_chance(game: Any) -> bool:
    """Whether expectiminimax fits, compiled: exact chance, for one player or two with a constant sum."""
    if not can_search_any(game) or game.traits.chance is not Chance.EXACT:
        return False
    traits = game.traits
    return bool(traits.seats == 1 or (traits.seats == 2 and traits.reward_sum is not RewardSum.GENERAL))


def expected_reward(game: Any) -> float:
    """What the evaluator ``"rewards"`` expects for every seat."""
    return float(game.traits.constant) / 2 if game.traits.seats == 2 else 0.0


def can_use(game: Any, evaluator: Any) -> bool:
    """Whether a kernel can compute what an evaluator says of a game; other people's evaluators it cannot."""
    if evaluator is None or not can_evaluate(evaluator):
        return evaluator is None
    if evaluates(evaluator):
        return hasattr(game.rules, "evaluation")
    traits = game.traits
    return inside_bounds(expected_reward(game), traits.utility_bounds, strictly=traits.seats == 2)


def most_states(game: Any, limits: Limits) -> float:
    """How many states a search within these limits can visit at most, roughly."""
    most = math.inf if limits.nodes is None else float(limits.nodes)
    if limits.depth is None or limits.depth > 16:
        return most
    levels = limits.depth if game.traits.chance is Chance.NONE else 2 * limits.depth
    return min(most, float(game.rules.num_actions()) ** levels)


def compiled_general_search(
    game: Any, evaluator: Any, budget: Budget, *, limits: Limits, **settings: Any
) -> CompiledGeneralSearch | None:
    """A compiled search of one against all, or through chance; None where only plain Python can do it.

    A limit on time holds for the compiler too: where it is not done in time, it goes on in the background for
    later searches, and this one is a plain one.

    Args:
        game: Any game.
        evaluator: As the agent would use it; None, ``"game"`` and ``"rewards"`` can be compiled.
        budget: Counts nodes.
        limits: The limits of the search.
        settings: As ``CompiledGeneralSearch`` takes them.

    Raises:
        RulesError: The rules do not compile; the message names the method and the line.
    """
    if not can_search_any(game) or not can_use(game, evaluator):
        return None
    if not GENERAL.is_ready(game.rules, limits):
        return None
    return CompiledGeneralSearch(game, evaluator, budget, limits=limits, **settings)


class CompiledGeneralSearch:
    """One seat against all others, or alone, over compiled rules with or without chance.

    Args:
        game: Of rules.
        evaluator: None, ``"game"`` or ``"rewards"``.
        budget: Counts nodes.
        limits: The same limits that ``budget`` was given: nodes are counted inside the kernel.
        searched: The game whose states are given, if it is another: a ``RepliesGame`` of ``game``, for best reply.
        seat: The seat that maximizes.
        pruning: What to leave out; without pruning actions are tried in ascending order.
        sooner: Whether wins should come sooner and losses later.
        ordering: In which order actions are tried.
        table_mb: Memory for the transposition table, in MiB; 0 for none.
        at_chance: Whether a chance state at the depth limit is evaluated, not averaged over.
        memory: Words of memory for records to begin with; it grows as needed.
    """

    def __init__(
        self,
        game: RulesGame,
        evaluator: Any,
        budget: Budget,
        *,
        limits: Limits,
        searched: Game[Any] | None = None,
        seat: int = 0,
        pruning: ChancePruning = ChancePruning.NONE,
        sooner: bool = True,
        ordering: Ordering = Ordering.AUTO,
        table_mb: float = 0,
        at_chance: bool = False,
        memory: int | None = None,
    ) -> None:
        from zermelo.agents.compiled.chance_bounds import BLOCKS
        from zermelo.agents.compiled.general_kernel import PLACES

        self.game: Game[Any] = game if searched is None else searched
        self.budget = budget
        self.max_seat = seat
        self.scale = Scale(game, sooner=sooner, seat=seat)
        self._replies = isinstance(searched, RepliesGame)
        self._prunes = pruning is not ChancePruning.NONE
        self._ordering = ordering if self._prunes else Ordering.FIXED
        self._rules, self._kernel = game.rules, GENERAL.load(game.rules)
        traits, size = game.traits, int(game.rules.num_actions())
        self._keeps_values = traits.seats > 2 or (traits.seats == 2 and traits.reward_sum is RewardSum.GENERAL)
        seats = traits.seats if self._keeps_values else 1
        has_chance = traits.chance is not Chance.NONE
        # Each opponent can choose each of its actions; where chance follows, nobody may.
        choices = size * max(traits.seats - 1, 1) + 1 if self._replies else size
        room = max(BLOCKS * size * has_chance, 3 * choices + size if self._replies else 2 * size)
        self.table = None
        if table_mb:
            words, tags = seats + 1, 2 * traits.seats + 2
            megabytes = (
                table_mb if has_chance else min(table_mb, most_states(game, limits) * 16 * (2 + words) / 2**20)
            )
            self.table = CompiledTable(megabytes, choices, score_words=words, score_bits=1 + tags.bit_length())
        self._runner = Runner(
            game,
            budget,
            limits=limits,
            ordering=self._ordering,
            sooner=sooner,
            choices=choices,
            table=self.table,
            room=room + seats + 4 + MAX_PLIES,
            arena=memory,
        )
        search = self._search = self._runner.searches[0]
        frame = self.scale.frame(None)  # the rules pay at the end, so all states have the same
        search.lower_value, search.lower_distance = frame.lowest
        search.upper_value, search.upper_distance = frame.highest
        search.middle = frame.middle
        search.slack = SLACK * max(1.0, abs(frame.lowest[0]), abs(frame.highest[0]))
        search.expected = expected_reward(game)
        search.evaluated = evaluates(evaluator)
        search.lower_evaluation, search.upper_evaluation = game.rules_bounds
        search.root_seat, search.kept_seats, search.own = seat, seats, seat if self._keeps_values else 0
        search.prunes = self._prunes
        search.probes = pruning is ChancePruning.STAR2
        search.at_chance = at_chance
        search.replies = self._replies
        search.passes = hasattr(game.rules, "pass_turn")
        search.hold("scratch", np.zeros(size, np.int64))
        if has_chance and search.ordered:
            search.hold("killers", np.full(2 * (MAX_PLIES + 2 + PLACES * size), -1, np.int64))

    @property
    def transposes(self) -> bool:
        """Whether the table may answer with what an iteration before, less deep, has left unfinished."""
        return self.table is not None

    def frame(self, state: Any) -> Frame:
        """How scores read at a state."""
        return self.scale.frame(None)

    def window(self, state: Any) -> tuple[Score, Score]:
        """Alpha and beta at the root."""
        frame = self.scale.frame(None)
        return (frame.lowest, frame.highest) if self._prunes else INFINITE_WINDOW

    def root_actions(self, state: Any) -> Sequence[int]:
        """The actions at the root, the most promising first."""
        order = MoveOrder(self.game, self._ordering)
        return order.ordered(state, self.game.legal_actions(state), self.game.to_move(state), 0, None)

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int) -> Visit:
        """The score of a state, looking ``depth`` moves ahead, as the plain searches give it."""
        from zermelo.agents.compiled.general_kernel import VALUES

        here, chooser = self._inside(state)
        plies, window = plies_of(depth), (*map(float, alpha), *map(float, beta))
        rules, kernel = self._rules, self._kernel

        def call(search: Search) -> int:
            search.chooser = chooser
            return int(kernel(rules, here, plies, *window, ply, -1, search.arena, search))

        found, search = self._runner.run(call, depth, ply)
        values, distance, line = self._runner.record(search)
        told = values if self._keeps_values and found & VALUES else ()
        return Visit((values[search.own], distance), bool(found & 1), line, values=told)

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state, if the table still knows what a search to this depth would find."""
        if self.table is None:
            return None
        _, chooser = self._inside(state)
        key: Any = self.game.key(state)
        if self._replies:
            key = key[0]  # the rules' own part of it: the mark below says who chooses
        known = self.table.get(key, depth, 2 * (chooser + 1) * CHANCE_KEY)
        return known.action if known is not None and known.bound is Bound.EXACT else None

    def _inside(self, state: Any) -> tuple[Any, int]:
        """A state of the rules' own, and which opponent chooses there, or -1."""
        if not self._replies:
            return state, -1
        return state.state, -1 if state.chooser is None else state.chooser
