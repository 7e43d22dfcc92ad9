"""Searches through dice: what pruning leaves of the nodes, and OpenSpiel's unpruned search.

A node is a state that the search enters: the root, every position after a move, every roll, every position after
a roll. A state that a probe of Star2 enters counts, and counts again if the search comes back to it, and so does
every iteration of a search that deepens. A state of chance at the depth limit is evaluated before the dice are
thrown, in all searches. Positions are random ones, seeded; time is processor time.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from benchmarks.common import counted, fastest, installed
from zermelo.agents.compiled.general.search import CompiledGeneralSearch
from zermelo.agents.compiled.program import compiled_search
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.move_ordering import MoveOrder
from zermelo.agents.core.options import ChancePruning, Ordering, Ties
from zermelo.agents.evaluators import make_evaluator
from zermelo.agents.search.iterative_deepening import deepen
from zermelo.agents.search.transposition_table import TranspositionTable
from zermelo.agents.search.tree.alpha_beta import AlphaBetaSearch
from zermelo.agents.search.tree.full_width import FullWidthSearch
from zermelo.envs import CHANCE
from zermelo.envs.games import Backgammon, EinStein, Pig
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.bits import mix, shift_right

EVALUATOR = make_evaluator("game")
TABLE_MB = 16


def shuffle(state: Any, actions: list[int], count: int) -> int:
    """Puts the first actions in an order drawn by the state."""
    drawn = 0
    for value in state:
        drawn = mix(drawn ^ value)
    for index in range(count - 1, 0, -1):
        drawn = mix(drawn)
        other = shift_right(drawn, 1) % (index + 1)
        actions[index], actions[other] = actions[other], actions[index]
    return count


class ShuffledBackgammon(Backgammon):
    """Backgammon whose moves are listed in an order that means nothing."""

    __slots__ = ()
    listed = Backgammon.legal_actions

    def legal_actions(self, state: Any, actions: list[int]) -> int:
        """The moves, shuffled."""
        return shuffle(state, actions, self.listed(state, actions))


class ShuffledEinStein(EinStein):
    """EinStein, shuffled likewise."""

    __slots__ = ()
    listed = EinStein.legal_actions

    def legal_actions(self, state: Any, actions: list[int]) -> int:
        """The moves, shuffled."""
        return shuffle(state, actions, self.listed(state, actions))


class ShuffledPig(Pig):
    """Pig, shuffled likewise."""

    __slots__ = ()
    listed = Pig.legal_actions

    def legal_actions(self, state: Any, actions: list[int]) -> int:
        """Roll and hold, or hold and roll."""
        return shuffle(state, actions, self.listed(state, actions))


class Found(NamedTuple):
    """What searching some positions gave: values, nodes, and seconds of processor time."""

    values: list[float]
    nodes: int
    seconds: float


class Way(NamedTuple):
    """A way to search."""

    name: str
    pruning: ChancePruning
    is_best_order: bool = False
    table_mb: float = 0


WAYS = [
    Way("unpruned", ChancePruning.NONE),
    *(
        way
        for is_best in (False, True)
        for way in (
            Way("Star1", ChancePruning.STAR1, is_best),
            Way("Star2", ChancePruning.STAR2, is_best),
            Way("Star2, table", ChancePruning.STAR2, is_best, TABLE_MB),
        )
    ),
]


def random_positions(game: Any, seed: int, count: int, longest: int) -> list[Any]:
    """Unfinished positions with a choice, after some random moves and rolls."""
    generator = random.Random(seed)
    found: list[Any] = []
    while len(found) < count:
        state, left = game.initial_state(), generator.randrange(longest)
        while not game.is_terminal(state) and (left > 0 or game.to_move(state) == CHANCE):
            if game.to_move(state) == CHANCE:
                outcomes, chances = zip(*game.chance_outcomes(state), strict=True)
                state = game.result(state, generator.choices(outcomes, chances)[0])
            else:
                left -= 1
                state = game.result(state, generator.choice(game.legal_actions(state)))
        if not game.is_terminal(state) and len(game.legal_actions(state)) > 1:
            found.append(state)
    return found


def search(game: Any, states: Sequence[Any], depth: int, way: Way, evaluator: Any, *, compiled: bool) -> Found:
    """Searches each position anew."""
    values, nodes, seconds = [], 0, 0.0
    limits = Limits(depth=depth)
    ordering = Ordering.AUTO if way.is_best_order else Ordering.FIXED
    for state in states:
        budget = Budget(limits)
        searching: Any
        if compiled:
            searching = compiled_search(
                CompiledGeneralSearch,
                game,
                evaluator,
                budget,
                limits=limits,
                pruning=way.pruning,
                ordering=ordering,
                table_mb=way.table_mb,
                at_chance=True,
            )
        else:
            table = TranspositionTable(way.table_mb) if way.table_mb else None
            shared: dict[str, Any] = {"sooner": True, "table": table, "at_chance": True}
            if way.pruning is ChancePruning.NONE:
                searching = FullWidthSearch(game, budget, evaluator, **shared)
            else:
                probing = way.pruning is ChancePruning.STAR2
                order = MoveOrder(game, ordering)
                searching = AlphaBetaSearch(
                    game, budget, evaluator, order=order, probing=probing, credits_best=True, **shared
                )
        started = time.process_time()
        iteration, _, _ = deepen(
            searching,
            state,
            limits,
            step_by_step=way.is_best_order,
            exact=way.pruning is ChancePruning.NONE,
            ties=Ties.FIRST,
            watch=lambda *_: True,
        )
        seconds += time.process_time() - started
        assert iteration is not None
        assert iteration.best is not None
        values.append(float(iteration.best.score[0]))
        nodes += budget.nodes
    return Found(values, nodes, seconds)


def require(holds: bool, what: str) -> None:
    """Stops the script where two searches differ."""
    if not holds:
        raise SystemExit(f"{what}: this is a defect")


def pruning(positions: int = 12, depth: int = 3, plain: int = 40_000) -> Iterator[dict[str, Any]]:
    """What Star1 and Star2 leave of the nodes of expectiminimax, by game, depth and order of moves.

    The depth is that of backgammon; other games go further. What has no more nodes than ``plain`` is searched in
    plain Python too. Random order means nothing, and best is what agents use: deepening step by step, the table's
    move, the best replies to the same roll before, history. Values are equal in all searches of a position, and
    nodes in plain and compiled ones without a table: the script stops if they are not.
    """
    games = [
        (Backgammon(), ShuffledBackgammon(), range(1, depth + 1), 40),
        (EinStein(), ShuffledEinStein(), range(2, depth + 3), 30),
        (Pig(), ShuffledPig(), range(2, 2 * depth + 1, 2), 60),
    ]
    for rules, shuffled, depths, longest in games:
        ordered, unordered = RulesGame(rules), RulesGame(shuffled)
        states = random_positions(ordered, 1, positions, longest)
        for game in (ordered, unordered):  # compiled before anything is timed
            search(game, states[:1], 1, WAYS[0], EVALUATOR, compiled=True)
        for deep in depths:
            full: Found | None = None
            for way in WAYS:
                game = ordered if way.is_best_order else unordered
                found = search(game, states, deep, way, EVALUATOR, compiled=True)
                full = full or found
                same = all(abs(a - b) < 1e-9 for a, b in zip(found.values, full.values, strict=True))
                require(same, f"{way.name} at depth {deep} of {ordered.traits.name} changes a value")
                row: dict[str, Any] = {
                    "game, depth": f"{type(rules).__name__} {deep}",
                    "search": way.name,
                    "order": "" if way.pruning is ChancePruning.NONE else ("random", "best")[way.is_best_order],
                    "nodes": found.nodes,
                    "share %": 100 * found.nodes / full.nodes,
                    "seconds": found.seconds,
                    "nodes/s": found.nodes / max(found.seconds, 1e-9),
                    "plain s": "",
                    "plain nodes/s": "",
                }
                if found.nodes <= plain:
                    other = search(game, states, deep, way, EVALUATOR, compiled=False)
                    require(other.values == found.values, f"plain and compiled {way.name} differ")
                    agree = bool(way.table_mb) or other.nodes == found.nodes
                    require(agree, f"plain and compiled {way.name} visit other nodes")
                    row |= {"plain s": other.seconds, "plain nodes/s": other.nodes / max(other.seconds, 1e-9)}
                yield row


class Adapted:
    """Our game as OpenSpiel's function sees a state."""

    def __init__(self, game: Any, state: Any) -> None:
        self.game, self.state = game, state
        self.is_terminal = lambda: game.is_terminal(self.state)
        self.player_return = lambda player: float(game.utility(self.state)[player])
        self.is_chance_node = lambda: game.to_move(self.state) == CHANCE
        self.current_player = lambda: int(game.to_move(self.state))
        self.chance_outcomes = lambda: game.chance_outcomes(self.state)
        self.legal_actions = lambda: game.legal_actions(self.state)

    def clone(self) -> Adapted:
        """A copy."""
        return Adapted(self.game, self.state)

    def apply_action(self, action: int) -> None:
        """Plays, or lets chance have its way."""
        self.state = self.game.result(self.state, action)


def their_positions(theirs: Any, count: int) -> list[Any]:
    """Random positions of OpenSpiel's game in which a player has a choice."""
    generator, found = random.Random(2), []
    while len(found) < count:
        state, left = theirs.new_initial_state(), generator.randrange(30)
        while not state.is_terminal() and (left > 0 or state.is_chance_node()):
            left -= not state.is_chance_node()
            state.apply_action(generator.choice(state.legal_actions()))
        if not state.is_terminal() and len(state.legal_actions()) > 1:
            found.append(state)
    return found


def whole_trees(game: Any, states: Sequence[Any], depth: int, evaluator: Any) -> Found:
    """Values and nodes of our unpruned search, each tree in one call as OpenSpiel's function searches it."""
    values, nodes, seconds = [], 0, 0.0
    limits = Limits(depth=depth)
    for state in states:
        budget = Budget(limits)
        searching = compiled_search(CompiledGeneralSearch, game, evaluator, budget, limits=limits, at_chance=True)
        assert searching is not None
        started = time.process_time()
        found = searching.visit(state, depth, *searching.window(state), 0)
        seconds += time.process_time() - started
        values.append(float(found.score[0]))
        nodes += budget.nodes
    return Found(values, nodes, seconds)


def expectiminimax(positions: int = 12, depth: int = 3) -> Iterator[dict[str, Any]]:
    """Unpruned, beside OpenSpiel's expectiminimax in Python over its states, which are C++.

    Their nodes a second are those of their own game, where every leaf is worth nothing, which costs neither side
    anything. Their function also searches our game: values and nodes must be equal, or the script stops.
    """
    if not installed("pyspiel"):
        return
    import pyspiel
    from open_spiel.python.algorithms import minimax

    games = [
        ("backgammon", Backgammon(), range(1, min(depth, 2) + 1)),
        ("einstein_wurfelt_nicht", EinStein(random_start=True), range(2, depth + 2)),
        ("pig", Pig(), range(3, 2 * depth + 1)),
    ]
    for name, rules, depths in games:
        game, source = RulesGame(rules), pyspiel.load_game(name)
        states, others = random_positions(game, 1, positions, 30), their_positions(source, positions)
        for deep in depths:

            def on_ours(values: list[float], game: Any = game, states: Any = states, deep: int = deep) -> None:
                for state in states:
                    player = game.to_move(state)

                    def worth(leaf: Any, player: int = player) -> float:
                        return float(game.evaluation(leaf.state)[player])

                    value, _ = minimax.expectiminimax(Adapted(game, state), deep, worth, player)
                    values.append(value if player == 0 else -value)

            def on_theirs(values: list[float], others: Any = others, deep: int = deep) -> None:
                for state in others:
                    values += minimax.expectiminimax(state, deep, lambda leaf: 0.0, state.current_player())[:1]

            ours = whole_trees(game, states, deep, EVALUATOR)
            nodes, values = counted(minimax, "expectiminimax", on_ours)
            same = all(abs(a - b) < 1e-9 for a, b in zip(values, ours.values, strict=True))
            require(same and nodes == ours.nodes, f"values or nodes of {name} at depth {deep} are not OpenSpiel's")
            their_nodes, _ = counted(minimax, "expectiminimax", on_theirs)
            theirs = their_nodes / fastest(3, lambda run=on_theirs: run([]))[0]
            timed = [whole_trees(game, states, deep, make_evaluator("rewards")) for _ in range(3)]
            rate = max(found.nodes / max(found.seconds, 1e-9) for found in timed)
            row = {"game, depth": f"{name} {deep}", "nodes": ours.nodes, "nodes/s": rate}
            yield {**row, "OpenSpiel's nodes/s": theirs, "ratio": rate / theirs}
