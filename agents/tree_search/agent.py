"""Shared by the agents that search a game tree."""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.memory import NO_LIMITS, TransientState
from zermelo.agents.base.recursion import SHALLOWER, deep_recursion
from zermelo.agents.base.request import Request
from zermelo.agents.base.result import SearchResult
from zermelo.agents.base.settings import Compile, Ties, choice, converted, declared, flag, function, part_of
from zermelo.agents.evaluators.protocol import Evaluator
from zermelo.agents.evaluators.registry import default_evaluator, make_evaluator
from zermelo.agents.search_agent import DEFAULT_SECONDS
from zermelo.agents.tree_search.choose import Family, needed_kernels, tree_search
from zermelo.agents.tree_search.interface import (
    Iteration,
    RootNode,
    RootRequest,
    SearchSetup,
    TreeOutcome,
    TreeSearch,
)
from zermelo.agents.tree_search.iterative_deepening import TimeManager, deepen
from zermelo.agents.tree_search.results import answer
from zermelo.agents.tree_search.sampled_game import SampledGame, looking_inside
from zermelo.agents.tree_search.settings import AlphaBetaConfig, MaxNConfig
from zermelo.agents.workers.agent import WorkerAgent
from zermelo.envs.capabilities import copy_facts
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.game import Chance, Game, Traits
from zermelo.envs.position import Position
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.support.waiting import say_after

if TYPE_CHECKING:
    from zermelo.agents.tree_search.sharing import TreeAnswer
    from zermelo.agents.workers.news import News
    from zermelo.envs.jit.kernel import Wanted

FULL: Final = "full"
"""The depth of a search that looks to the end of the game."""
_LONG: Final = 10.0
"""Seconds after which a search without a limit says so."""


class _LastSearch(TransientState):
    """The last search with its memory, its game, and the evaluator that was found where none was given."""

    def __init__(self) -> None:
        self.game: Game[Any] | None = None
        self.evaluator: Evaluator | None = None
        self._search: deque[TreeSearch] = deque(maxlen=1)

    def put(self, search: TreeSearch) -> None:
        self._search.append(search)

    def take(self) -> TreeSearch | None:
        try:
            return self._search.pop()  # for one thread only
        except IndexError:
            return None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TreeSearchAgent(WorkerAgent):
    """Settings of every search of a game tree.

    Attributes:
        depth: Moves to look ahead, every player's counted and chance not; ``"full"`` looks to the end of the game.
        nodes: States to visit, all iterations together.
        seconds: Time for a move, from the call on; None takes as long as it needs.
        evaluator: What a state at the depth limit is worth: an ``Evaluator``, its name (``"playout(games=8)"``,
            ``"mymodule:function"``); None for the game's own evaluation, else known features, else rewards
            alone.
        stop_test: ``stop_test(game, state, ply)``: true where the search evaluates instead of looking further.
        prefer_short_wins: Whether, of equal values, wins should come sooner and losses later.
        ties: Which of several best actions to play: ``"random"`` or ``"first"``. For random ones, root actions are
            tried in an order drawn from the seed, and the first of the best is played: others as good show only
            if ``exact`` is set, the ordering is fixed or nodes are watched. A selective search tries the most
            promising first, and shows none either.
        on_iteration: Called with a ``SearchResult`` after each finished iteration; False ends the search there.
        on_node: Called with a ``NodeEvent`` for what happens at each node; the search is then in plain Python.
    """

    family: ClassVar[Family]  # the searches that it runs

    depth: int | str | None = declared(None, None, 'a whole number of at least 1, or "full"', "plies")
    nodes: int | None = None
    seconds: float | str | None = None
    evaluator: Any = converted(None, make_evaluator, "an evaluator, or its name")
    stop_test: Any = function("of game, state and ply")
    prefer_short_wins: bool = flag(True)
    ties: Ties = choice(Ties.RANDOM)
    on_iteration: Any = function("of a SearchResult")
    on_node: Any = function("of a NodeEvent")

    _last: _LastSearch = field(init=False, default_factory=_LastSearch)

    samples = 1  # a setting of those that search games with chance

    @property
    def deepening(self) -> bool | None:
        return None

    @property
    def fixed(self) -> Mapping[str, Any]:
        """Values of its searches' config that are no settings of its own."""
        return {}

    @functools.cached_property
    def config(self) -> AlphaBetaConfig:
        return part_of(self, AlphaBetaConfig, **self.fixed)

    @property
    def deepens(self) -> bool:
        """True to search one move deep first, then two, and so on."""
        if self.deepening is not None:
            return self.deepening
        depth, nodes, seconds = self.limits.depth, self.limits.nodes, self.limits.seconds
        return nodes is not None or seconds is not None or (depth is not None and self.iterations_help)

    @property
    def iterations_help(self) -> bool:
        """True if one iteration makes the next one faster."""
        return self.config.memory_mb > 0

    @property
    def keeps_table(self) -> bool:
        """True if the table of one move serves the next ones."""
        return False

    @functools.cached_property
    def root_request(self) -> RootRequest:
        return RootRequest(self.is_exact, self.ties)

    @property
    def is_exact(self) -> bool:
        """True if every root action gets its exact value."""
        return True

    def given_limits(self) -> dict[str, Any]:
        depth, seconds = None if self.depth == FULL else self.depth, self.seconds
        if seconds == "auto":
            is_limited = self.depth is not None or self.nodes is not None or self.stop_test is not None
            seconds = None if is_limited or self.deepening is False else DEFAULT_SECONDS
        return {"depth": depth, "nodes": self.nodes, "seconds": seconds}

    @property
    def is_timed(self) -> bool:
        return super().is_timed and self.depth != FULL

    @property
    def most_seconds(self) -> float:
        return math.inf if self.seconds == "auto" else super().most_seconds

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_one_worker("on_iteration", self.on_iteration)
        self.require_one_worker("on_node", self.on_node)

    def check_game(self, game: Game[Any]) -> None:
        super().check_game(game)
        if self.workers != 1 and isinstance(game, RulesGame) and self.compile is not Compile.NEVER:
            instead = "threads=2 in place of workers" if hasattr(self, "threads") else "no workers"
            raise UnsupportedGameError(
                f"{game.traits.name} has rules that are compiled, and {self.kind} searches those in one process: "
                f"give {instead}, or compile='never'"
            )

    def kernels(self, root: Position) -> list[Wanted]:
        if self.compile is Compile.NEVER or root.game.traits.chance is Chance.SAMPLED:
            return []
        start = self.root(root.game, root.state)
        return needed_kernels(start, self.config_for(start), self.family, self.on_node)

    def choose(self, request: Request, budget: Budget) -> SearchResult:
        if self.workers != 1 and request.share is not None and self.deepens:
            budget.end_within(request.share.most)
        return super().choose(request, budget)

    def brief(self, seconds: float | None = None) -> Self:
        limits: dict[str, Any] = {"depth": 1, "nodes": None, "seconds": seconds, "on_iteration": None}
        return dataclasses.replace(self, **limits)

    def found_alone(self, request: Request, budget: Budget) -> dict[str, Any]:
        return self.searched(request, budget).found

    def answered(self, request: Request, budget: Budget, news: News) -> TreeAnswer:
        from zermelo.agents.tree_search.sharing import TreeAnswer

        outcome = self.searched(request, budget, news)
        stopped_by = outcome.found["stopped_by"]
        return TreeAnswer(
            outcome=outcome,
            generator=self.generator,
            stopped_by=stopped_by,
            nodes=budget.nodes,
            failures=copy_facts(request.game).failures,
            is_final=stopped_by is not StoppedBy.NODES,
        )

    def found_together(self, request: Request, answers: Sequence[TreeAnswer], draw: float) -> dict[str, Any]:
        best = max(answers, key=operator.attrgetter("reach"))
        self._game.generator = best.generator
        reasons = [best.stopped_by, *(answer.stopped_by for answer in answers)]
        # One that ends has the others interrupted.
        reason = next((why for why in reasons if why is not StoppedBy.INTERRUPT), StoppedBy.INTERRUPT)
        return best.outcome.found | {"stopped_by": reason}

    def drawn(self) -> tuple[int, float, Callable[[int], Sequence[np.random.Generator]]]:
        """All processes draw what a search in one would."""
        return 0, 0.0, lambda count: [self.generator] * count

    def begin(self, limits: Limits, generator: np.random.Generator, played: int | None) -> None:
        super().begin(limits, generator, played)
        if played is None:
            self._last.take()

    def searched(self, request: Request, budget: Budget, news: News | None = None) -> TreeOutcome:
        """Searches in this process, with others if there are ``news`` of them."""
        root = self.root(request.game, request.state, request.legal)._replace(news=news)
        return self.run(request, self.build(self.config_for(root), root, budget), root)

    def config_for(self, root: SearchSetup) -> AlphaBetaConfig | MaxNConfig:
        """The settings of the search of a root."""
        return self.config

    def evaluator_for(self, game: Game[Any], state: Any) -> Evaluator | None:
        """The evaluator to use; None where the search goes to the end anyway."""
        is_whole = self.limits == NO_LIMITS and self.stop_test is None and not self.deepens
        evaluator: Evaluator | None = self.evaluator
        if evaluator is not None or is_whole:
            return evaluator
        last = self._last
        if last.game is not game:
            last.game, last.evaluator = game, default_evaluator(game, state)
        return last.evaluator

    def root(self, game: Game[Any], state: Any, legal: Sequence[int] | None = None) -> SearchSetup:
        evaluator, stop_test = self.evaluator_for(game, state), self.stop_test
        if game.traits.chance is not Chance.SAMPLED:
            return SearchSetup(game, state, evaluator, stop_test, legal=legal)
        sampled = SampledGame(game, self.samples)
        start = sampled.root(state, int(self.generator.integers(2**62)))
        return SearchSetup(
            sampled, start, looking_inside(evaluator), looking_inside(stop_test), self.samples, legal
        )

    def build(self, config: AlphaBetaConfig | MaxNConfig, root: SearchSetup, budget: Budget) -> TreeSearch:
        earlier = self._last.take()
        return tree_search(root, budget, config, family=self.family, on_node=self.on_node, earlier=earlier)

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        if self.keeps_table:
            self._last.take()

    def advice_if_too_long(self, traits: Traits) -> str:
        return SHALLOWER

    def run(self, request: Request, search: TreeSearch, root: SearchSetup) -> TreeOutcome:
        node = search.root_node(root.state, root.legal)
        wanted = asked = self.root_request
        if search.breaks_ties or search.selective:
            # The first sees all ties, to prefer one of them; to see them costs the other up to half of its nodes.
            asked = wanted._replace(ties=Ties.RANDOM if search.breaks_ties else None)
        elif wanted == RootRequest(ties=Ties.RANDOM) and not search.order.fixed and self.on_node is None:
            wanted = asked = RootRequest(ties=None, draws_order=True)
        draw, budget, manager = float(self.generator.random()), search.budget, None

        def found_in(iteration: Iteration | None, depth: int, stopped_by: StoppedBy) -> dict[str, Any]:
            is_estimate = root.width is not None
            found = answer(search, node, iteration, wanted, depth, stopped_by, draw, is_estimate=is_estimate)
            return found | self.corrections(search, node, found)

        def watch(iteration: Iteration, depth: int, stopped_by: StoppedBy) -> bool:
            so_far = request.result(budget, **found_in(iteration, depth, stopped_by))
            return request.should_continue(self.on_iteration, so_far)

        if request.share is not None and self.deepens:
            budget.end_within(request.share.most)
            lower, upper = search.game.traits.utility_bounds
            manager = TimeManager(request.share.most, len(search.root_actions(node)), upper - lower)
        advice = (
            f"{self.name} searches the whole tree of {search.game.traits.name}, as it has no limit: wait, or "
            f"press Ctrl-C and limit it, as in {self.kind}(seconds=1) or {self.kind}(depth=4)"
        )
        with (
            nullcontext() if search.compiled else deep_recursion(search.game),
            say_after(_LONG, advice) if self.limits == NO_LIMITS else nullcontext(),
        ):
            last = deepen(
                search,
                node,
                self.limits,
                asked,
                step_by_step=self.deepens,
                watch=None if self.on_iteration is None else watch,
                manager=manager,
                seed=int(draw * 2**62),
            )
        found = found_in(*last)
        if last[1] <= 1 and (self.limits.depth or math.inf) > 1 and not found["proven"]:
            found["method"] = "one ply"
        reuses = request.ponders or self.keeps_table
        if self.stop_test is None and (reuses or search.compiled):
            if not reuses:
                search.clear_memory()
            self._last.put(search)
        return TreeOutcome(found, 0 if last[0] is None else len(last[0].moves))

    def corrections(self, search: TreeSearch, node: RootNode, found: Mapping[str, Any]) -> dict[str, Any]:
        """Corrections by the agent of the findings of a search."""
        return {} if search.proof is None else search.proof.corrections(search.game, node.state, found)
