"""Answers are in the numbers of actions of what was searched: they can be played there as they are."""

import random

import pytest

from zermelo.agents import ExpectimaxAgent, make_agent, solve
from zermelo.envs import as_game, legal_actions, make, perft

pyspiel = pytest.importorskip("pyspiel")
GAMES = [
    "breakthrough(rows=5,columns=4)", "mancala", "nim(pile_sizes=2;3;1)", "othello", "connect_four", "tic_tac_toe",
    "mnk(m=4,n=3,k=3)", "hex(board_size=3)", "oware", "clobber(rows=3,columns=3)", "dots_and_boxes", "amazons",
    "backgammon", "pig(horizon=40,players=2)",
]  # fmt: skip
"""Games whose rules number actions in another way."""
PLAIN = ["expectimax(nodes=40)", "greedy"]
"""Agents that compile nothing."""
COMPILED = ["mcts(simulations=40)", "alphabeta(depth=2, exact=true)"]


def positions(name, count=2):
    """OpenSpiel states of a game some random moves after its start."""
    source, found = random.Random(name), []
    while len(found) < count:
        state = pyspiel.load_game(name).new_initial_state()
        for _ in range(source.randrange(9)):
            state.apply_action(source.choice(state.legal_actions()))
            if state.is_terminal():
                break
        while not state.is_terminal() and state.is_chance_node():
            state.apply_action(source.choice([outcome for outcome, _ in state.chance_outcomes()]))
        if not state.is_terminal():
            found.append(state)
    return found


def check(result, state):
    """The result's actions are legal at an OpenSpiel state, and its lines can be played from there."""
    legal = set(state.legal_actions())
    assert result.action in legal
    assert result.env_action == result.action
    assert result.principal_variation[:1] == (result.action,)
    for actions in (result.action_values, result.visits, result.policy, result.best_actions):
        assert set(actions) <= legal
    check_line(result.principal_variation, state)


def check_line(line, state):
    after = state.clone()
    for action in line:
        assert action in after.legal_actions(), (line, str(state))
        after.apply_action(action)
    return after


@pytest.mark.parametrize(
    "name",
    GAMES,
)
@pytest.mark.thorough
def test_results_can_be_played_on_openspiel_states(name):
    agents = [*PLAIN, *(COMPILED if name.startswith(("breakthrough", "nim")) else ())]
    seen = []
    for state in positions(name):
        game = as_game(state.get_game())
        for number, spec in enumerate(agents):
            agent = make_agent(spec)
            if hasattr(agent, "on_iteration"):
                agent = make_agent(spec)
                object.__setattr__(agent, "on_iteration", lambda result, state=state: seen.append((result, state)))
            check(agent.search_state(game, state), state)
            if number == 0:
                check(agent.search_state(state.get_game(), state), state)
    for result, state in seen:
        check(result, state)
    assert seen


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "moves"), [("breakthrough(rows=4,columns=3)", 6), ("nim(pile_sizes=2;3;1)", 0), ("mancala", 0)]
)
def test_solutions_can_be_played_on_openspiel_games(name, moves):
    source, state = random.Random(1), pyspiel.load_game(name).new_initial_state()
    while not state.is_terminal() and (moves or (name == "mancala" and len(state.legal_actions()) > 3)):
        state.apply_action(source.choice(state.legal_actions()))
        moves = max(moves - 1, 0)
    handed = [(as_game(state.get_game()), state), (state.get_game(), state)]
    if not state.history():
        handed += [(as_game(state.get_game()), None)]
    for game, at in handed:
        solution = solve(game, at, seconds=20, nodes=200_000)
        assert set(solution.action_values) <= set(state.legal_actions())
        assert set(solution.action_plies) <= set(state.legal_actions())
        after = check_line(solution.principal_variation, state)
        if solution.proven:
            assert after.is_terminal()
            assert after.returns()[solution.seat] == solution.value


@pytest.mark.parametrize(
    "name",
    [
        "openspiel/breakthrough",
        "openspiel/mancala",
        "classic/connect_four-v3",
    ],
)
def test_results_can_be_played_in_live_environments(name):
    env = make(name)
    env.reset(seed=0)
    for _ in range(3):
        for spec in PLAIN:
            result = make_agent(spec).search(env)
            legal = set(legal_actions(env))
            assert result.action == result.env_action
            assert result.action in legal
            assert {*result.action_values, *result.visits} <= legal
        game = as_game(env)
        state = game.snapshot(env)
        for action in result.principal_variation:
            assert action in game.legal_actions(state)
            state = game.result(state, action)
        env.step(result.action)


def test_a_game_of_openspiel_s_has_its_numbers():
    theirs = pyspiel.load_game("breakthrough(rows=4,columns=3)")
    game, state = as_game(theirs), theirs.new_initial_state()
    assert list(game.legal_actions(game.snapshot(state))) == state.legal_actions()
    action = state.legal_actions()[-1]
    assert game.action_text(game.snapshot(state), action)
    assert game.to_env_action(None, action) == action
    after = game.result(game.snapshot(state), action)
    state.apply_action(action)
    assert game.key(after) == game.key(game.snapshot(state))
    assert set(perft(game, 3, split=True)) == set(theirs.new_initial_state().legal_actions())


def test_opponents_and_reports_number_actions_alike():
    state = positions("breakthrough(rows=4,columns=3)", 1)[0]
    check(ExpectimaxAgent(opponent="greedy", depth=3).search_state(state.get_game(), state), state)
