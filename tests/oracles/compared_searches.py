"""For tests that compare a compiled search with the plain one: both, positions, a game of varying sums."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits
from zermelo.agents.base.settings import Compile, Ties
from zermelo.agents.tree_search.alpha_beta.searches import ALPHA_BETA
from zermelo.agents.tree_search.chance.searches import GENERAL
from zermelo.agents.tree_search.choose import Family, tree_search
from zermelo.agents.tree_search.interface import RootRequest, SearchSetup
from zermelo.agents.tree_search.iterative_deepening import deepen
from zermelo.agents.tree_search.many_players.interface import SumNotConstantError
from zermelo.agents.tree_search.many_players.searches import MAX_N
from zermelo.agents.tree_search.settings import MaxNConfig
from zermelo.envs import CHANCE, Game
from zermelo.envs.game import Chance
from zermelo.envs.rules import RulesGame


def random_result(game: Game[Any], state: Any, generator: random.Random) -> Any:
    """The state after a random action, or a chance outcome, all as likely."""
    if game.to_move(state) == CHANCE:
        return game.result(state, generator.choice([outcome for outcome, _ in game.chance_outcomes(state)]))
    return game.result(state, generator.choice(list(game.legal_actions(state))))


def random_positions(game: RulesGame, generator: random.Random, count: int, *, longest: int = 12) -> list[Any]:
    """Unfinished positions in which a player is to move, after fewer than ``longest`` random moves and rolls."""
    found: list[Any] = []
    while len(found) < count:
        state = game.initial_state()
        for _ in range(generator.randrange(longest)):
            if game.is_terminal(state):
                break
            state = random_result(game, state, generator)
        if not game.is_terminal(state) and game.to_move(state) != CHANCE:
            found.append(state)
    return found


def family_of(game: Game[Any], config: Any) -> Family:
    """The searches of the agents that have such settings and play such games."""
    if isinstance(config, MaxNConfig):
        return MAX_N
    is_general = config.history_on_improvement or config.replies is not None
    return GENERAL if is_general or game.traits.chance is not Chance.NONE else ALPHA_BETA


def plain(root: SearchSetup, limits: Limits, config: Any, **how: Any) -> Any:
    """A new search in plain Python."""
    family = family_of(root.game, config)
    return tree_search(root, Budget(limits, compile=Compile.NEVER), config, family=family, **how)


def compiled(root: SearchSetup, limits: Limits, config: Any, **how: Any) -> Any:
    """A new compiled search."""
    found = tree_search(root, Budget(limits), config, family=family_of(root.game, config), **how)
    assert found.compiled, found.why_plain
    return found


class Answer(NamedTuple):
    """All that ``deepen`` finds, comparable: values that are not numbers are text."""

    moves: list[Any]
    best: Any
    tied: list[int]
    finished: bool
    proven: bool
    depth: int
    stopped_by: Any
    nodes: int
    deepest: int

    @property
    def score(self) -> Any:
        """That of the best move."""
        return next(move[1] for move in self.moves if move[0] == self.best)


def searched(
    search: Any, state: Any, limits: Limits, *, step: bool = True, exact: bool = False, ties: Ties = Ties.FIRST
) -> Any:
    """What ``deepen`` makes of a search; the evaluations if they do not add up."""
    try:
        request = RootRequest(exact, ties)
        iteration, depth, stopped_by = deepen(search, search.root_node(state), limits, request, step_by_step=step)
    except SumNotConstantError as error:
        return error.values, search.budget.nodes
    rest = depth, stopped_by, search.budget.nodes, search.budget.deepest
    if iteration is None or iteration.best is None:
        return Answer([], None, [], False, False, *rest)
    moves = [(*move[:-2], repr(move.values), move.plies) for move in iteration.moves]
    tied = [move.action for move in iteration.best_moves()]
    return Answer(moves, iteration.best.action, tied, iteration.finished, iteration.proven, *rest)


def exact_values(answer: Any) -> Any:
    """What does not depend on a table: the exact moves' values, the best ones, what is proven."""
    if not isinstance(answer, Answer):
        return answer[0]
    return [(move[0], move[1], move[-2]) for move in answer.moves if move[2]], answer.tied, answer.proven


class ShareState(NamedTuple):
    left: int
    seat: int
    taken: int


class Share(NamedTuple):
    """Three players take one or two coins each; two of a kind are worth half as much more. The sum varies."""

    coins: int = 9

    def num_actions(self) -> int:
        return 2

    def seats(self) -> int:
        return 3

    def utility_bounds(self) -> tuple[int, int]:
        return (0, 2 * self.coins)

    def utility_sum(self) -> int:
        return -(1 << 40)

    def initial_state(self) -> ShareState:
        return ShareState(self.coins, 0, 0)

    def to_move(self, state: ShareState) -> int:
        return state.seat

    def legal_actions(self, state: ShareState, actions: list[int]) -> int:
        count = min(state.left, 2)
        for action in range(count):
            actions[action] = action
        return count

    def result(self, state: ShareState, action: int) -> ShareState:
        worth = 3 if action else 1
        after = (state.seat + 2) % 3 if state.left % 4 == 0 else (state.seat + 1) % 3
        return ShareState(state.left - action - 1, after, state.taken + (worth << 8 * state.seat))

    def is_terminal(self, state: ShareState) -> bool:
        return state.left == 0

    def utility(self, state: ShareState, seat: int) -> int:
        return state.taken >> 8 * seat & 255

    def evaluation(self, state: ShareState, seat: int) -> int:
        return (state.taken >> 8 * seat & 255) * 1024 + 341 * state.left

    def ordering_hint(self, state: ShareState, action: int) -> int:
        return action if state.left % 2 else -action
