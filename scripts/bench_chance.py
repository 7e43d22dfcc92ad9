#!/usr/bin/env python
"""Nodes and time of expectiminimax, unpruned and with Star1 and Star2, compiled and plain.

    python scripts/bench_chance.py [--positions 12] [--depth 3] [--plain 40000]

Positions are random ones, seeded; `scripts/bench_chance_openspiel.py` is the comparison with OpenSpiel's.

A node is a state that the search enters: the root, every position after a move, every roll, every position after
a roll. A state that a probe of Star2 enters counts, and counts again if the search comes back to it, and so does
every iteration of a search that deepens. A state of chance at the depth limit is evaluated before the dice are
thrown, in all searches.

Of the two orders of moves, ``random`` means nothing, and ``best`` is what agents use: deepening step by step, the
table's move, the best replies to the same roll before, history. Values are equal in all searches of a position,
and nodes in plain and compiled ones without a table: the script stops if they are not. Time is processor time.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

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


def positions(game: Any, seed: int, count: int, longest: int) -> list[Any]:
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
        raise SystemExit(f"bench_chance: {what}")


def rate(nodes: int, seconds: float) -> str:
    """Nodes a second, as text."""
    return f"{nodes / max(seconds, 1e-9):,.0f}"


def pruning(count: int, deepest: int, plainest: int) -> None:
    """What pruning leaves of the nodes, by game, depth and order."""
    games = [
        (Backgammon(), ShuffledBackgammon(), range(1, deepest + 1), 40),
        (EinStein(), ShuffledEinStein(), range(2, deepest + 3), 30),
        (Pig(), ShuffledPig(), range(2, 2 * deepest + 1, 2), 60),
    ]
    head = f"  {'game, depth':14}{'search':15}{'order':8}{'nodes':>12}{'share':>8}"
    print(f"{head}{'seconds':>9}{'nodes/s':>13}{'plain s':>9}{'nodes/s':>11}")
    for rules, shuffled, depths, longest in games:
        ordered, unordered = RulesGame(rules), RulesGame(shuffled)
        states = positions(ordered, 1, count, longest)
        for game in (ordered, unordered):  # compiled before anything is timed
            search(game, states[:1], 1, WAYS[0], EVALUATOR, compiled=True)
        for depth in depths:
            full: Found | None = None
            for way in WAYS:
                game = ordered if way.is_best_order else unordered
                found = search(game, states, depth, way, EVALUATOR, compiled=True)
                full = full or found
                same = all(abs(a - b) < 1e-9 for a, b in zip(found.values, full.values, strict=True))
                require(same, f"{way.name} at depth {depth} of {ordered.traits.name} changes a value")
                plain = ""
                if found.nodes <= plainest:
                    other = search(game, states, depth, way, EVALUATOR, compiled=False)
                    require(other.values == found.values, f"plain and compiled {way.name} differ")
                    agree = bool(way.table_mb) or other.nodes == found.nodes
                    require(agree, f"plain and compiled {way.name} visit other nodes")
                    plain = f"{other.seconds:9.2f}{rate(other.nodes, other.seconds):>11}"
                order = "" if way.pruning is ChancePruning.NONE else ("random", "best")[way.is_best_order]
                print(
                    f"  {type(rules).__name__ + ' ' + str(depth):14}{way.name:15}{order:8}{found.nodes:12,}"
                    f"{100 * found.nodes / full.nodes:7.1f}%{found.seconds:9.3f}"
                    f"{rate(found.nodes, found.seconds):>13}{plain}",
                    flush=True,
                )


def arguments(about: str, given: Sequence[str] | None) -> tuple[int, int, int]:
    """What the command line says: positions of each game, the deepest search, nodes to search in plain Python."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--positions", type=int, default=12, help="of each game")
    parser.add_argument("--depth", type=int, default=3, help="the deepest in backgammon; other games go further")
    parser.add_argument(
        "--plain", type=int, default=40_000, help="search in plain Python too what has no more nodes than this"
    )
    found = parser.parse_args(given)
    return found.positions, found.depth, found.plain


if __name__ == "__main__":
    print(pruning.__doc__)
    pruning(*arguments(__doc__, None))
