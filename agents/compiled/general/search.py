"""Searches of any number of players, compiled: expectiminimax, paranoid, best reply (``kernel``), and max^n."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from zermelo.agents.compiled import layout
from zermelo.agents.compiled.front_end import CompiledTreeSearch, most_states
from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.program import Program, can_evaluate, evaluates, fits
from zermelo.agents.compiled.table import CompiledTable
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.mate_distance import SLACK, Scale, count_values
from zermelo.agents.core.options import ChancePruning, Ordering, TieRule, evaluates_chance
from zermelo.agents.core.recursion import MAX_PLIES
from zermelo.agents.core.settings import inside_bounds
from zermelo.agents.core.tree_config import AlphaBetaConfig, MaxNConfig
from zermelo.agents.core.tree_search import Iteration, MaxNRoot, Root, RootNode, SumNotConstantError
from zermelo.envs import Chance
from zermelo.envs.rules.rules_game import RulesGame

KERNEL: Final = "zermelo.agents.compiled.general.kernel"
MAX_N: Final = "zermelo.agents.compiled.general.max_n"
NODES: Final = "zermelo.agents.compiled.nodes"
FIRST, PARANOID, FRIENDLY, SPITEFUL, GENEROUS = range(5)  # the rules for ties, in the order of TieRule
_MAX_UTILITY: Final = 1 << 40
"""Beyond that an evaluation would not be exact as a float."""


def can_search_any(game: Any) -> bool:
    """True if a game of rules can be searched compiled, whoever plays and whatever they play for."""
    if not fits(game) or game.traits.chance is Chance.SAMPLED:
        return False
    lower, upper = game.traits.utility_bounds
    return bool(lower < upper and max(-lower, upper) <= _MAX_UTILITY)


def can_search_through_chance(game: Any) -> bool:
    """True if expectiminimax fits, compiled: exact chance, for one player or two with a constant sum."""
    if not can_search_any(game) or game.traits.chance is not Chance.EXACT:
        return False
    return bool(game.traits.seats == 1 or game.traits.is_opposed)


def expected_reward(game: Any) -> float:
    """The value of the evaluator ``"rewards"`` for every seat."""
    return float(game.traits.constant) / 2 if game.traits.seats == 2 else 0.0


def can_use(game: Any, evaluator: Any) -> bool:
    """True if a kernel can compute what an evaluator says of a game; other people's evaluators it cannot."""
    if evaluator is None or not can_evaluate(evaluator):
        return evaluator is None
    if evaluates(evaluator):
        return hasattr(game.rules, "evaluation")
    traits = game.traits
    return inside_bounds(expected_reward(game), traits.utility_bounds, strictly=traits.seats == 2)


class CompiledGeneralSearch(CompiledTreeSearch):
    """One seat against all others, or alone, over compiled rules with or without chance.

    The states of ``root.searched``, if that is given, are those of a ``RepliesGame``, for best reply.
    """

    program = Program("general", "root", "search_root", constants=("GENERAL",))

    def __init__(self, root: Root, budget: Budget, config: AlphaBetaConfig) -> None:
        from zermelo.agents.compiled.general.chance_bounds import BLOCKS
        from zermelo.agents.compiled.general.kernel import PLACES

        game: RulesGame = root.game
        self.max_seat = root.max_seat(config)
        self.scale = Scale(game, sooner=config.sooner, seat=self.max_seat)
        replies = root.searched is not None
        self.prunes = config.prunes
        traits, size, most = game.traits, game.num_moves, game.max_legal_actions
        seats = count_values(traits)
        has_chance = traits.chance is not Chance.NONE
        # Each opponent can choose each of its actions; where chance follows, nobody may.
        others_choose = max(traits.seats - 1, 1)
        choices = size * others_choose + 1 if replies else size
        width = most * others_choose + 1 if replies else most
        room = max(BLOCKS * most * has_chance, 3 * width + most if replies else 2 * most)
        table = None
        if config.memory_mb:
            table = CompiledTable(
                config.memory_mb,
                choices,
                score_words=seats + 1 + (config.min_probability > 0),
                score_bits=1 + (2 * traits.seats + 2).bit_length(),
                most_states=math.inf if replies else most_states(game, budget.limits),
            )
        super().__init__(
            root,
            budget,
            config,
            constants=self.constants(root, config),
            ordering=config.ordering if config.prunes else Ordering.FIXED,
            choices=choices,
            width=width,
            table=table,
            room=room + seats + 4 + MAX_PLIES,
            num_values=seats,
        )
        search = self.searches[0]
        frame = self.scale.frame(None)  # the rules pay at the end, so all states have the same
        search.lower_value, search.lower_distance = frame.lowest
        search.upper_value, search.upper_distance = frame.highest
        search.middle = frame.middle
        search.slack = SLACK * max(1.0, abs(frame.lowest[0]), abs(frame.highest[0]))
        search.expected, search.total = expected_reward(game), int(traits.constant)
        if root.fitted is not None:
            self._fitted = root.fitted  # whose memory the kernel reads
            search.hold("fitted", root.fitted.words())
        search.prunes = config.prunes
        search.probes = config.pruning is ChancePruning.STAR2
        search.at_chance = evaluates_chance(config.chance_at_limit, game, root.evaluator)
        search.beam_width = 0 if config.prunes else config.beam_width
        search.min_probability = 0.0 if config.prunes else config.min_probability
        search.passes = hasattr(game.rules, "pass_turn")
        search.hold("scratch", np.zeros(size, np.int64))
        if has_chance and search.ordered:
            search.hold("killers", np.zeros(2 * (MAX_PLIES + 2 + PLACES * size), np.int64))

    @classmethod
    def can_search(cls, root: Root) -> bool:
        return can_search_any(root.game) and (root.fitted is not None or can_use(root.game, root.evaluator))

    @classmethod
    def constants(cls, root: Root, config: AlphaBetaConfig) -> dict[str, bool]:
        has_chance = root.game.traits.chance is not Chance.NONE
        found = {f"{KERNEL}.HAS_CHANCE": has_chance, f"{KERNEL}.REPLIES": root.searched is not None}
        return found | {f"{NODES}.NETWORK": True} if root.fitted is not None else found

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state; what an improbable state was searched for is nothing to go by."""
        return None if self.searches[0].min_probability else super().recall(state, depth, ply)


class CompiledMaxN(MaxNRoot, CompiledTreeSearch):
    """max^n over compiled rules, with or without chance."""

    program = Program("maxn", "root", "search_root", constants=("MAX_N",))

    def __init__(self, root: Root, budget: Budget, config: MaxNConfig) -> None:
        game: RulesGame = root.game
        traits, seats = game.traits, game.traits.seats
        self.max_seat = root.max_seat(config)
        self.scale = Scale(game, sooner=False, use_bounds=False, seat=self.max_seat)
        self.prefer_by(config, traits)
        table = None
        if config.memory_mb:
            most = most_states(game, budget.limits)
            table = CompiledTable(config.memory_mb, game.num_moves, score_words=1 + seats, most_states=most)
        room = (seats + 4) * game.max_legal_actions + seats + MAX_PLIES + 16
        super().__init__(
            root,
            budget,
            config,
            constants=self.constants(root, config),
            ordering=config.ordering,
            table=table,
            room=room,
            num_values=seats,
        )
        search = self.searches[0]
        search.tie_rule = list(TieRule).index(config.tie_rule)
        search.lower_value, search.upper_value = -math.inf, math.inf
        search.prunes = config.prunes
        search.lower_utility, search.upper_utility = map(int, traits.utility_bounds)
        search.total = int(traits.constant)
        search.expected = expected_reward(game)
        search.middle = self.middle

    @classmethod
    def can_search(cls, root: Root) -> bool:
        return can_search_any(root.game) and can_use(root.game, root.evaluator)

    @classmethod
    def constants(cls, root: Root, config: MaxNConfig) -> dict[str, bool]:
        return {f"{MAX_N}.HAS_CHANCE": root.game.traits.chance is not Chance.NONE}

    def _read(self, iteration: Iteration, search: Search, node: RootNode) -> None:
        """Takes the root moves that a search has found; raises ``SumNotConstantError``."""
        super()._read(iteration, search, node)
        if search.stop == layout.SUM_NOT_CONSTANT:
            start = (search.wrong_values - search.arena) // 8
            values = search.held["arena"][start : start + search.num_values].view(np.float64)
            raise SumNotConstantError(tuple(values.tolist()))
