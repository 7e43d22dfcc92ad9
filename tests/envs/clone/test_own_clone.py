"""Environments that offer a copy or a saved state of their own."""

import copy
import random
import warnings

import pytest
from doubles.clone_envs import DiceEnv

from zermelo.envs import CloneError, InvalidSettingError, as_game, clone_env, register_clone, verify_clone
from zermelo.envs.clone.generators import find_generators
from zermelo.envs.clone.state_key import state_key


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


register_clone(WithClone, WithClone.clone)


def restored(saved):
    env = WithState()
    env.reset(seed=0)
    env.restore_state(saved)
    return env


register_clone(WithState, lambda env: restored(env.save_state()))


class WritesAFile(DiceEnv):
    """Methods of any name are the environment's own business."""

    called = []  # noqa: RUF012  # shared on purpose

    def save_state(self):
        self.called.append("save_state")

    def restore_state(self, state):
        self.called.append("restore_state")

    def get_state(self):
        self.called.append("get_state")

    def set_state(self, state):
        self.called.append("set_state")

    def clone(self):
        self.called.append("clone")

    copy = clone_state = clone


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


@pytest.mark.parametrize("cls", [WrongClone, OtherMeaning])
def test_methods_that_may_mean_anything_are_not_used(cls):
    env = cls()
    env.reset(seed=3)
    env.step(1)
    rolls, sums = list(env.rolls), dict(env.sums)
    new = clone_env(env)
    new.step(1)
    assert (env.rolls, env.sums) == (rolls, sums)
    verify_clone(cls, games=3)


def test_a_deep_copy_of_its_own_that_is_wrong_is_found_out():
    with pytest.raises(CloneError, match="not the same game"):
        verify_clone(WrongDeepcopy, games=3)
    env = WrongDeepcopy()
    env.reset(seed=3)
    env.step(1)
    with pytest.raises(CloneError, match=r"the clone of dice_v0 .* is not the same game"):
        as_game(env)


class RaisingDeepcopy(DiceEnv):
    def __deepcopy__(self, memo):
        raise RuntimeError("no engine")


def test_a_way_of_its_own_that_raises_is_named():
    env = RaisingDeepcopy()
    env.reset(seed=3)
    with pytest.raises(
        CloneError, match=r"RaisingDeepcopy, whose own __deepcopy__ raised RuntimeError: no engine"
    ):
        clone_env(env)
    with pytest.raises(CloneError, match="WithClone, whose registered clone raised AttributeError"):
        clone_env(WithClone())


def test_a_clone_of_an_environment_not_yet_reset_is_not_yet_reset():
    new = clone_env(DiceEnv())
    assert new.agents == [] if hasattr(new, "agents") else True
    new.reset(seed=1)
    assert new.rolls == []


def test_nothing_is_called_because_of_its_name():
    env = WritesAFile()
    env.reset(seed=3)
    for _ in range(3):
        clone_env(env).step(1)
    verify_clone(WritesAFile, games=2)
    assert WritesAFile.called == []


class Deck:
    """Cards in memory that is not Python's, as it were; it draws from its own generator."""

    __slots__ = ("hidden",)

    def __init__(self, cards, random):
        self.hidden = lambda: (cards, random)

    def __deepcopy__(self, memo):
        return Deck([], None)


def test_a_class_may_be_registered_by_its_parts():
    made = []

    def unflatten(parts):
        made.append(parts)
        return Deck(*parts)

    env = DiceEnv()
    env.reset(seed=1)
    env.deck = Deck([3, 1, 2], random.Random(4))
    for _ in range(10):  # often enough for a copier of this shape, which must not go on as before
        clone_env(env)
    register_clone(Deck, flatten=lambda deck: deck.hidden(), unflatten=unflatten)
    copied = clone_env(env)
    assert len(made) == 1
    assert copied.deck.hidden()[0] == [3, 1, 2]
    assert copied.deck.hidden()[0] is not env.deck.hidden()[0]
    assert copied.deck.hidden()[1] in find_generators(copied)
    assert state_key(copied) == state_key(env)
    copied.deck.hidden()[0].reverse()
    assert state_key(copied) != state_key(env)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, print), "needs a class, not 3"),
        ((Deck,), "either clone, or flatten and unflatten"),
        ((Deck, print, list), "takes from 1 to 2 positional arguments"),
    ],
)
def test_registered_wrongly(arguments, message):
    with pytest.raises((InvalidSettingError, TypeError), match=message):
        register_clone(*arguments)
    with pytest.raises(InvalidSettingError, match="either clone"):
        register_clone(Deck, flatten=list)


def test_the_error_says_how_to_register():
    env = DiceEnv()
    env.reset(seed=1)
    env.deck = open(__file__)  # noqa: SIM115
    with env.deck, pytest.raises(CloneError, match=r"env\.deck is an open file; .* zermelo\.envs\.register_clone"):
        clone_env(env)
