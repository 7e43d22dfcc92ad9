"""Searches of real games against numbers that are known, and against OpenSpiel's own searches."""

from __future__ import annotations

import numpy as np
import pytest
from doubles.small_games import ConnectK

from zermelo.agents import AlphaBetaAgent, ExpectiminimaxAgent, MinimaxAgent
from zermelo.envs import as_game

TEXTBOOK = {"depth": "full", "prefer_short_wins": False, "ordering": "fixed", "memory_mb": 0, "ties": "first"}

# Nodes of alpha-beta on tic-tac-toe from the empty board, cells row by row; PettingZoo numbers them column by
# column, which by symmetry is the same tree.
COUNTS = [("full", 18297), ("bounds", 16811)]


@pytest.fixture
def tictactoe():
    pettingzoo = pytest.importorskip("pettingzoo")
    env = pettingzoo.make("aec", "classic/tictactoe-v3")
    env.reset(seed=0)
    return env


@pytest.mark.parametrize(("window", "nodes"), COUNTS)
def test_alpha_beta_nodes_of_tictactoe(window, nodes):
    result = AlphaBetaAgent(window=window, **TEXTBOOK).search_state(ConnectK())
    assert (result.value, result.nodes, result.depth) == (0, nodes, 9)


# 549,946 (OpenSpiel, get_all_histories_test.cc) are the root, and 59,705 under each corner, 63,905 under each edge
# and 55,505 under the centre.
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("moves", "nodes"), [([4], 55_505), pytest.param([], 549_946, marks=pytest.mark.slow)], ids=["centre", "all"]
)
def test_minimax_nodes_of_pettingzoos_tictactoe(tictactoe, moves, nodes):
    for move in moves:
        tictactoe.step(move)
    result = MinimaxAgent(backend="clone").search(tictactoe)
    assert result.nodes == nodes
    assert result.value == 0
    assert result.action_values.keys() == set(range(9)) - set(moves)
    assert (result.plies, result.depth, result.proven) == (9 - len(moves), 9 - len(moves), True)
    if not moves:
        assert set(result.action_values.values()) == {0.0}


class TestOpenSpiel:
    """OpenSpiel's Python alpha-beta and expectiminimax, written by others, as the oracle."""

    @pytest.fixture
    def oracle(self):
        return pytest.importorskip("open_spiel.python.algorithms.minimax")

    @pytest.fixture
    def pyspiel(self):
        return pytest.importorskip("pyspiel")

    # Positions are reached by random play; the plies are chosen so that the oracle needs milliseconds for each.
    @pytest.mark.thorough
    @pytest.mark.parametrize(
        ("name", "positions", "least_plies", "most_plies"),
        [
            ("tic_tac_toe", 60, 3, 8),
            ("connect_four(rows=4,columns=4)", 80, 8, 14),
            ("breakthrough(rows=4,columns=3)", 80, 5, 14),
        ],
    )
    def test_alpha_beta_minimax_and_oracle_agree(self, oracle, pyspiel, name, positions, least_plies, most_plies):
        spiel = pyspiel.load_game(name)
        game = as_game(spiel, backend="environment")
        rng = np.random.default_rng(20250101)
        pruned, full = AlphaBetaAgent(depth="full", exact=True), MinimaxAgent()
        plain = AlphaBetaAgent(depth="full", memory_mb=0, prefer_short_wins=False, window="full", ordering="fixed")
        done = 0
        while done < positions:
            state = spiel.new_initial_state()
            for _ in range(int(rng.integers(least_plies, most_plies + 1))):
                if not state.is_terminal():
                    state.apply_action(int(rng.choice(state.legal_actions())))
            if state.is_terminal():
                continue
            done += 1
            mover = state.current_player()
            expected = {
                action: oracle.alpha_beta_search(spiel, state.child(action), None, 99, mover)[0]
                for action in state.legal_actions()
            }
            best = {action for action, value in expected.items() if value == max(expected.values())}
            found = pruned.search_state(game, state)
            assert dict(found.action_values) == expected, (name, state.history())
            assert set(found.best_actions) == best, (name, state.history())
            assert found.value == max(expected.values())
            assert found.action in best
            assert dict(full.search_state(game, state).action_values) == expected, (name, state.history())
            quick = plain.search_state(game, state)
            assert (quick.value, set(quick.best_actions)) == (found.value, best), (name, state.history())

    @pytest.mark.thorough
    @pytest.mark.parametrize("winscore", [4, pytest.param(6, marks=pytest.mark.slow)])
    def test_expectiminimax_and_oracle_agree_on_pig(self, oracle, pyspiel, winscore):
        spiel = pyspiel.load_game(f"pig(diceoutcomes=3,winscore={winscore},horizon=9)")
        game = as_game(spiel, backend="environment")
        rng = np.random.default_rng(7)
        agent, plain = ExpectiminimaxAgent(depth="full"), ExpectiminimaxAgent(depth="full", memory_mb=0)
        for _ in range(12):
            state = spiel.new_initial_state()
            for _ in range(int(rng.integers(0, 5))):
                if not state.is_terminal():
                    state.apply_action(int(rng.choice(state.legal_actions())))
            if state.is_terminal() or state.is_chance_node():
                continue
            mover = state.current_player()
            expected = {
                action: oracle.expectiminimax(state.child(action), 99, None, mover)[0]
                for action in state.legal_actions()
            }
            for searcher in (agent, plain):
                found = searcher.search_state(game, state)
                assert dict(found.action_values) == pytest.approx(expected, abs=1e-12), state.history()
                assert found.proven
                assert not found.is_estimate
