"""Classes that are copied in a way of their own: by ``__deepcopy__``, or as registered."""

import copy
import random
import warnings

import pytest
from doubles.clone_envs import DiceEnv, find_generators
from doubles.game_envs import started

from zermelo.envs import CloneError, as_game, clone_env, register_clone, verify_clone
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.errors import InvalidSettingError


class Engine:
    """Boards that live in a table, as they would in a library; the environment holds only a number."""

    boards = {}  # noqa: RUF012  # shared on purpose

    @classmethod
    def new(cls, rolls):
        cls.boards[len(cls.boards)] = list(rolls)
        return len(cls.boards) - 1


class EngineDice(DiceEnv):
    used = 0

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

    def copied(self):
        type(self).used += 1
        new = copy.copy(self)
        with warnings.catch_warnings():  # from Python 3.12 on, copying itertools.cycle warns
            warnings.simplefilter("ignore", DeprecationWarning)
            new.__dict__.update(copy.deepcopy(self.__dict__))
        new.handle = Engine.new(Engine.boards[self.handle])
        return new


class Registered(EngineDice):
    pass


class WithDeepcopy(EngineDice):
    def __deepcopy__(self, memo):
        return self.copied()


register_clone(Registered, EngineDice.copied)


@pytest.mark.parametrize("cls", [Registered, WithDeepcopy])
def test_a_working_way_of_its_own_is_used(cls):
    env = started(cls(), seed=3, moves=[1])
    before = cls.used
    new = clone_env(env)
    assert cls.used > before
    assert new.handle != env.handle
    env.step(0)
    assert Engine.boards[new.handle] == [1]
    verify_clone(cls, games=3, max_steps=20)


class ManyNames(DiceEnv):
    """Methods of any name are the environment's own business."""

    called = []  # noqa: RUF012  # shared on purpose

    def clone(self, *arguments):
        self.called.append(arguments)

    save_state = restore_state = get_state = set_state = copy = clone_state = clone


def test_nothing_is_called_because_of_its_name():
    env = started(ManyNames(), seed=3, moves=[1])
    rolls, sums = list(env.rolls), dict(env.sums)
    for _ in range(3):
        clone_env(env).step(1)
    assert (env.rolls, env.sums) == (rolls, sums)
    verify_clone(ManyNames, games=2)
    assert ManyNames.called == []


class WrongDeepcopy(DiceEnv):
    def __deepcopy__(self, memo):
        new = type(self)(self.source)
        new.reset(seed=1)
        return new


class RaisingDeepcopy(DiceEnv):
    def __deepcopy__(self, memo):
        raise RuntimeError("no engine")


def test_a_way_of_its_own_that_is_wrong_is_found_out():
    with pytest.raises(CloneError, match="not the same game"):
        verify_clone(WrongDeepcopy, games=3)
    with pytest.raises(CloneError, match=r"the clone of dice_v0 .* is not the same game"):
        as_game(started(WrongDeepcopy(), seed=3, moves=[1]))
    with pytest.raises(CloneError, match="whose own __deepcopy__ raised RuntimeError: no engine"):
        clone_env(started(RaisingDeepcopy(), seed=3, moves=[1]))
    with pytest.raises(CloneError, match="Registered, whose registered clone raised AttributeError"):
        clone_env(Registered())


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

    env = started(DiceEnv(), seed=3, moves=[1])
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
    ("arguments", "settings", "message"),
    [
        ((3, print), {}, "needs a class, not 3"),
        ((Deck,), {}, "either clone, or flatten and unflatten"),
        ((Deck,), {"flatten": list}, "either clone, or flatten and unflatten"),
        ((Deck, print), {"flatten": list}, "either clone, or flatten and unflatten"),
    ],
)
def test_registered_wrongly(arguments, settings, message):
    with pytest.raises(InvalidSettingError, match=message):
        register_clone(*arguments, **settings)
