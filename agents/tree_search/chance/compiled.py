"""Searches of any number of players, compiled: expectiminimax, paranoid, best reply (``kernel``), and max^n."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.recursion import MAX_PLIES
from zermelo.agents.base.scores import SLACK, Scale, count_values, evaluates_chance, expected_reward
from zermelo.agents.kernels.program import Program, can_search_any, can_use
from zermelo.agents.tree_search.chance.kernel import visit_child
from zermelo.agents.tree_search.chance.kernel_memory import BLOCKS, PLACES
from zermelo.agents.tree_search.compiled.record import GeneralRecord, TreeVariant
from zermelo.agents.tree_search.compiled.search import CompiledTreeSearch, KernelMemory, most_states
from zermelo.agents.tree_search.compiled.table import CompiledTable
from zermelo.agents.tree_search.interface import SearchSetup
from zermelo.agents.tree_search.settings import AlphaBetaConfig, ChancePruning
from zermelo.envs.capabilities import SupportsNullMove, offers
from zermelo.envs.game import Chance
from zermelo.envs.rules.rules_game import RulesGame


class CompiledGeneralSearch(CompiledTreeSearch):
    """One seat against all others, or alone, over compiled rules with or without chance.

    The states of ``root.searched``, if that is given, are those of a ``RepliesGame``, for best reply.
    """

    program = Program("general", "tree_search.compiled.kernel_root", "search_root", GeneralRecord)
    searches: Sequence[GeneralRecord]

    def __init__(self, root: SearchSetup, budget: Budget, config: AlphaBetaConfig) -> None:
        game: RulesGame = root.game
        self.max_seat = root.max_seat(config)
        self.scale = Scale(game, prefer_short_wins=config.prefer_short_wins, seat=self.max_seat)
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
                score_words=seats + 1,
                score_bits=1 + (2 * traits.seats + 2).bit_length(),
                most_states=math.inf if replies else most_states(game, budget.limits),
            )
        memory = KernelMemory(choices, width, room=room + seats + 4 + MAX_PLIES, num_values=seats)
        super().__init__(root, budget, config, memory, table)
        search = self.searches[0]
        frame = self.scale.frame(None)  # the rules pay at the end, so all states have the same
        search.lower_value, search.lower_distance = frame.lowest
        search.upper_value, search.upper_distance = frame.highest
        search.middle = frame.middle
        search.slack = SLACK * max(1.0, abs(frame.lowest[0]), abs(frame.highest[0]))
        search.expected, search.total = expected_reward(traits), int(traits.constant)
        if root.fitted is not None:
            self._fitted = root.fitted  # whose memory the kernel reads
            search.attach("fitted", root.fitted.words())
        search.prunes = config.prunes
        search.probes = config.pruning is ChancePruning.STAR2
        search.at_chance = evaluates_chance(config.chance_at_limit, game, root.evaluator)
        search.beam_width = 0 if config.prunes else config.beam_width
        search.passes = offers(game, SupportsNullMove)
        search.attach("scratch", np.zeros(size, np.int64))
        if has_chance and search.ordered:
            search.attach("killers", np.zeros(2 * (MAX_PLIES + 2 + PLACES * size), np.int64))

    def reset_record(self, search: GeneralRecord) -> None:
        search.known = -1

    @classmethod
    def can_search(cls, root: SearchSetup) -> bool:
        return can_search_any(root.game) and (root.fitted is not None or can_use(root.game, root.evaluator))

    @classmethod
    def variants(cls, root: SearchSetup, config: AlphaBetaConfig) -> tuple[TreeVariant]:
        chance, replies = root.game.traits.chance is not Chance.NONE, root.searched is not None
        network = root.fitted is not None
        return (TreeVariant(visit_child, general=True, chance=chance, replies=replies, network=network),)
