"""Monte Carlo tree search as an agent."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.memory import TransientState
from zermelo.agents.base.request import Request
from zermelo.agents.base.scores import undecided_reward
from zermelo.agents.base.settings import Compile, Ties, choice, converted, flag, part_of, path
from zermelo.agents.evaluators.one_ply import Replies, totals_after
from zermelo.agents.evaluators.registry import evaluator_name, make_evaluator
from zermelo.agents.monte_carlo.choose import compiled_variants, monte_carlo
from zermelo.agents.monte_carlo.compiled.search import CompiledMonteCarlo
from zermelo.agents.monte_carlo.interface import MonteCarlo, MonteCarloConfig, RootEdge, RootSetup
from zermelo.agents.monte_carlo.merging import MergedRoots
from zermelo.agents.monte_carlo.simulating import SearchOutcome, SimulatingAgent
from zermelo.agents.workers.agent import WorkerSettings
from zermelo.envs.game import Chance, Game, Traits
from zermelo.envs.jit.cache.sources import Sources, sources_of
from zermelo.envs.jit.kernel import Wanted
from zermelo.envs.position import Position
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.support.calls import checked_call

_FOR_REWARDS: Final = 0.2
"""The share of the time that may go into what actions pay at once."""
_TRIES: Final = 2
"""With fewer simulations for each action, their outcomes say less than what actions pay at once."""
_FOR_REPLIES: Final = 0.25
"""The share of the time that may go into the opponent's replies to the actions that are about to be played."""
_CHECKED: Final = 5
"""The number of actions whose replies are looked at, where they take as long as the root's own actions."""


class _Tree(NamedTuple):
    game: Game[Any]
    sources: Sources | None
    search: MonteCarlo
    played: int
    older: tuple[Any, Any, int] | None
    """The root, its state and the action played of the move before, where the tree was pondered on."""


def _sources(game: Game[Any], state: Any) -> Sources | None:
    """The version of a game's rules; a tree does not outlive an edit."""
    return sources_of(game.rules, state) if isinstance(game, RulesGame) else None


class _LastTree(TransientState):
    """The tree of the last move, which the next one goes on with."""

    tree: _Tree | None = None


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MCTSAgent(MonteCarloConfig, WorkerSettings, SimulatingAgent):
    """Monte Carlo tree search, for any game without hidden information, and the best one without an evaluation.

    Simulations go down a tree that grows where it pays, and are played on to the end at random. Any number of
    players, whatever they play for, with chance or without. The action that most simulations followed is played.
    With rules that can be compiled it runs compiled. Browne et al., "A survey of Monte Carlo tree search methods",
    IEEE Transactions on Computational Intelligence and AI in Games 4 (2012).

    Attributes:
        evaluator: What leaves are worth in place of playouts: an ``Evaluator`` or its name, such as ``"game"``; or
            a policy-value network, such as ``"onnx(path='net.onnx')"``, whose policy is the priors of ``"puct"``.
        reuse: Whether what the tree knows of the position after the next moves is kept for them.
        ties: Which of several best actions to play: ``"random"`` (drawn from the seed) or ``"first"``.
        book: A file with an opening book to play from at random among good moves.

    ``MonteCarloConfig`` has the settings of the tree.
    """

    kind: ClassVar[str] = "mcts"

    evaluator: Any = converted(None, make_evaluator, "an evaluator, or its name")
    reuse: bool = flag(True)
    ties: Ties = choice(Ties.RANDOM)
    book: str | None = path()

    _last: _LastTree = field(init=False, default_factory=_LastTree)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_one_worker("on_simulation", self.on_simulation)

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        self._last.tree = None

    @functools.cached_property
    def config(self) -> MonteCarloConfig:
        return part_of(self, MonteCarloConfig)

    def begin(self, limits: Limits, generator: np.random.Generator, played: int | None) -> None:
        super().begin(limits, generator, played)
        tree, self._last.tree = self._last.tree, None
        if tree is not None and played is not None:
            self._last.tree = tree._replace(played=played)

    def kernels(self, root: Position) -> list[Wanted]:
        if self.compile is Compile.NEVER:
            return []
        variants = compiled_variants(root.game, self.evaluator, self.config)
        if variants is None:
            return []
        return [Wanted(root.game.rules, CompiledMonteCarlo.program.kernel(*variants))]

    def searched(self, request: Request, budget: Budget) -> SearchOutcome:
        game, state = request.game, request.state
        seed = int(self.generator.integers(2**62))
        one_ply_rewards: Mapping[int, tuple[float, ...]] = {}
        children: dict[int, Any] = {}
        for_replies: tuple[float, ...] = (0.0,)
        if self.limits.seconds is not None and not isinstance(game, RulesGame):
            # Playouts of environments may take long.
            began = budget.now()
            one_ply_rewards, _ = totals_after(
                game,
                state,
                budget,
                seed=seed,
                ends=began + _FOR_REWARDS * max(budget.seconds_left, 0.0),
                children=None if game.traits.chance is Chance.SAMPLED else children,
            )
            if game.traits.is_opposed and len(children) == len(request.legal) and not request.ponders:
                of_one = budget.now() - began
                for_replies = min(_CHECKED * of_one, _FOR_REPLIES * budget.seconds_left), of_one
        search, before = self._tree(game, state, seed, budget)
        search.know_children(children)
        draw = float(self.generator.random())
        replies = Replies(game, state, budget)

        def found_so_far(stopped_by: StoppedBy) -> dict[str, Any]:
            return self._found(search, stopped_by, draw, one_ply_rewards, replies.refuted)

        for seconds in for_replies:
            with budget.ending_earlier(seconds):
                found = self.simulate(request, search, found_so_far, 64, 1 << 20)
            if seconds == 0.0 or found["stopped_by"] is not StoppedBy.SECONDS:
                break
            while replies.refute(found["action"], found["value"]):
                found = found_so_far(StoppedBy.SECONDS)
        if self.reuse or request.ponders:
            sources = _sources(game, state)
            self._last.tree = _Tree(game, sources, search, found["action"], before if request.ponders else None)
        return SearchOutcome(found, search, one_ply_rewards, replies.refuted)

    def found_of(self, merged: MergedRoots, draw: float) -> dict[str, Any]:
        merged.config = self.config
        return self._found(merged, merged.stopped_by, draw, merged.one_ply_rewards, merged.refuted)

    def _tree(
        self, game: Game[Any], state: Any, seed: int, budget: Budget
    ) -> tuple[MonteCarlo, tuple[Any, Any, int] | None]:
        """The tree of the last move, if it has this state, and its root before; or a new one."""
        tree, self._last.tree = self._last.tree, None  # an error or Ctrl-C may leave a tree half way
        if tree is not None and tree.game == game and tree.sources is _sources(game, state):
            _, _, search, played, older = tree
            before = search.root, search.root_state, played
            if search.move_to(state, budget, played):
                return search, before
            if older is not None:
                search.root, search.root_state, played = older
                if search.move_to(state, budget, played):
                    return search, older
        start = RootSetup(game, state, self.config, seed)
        return monte_carlo(start, budget, self.evaluator, limits=self.limits), None

    def _found(
        self,
        search: MonteCarlo | MergedRoots,
        stopped_by: StoppedBy,
        draw: float,
        one_ply_rewards: Mapping[int, tuple[float, ...]],
        refuted: Mapping[int, float],
    ) -> dict[str, Any]:
        game, state, traits = search.game, search.root_state, search.game.traits
        seat, moves = game.to_move(state), search.root_actions()
        bounds = {move.action: _bounds(move, search, seat) for move in moves}
        best = max(lower for lower, _ in bounds.values())
        is_tried = search.simulations >= _TRIES * len(moves)
        paid: Mapping[int, float] = {}
        if one_ply_rewards and not is_tried:
            paid = {
                action: totals[seat]
                for action, totals in (*one_ply_rewards.items(), *search.root_totals().items())
            }
        means = {**{move.action: _by_seat(move, search)[seat] for move in moves}, **refuted}
        chosen = self._chosen(_unrefuted(moves, means, refuted), bounds, means, draw, paid)
        solves = search.num_values == 1 and search.config.solver
        proven = solves and math.isfinite(best) and bounds[chosen.action][0] == best
        proven = proven and all(upper <= best for _, upper in bounds.values())
        values = _by_seat(chosen, search)
        if proven or chosen.action in refuted:
            values = traits.values_by_seat(seat, best if proven else refuted[chosen.action])
        means = {move.action: means[move.action] for move in moves if move.visits}
        line = (chosen.action, *search.line_after(chosen.action))
        best_line = search.best_line
        is_better = best_line.total > max(means.values(), default=-math.inf)
        if best_line.actions and is_better and not proven:
            chosen = next(move for move in moves if move.action == best_line.actions[0])
            values, line = (best_line.total,), best_line.actions
            means[chosen.action] = best_line.total
        known = {action: lower for action, (lower, upper) in bounds.items() if lower == upper}
        tried = {move.action for move in moves if move.visits} | one_ply_rewards.keys()
        is_one_ply = not proven and not is_tried and search.simulations < len(moves)
        return {
            "action": chosen.action,
            "method": "one ply" if is_one_ply else "",
            "simulations": search.simulations,
            "actions_tried": len(tried),
            "actions_legal": len(moves),
            "value": values[seat],
            "values_by_seat": values,
            "action_values": known if proven else means | known,
            "proven_actions": tuple(known) if solves else (),
            "principal_variation": line,
            "stopped_by": StoppedBy.COMPLETED if proven else stopped_by,
            "proven": proven,
            "is_estimate": not proven,
            "visits": {move.action: move.visits for move in moves},
            "evaluator": "playouts" if self.evaluator is None else evaluator_name(self.evaluator),
            "leaf_seconds": search.leaf_seconds / search.leaves if search.leaves else 0.0,
            "compiled": search.compiled,
            "why_plain": search.why_plain,
            "stats": {
                "simulations": search.simulations,
                "tree_nodes": search.tree_nodes,
                "tree_depth": search.tree_depth,
            },
        }

    def _chosen(
        self,
        moves: list[RootEdge],
        bounds: Mapping[int, tuple[float, float]],
        means: Mapping[int, float],
        draw: float,
        paid: Mapping[int, float],
    ) -> RootEdge:
        """The action that is proven best, else the one with most visits that is not proven worse.

        With few visits only actions count after which most is ``paid``, where that is known.
        """
        best = max(lower for lower, _ in bounds.values())
        open_moves = [move for move in moves if bounds[move.action][1] > best]
        as_good = [move for move in moves if bounds[move.action] == (best, best)]
        candidates = open_moves + as_good or moves
        top = max((paid.get(move.action, -math.inf) for move in candidates), default=-math.inf)
        candidates = [move for move in candidates if paid.get(move.action, -math.inf) == top]
        tied = candidates
        if open_moves:
            highest = max((move.visits, means[move.action]) for move in candidates)
            tied = [move for move in candidates if (move.visits, means[move.action]) == highest]
            if highest[1] < best:  # what is proven is no longer visited
                tied = [move for move in candidates if move in as_good] or tied
        tied.sort()
        return tied[0] if self.ties is Ties.FIRST else tied[int(draw * len(tied))]


def _unrefuted(moves: list[RootEdge], means: Mapping[int, float], refuted: Mapping[int, float]) -> list[RootEdge]:
    """The actions that promise more than any that is refuted leaves; if there are none, those that leave most."""
    most = max(refuted.values(), default=-math.inf)
    better = [move for move in moves if move.action not in refuted and means[move.action] > most]
    return better or [move for move in moves if refuted.get(move.action, -math.inf) == most]


def _bounds(move: RootEdge, search: MonteCarlo | MergedRoots, seat: int) -> tuple[float, float]:
    if search.num_values > 1:
        return -math.inf, math.inf
    if seat == 0:
        return move.lower, move.upper
    constant = search.game.traits.constant
    return constant - move.upper, constant - move.lower


def _by_seat(move: RootEdge, search: MonteCarlo | MergedRoots) -> tuple[float, ...]:
    """The value of an action for each seat: its mean, or what is undecided where nothing is known."""
    traits: Traits = search.game.traits
    values = move.values
    if not values:
        paid = search.game.utility(search.root_state)
        values = tuple(so_far + undecided_reward(traits, paid) for so_far in paid)
    return values if search.num_values > 1 else traits.values_by_seat(0, values[0])
