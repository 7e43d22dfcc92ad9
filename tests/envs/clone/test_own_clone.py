"""Environments that offer a copy or a saved state of their own."""

import copy
import warnings

import pytest
from doubles.clone_envs import DiceEnv

from zermelo.envs import clone_env, verify_clone


def deep(value):
    # From Python 3.12 on, copying itertools.cycle warns.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return copy.deepcopy(value)


class Engine:
    """Boards that live in a table, as they would in a library; the environment holds only a number."""

    boards = {}  # noqa: RUF012  # shared on purpose

    @classmethod
    def new(cls, rolls):
        cls.boards[len(cls.boards)] = list(rolls)
        return len(cls.boards) - 1


class EngineDice(DiceEnv):
    def reset(self, seed=None, options=None):
        super().reset(seed)
        self.handle = Engine.new([])

    def step(self, action):
        if not self.terminations[self.agent_selection]:
            Engine.boards[self.handle].append(action)
        super().step(action)

    def observe(self, agent):
        seen = super().observe(agent)
        seen["observation"] = tuple(Engine.boards[self.handle])
        return seen


class WithClone(EngineDice):
    used = 0

    def clone(self):
        type(self).used += 1
        new = copy.copy(self)
        for name in ("agents", "rewards", "_cumulative_rewards", "terminations", "truncations", "sums", "rolls"):
            setattr(new, name, getattr(self, name).copy())
        new.infos = copy.deepcopy(self.infos)
        new.rng = copy.deepcopy(self.rng)
        new.turns = deep(self.turns)
        new.handle = Engine.new(Engine.boards[self.handle])
        return new


class WithState(EngineDice):
    used = 0

    def save_state(self):
        names = "agents rewards _cumulative_rewards terminations truncations infos sums rolls rng turns"
        state = {name: deep(getattr(self, name)) for name in [*names.split(), *self.skipping]}
        return state, self.agent_selection, tuple(Engine.boards[self.handle])

    @property
    def skipping(self):
        return [name for name in ("_skip_agent_selection",) if hasattr(self, name)]

    def restore_state(self, saved):
        type(self).used += 1
        state, self.agent_selection, board = deep(saved)
        self.__dict__.update(state)
        self.handle = Engine.new(board)


class WithDeepcopy(WithClone):
    clone = None

    def __deepcopy__(self, memo):
        return WithClone.clone(self)


class WrongClone(DiceEnv):
    used = 0

    def clone(self):
        type(self).used += 1
        return copy.copy(self)


class OtherMeaning(DiceEnv):
    def clone(self, who):
        raise AssertionError("another kind of clone")

    def get_state(self):
        return self.sums

    def set_state(self, state):
        self.sums = dict(state)


class WrongDeepcopy(DiceEnv):
    def __deepcopy__(self, memo):
        new = type(self)(self.source)
        new.reset(seed=1)
        return new


@pytest.mark.parametrize("cls", [WithClone, WithState, WithDeepcopy])
def test_a_working_way_of_its_own_is_used(cls):
    env = cls()
    env.reset(seed=3)
    env.step(1)
    before = cls.used
    new = clone_env(env)
    assert cls.used > before
    assert new.handle != env.handle
    env.step(0)
    assert Engine.boards[new.handle] == [1]
    verify_clone(cls, games=3, max_steps=20)


@pytest.mark.parametrize("cls", [WrongClone, OtherMeaning, WrongDeepcopy])
def test_one_that_does_not_work_is_not(cls):
    env = cls()
    env.reset(seed=3)
    env.step(1)
    rolls, sums = list(env.rolls), dict(env.sums)
    new = clone_env(env)
    new.step(1)
    assert (env.rolls, env.sums) == (rolls, sums)
    verify_clone(cls, games=3)


def test_a_clone_of_an_environment_not_yet_reset_is_not_yet_reset():
    new = clone_env(WithClone())
    assert new.agents == [] if hasattr(new, "agents") else True
    new.reset(seed=1)
    assert new.rolls == []
