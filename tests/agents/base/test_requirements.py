"""Games that an agent cannot search are refused in a sentence that says what does not fit, why, and who does."""

from __future__ import annotations

import pytest
from doubles.small_games import AIMA_5_2, CoinRow, ConnectK, DiceRace, Leaf, Node, TreeGame

from zermelo.agents import (
    AlphaBetaAgent,
    BestReplyAgent,
    ExpectiminimaxAgent,
    GreedyAgent,
    MaxNAgent,
    MinimaxAgent,
    ParanoidAgent,
    RandomAgent,
)
from zermelo.agents.base.requirements import require_decision
from zermelo.envs import CHANCE, UnsupportedGameError
from zermelo.envs.errors import GameOverError
from zermelo.envs.game import Chance, RewardSum

SEARCHES = [AlphaBetaAgent, MinimaxAgent, ExpectiminimaxAgent]
MANY = [MaxNAgent, ParanoidAgent, BestReplyAgent]
THREE = TreeGame(Node(0, [Leaf(1, 0, 0)], utility=(0, 0, 0)), seats=3)
GENERAL = TreeGame(Node(0, [Leaf(3, 3)]), reward_sum=RewardSum.GENERAL)
DICE = TreeGame(Node(0, [Node(CHANCE, [Leaf(1, -1)], probabilities=[1])]), chance=Chance.EXACT)
SINGLE = TreeGame(Node(0, [Leaf(1)], utility=(0,)), seats=1)


@pytest.mark.parametrize(
    ("agents", "game", "message"),
    [
        (SEARCHES, THREE, r"but a tree has 3 players: use 'maxn', 'paranoid' or 'mcts'$"),
        (SEARCHES, GENERAL, r"general-sum.*\(declared by the environment\): use 'maxn'"),
        (SEARCHES[:2], DICE, r"without chance, but .* has chance .*: use 'expectiminimax'"),
        (SEARCHES[:2], DiceRace(), r"without chance, but .* has chance .*: use 'expectiminimax'"),
        (SEARCHES[:2], SINGLE, r"two players, but .* has one player: use 'best_first', 'expectiminimax'"),
    ],
)
def test_a_game_of_another_kind(agents, game, message):
    for agent in agents:
        with pytest.raises(UnsupportedGameError, match=message):
            agent().search_state(game)


def test_what_is_recommended_fits():
    assert ExpectiminimaxAgent().search_state(SINGLE).value == 1
    assert ExpectiminimaxAgent().search_state(DICE).value == 1
    assert MaxNAgent().search_state(THREE).values_by_seat == (1, 0, 0)
    assert MaxNAgent().search_state(GENERAL).values_by_seat == (3, 3)
    assert ParanoidAgent().search_state(THREE).values_by_seat == (1, 0, 0)
    assert ParanoidAgent().search_state(GENERAL).values_by_seat == (3, 3)
    assert BestReplyAgent().search_state(THREE).values_by_seat == (1, 0, 0)
    assert GreedyAgent().search_state(THREE).values_by_seat == (1, 0, 0)
    assert GreedyAgent().search_state(GENERAL).values_by_seat == (3, 3)
    assert AlphaBetaAgent().search_state(TreeGame(AIMA_5_2)).value == 3


AT_ONCE, HIDES = "has them decide at the same time", "hides part of it from the player to move"
CLASSIC_HIDDEN = ["leduc_holdem-v4", "texas_holdem-v4", "texas_holdem_no_limit-v6", "hanabi-v5", "rps-v2"]


@pytest.mark.parametrize("name", CLASSIC_HIDDEN)
@pytest.mark.parametrize("agent", [*SEARCHES, *MANY, GreedyAgent])
def test_hidden_information_in_pettingzoo(name, agent):
    pettingzoo = pytest.importorskip("pettingzoo")
    env = pettingzoo.make("aec", f"classic/{name}")
    env.reset(seed=1)
    found = AT_ONCE if name == "rps-v2" else HIDES
    instead = (
        "'simultaneous_mcts', 'random', or" if name == "rps-v2" else "'ismcts', 'random', or a policy that only"
    )
    with pytest.raises(UnsupportedGameError, match=rf"{found} \((known to|declared by).*\): use {instead}"):
        agent().act(env)
    assert env.action_space(env.agent_selection).contains(RandomAgent().act(env))


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "matrix_rps"])
@pytest.mark.parametrize("agent", [*SEARCHES, *MANY, GreedyAgent])
def test_hidden_information_in_openspiel(name, agent):
    pyspiel = pytest.importorskip("pyspiel")
    found = AT_ONCE if name == "matrix_rps" else HIDES
    instead = "'simultaneous_mcts', 'random'" if name == "matrix_rps" else "'ismcts', 'random'"
    with pytest.raises(UnsupportedGameError, match=rf"{found} .*: use {instead}"):
        agent().search_state(pyspiel.load_game(name))


@pytest.mark.parametrize("agent", [*SEARCHES, *MANY, GreedyAgent])
def test_finished_game(agent):
    game = ConnectK()
    state = game.initial_state()
    for action in (0, 3, 1, 4, 2):
        state = game.result(state, action)
    with pytest.raises(GameOverError, match="is over: there is no action to choose; reset the environment"):
        agent().search_state(game, state)


@pytest.mark.parametrize("agent", [AlphaBetaAgent(), MinimaxAgent(), GreedyAgent(), RandomAgent()])
def test_a_dead_agent_is_given_none_and_a_finished_environment_refused(agent):
    pettingzoo = pytest.importorskip("pettingzoo")
    env = pettingzoo.make("aec", "classic/tictactoe-v3")
    env.reset(seed=0)
    for action in (0, 3, 1, 4, 2):
        env.step(action)
    if not isinstance(agent, RandomAgent):
        with pytest.raises(GameOverError, match=r"is over for .*: call env.step\(None\)"):
            agent.search(env)
    while env.agents:
        assert agent.act(env) is None
        env.step(None)
    with pytest.raises(GameOverError, match=r"over"):
        agent.act(env)


@pytest.mark.parametrize("agent", [*SEARCHES, *MANY, GreedyAgent])
def test_no_legal_action_at_the_root(agent):
    with pytest.raises(GameOverError, match="has no legal action although the game goes on"):
        agent().search_state(TreeGame(Node(0, [])))


@pytest.mark.parametrize("agent", [*SEARCHES, *MANY])
def test_no_legal_action_below_the_root(agent):
    with pytest.raises(GameOverError, match="has no legal action although the game goes on"):
        agent(depth="full").search_state(TreeGame(Node(0, [Node(1, []), Leaf(1, -1)])))


def test_chance_to_move():
    with pytest.raises(GameOverError, match="chance is to move in a tree"):
        require_decision(DICE, DICE.root.children[0])


def test_given_traits_are_believed_and_named():
    pettingzoo = pytest.importorskip("pettingzoo")
    env = pettingzoo.make("aec", "classic/tictactoe-v3")
    env.reset(seed=0)
    agent = AlphaBetaAgent(depth=1, traits={"reward_sum": "general_sum"})
    with pytest.raises(UnsupportedGameError, match=r"general-sum.*\(given by the caller\)"):
        agent.act(env)


def test_recursion_limit_is_put_back():
    import sys
    import threading

    before = sys.getrecursionlimit()
    game = CoinRow([1, 2, 3, 4, 5, 6, 7, 8, 9, 8])
    threads = [threading.Thread(target=AlphaBetaAgent(memory_mb=0).search_state, args=(game,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sys.getrecursionlimit() == before


@pytest.mark.thorough
def test_long_games_are_searched():
    class Corridor(CoinRow):
        def legal_actions(self, state):
            return (0,)

    game = Corridor([1] * 3000)
    for agent in (AlphaBetaAgent(depth="full"), MinimaxAgent(), ExpectiminimaxAgent(depth="full")):
        result = agent.search_state(game)
        assert result.value == 0
        assert result.depth == 3000


def test_runaway_recursion_in_an_environment_is_not_hidden():
    """The limit is raised only as far as the search goes, so that such code cannot exhaust the process's stack."""
    import sys

    seen = []

    class Watched(ConnectK):
        def result(self, state, action):
            seen.append(sys.getrecursionlimit())
            return super().result(state, action)

    before = sys.getrecursionlimit()
    AlphaBetaAgent().search_state(Watched())
    assert max(seen) < before + 2000
