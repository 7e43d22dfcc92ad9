"""Copies are collected, and close nothing of the original then."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import pytest
from doubles.awkward_lifetimes import (
    ENGINE,
    CachedSpaces,
    CannotBeExtended,
    ClosesInDel,
    CountToSix,
    FinalizesByWeakref,
    HoldsHandle,
)
from doubles.game_envs import started

from zermelo.agents import AlphaBetaAgent
from zermelo.envs import CloneError, as_game, clone_env, verify_clone
from zermelo.envs.clone.state_key import state_key


@pytest.mark.parametrize("cls", [ClosesInDel, HoldsHandle, FinalizesByWeakref])
def test_a_copy_that_dies_closes_nothing_and_the_environment_its_own(cls: type[CountToSix]) -> None:
    env = started(cls(), seed=0)
    handle = env.handle
    for _ in range(40):  # enough for a specialised copier
        copied = clone_env(env)
        copied = clone_env(copied)
        copied.step(1)
        del copied
    gc.collect()
    assert env.handle in ENGINE.open
    env.step(1)
    assert AlphaBetaAgent(depth=4).act(env) == 0
    gc.collect()
    env.step(0)
    assert env.count == 3
    del env
    gc.collect()
    assert handle not in ENGINE.open  # it closes its own


@pytest.mark.parametrize("cls", [ClosesInDel, CachedSpaces])
def test_copies_of_another_class_are_as_good(cls: type[CountToSix]) -> None:
    env = started(cls(), seed=0)
    new = clone_env(env)
    assert isinstance(new, cls)
    assert (type(new).__name__, type(new).__module__) == (cls.__name__, cls.__module__)
    assert state_key(new) == state_key(env)
    assert type(clone_env(new)) is type(new)
    if cls is CachedSpaces:
        assert pickle.loads(pickle.dumps(new)).__dict__.keys() == env.__dict__.keys()
        assert copy.deepcopy(new).count == 0
    verify_clone(lambda: cls(), games=2)


def test_a_class_with_a_finaliser_that_cannot_be_extended_is_refused() -> None:
    with pytest.raises(CloneError, match=r"CannotBeExtended, which has a finaliser .* \(final\).*register_clone"):
        clone_env(started(CannotBeExtended(), seed=0))


@pytest.mark.thorough
def test_caches_on_methods_do_not_keep_copies_alive() -> None:
    env = started(CachedSpaces(), seed=0)
    agent = AlphaBetaAgent(depth=4)
    counts = []
    for _ in range(3):
        agent.reset()
        agent.act(env)
        gc.collect()
        counts.append(sum(issubclass(type(obj), CachedSpaces) for obj in gc.get_objects()))
    assert counts[-1] < 300
    assert counts[2] - counts[0] < 50


def test_an_environment_with_cached_spaces_keeps_the_very_same_spaces() -> None:
    env = started(CachedSpaces(), seed=0)
    space = env.action_space("one")
    assert as_game(env).traits.num_actions == 2
    AlphaBetaAgent(depth=3).act(env)
    assert env.action_space("one") is space
    assert type(env).action_space.cache_info().maxsize is None


def test_finalisers_of_others_are_not_looked_into() -> None:
    """The class ``weakref.finalize`` holds every finaliser of the process, some with dead proxies as arguments."""
    gone, alive = HoldsHandle(), HoldsHandle()
    stranger = weakref.finalize(alive, print, weakref.proxy(gone))
    del gone
    env = started(FinalizesByWeakref(), seed=0)
    copied = clone_env(clone_env(env))
    assert AlphaBetaAgent(depth=4).act(env) is not None
    assert env.finalizer.alive
    assert not copied.finalizer.alive
    stranger.detach()
