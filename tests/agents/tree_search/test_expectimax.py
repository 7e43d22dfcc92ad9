"""Best play against opponents that err: known numbers, an oracle on random trees, every kind of model."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from doubles.small_games import AIMA_5_2, ConnectK, DiceRace, Leaf, Node, TreeGame
from hypothesis import strategies as st

from zermelo.agents import (
    AlphaBetaAgent,
    ExpectimaxAgent,
    ExpectiminimaxAgent,
    GreedyAgent,
    RandomAgent,
    make_agent,
)
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.opponents.models import AgentOpponent, SoftmaxOpponent, make_opponent, replies
from zermelo.envs import CHANCE, UnsupportedGameError
from zermelo.envs.errors import InvalidSettingError, UnknownNameError
from zermelo.envs.game import Chance

seeds = st.integers(0, 2**32 - 1)


class TestTicTacToe:
    """Computed with an independent program: the best answer to a random player."""

    @pytest.mark.thorough
    @pytest.mark.parametrize("memory_mb", [64, 1])
    def test_moving_first(self, memory_mb):
        result = ExpectimaxAgent(memory_mb=memory_mb).search_state(ConnectK())
        assert result.value == pytest.approx(0.9947916666666667, abs=1e-14)
        assert result.value == pytest.approx(191 / 192, abs=1e-14)
        assert result.values_by_seat == (result.value, -result.value)
        assert result.best_actions == (0, 2, 6, 8), "corners, exactly alike"
        assert len(result.action_values) == 9
        assert result.proven
        assert result.plies is None
        assert result.stopped_by is StoppedBy.COMPLETED

    @pytest.mark.thorough
    def test_through_pettingzoo(self):
        pettingzoo = pytest.importorskip("pettingzoo")
        env = pettingzoo.make("aec", "classic/tictactoe-v3")
        env.reset(seed=0)
        assert ExpectimaxAgent().search(env).value == pytest.approx(191 / 192, abs=1e-14)

    def test_it_beats_minimax_in_what_it_expects(self):
        """Every opening keeps the draw, so minimax cannot tell them apart."""
        cautious = AlphaBetaAgent(depth="full", exact=True).search_state(ConnectK())
        assert cautious.best_actions == tuple(range(9))


def test_figure_5_2_against_random():
    """AIMA figure 5.2: B averages 23/3, C 4, D 7; against MIN the values were 3, 2, 2."""
    game = TreeGame(AIMA_5_2)
    result = ExpectimaxAgent().search_state(game)
    assert [result.action_values[a] for a in range(3)] == pytest.approx([23 / 3, 4, 7])
    assert result.action == 0
    lucky = ExpectimaxAgent(opponent=lambda game, state: [0, 0, 1]).search_state(game)
    assert lucky.action_values == {0: 8, 1: 6, 2: 2}


def test_depth_counts_every_players_moves():
    """Two moves: one's own and the reply. The evaluator sees states in which one is to move again."""
    seen = []

    def evaluator(game, state):
        seen.append((sum(cell >= 0 for cell in state[0]), game.to_move(state)))
        return (0.1, -0.1)

    result = ExpectimaxAgent(depth=2, evaluator=evaluator, memory_mb=0).search_state(ConnectK())
    assert set(seen) == {(2, 0)}
    assert (result.depth, result.stopped_by, result.proven) == (2, StoppedBy.DEPTH, False)
    assert result.nodes == 1 + 9 + 72
    limited = ExpectimaxAgent(nodes=50, evaluator=evaluator).search_state(ConnectK())
    assert (limited.nodes, limited.stopped_by, limited.depth) == (50, StoppedBy.NODES, 1)


class TestModels:
    GAME = TreeGame(AIMA_5_2)
    B = AIMA_5_2.children[0]

    def test_random(self):
        assert replies(make_opponent("random"), self.GAME, self.B) == [(a, 1 / 3) for a in range(3)]

    @pytest.mark.parametrize("temperature", [0.5, 1.0, 20.0])
    def test_softmax(self, temperature):
        """Seat 1 gets -3, -12 and -8."""
        model = SoftmaxOpponent(evaluator="rewards", temperature=temperature)
        weights = np.exp(np.array([-3.0, -12.0, -8.0]) / temperature)
        assert [p for _, p in replies(model, self.GAME, self.B)] == pytest.approx(list(weights / weights.sum()))

    def test_softmax_between_best_and_random(self):
        cold = ExpectimaxAgent(opponent=SoftmaxOpponent(evaluator="rewards", temperature=1e-3))
        assert cold.search_state(self.GAME).action_values == {0: 3, 1: 2, 2: 2}
        hot = ExpectimaxAgent(opponent="softmax(evaluator=rewards, temperature=1e9)")
        values = hot.search_state(self.GAME).action_values
        assert [values[a] for a in range(3)] == pytest.approx([23 / 3, 4, 7], abs=1e-6)

    def test_softmax_uses_the_evaluation_and_averages_dice(self):
        dice = Node(CHANCE, [Leaf(0, 0), Leaf(-4, 4)], probabilities=[0.75, 0.25])
        inner = Node(0, [Leaf(0, 0)])
        root = Node(1, [dice, inner, Leaf(0, 0)])
        game = TreeGame(root, chance=Chance.EXACT)
        model = SoftmaxOpponent(evaluator=lambda game, state: (-2.0, 2.0))
        weights = np.exp(np.array([1.0, 2.0, 0.0]))
        assert [p for _, p in replies(model, game, root)] == pytest.approx(list(weights / weights.sum()))

    def test_an_agent(self):
        assert replies(make_opponent("alphabeta"), self.GAME, self.B) == [(0, 1.0)]
        assert replies(make_opponent(GreedyAgent()), self.GAME, self.B) == [(0, 1.0)]
        assert len(replies(make_opponent(RandomAgent()), self.GAME, self.B)) == 3

    def test_an_agent_that_draws_among_equals(self):
        root = Node(1, [Leaf(0, 0), Leaf(-1, 1), Leaf(-1, 1)])
        game = TreeGame(root)
        assert replies(make_opponent("minimax"), game, root) == [(1, 0.5), (2, 0.5)]
        assert replies(make_opponent("minimax(ties=first)"), game, root) == [(1, 1.0)]

    def test_an_agent_with_noise(self):
        found = dict(replies(make_opponent("noisy(agent=alphabeta, epsilon=0.3)"), self.GAME, self.B))
        assert found == pytest.approx({0: 0.8, 1: 0.1, 2: 0.1})

    def test_against_best_play_it_is_minimax(self):
        result = ExpectimaxAgent(opponent="minimax").search_state(self.GAME)
        assert result.action_values == {0: 3, 1: 2, 2: 2}

    def test_the_agent_given_is_not_touched(self):
        agent = RandomAgent(seed=3)
        before = agent.generator.bit_generator.state
        model = AgentOpponent(agent)
        replies(model, self.GAME, self.B)
        assert agent.generator.bit_generator.state == before

    def test_an_agent_that_only_acts(self):
        pettingzoo = pytest.importorskip("pettingzoo")

        class Lowest:
            name = "lowest"

            def act(self, env):
                return int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0])

            def reset(self, seed=None):
                pass

        env = pettingzoo.make("aec", "classic/tictactoe-v3")
        env.reset(seed=0)
        for action in (0, 8, 2, 1, 3):  # seat 1 must block at 6; the lowest free square is 4
            env.step(action)
        env.step(4)
        result = ExpectimaxAgent(backend="clone", opponent=Lowest()).search(env)
        assert result.value == 1.0
        with pytest.raises(
            InvalidSettingError, match=r"lowest acts in environments only.*: use backend='clone', or"
        ):
            ExpectimaxAgent(opponent=Lowest()).search_state(ConnectK())

    def test_mappings_and_all_actions(self):
        game = ConnectK()
        state = game.result(game.initial_state(), 4)
        assert replies(lambda game, state: {0: 0.25, 8: 0.75}, game, state) == [(0, 0.25), (8, 0.75)]
        policy = [0.5, 0, 0, 0, 0, 0, 0, 0, 0.5]
        assert replies(lambda game, state: policy, game, state) == [(0, 0.5), (8, 0.5)]

    @pytest.mark.parametrize(
        ("told", "message"),
        [
            ([0.5, 0.5], r"gave 2 probabilities for the 3 legal actions \[0, 1, 2\]: give one for each"),
            ([0.5, 0.5, 0.5], "probabilities lie between 0 and 1 and sum to 1"),
            ([1.5, -0.5, 0.0], "probabilities lie between 0 and 1 and sum to 1"),
            ([math.nan, 0.5, 0.5], "probabilities lie between 0 and 1 and sum to 1"),
            ({7: 1.0}, "gave probability 1.0 to 7, which is not one of the legal actions"),
        ],
    )
    def test_what_is_no_distribution(self, told, message):
        with pytest.raises(InvalidSettingError, match=message):
            ExpectimaxAgent(opponent=lambda game, state: told).search_state(self.GAME)


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (3, InvalidSettingError, "opponent must be 'random', 'softmax', an agent, or a function"),
        ("randm", UnknownNameError, "no opponent is called 'randm': did you mean 'random'"),
        (
            "softmax(temp=1)",
            InvalidSettingError,
            "softmax has no setting 'temp': its settings are evaluator, temp",
        ),
        ("softmax(temperature=0)", InvalidSettingError, "temperature must be a finite number greater than 0"),
        ("noisy(agent=greedy, epsilon=2)", InvalidSettingError, "epsilon must be at most 1, not 2"),
        ("nowhere:model", UnknownNameError, "there is no module called 'nowhere'"),
    ],
)
def test_mistaken_opponents(given, kind, message):
    with pytest.raises(kind, match=message):
        ExpectimaxAgent(opponent=given)


def test_names_and_copies():
    assert ExpectimaxAgent().name == "expectimax"
    assert ExpectimaxAgent(opponent="random").name == "expectimax"
    assert ExpectimaxAgent(opponent=AgentOpponent("random")).name == "expectimax(opponent=random)"
    noisy = ExpectimaxAgent(opponent=AgentOpponent("noisy(agent=alphabeta(depth=2), epsilon=0.2)"))
    assert noisy.name == "expectimax(opponent=noisy(agent=alphabeta(depth=2), epsilon=0.2))"
    agent = make_agent(noisy.name)
    assert agent.model.agent.epsilon == 0.2
    assert pickle.loads(pickle.dumps(agent)).name == noisy.name


def test_one_player_and_dice():
    game = DiceRace(rolls=2)
    ours = ExpectimaxAgent(samples=6, seed=5).search_state(game)
    assert ours.is_estimate
    assert ours.value == ExpectiminimaxAgent(depth="full", samples=6, seed=5).search_state(game).value


def test_hidden_cards_are_refused():
    pyspiel = pytest.importorskip("pyspiel")
    with pytest.raises(UnsupportedGameError, match="hides part of it"):
        ExpectimaxAgent().search_state(pyspiel.load_game("kuhn_poker"))


class TestGymnasium:
    def test_2048(self):
        gymnasium = pytest.importorskip("gymnasium")
        from zermelo.envs import register_envs

        register_envs()
        env = gymnasium.make("zermelo/Game2048-v0")
        env.reset(seed=1)
        result = ExpectimaxAgent(depth=2, evaluator="rewards").search(env)
        assert result.env_action in env.action_space
        assert result.value == max(result.action_values.values())
        assert not result.is_estimate, "spawns are exact"
