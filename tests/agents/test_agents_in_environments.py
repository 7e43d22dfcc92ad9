"""Agents dropped into live environments: they play legally, reproducibly, well, and change nothing."""

from __future__ import annotations

import statistics

import numpy as np
import pytest
from doubles.small_games import DiceRace, Leaf, Node, TreeGame

from zermelo.agents import AlphaBetaAgent, ExpectiminimaxAgent, GreedyAgent, RandomAgent, make_agent
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.tree_search.sampled_game import SampledGame


def make(name):
    pettingzoo = pytest.importorskip("pettingzoo")
    return pettingzoo.make("aec", name)


def play(env, agents, seed):
    """One game; the moves, and each agent's final reward."""
    env.reset(seed=seed)
    by_name = dict(zip(env.possible_agents, agents, strict=True))
    for index, agent in enumerate(agents):
        agent.reset(seed * 10 + index)
    moves, totals = [], dict.fromkeys(env.possible_agents, 0.0)
    for name in env.agent_iter():
        _, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        moves.append(by_name[name].act(env))
        env.step(moves[-1])
        for agent, reward in env.rewards.items():
            totals[agent] += reward
    return moves, totals


@pytest.mark.parametrize("name", ["classic/tictactoe-v3", "classic/connect_four-v3", "classic/chess-v6"])
@pytest.mark.parametrize(
    "spec", ["random", "greedy", "alphabeta(depth=2)", "alphabeta(depth=2, backend='clone', evaluator=rewards)"]
)
def test_the_environment_is_not_changed(name, spec):
    env = make(name)
    env.reset(seed=3)
    rng = np.random.default_rng(3)
    agent = make_agent(spec)
    for _ in range(4):
        observation = env.observe(env.agent_selection)
        before = (env.agent_selection, dict(env.rewards), dict(env._cumulative_rewards), dict(env.terminations))
        action = agent.act(env)
        assert observation["action_mask"][action]
        after = env.observe(env.agent_selection)
        assert (after["observation"] == observation["observation"]).all()
        assert (after["action_mask"] == observation["action_mask"]).all()
        assert before == (
            env.agent_selection,
            dict(env.rewards),
            dict(env._cumulative_rewards),
            dict(env.terminations),
        )
        env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))


@pytest.mark.parametrize("spec", ["greedy", "alphabeta(depth=3)", "alphabeta(nodes=200)", "minimax(depth=2)"])
def test_same_seed_same_game(spec):
    games = [
        play(make("classic/tictactoe-v3"), [make_agent(spec), make_agent("random")], seed) for seed in (4, 4, 5)
    ]
    assert games[0] == games[1]
    assert games[0] != games[2]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("seat", "backend"), [(0, "auto"), (1, "auto"), (1, "clone"), pytest.param(0, "clone", marks=pytest.mark.slow)]
)
def test_alpha_beta_never_loses_tictactoe(seat, backend):
    """25 games against random play (200 in the slow test), from either seat, searching copies or rules."""
    env = make("classic/tictactoe-v3")
    agent = AlphaBetaAgent(depth="full", backend=backend)
    results = []
    for seed in range(25):
        agents = [RandomAgent(), RandomAgent()]
        agents[seat] = agent
        _, totals = play(env, agents, seed)
        results.append(totals[env.possible_agents[seat]])
    assert min(results) >= 0
    assert sum(results) > 15


def test_it_wins_at_once_and_blocks():
    env = make("classic/connect_four-v3")
    env.reset(seed=0)
    for column in (3, 0, 3, 0, 3):
        env.step(column)
    blocked = AlphaBetaAgent(depth=2).search(env)
    assert blocked.env_action == 3
    env.step(1)
    result = AlphaBetaAgent(depth=4).search(env)
    assert (result.env_action, result.value, result.plies, result.proven) == (3, 1, 1, True)
    assert result.values_by_seat == (1, -1)


class TestGreedy:
    def test_takes_the_reward_at_hand(self):
        """It does not look further: a sacrifice that wins in two moves is not for it."""
        tree = Node(0, [Leaf(0.5, -0.5), Node(0, [Leaf(1, -1)]), Leaf(-1, 1)])
        result = GreedyAgent().search_state(TreeGame(tree))
        assert (result.action, result.value, result.depth, result.nodes) == (0, 0.5, 1, 4)
        assert dict(result.action_values) == {0: 0.5, 1: 0.0, 2: -1.0}
        assert result.stopped_by is StoppedBy.DEPTH

    def test_samples_where_it_must(self):
        game = DiceRace(1)
        result = GreedyAgent(samples=500).search_state(game)
        assert result.is_estimate
        assert result.action_values[1] == pytest.approx(20 / 6, abs=0.5)


class TestSampling:
    def test_estimates_what_cannot_be_enumerated(self):
        """One roll left with 5 points: rolling gives (7 + 8 + 9 + 10 + 11) / 6 = 7.5, stopping gives 5."""
        game = DiceRace(2)
        agent = ExpectiminimaxAgent(depth="full", samples=400)
        result = agent.search_state(game, (5, 1, False))
        assert result.is_estimate
        assert not result.proven
        assert result.action == 1
        assert result.value == pytest.approx(7.5, abs=4 * result.standard_error)
        spread = statistics.pstdev([0, 7, 8, 9, 10, 11]) / 400**0.5
        assert result.standard_error == pytest.approx(spread, rel=0.25)

    @pytest.mark.thorough
    def test_the_error_is_as_wide_as_it_says(self):
        game = DiceRace(2)
        agent = ExpectiminimaxAgent(depth="full", samples=30)
        results = [agent.search_state(game, (5, 1, False)) for _ in range(150)]
        scatter = statistics.stdev(result.value for result in results)
        assert scatter == pytest.approx(statistics.mean(result.standard_error for result in results), rel=0.25)

    def test_one_sample_has_no_width(self):
        assert ExpectiminimaxAgent(depth="full", samples=1).search_state(DiceRace(1)).standard_error in (None, 0.0)

    def test_stopping_is_certain(self):
        result = ExpectiminimaxAgent(depth="full", samples=60).search_state(DiceRace(2), (90, 1, False))
        assert (result.action, result.value, result.standard_error) == (0, 90, 0.0)
        assert not result.proven, "the value of rolling was sampled"

    def test_same_seed_same_samples(self):
        game = DiceRace(3)
        values = []
        for seed in (1, 1, 2):
            agent = ExpectiminimaxAgent(depth="full", samples=4)
            agent.reset(seed)
            values.append([agent.search_state(game).value for _ in range(3)])
        assert values[0] == values[1]
        assert values[0] != values[2]
        assert len(set(values[0])) > 1, "every search draws anew"

    def test_equal_draws_are_one_outcome(self):
        game = SampledGame(DiceRace(1), width=600)
        drawn = game.result(game.root((0, 0, False), 5), 1)
        outcomes = dict(game.chance_outcomes(drawn))
        assert len(outcomes) == 6
        assert sum(outcomes.values()) == pytest.approx(1)
        assert all(share == pytest.approx(1 / 6, abs=0.06) for share in outcomes.values())
        assert not isinstance(game.result(game.root((0, 0, False), 5), 0), type(drawn)), (
            "no chance, no chance state"
        )

    def test_evaluator_and_cutoff_see_the_game_itself(self):
        seen = []

        def evaluator(game, state):
            seen.append((type(game), state))
            return (3.0,)

        agent = ExpectiminimaxAgent(depth=1, samples=3, evaluator=evaluator)
        agent.search_state(DiceRace(2))
        assert seen
        assert all(kind is DiceRace and len(state) == 3 for kind, state in seen)
        cut = ExpectiminimaxAgent(samples=3, evaluator=evaluator, stop_test=lambda game, state, ply: state[1] >= 1)
        assert cut.search_state(DiceRace(3)).depth == 1
        played = ExpectiminimaxAgent(depth=1, samples=3, evaluator="playout(games=2)", seconds=100)
        assert played.search_state(DiceRace(2)).is_estimate


@pytest.mark.parametrize("depth", [1, 4, 12, 60])
@pytest.mark.parametrize("slippery", [True, False])
def test_frozen_lake_is_value_iteration(depth, slippery):
    """``depth`` steps of value iteration, undiscounted, on the environment's own table."""
    gymnasium = pytest.importorskip("gymnasium")
    env = gymnasium.make("FrozenLake-v1", is_slippery=slippery)
    env.reset(seed=0)
    table = env.unwrapped.P
    values = np.zeros(16)

    def backed_up(state, action):
        return sum(p * (reward + (0 if end else values[after])) for p, after, reward, end in table[state][action])

    for _ in range(depth - 1):
        values = np.array([max(backed_up(state, action) for action in range(4)) for state in range(16)])
    result = ExpectiminimaxAgent(depth=depth, evaluator="rewards").search(env)
    assert [result.action_values[a] for a in range(4)] == pytest.approx(
        [backed_up(0, a) for a in range(4)], abs=1e-12
    )
    assert env.action_space.contains(result.env_action)


def test_random_is_uniform():
    env = make("classic/tictactoe-v3")
    env.reset(seed=0)
    env.step(4)
    agent = RandomAgent(seed=2)
    counts = np.bincount([agent.act(env) for _ in range(4000)], minlength=9)
    assert counts[4] == 0
    assert counts[[0, 1, 2, 3, 5, 6, 7, 8]].min() > 400
    agent.reset(2)
    again = np.bincount([agent.act(env) for _ in range(4000)], minlength=9)
    assert (counts == again).all()
