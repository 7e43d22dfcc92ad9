"""``on_simulation``: what a plain Monte Carlo tree search does, and nothing else changed by it."""

from typing import Any

from doubles.policies import EvenNetwork
from doubles.small_games import ConnectK

from zermelo.agents import MCTSAgent
from zermelo.agents.monte_carlo.plain_nodes import Simulation
from zermelo.envs.games import MNK
from zermelo.envs.rules.rules_game import RulesGame


def test_every_simulation_is_told_and_changes_nothing() -> None:
    seen: list[Simulation] = []
    watched = MCTSAgent(simulations=150, seed=2, on_simulation=seen.append).search_state(ConnectK())
    plain = MCTSAgent(simulations=150, seed=2).search_state(ConnectK())
    assert (watched.visits, watched.nodes) == (plain.visits, plain.nodes)
    assert watched.action_values == plain.action_values
    assert len(seen) == watched.stats["simulations"]
    root = seen[0].path[0][0]
    for path, leaf, outcome in seen:
        assert path[0][0] is root
        after: list[Any] = [node for node, _ in path[1:]] + [leaf]
        assert [node.children[place] for node, place in path] == after
        assert len(outcome) == 1


def test_rules_are_searched_in_plain_python_then() -> None:
    seen: list[Simulation] = []
    MCTSAgent(simulations=20, on_simulation=seen.append).search_state(RulesGame(MNK()))
    assert len(seen) == 20


def test_searches_with_a_network_too() -> None:
    seen: list[Simulation] = []
    agent = MCTSAgent(
        simulations=30, evaluator=EvenNetwork(), selection="puct", batch_size=4, on_simulation=seen.append
    )
    assert agent.search_state(ConnectK()).stats["simulations"] == len(seen) == 30
