"""A principal variation, replayed, ends in the value of the result where it ends the game."""

from __future__ import annotations

from typing import Any

import pytest
from doubles.small_games import Leaf, Node, TreeGame

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.tree_search.alpha_beta.plain import PlainAlphaBeta
from zermelo.agents.tree_search.interface import Bound, Iteration, RootMove, RootRequest, SearchSetup
from zermelo.agents.tree_search.results import answer
from zermelo.agents.tree_search.settings import AlphaBetaConfig, Ordering
from zermelo.agents.tree_search.transposition_table import Entry, TranspositionTable

TREE = TreeGame(
    Node(0, [Node(1, [Node(0, [Leaf(1, -1), Leaf(0, 0)], name="b"), Leaf(1, -1)], name="a"), Leaf(0, 0)]),
    bounds=(-1, 1),
)


def told(entries: dict[str, Entry], line: tuple[int, ...], *, value: float = 0, is_exact: bool = True) -> Any:
    """The principal variation that is answered after a search of depth 3 whose line was cut short by the table."""
    table = TranspositionTable(1)
    root = TREE.initial_state()
    states = {"a": TREE.result(root, 0), "b": TREE.result(TREE.result(root, 0), 0)}
    for name, entry in entries.items():
        table.store(TREE.key(states[name]), entry)
    config = AlphaBetaConfig(prefer_short_wins=False, ordering=Ordering.FIXED, memory_mb=1)
    search = PlainAlphaBeta(SearchSetup(TREE, root), Budget(Limits()), config, table=table)
    move = RootMove(0, (value, 0), is_exact, False, line, 0.0)
    iteration = Iteration(3, [move], move, finished=True)
    node = search.root_node(root)
    return answer(search, node, iteration, RootRequest(), depth=3, stopped_by=StoppedBy.DEPTH)[
        "principal_variation"
    ]


def exact(action: int, depth: float, *, proven: bool = False) -> Entry:
    return Entry(depth, Bound.EXACT, (0.0, 0.0), action, proven)


def test_it_goes_on_from_the_table() -> None:
    assert told({"a": exact(0, 2), "b": exact(1, 1)}, (0,)) == (0, 0, 1)
    assert told({"b": exact(1, 9, proven=True)}, (0, 0)) == (0, 0, 1)


@pytest.mark.parametrize("line", [(0,), (0, 0)])
def test_it_stops_where_the_table_knows_another_search(line: tuple[int, ...]) -> None:
    """Of state b the table knows a line to a win; this search was told that it is a draw."""
    found = told({"a": exact(0, 2), "b": exact(0, 5, proven=True)}, line)
    assert found == line
    assert told({"a": exact(0, 2), "b": exact(0, 5)}, line) == (0, 0)


def test_of_a_move_that_is_only_bounded_nothing_follows() -> None:
    assert told({"a": exact(0, 2), "b": exact(1, 1)}, (0, 0), is_exact=False) == (0,)
