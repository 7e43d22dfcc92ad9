"""What a result calls proven is true, action by action, and lines of solutions go to the end of the game."""

import random

import pytest

from zermelo.agents import BestReplyAgent, make_agent, solve
from zermelo.envs import as_game
from zermelo.envs.games import MNK, Nim

SPECS = [
    "minimax(nodes=300)", "expectiminimax(nodes=300)", "alphabeta(nodes=150, exact=true)",
    "alphabeta(nodes=150, evaluator=rewards)", "maxn(nodes=400, exact=true)", "paranoid(nodes=200, exact=true)",
    "mcts(simulations=300)", "expectimax(nodes=400)", "auto(nodes=300)", "alphabeta(seconds=0.05)",
]  # fmt: skip
EVEN = "evaluator=rewards"


def positions(rules, count):
    """Some states of a game in which there is something to decide."""
    game, source = as_game(rules), random.Random(7)
    while count:
        state = game.initial_state()
        for _ in range(source.randrange(1, 6)):
            if not game.is_terminal(state):
                state = game.result(state, source.choice(game.legal_actions(state)))
        if not game.is_terminal(state):
            yield game, state
            count -= 1


@pytest.mark.parametrize("spec", SPECS)
def test_proven_actions_have_their_true_value(spec):
    agent, proven, evaluated = make_agent(spec), 0, 0
    against_random = "expectimax" in spec
    for rules in (MNK(3, 3, 3), Nim((1, 2, 3))):
        for game, state in positions(rules, 5):
            agent.reset(0)
            result = agent.search_state(game, state)
            values = dict(solve(game, state).action_values)
            assert set(result.proven_actions) <= set(result.action_values)
            assert list(result.proven_actions) == sorted(result.proven_actions)
            proven += len(result.proven_actions)
            evaluated += len(result.action_values) - len(result.proven_actions)
            if not against_random:
                for action in result.proven_actions:
                    assert result.action_values[action] == values[action]
            if result.proven and result.action_values:
                assert result.action in result.proven_actions
    assert proven
    if "nodes=300" in spec and "auto" not in spec:
        assert evaluated


def test_the_best_move_may_be_proven_and_the_others_not():
    game = as_game(MNK(3, 3, 3))
    state = game.initial_state()
    for action in (4, 1, 0, 5):  # 8 wins at once
        state = game.result(state, action)
    result = make_agent(f"minimax(depth=1, {EVEN})").search_state(game, state)
    assert result.proven
    assert result.proven_actions == (8,)
    assert len(result.action_values) == 5
    result = make_agent(f"alphabeta(depth=1, exact=true, {EVEN})").search_state(game, state)
    assert result.proven_actions == (8,)
    assert set(result.action_values) == {2, 3, 6, 7, 8}


def test_what_rests_on_guesses_or_leaves_players_out_is_not_proven():
    game = as_game(MNK(3, 3, 3, 3))
    assert BestReplyAgent(depth=2).search_state(game).proven_actions == ()


@pytest.mark.parametrize(
    ("name", "memory_mb"),
    [
        ("nim(pile_sizes=1;3;4;2)", 0.05),
        ("nim(pile_sizes=1;3;4;2)", 0.0005),
        ("connect_four(rows=4,columns=4,x_in_row=3)", 0.01),
        ("connect_four(rows=4,columns=4,x_in_row=3)", 0.05),
    ],
)
def test_lines_of_solutions_go_to_the_end(name, memory_mb):
    pyspiel = pytest.importorskip("pyspiel")
    game = as_game(pyspiel.load_game(name), backend="environment")
    state = game.initial_state()
    solution = solve(game, state, memory_mb=memory_mb, nodes=60_000)
    if solution.proven:
        for action in solution.principal_variation:
            state = game.result(state, action)
        assert game.is_terminal(state)
        assert game.utility(state)[solution.seat] == solution.value
        assert solution.plies == len(solution.principal_variation)
