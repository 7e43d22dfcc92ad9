"""Paranoid and best-reply search compiled, for games of rules without chance.

``compiled_one_against_all`` gives a search for ``search.iterative_deepening.deepen`` where the rules can be
compiled, and None where the plain one has to be used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zermelo.agents.compiled.background import is_ready
from zermelo.agents.compiled.max_n import (
    KernelRun,
    ManySeatsTable,
    expected_rewards,
    fits,
    most_states,
)
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.mate_distance import Score
from zermelo.agents.core.options import Ordering
from zermelo.agents.core.tree_search import Bound, Visit
from zermelo.agents.search.alpha_beta import AlphaBetaSearch
from zermelo.agents.search.best_reply import RepliesGame
from zermelo.agents.search.move_ordering import MoveOrder
from zermelo.envs import Chance, Game
from zermelo.envs.rules.rules_game import RulesGame

__all__ = ["CompiledOneAgainstAll", "compiled_one_against_all", "one_against_all_kernel"]


def one_against_all_kernel(rules: Any) -> Callable[..., int]:
    """The compiled alpha-beta of one against all for a class of rules."""
    from zermelo.agents.compiled import paranoid_kernel as kernels
    from zermelo.envs.rules.build import Kernel, build

    arguments = ("int64", *("float64",) * 4, *("int64",) * 4)
    return build(rules, Kernel(kernels.visit, arguments))


def compiled_one_against_all(
    game: Game[Any], searched: Game[Any], evaluator: Any, budget: Budget, *, limits: Limits, **settings: Any
) -> CompiledOneAgainstAll | None:
    """Paranoid or best-reply search compiled; None where plain Python has to search.

    Args:
        game: The game that is played.
        searched: The same, or what best-reply search makes of it.
        evaluator: Of the game; None, ``"game"`` and ``"rewards"`` can be compiled.
        budget: Counts nodes.
        limits: The limits of the search.
        settings: As ``CompiledOneAgainstAll`` takes them.

    Raises:
        RulesError: The rules do not compile; the message names the method and the line.
    """
    if not fits(game, evaluator) or game.traits.chance is not Chance.NONE:
        return None
    assert isinstance(game, RulesGame), "others do not fit"
    rules = game.rules
    if not is_ready((type(rules), "one against all"), lambda: one_against_all_kernel(rules), limits):
        return None
    return CompiledOneAgainstAll(game, searched, budget, evaluator, limits=limits, **settings)


class CompiledOneAgainstAll(AlphaBetaSearch):
    """Alpha-beta of one against all over compiled rules, as ``deepen`` wants a search; with the plain one's root.

    Args:
        game: Of rules, of any number of players and any sums, without chance.
        searched: The same game, for paranoid search; a ``RepliesGame`` of it, for best-reply search.
        budget: Counts nodes.
        evaluator: None, ``"game"`` or ``"rewards"``.
        limits: The same limits that ``budget`` was given: nodes are counted inside the kernel.
        seat: The seat that maximizes.
        sooner: Whether wins should come sooner and losses later.
        ordering: In which order actions are tried.
        table_mb: Memory for the transposition table, in MiB; 0 for none.
        memory: Words of memory for records to begin with; it grows as needed.
    """

    def __init__(
        self,
        game: RulesGame,
        searched: Game[Any],
        budget: Budget,
        evaluator: Any,
        *,
        limits: Limits,
        seat: int,
        sooner: bool,
        ordering: Ordering,
        table_mb: float = 0,
        memory: int | None = None,
    ) -> None:
        order = MoveOrder(searched, ordering)
        super().__init__(searched, budget, evaluator, sooner=sooner, order=order, table=None, seat=seat)
        from zermelo.agents.compiled import paranoid_kernel as kernels

        self._kernel = one_against_all_kernel(game.rules)
        self._rules = game.rules
        self._replies = isinstance(searched, RepliesGame)
        traits, size = game.traits, int(game.rules.num_actions())
        self._known = ManySeatsTable(table_mb, traits.seats, most_states(game, limits)) if table_mb else None
        self._run = KernelRun(
            game,
            budget,
            limits=limits,
            choices=size * max(traits.seats - 1, 1) if self._replies else size,
            sooner=sooner,
            ordering=ordering,
            table=self._known,
            memory=memory,
        )
        context = self._run.context
        block = context.words
        numbers = block.view(np.float64)
        frame = self.scale.frame(None)  # the rules pay at the end, so all states have the same
        block[kernels.ROOT_SEAT] = seat
        block[kernels.REPLIES] = self._replies
        block[kernels.PASSES] = hasattr(game.rules, "pass_turn")
        block[kernels.SCRATCH] = context.hold(np.zeros(size, np.int64))
        block[kernels.LEAST], block[kernels.GREATEST] = map(int, traits.utility_bounds)
        block[kernels.EVALUATED] = evaluator is not None and evaluator.spec() == "game"
        numbers[kernels.EXPECTED] = expected_rewards(game)
        numbers[kernels.MIDDLE] = frame.middle
        numbers[kernels.LOWEST], numbers[kernels.LOWEST_PROMPTNESS] = frame.lowest
        numbers[kernels.HIGHEST], numbers[kernels.HIGHEST_PROMPTNESS] = frame.highest

    @property
    def table(self) -> ManySeatsTable | None:
        """The transposition table, if there is one; the plain search's own is not used."""
        return self._known

    @property
    def transposes(self) -> bool:
        """Whether the table may answer with what an iteration before, less deep, has left unfinished."""
        return self._known is not None

    def visit(self, state: Any, depth: float, alpha: Score, beta: Score, ply: int, *_: Any) -> Visit:
        """The score of a state, looking ``depth`` moves ahead, as the plain search gives it."""
        from zermelo.agents.compiled.paranoid_kernel import VALUES

        plies = int(depth) if depth < 1 << 20 else 1 << 20
        here, chooser = (state.state, state.chooser) if self._replies else (state, None)
        window = (float(alpha[0]), float(alpha[1]), float(beta[0]), float(beta[1]))
        rules, kernel, choosing = self._rules, self._kernel, -1 if chooser is None else int(chooser)

        def call(record: int, context: int) -> int:
            return int(kernel(rules, here, plies, *window, choosing, ply, record, context))

        found = self._run(call, depth)
        values, promptness, line = self._run.record()
        score = (values[self.max_seat], promptness)
        return Visit(score, bool(found & 1), line, values=values if self._keeps_values and found & VALUES else ())

    def recall(self, state: Any, depth: float, ply: int) -> int | None:
        """The best action in a state, if the table still knows it."""
        if self._known is None:
            return None
        key: Any = self.game.key(state)
        chooser = None
        if self._replies:
            key, chooser = key
        known = self._known.known(key, depth, -1 if chooser is None else chooser)
        return known.action if known is not None and known.bound is Bound.EXACT else None
