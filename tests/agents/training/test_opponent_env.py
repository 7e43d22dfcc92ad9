"""A seat of a game as a Gymnasium environment: what it earns, sees, and whom it meets."""

import gymnasium
import numpy as np
import pettingzoo
import pytest
from doubles.game_envs import Numbers
from gymnasium.utils.env_checker import check_env

from zermelo.agents import AlphaBetaAgent, RandomAgent, make_agent
from zermelo.agents.training import Ladder, Mix, OpponentEnv, SelfPlay
from zermelo.envs import IllegalActionError, UnsupportedGameError, make
from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation import play_match

TWO = "zermelo/MNK-v0"


class First:
    """Plays the legal action with the least number."""

    name = "first"

    def reset(self, seed=None):
        """Nothing is remembered."""

    def act(self, env):
        return int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0])


class Illegal(First):
    name = "illegal"

    def act(self, env):
        return int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"] == 0)[0])


def play(env, seed=None, choose=lambda mask: int(np.flatnonzero(mask)[0]), **options):
    """One game: actions, rewards, last info."""
    _, info = env.reset(seed=seed, **options)
    actions, rewards, over = [], [], False
    while not over:
        actions.append(choose(info["action_mask"]))
        _, reward, terminated, truncated, info = env.step(actions[-1])
        rewards.append(reward)
        over = terminated or truncated
    return actions, rewards, info


@pytest.mark.parametrize(
    "name", ["classic/tictactoe-v3", TWO, "zermelo/Pig-v0", "zermelo/Leduc-v0", "openspiel/tic_tac_toe"]
)
@pytest.mark.parametrize("observation", ["dict", "array"])
@pytest.mark.filterwarnings("ignore:.*observation space m:UserWarning")
def test_gymnasium_accepts_it(name, observation):
    env = OpponentEnv(name, observation=observation)
    check_env(env, skip_render_check=True)
    seen, info = env.reset(seed=3)
    assert env.observation_space.contains(seen)
    assert info["action_mask"].sum() == env.action_masks().sum() > 0


@pytest.mark.parametrize("way", ["class", "function", "environment"])
def test_an_environment_of_one_s_own(way):
    made = {"class": Numbers, "function": lambda: Numbers(total=3.0), "environment": Numbers()}[way]
    env = OpponentEnv(made, "random")
    actions, rewards, info = play(env, seed=1)
    assert actions
    assert len(rewards) == len(actions)
    assert info["seat"] in env.seats


def test_it_is_known_to_gymnasium():
    env = gymnasium.make("zermelo/Opponent-v0", env=TWO, opponent=["greedy"], disable_env_checker=True)
    assert env.unwrapped.schedule.opponents[0][0] == "greedy"


@pytest.mark.parametrize("seat", [0, 1])
def test_rewards_are_those_of_a_match(seat):
    """A match of these agents is this game, so the learner earns what its seat does there."""
    env = OpponentEnv(TWO, First(), seat=seat)
    _, rewards, info = play(env)
    record = play_match(TWO, [First(), First()], seed=0)
    assert sum(rewards) == record.rewards[seat] != 0
    assert rewards[:-1] == [0] * (len(rewards) - 1)
    assert info["seat"] == env.seats[seat]


def test_a_seed_decides_the_game_and_those_after_it():
    def games(env):
        generator = np.random.default_rng(0)
        first = play(env, 7, lambda mask: int(generator.choice(np.flatnonzero(mask))))
        return [first[:2]] + [
            play(env, None, lambda mask: int(generator.choice(np.flatnonzero(mask))))[:2] for _ in range(3)
        ]

    env = OpponentEnv("zermelo/Pig-v0(target=10)", seat="random")
    found = games(env)
    play(env)
    assert games(env) == found
    assert found[0] != found[2]


def test_seats_alternate_and_begin_again_with_a_seed():
    env = OpponentEnv(TWO, First())
    seats = [play(env, seed)[2]["seat"] for seed in (1, None, None, 1, None)]
    assert seats == [env.seats[place] for place in (0, 1, 0, 0, 1)]
    assert play(env, options={"seat": 1})[2]["seat"] == env.seats[1]


def test_an_illegal_action_ends_the_game_for_the_learner():
    env = OpponentEnv(TWO, First(), seat=1, illegal_reward=-3)
    _, info = env.reset(seed=0)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    _, reward, terminated, truncated, info = env.step(illegal)
    assert (reward, terminated, truncated, info["illegal_action"]) == (-3, True, False, illegal)
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        env.step(0)


def test_an_opponents_illegal_action_is_said_with_its_name():
    env = OpponentEnv(TWO, Illegal(), seat=1)
    env.reset(seed=0, options={"seat": 0})
    with pytest.raises(IllegalActionError, match="the opponent illegal played 0, which is not legal for player_1"):
        env.step(0)


def test_more_players_have_opponents_of_their_own():
    env = OpponentEnv("zermelo/Nim-v0(players=3)", ["random", First()], seat=2)
    _, info = env.reset(seed=1)
    assert len(info["opponents"]) == 2
    assert set(info["opponents"]) <= {"random", "first"}
    assert play(env, 5)[2].keys() == info.keys() == {"action_mask", "seat", "opponents"}


def test_a_live_environment_and_a_function_do_too():
    for given in (lambda: make(TWO), pettingzoo.make("aec", "classic/tictactoe-v3")):
        actions, rewards, _ = play(OpponentEnv(given, RandomAgent(), seat=0), 2)
        assert len(actions) == len(rewards) >= 3


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"opponent": []}, "opponents must be one or more agents"),
        ({"opponent": 3}, "opponents must be one or more agents"),
        ({"opponent": [3]}, "policy must be a function"),
        ({"seat": 2}, "seat must be 'alternate'"),
        ({"seat": "player_7"}, "seat must be 'alternate'"),
        ({"observation": "list"}, "observation must be 'dict' or 'array'"),
    ],
)
def test_wrong_settings_are_refused(given, sentence):
    with pytest.raises(InvalidSettingError, match=sentence):
        OpponentEnv(TWO, **given)
    with pytest.raises(InvalidSettingError, match="the option is 'seat', not 'colour'"):
        OpponentEnv(TWO).reset(options={"colour": 1})


def test_what_is_no_environment_is_refused():
    with pytest.raises(UnsupportedGameError, match="is not"):
        OpponentEnv(7)


def test_opponents_are_prepared_once_before_they_play(monkeypatch):
    prepared = []
    monkeypatch.setattr(AlphaBetaAgent, "prepare", lambda agent, env: prepared.append(env.agent_selection))
    env = OpponentEnv(TWO, "alphabeta(depth=1)", seat="alternate")
    for _ in range(4):
        env.reset()
    assert prepared == [env.seats[0]] * 2  # one agent for each seat, before the first move


# -- schedules


def drawn(schedule, count=200):
    generator = np.random.default_rng(0)
    return [schedule.draw(generator)[0] for _ in range(count)]


def test_a_mix_draws_all_alike_often():
    names = drawn(Mix(["random", "greedy", make_agent("random")]), 300)
    assert {"random", "greedy", "random #2"} == set(names)
    assert all(70 < names.count(name) < 130 for name in set(names))


def test_a_ladder_is_climbed_by_results_on_its_rung():
    ladder = Ladder(["random", "greedy", "minimax(depth=1)"], mark=0.75, games=4, back=0.25)
    assert set(drawn(ladder)) == {"random"}
    for name, score in [("greedy", 1), ("random", 1), ("random", 1), ("random", 0), ("random", 1)]:
        assert ladder.rung == 0
        ladder.record(name, score)
    assert ladder.rung == 1
    names = drawn(ladder)
    assert set(names) == {"random", "greedy"}
    assert 30 < names.count("random") < 70
    for _ in range(100):
        ladder.record("greedy", 0.5)
    assert ladder.rung == 1


def test_self_play_meets_the_hard_ones_most():
    pool = SelfPlay(["random", "greedy"])
    for _ in range(200):
        pool.record("random", 1)
        pool.record("greedy", 0)
    assert pool.scores["random"] > 0.99 > 0.01 > pool.scores["greedy"]
    assert drawn(pool).count("greedy") > 190
    pool.add(First(), "now")
    pool.record("greedy", 1)
    assert 30 < drawn(pool, 300).count("now") < 100
    with pytest.raises(InvalidSettingError, match="called 'now' already"):
        pool.add(First(), "now")


def test_schedules_hear_the_results():
    scores = []

    class Heard(Mix):
        def record(self, name, score):
            scores.append((name, score))

    env = OpponentEnv(TWO, Heard([First()]), seat=0)
    _, rewards, _ = play(env)
    env.reset(seed=1)
    env.step(0)
    env.step(0)
    assert scores == [("first", (rewards[-1] + 1) / 2), ("first", 0.0)]


def test_a_game_of_one_player_has_no_opponents():
    env = OpponentEnv("zermelo/Game2048-v0(rows=2, columns=3)")
    _, info = env.reset(seed=1)
    paid, over = 0.0, False
    while not over:
        _, reward, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
        paid += reward
    assert paid == env.env.unwrapped.position.score > 0
