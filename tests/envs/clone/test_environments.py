"""Clones of the environments of PettingZoo, Shimmy, RLCard and Gymnasium, mid-game and in every render mode."""

import gymnasium
import numpy as np
import pettingzoo
import pytest
from doubles.checked import assert_clones_right

from zermelo.envs import CloneError, clone_env
from zermelo.envs.checks.verified_env import VerifiedEnv
from zermelo.envs.clone.state_key import state_key

CLASSIC = {
    "chess-v6": {},
    "connect_four-v3": {},
    "go-v5": {"board_size": 5},
    "hanabi-v5": {},
    "leduc_holdem-v4": {},
    "rps-v2": {"max_cycles": 5},
    "texas_holdem-v4": {},
    "texas_holdem_no_limit-v6": {},
    "tictactoe-v3": {},
}
MODES = {
    "chess-v6": ["human", "rgb_array", "ansi"],
    "hanabi-v5": ["human", "rgb_array"],
}
OPEN_SPIEL = {
    "tic_tac_toe": None,
    "connect_four": None,
    "breakthrough": {"rows": 6, "columns": 6},
    "backgammon": None,
    "pig": None,
    "mancala": None,
}


@pytest.fixture(autouse=True)
def no_window(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def all_modes():
    return [(name, mode) for name in CLASSIC for mode in [None, *MODES.get(name, ["human", "rgb_array"])]]


def make_classic(name, mode=None):
    env = pettingzoo.make("aec", f"classic/{name}", render_mode=mode, **CLASSIC[name])
    env.unwrapped.metadata = {**env.unwrapped.metadata, "render_fps": 0}  # a clock that does not wait
    return env


def play(env, plies, seed=1):
    player = VerifiedEnv.start(env, seed)
    generator = np.random.default_rng(seed)
    for _ in range(plies):
        if player.over:
            break
        player.step(player.choose(player.record(), generator))
    return player


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "mode"), all_modes())
def test_mid_game_after_a_render_in_every_mode(name, mode):
    env = make_classic(name, mode)
    play(env, 2)
    if mode is not None:
        env.render()
    new = clone_env(env)
    assert state_key(new) == state_key(env)
    raw, twin = env.unwrapped, new.unwrapped
    for field in ("screen", "clock"):
        assert getattr(twin, field, None) is getattr(raw, field, None)
    before = state_key(env)
    ours = VerifiedEnv(new, 1)
    if not ours.over:
        ours.step(ours.choose(ours.record(), np.random.default_rng(3)))
        assert ours.failure is None
        assert state_key(new) != before
    assert state_key(env) == before
    env.close()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "mode", "games"),
    [
        *(pytest.param(name, None, 2, marks=pytest.mark.thorough) for name in CLASSIC),
        *(pytest.param(name, mode, 20, marks=pytest.mark.slow) for name, mode in all_modes()),
    ],
)
def test_classic_environments_in_lockstep(name, mode, games):
    longest = 25 if games == 2 else 40 if name == "chess-v6" else 200
    assert_clones_right(lambda: make_classic(name, mode), games=games, seed=5, max_steps=longest)


@pytest.mark.parametrize(
    ("name", "games", "longest"),
    [
        *(pytest.param(name, 2, 30, marks=pytest.mark.thorough) for name in OPEN_SPIEL),
        *(pytest.param(name, 20, 200, marks=pytest.mark.slow) for name in OPEN_SPIEL),
    ],
)
def test_open_spiel_through_shimmy(name, games, longest):
    shimmy = pytest.importorskip("shimmy")
    assert_clones_right(
        lambda: shimmy.OpenSpielCompatibilityV0(game_name=name, config=OPEN_SPIEL[name]),
        games=games,
        max_steps=longest,
    )


def test_shimmy_keeps_its_configuration_and_its_history():
    shimmy = pytest.importorskip("shimmy")
    env = shimmy.OpenSpielCompatibilityV0(game_name="breakthrough", config={"rows": 6, "columns": 6})
    play(env, 3)
    new = clone_env(env)
    assert str(new.game_state) == str(env.game_state)
    assert new.game_state.history() == env.game_state.history()
    assert new.config == env.config
    assert new.game_state is not env.game_state


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["CartPole-v1", "FrozenLake-v1", "Blackjack-v1", "CliffWalking-v1", "Taxi-v4"])
def test_gymnasium_environments(name):
    assert_clones_right(lambda: gymnasium.make(name), games=2, max_steps=30)


def test_wrappers_are_copied_with_the_masks_that_they_remember():
    env = make_classic("connect_four-v3")
    env.reset()
    for action in (0, 1, 0, 1):
        env.last()
        env.step(action)
    env.observe(env.agent_selection)
    new = clone_env(env)
    mine, its = env.env.env._prev_obs["action_mask"], new.env.env._prev_obs["action_mask"]
    assert its is not mine
    its[:] = 0
    assert mine.any()
    env.step(3)
    assert env.rewards == {"player_0": 0, "player_1": 0}


def test_an_environment_not_yet_reset():
    new = clone_env(make_classic("tictactoe-v3"))
    with pytest.raises(AttributeError, match="before reset"):
        _ = new.agents
    new.reset(seed=1)
    assert new.agents == ["player_1", "player_2"]


def test_go_with_a_second_board_size_is_refused():
    nine = pettingzoo.make("aec", "classic/go-v5", board_size=9)
    nine.reset()
    clone_env(nine)
    five = pettingzoo.make("aec", "classic/go-v5", board_size=5)
    five.reset()
    clone_env(five)
    with pytest.raises(CloneError, match=r"plays on 9x9, .* is now 5, .*one board size in a process"):
        clone_env(nine)
    for _ in range(5):
        clone_env(five)


@pytest.mark.filterwarnings("ignore")
def test_parallel_environments_are_objects_like_others():
    parallel = pettingzoo.utils.aec_to_parallel(make_classic("rps-v2"))
    parallel.reset(seed=1)
    new = clone_env(parallel)
    actions = dict.fromkeys(parallel.agents, 1)
    assert repr(new.step(actions)) == repr(parallel.step(actions))
