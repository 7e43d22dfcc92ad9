import random

import numpy as np
import pytest
from doubles.clone_envs import BareEnv, DiceEnv, find_generators
from doubles.game_envs import started
from gymnasium.spaces import Discrete

from zermelo.envs import clone_env
from zermelo.envs.clone.generators import (
    OutsideGenerators,
    global_random_guard,
    replace_generators,
)

SOURCES = ["generator", "random_state", "python", "closure", "stored method", "space"]


def dice(source):
    return started(DiceEnv(source), seed=7)


def next_roll(env, seed):
    new = clone_env(env)
    assert replace_generators(new, np.random.default_rng(seed)) == 1
    new.step(0)
    return new.rolls[-1]


@pytest.mark.parametrize("source", SOURCES)
def test_twenty_clones_roll_differently_and_the_same_for_the_same_seed(source):
    env = dice(source)
    own = clone_env(env)
    own.step(0)
    rolls = [next_roll(env, seed) for seed in range(20)]
    assert len(set(rolls)) >= 15  # of a thousand faces
    assert rolls.count(own.rolls[-1]) <= 1
    assert rolls == [next_roll(env, seed) for seed in range(20)]
    env.step(0)
    assert env.rolls == own.rolls  # nothing of it touched the environment


@pytest.mark.parametrize("source", ["global random", "global numpy"])
def test_the_guard_hides_what_global_generators_would_give(source):
    env = dice(source)
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002  # what is tested
    rolls = []
    for seed in [*range(20), 0]:
        with global_random_guard(seed):
            new = clone_env(env)
            new.step(0)
            rolls.append(new.rolls[-1])
    assert len(set(rolls)) >= 15
    assert rolls[0] == rolls[-1]
    env.step(0)
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002  # what is tested
    again = dice(source)
    again.step(0)
    assert again.rolls == env.rolls


@pytest.mark.parametrize("source", ["generator", "global random", "global numpy"])
def test_drawing_from_global_generators_is_noticed(source):
    env = dice(source)
    outside = OutsideGenerators(env)
    with outside.guard(1):
        clone_env(env).step(0)
    assert (
        outside.drawn
        == {"generator": set(), "global random": {"random"}, "global numpy": {"numpy.random"}}[source]
    )
    assert bool(outside.only(outside.drawn).used) is (source != "generator")


def test_guards_may_stand_in_each_other():
    np.random.seed(3)  # noqa: NPY002  # what is tested
    expected = np.random.random(3)  # noqa: NPY002  # as above
    np.random.seed(3)  # noqa: NPY002  # as above
    drawn = []
    for _ in range(3):
        drawn.append(np.random.random())  # noqa: NPY002  # as above
        with global_random_guard(1):
            first = np.random.random()  # noqa: NPY002  # as above
            with global_random_guard(1):
                assert np.random.random() == first  # noqa: NPY002  # as above
            assert np.random.random() != first  # noqa: NPY002  # as above
    assert drawn == list(expected)


def test_the_guard_restores_after_an_error():
    before = random.getstate()

    def draw_and_fail():
        with global_random_guard(1):
            random.random()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        draw_and_fail()
    assert random.getstate() == before


def test_aliases_stay_aliases_and_spawned_generators_differ():
    rng = np.random.default_rng(3)
    env = BareEnv(rng=rng, roll=rng.random, twin=np.random.Generator(rng.bit_generator))
    new = clone_env(env)
    assert len(find_generators(new)) == 1
    replace_generators(new, np.random.default_rng(0))
    assert new.roll.__self__ is new.rng
    assert new.twin.bit_generator is new.rng.bit_generator
    assert new.rng.spawn(1)[0].random() != rng.spawn(1)[0].random()


def test_half_drawn_pairs_of_normal_numbers_are_forgotten():
    env = BareEnv(old=np.random.RandomState(1), python=random.Random(1))
    env.old.randn()
    env.python.gauss(0, 1)
    new = clone_env(env)
    replace_generators(new, np.random.default_rng(0))
    assert new.old.randn() != clone_env(env).old.randn()
    assert new.python.gauss(0, 1) != clone_env(env).python.gauss(0, 1)


def test_none_to_replace():
    env = BareEnv(board=[0] * 9, space=Discrete(3))
    generator = np.random.default_rng(0)
    for _ in range(10):
        new = clone_env(env)
        assert not find_generators(new)
        assert replace_generators(new, generator) == 0
    assert generator.random() == np.random.default_rng(0).random()
    new.board[0] = np.random.default_rng(1)
    assert find_generators(new)
    assert replace_generators(new, generator) == 1
    env.space.seed(1)
    assert find_generators(env)
