"""One Monte Carlo tree that several threads share, and trees for which memory runs out."""

from __future__ import annotations

from typing import Any

import pytest
from doubles.grown_rules import Grown
from doubles.policies import EvenNetwork
from oracles.signatures import Uncompiled

from zermelo.agents import MCTSAgent
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.monte_carlo.compiled import kernel_nodes as nodes
from zermelo.agents.monte_carlo.compiled import record
from zermelo.agents.monte_carlo.compiled.search import CompiledMonteCarlo
from zermelo.agents.monte_carlo.interface import RootSetup
from zermelo.agents.monte_carlo.selection_rules import Selection
from zermelo.envs.games import MNK
from zermelo.envs.jit.memory import load
from zermelo.envs.rules import RulesGame


def shared(rules: Any, threads: int, **settings: Any) -> CompiledMonteCarlo:
    """A search of which only the root is there."""
    game: Any = RulesGame(rules)
    limits = Limits()
    start = RootSetup(game, game.initial_state(), MCTSAgent(solver=False, threads=threads, **settings).config, 1)
    return CompiledMonteCarlo(game, None, Budget(limits), limits=limits, start=start)


class Hurrying:
    """Rules that do something once when they are asked for the actions of a state."""

    def __init__(self, rules: Any, meanwhile: Any) -> None:
        self._rules, self._meanwhile = rules, [meanwhile]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rules, name)

    def legal_actions(self, state: Any, actions: Any) -> int:
        if self._meanwhile:
            self._meanwhile.pop()()
        count: int = self._rules.legal_actions(state, actions)
        return count


def test_two_threads_never_expand_one_node() -> None:
    """The kernel's functions, in plain Python: a second thread comes while the first expands a node."""
    search = shared(MNK(3, 3, 3), 2)
    rules, state = search.game.rules, search.game.result(search.root_state, 4)
    first, second = search.searches
    node = nodes.make_node(rules, state, first)
    expanded: list[bool] = []
    slow = Hurrying(rules, lambda: expanded.append(nodes.expand(rules, state, node, second)))
    expanded.append(nodes.expand(slow, state, node, first))
    expanded.append(nodes.expand(rules, state, node, second))
    assert sorted(expanded) == [False, False, True]
    tried = [nodes.select(node, thread) for thread in (first, second) * 4]
    assert sorted(tried) == list(range(8)), "each action once"


def test_no_count_of_all_moves_as_first_is_lost() -> None:
    """Nobody can have four in a row of three, so whoever begins takes five of nine places in every simulation."""
    simulations = 60_000
    search = shared(MNK(3, 3, 4), 3, rave=10.0, memory_mb=0.1)
    search.run(Limits(), simulations)
    more = search.searches[0].more
    edges = load(search.root, record.EDGES)
    counts = [
        load(edges, place * search.edge_words + more + record.AMAF_VISITS)
        for place in range(load(search.root, record.COUNT))
    ]
    assert sum(counts) == 5 * search.simulations


SETTINGS: list[dict[str, Any]] = [
    {},
    {"solver": False},
    {"rave": 20.0},
    *({"rave": 20.0, "selection": str(rule)} for rule in Selection),
    *({"selection": str(rule), "evaluator": "game"} for rule in Selection),
    {"playouts": 3, "playout_moves": 2},
]
GAMES = {
    "MNK(4,4,4)": MNK(4, 4, 4),
    "MNK(3,3,3)": MNK(3, 3, 3),
    "Grown(1)": Grown(seed=31_000, height=9, width=6, players=1),
    "Grown(2)": Grown(seed=77_000, height=9, width=6),
    "Grown(3)": Grown(seed=55_000, height=9, width=6, players=3),
}


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.thorough
def test_memory_that_is_full_ends_no_search(name: str, settings: dict[str, Any]) -> None:
    if "evaluator" in settings and name != "MNK(4,4,4)":
        settings = settings | {"evaluator": "rewards" if name.startswith("Grown") else "game"}
    for megabytes, simulations in ((0.01, 400), (0.1, 4_000), (1, 20_000)):
        for threads in (1, 3):
            agent = MCTSAgent(simulations=simulations, memory_mb=megabytes, threads=threads, **settings)
            check_full(agent, RulesGame(GAMES[name]), simulations)
    for megabytes in (0.01, 0.03):
        agent = MCTSAgent(simulations=150, memory_mb=megabytes, **settings)
        check_full(agent, Uncompiled(GAMES[name]), 150)


def test_memory_that_is_full_ends_no_search_with_a_network() -> None:
    for megabytes in (0.01, 0.1):
        agent = MCTSAgent(
            simulations=150, memory_mb=megabytes, evaluator=EvenNetwork(), selection="puct", batch_size=8
        )
        check_full(agent, Uncompiled(MNK(4, 4, 4)), 150)


def check_full(agent: MCTSAgent, game: Any, simulations: int) -> None:
    """The search makes its simulations, or proves the value, twice: the tree is kept."""
    for _ in range(2):
        result = agent.search_state(game)
        done = result.stats["simulations"]
        assert (done >= simulations) if not result.proven else result.stopped_by is StoppedBy.COMPLETED
        assert result.action in game.legal_actions(game.initial_state())
        lower, upper = game.traits.utility_bounds
        assert lower <= result.value <= upper
