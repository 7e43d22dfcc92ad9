import copy
import functools
import itertools
import math
import os
import random
import time
import uuid

import gymnasium
import numpy as np
import pettingzoo
import pytest
from doubles.checked import assert_clones_right
from doubles.clone_envs import (
    DiceEnv,
    StaleMaskClone,
    clone_that_forgets_generators,
    clone_that_shares,
    shallow_clone,
)
from gymnasium.spaces import Box, Dict, Discrete

from zermelo.envs import CloneError, as_game, clone_env, verify_clone
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.errors import InvalidSettingError, UnknownTraitWarning

tictactoe = functools.partial(pettingzoo.make, "aec", "classic/tictactoe-v3")
connect_four = functools.partial(pettingzoo.make, "aec", "classic/connect_four-v3")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("make", "clone", "words"),
    [
        (tictactoe, copy.deepcopy, "not the same game"),
        (connect_four, copy.deepcopy, "not the same game"),
        (tictactoe, shallow_clone, "disturbs tictactoe_v3"),
        (tictactoe, clone_that_shares("board", "squares"), "disturbs tictactoe_v3"),
        (connect_four, clone_that_shares("board"), "disturbs connect_four_v3"),
        (tictactoe, clone_that_shares("rewards"), "rewards"),
        (tictactoe, clone_that_shares("_agent_selector"), "agent_selection"),
        (tictactoe, StaleMaskClone(), "not the same game"),
        (DiceEnv, clone_that_forgets_generators, "observations|rewards"),
        (DiceEnv, clone_that_shares("rng"), "disturbs dice_v0"),
        (tictactoe, lambda env: env, "is the environment itself"),
        (tictactoe, lambda env: clone_env(env.unwrapped), "is a raw_env"),
        (tictactoe, lambda env: 1 / 0, "could not be cloned .*ZeroDivisionError"),
    ],
)
def test_broken_clones_are_caught(make, clone, words, capsys):
    with pytest.raises(CloneError, match=words) as caught:
        verify_clone(make, games=6, seed=11, clone=clone)
    assert "seed 11, game " in str(caught.value)
    assert ", step " in str(caught.value)


@pytest.mark.parametrize(
    "source",
    ["generator", "random_state", "python", "closure", "stored method", "space", "global random", "global numpy"],
)
def test_environments_with_dice_pass(source):
    assert_clones_right(lambda: DiceEnv(source), games=4)


class Unseeded(DiceEnv):
    """Ignores the seed of reset, as many do."""

    def reset(self, seed=None, options=None):
        super().reset(None)


@pytest.mark.thorough
def test_an_environment_that_ignores_its_seed_passes_and_its_broken_clone_does_not():
    assert verify_clone("zermelo/MNK-v0", games=1).games == 1
    verified = verify_clone(Unseeded, games=3)
    assert not verified.repeats
    assert "reset(seed=...) does not repeat a game: the seed is not used" in str(verified)
    with pytest.raises(CloneError):
        verify_clone(Unseeded, games=3, clone=clone_that_forgets_generators)


TURN = 0


class GlobalTurn(DiceEnv):
    """Keeps a part of its state in its module."""

    def reset(self, seed=None, options=None):
        global TURN
        super().reset(seed)
        TURN = 0

    def step(self, action):
        global TURN
        TURN += 1
        super().step(action)

    def observe(self, agent):
        return {"observation": TURN, "action_mask": np.array([1, 1], np.int8)}


class ClassBoard(DiceEnv):
    """Keeps its board on its class."""

    board = []  # noqa: RUF012  # the mistake that is meant

    def reset(self, seed=None, options=None):
        super().reset(seed)
        self.board.clear()

    def step(self, action):
        self.board.append(action)
        super().step(action)

    def observe(self, agent):
        return {"observation": tuple(self.board), "action_mask": np.array([1, 1], np.int8)}


@pytest.mark.parametrize(
    ("cls", "name"), [(GlobalTurn, r"test_verify_clone\.TURN"), (ClassBoard, r"ClassBoard\.board")]
)
def test_state_outside_of_the_object_is_named(cls, name):
    with pytest.raises(CloneError, match=rf"state outside the object changed: .*{name}"):
        verify_clone(cls)


def test_a_search_finds_it_too_and_puts_it_back():
    env = GlobalTurn()
    env.reset(seed=1)
    env.step(0)
    before, key = TURN, state_key(env)
    with pytest.raises(CloneError, match=r"TURN"):
        as_game(env)
    assert before == TURN
    assert state_key(env) == key


def test_configurations_in_turn_are_fine_where_nothing_is_shared():
    cycles = itertools.cycle([{"num_actions": 3, "max_cycles": 3}, {"num_actions": 5, "max_cycles": 4}])
    assert_clones_right(lambda: pettingzoo.make("aec", "classic/rps-v2", **next(cycles)), games=2)


def test_a_game_leaves_the_environment_as_it_is():
    env = DiceEnv("python")
    env.reset(seed=5)
    env.step(1)
    key, state = state_key(env), env.rng.getstate()
    random_before = random.getstate()
    as_game(env)
    assert state_key(env) == key
    assert env.rng.getstate() == state
    assert random.getstate() == random_before


class SystemDice(DiceEnv):
    """Draws what nobody can repeat."""

    def roll(self):
        return random.SystemRandom().randint(1, 10**9)

    def observe(self, agent):
        return {"observation": self.sums[agent], "action_mask": np.array([1, 1], np.int8)}


def test_randomness_of_the_operating_system_is_no_fault_of_copies():
    env = SystemDice()
    env.reset()
    with pytest.warns(UnknownTraitWarning, match="does not do the same again with the same seed"):
        as_game(env)
    with pytest.raises(CloneError):
        verify_clone(SystemDice)


class Failing(DiceEnv):
    def step(self, action):
        raise KeyError("no such move")


def test_an_environment_that_fails_by_itself_is_said_to():
    with pytest.raises(
        CloneError, match=r"its step\(.*\) failed before anything was cloned: KeyError.*\.py, line \d+"
    ):
        verify_clone(Failing)


class Shy(DiceEnv):
    """Raises where it is looked at in the middle."""

    def observe(self, agent):
        if len(self.rolls) == 2:
            raise ValueError("cannot see")
        return super().observe(agent)


def test_the_same_error_of_an_original_and_its_clone_is_no_difference():
    assert_clones_right(Shy, games=2)


class OldReset(DiceEnv):
    """Written for Gym before 0.26, whose reset took no seed."""

    def reset(self):
        super().reset(None)


def test_an_environment_whose_reset_fails_is_not_taken_for_one_that_clones():
    with pytest.raises(
        CloneError, match=r"its reset failed .* cloned: TypeError: .*unexpected keyword argument 'seed'"
    ):
        verify_clone(OldReset)


class Counter(gymnasium.Env):
    """A Gymnasium environment; ``shared`` makes its copies share a list."""

    action_space = Discrete(3)
    observation_space = Discrete(1000)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.values = [0]
        return 0, {}

    def step(self, action):
        self.values.append(self.values[-1] + int(action) + int(self.np_random.integers(3)))
        return self.values[-1], float(action), len(self.values) > 8, False, {}


def test_gymnasium_environments_and_their_broken_clones():
    verify_clone(Counter, games=3)
    with pytest.raises(CloneError, match="observation is"):
        verify_clone(Counter, games=3, clone=clone_that_shares("values"))


@pytest.mark.parametrize(("name", "value"), [("games", 0), ("games", 1.5), ("max_steps", True)])
def test_settings_are_checked(name, value):
    with pytest.raises(InvalidSettingError, match=rf"{name} must be a whole number of at least 1, not {value!r}"):
        verify_clone(tictactoe, **{name: value})


def test_a_factory_that_never_repeats_itself_is_refused():
    counts = itertools.count(3)
    with pytest.raises(CloneError, match="never made an environment of the same class and spaces again"):
        verify_clone(lambda: pettingzoo.make("aec", "classic/rps-v2", num_actions=2 * next(counts) + 1))


class PopsFromASet(DiceEnv):
    """The next tile depends on the order of a set that has lost elements from its front."""

    def reset(self, seed=None, options=None):
        super().reset(seed)
        self.tiles = set(range(40))
        self.last_tile = 0
        for _ in range(25):
            self.tiles.pop()
        self.tiles.update(range(4))

    def step(self, action):
        if not self.terminations[self.agent_selection]:
            self.last_tile = self.tiles.pop()
        super().step(action)

    def observe(self, agent):
        return {**super().observe(agent), "tile": self.last_tile}


def test_a_set_whose_order_matters_is_named():
    with pytest.raises(CloneError, match=r"go through a set, or pop from it, in another order: env\.tiles"):
        verify_clone(PopsFromASet, games=3)


def test_a_live_environment_is_no_way_to_make_one():
    with pytest.raises(
        InvalidSettingError, match=r"needs a class or a function that makes one, as in verify_clone\(DiceEnv\)"
    ):
        verify_clone(DiceEnv())
    with pytest.raises(InvalidSettingError, match=r"that makes one, such as lambda: .*, not 3"):
        verify_clone(3)


class TimedEnv(DiceEnv):
    """Shows, where ``shown`` says, what time it is or something that is no time."""

    starts = 0

    def __init__(self, shown):
        super().__init__()
        self.shown = shown

    def start(self, seed, options):
        super().start(seed, options)
        if self.shown == "counter":
            type(self).starts += 1
        self.began = time.perf_counter()

    def time(self):
        return time.perf_counter() - self.began

    def observe(self, agent):
        seen = super().observe(agent)
        if self.shown == "observation":
            return {"dice": seen, "time": np.array([0.0, self.time()])}
        if self.shown == "noise":
            return {"dice": seen, "noise": os.urandom(1)[0] / 257}
        return {"dice": seen, "starts": self.starts + 0.5} if self.shown == "counter" else seen

    def step(self, action):
        super().step(action)
        self.infos = {agent: {"time": self.time(), "unique": uuid.uuid4().hex} for agent in self.infos}
        if self.shown == "reward":
            self._cumulative_rewards = dict.fromkeys(self._cumulative_rewards, self.time())


def test_says_what_was_compared():
    verified = verify_clone(tictactoe, games=3)
    assert verified.games == 3
    assert 15 <= verified.steps <= 27
    assert verified.clones > 3
    assert {"rewards", "observations", "agent_selection"} < set(verified.fields)
    assert min(verified.clone_seconds, verified.step_seconds, verified.key_seconds) > 0
    assert str(verified).startswith(
        f"tictactoe_v3: its clones are right. {verified.clones} were compared in 3 games"
    )
    assert not any(words in str(verified) for words in ("Not compared", "does not repeat", "Also seen"))


class Careless(gymnasium.Env):
    """Observes what its space does not have, allows nothing, pays NaN and never ends."""

    action_space = Discrete(3)
    observation_space = Dict({"board": Box(0, 1, (2,), np.int8), "action_mask": Box(0, 1, (3,), np.int8)})
    board = np.array([0, 2], np.int8)

    def reset(self, *, seed=None, options=None):
        return {"board": self.board, "action_mask": np.zeros(3, np.int8)}, {}

    def step(self, action):
        return self.reset()[0], math.nan, False, False, {}


@pytest.mark.parametrize(
    ("board", "said"),
    [
        (np.array([0, 2], np.int8), "observation['board'] has 2, which is outside the bounds 0 to 1"),
        (np.zeros(2), "observation['board'] has dtype float64, not int8"),
        (np.zeros(3, np.int8), "observation['board'] has shape (3,), not (2,)"),
    ],
)
def test_says_what_else_is_wrong_with_an_environment(monkeypatch, board, said):
    monkeypatch.setattr(Careless, "board", board)
    verified = verify_clone(Careless, games=2, max_steps=4)
    assert verified.remarks == (
        "the mask allows nothing while the game goes on (game 0, step 0)",
        f"an observation is not in observation_space: {said} (game 0, step 0)",
        "a reward is NaN (game 0, step 1)",
        "2 games were not over after 4 steps (max_steps)",
    )
    assert f"Also seen: {'; '.join(verified.remarks)}." in str(verified)


@pytest.mark.parametrize("shown", ["info", "observation"])
def test_clocks_are_not_compared(shown):
    verified = verify_clone(lambda: TimedEnv(shown), games=2)
    assert verified.clocks
    assert all("time" in place or "unique" in place for place in verified.clocks)
    assert f"Not compared, as time alone changes it: {verified.clocks[0]}" in str(verified)
    with pytest.raises(CloneError, match=r"disturbs dice_v0|not the same game"):
        verify_clone(lambda: TimedEnv(shown), games=4, clone=clone_that_shares("rng"))


@pytest.mark.parametrize(
    ("shown", "words"), [("noise", r"is .* in the clone"), ("counter", "TimedEnv.starts"), ("reward", "rewards")]
)
def test_what_is_no_clock_is_compared(shown, words):
    with pytest.raises(CloneError, match=words):
        verify_clone(lambda: TimedEnv(shown), games=4)


def test_recorded_statistics_of_gymnasium_have_a_clock():
    made = []

    def make():
        made.append(gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("FrozenLake-v1")))
        return made[-1]

    verified = verify_clone(make, games=2, max_steps=200)
    assert verified.clocks == ("info['episode']['t']",)
    assert any(env.episode_count for env in made)  # one ended, with its time in the info
