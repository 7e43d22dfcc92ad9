"""Functions that are no plain Python functions, and the generators that distributions draw from."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np
import pytest
import scipy.stats
from doubles.clone_envs import BareEnv

from zermelo.envs import CloneError, clone_env
from zermelo.envs.clone.generators import replace_generators
from zermelo.envs.clone.state_key import digest, state_key


class Board:
    """Adds its number, by a function that numpy makes of its method."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.ufunc = np.frompyfunc(self.add, 1, 1)
        self.vectorised = np.vectorize(self.add, otypes=[int])

    def add(self, other: int) -> int:
        return self.number + other


def test_ufuncs_of_methods_lead_to_the_copy() -> None:
    env = BareEnv(board=Board(1), plain=np.add)
    assert env.board.vectorised([1]) == [2]  # which keeps a ufunc
    before = state_key(env)
    new = clone_env(env)
    assert state_key(new) == before
    assert new.plain is np.add
    new.board.number = 10
    assert (new.board.ufunc(1), new.board.vectorised([1]).tolist()) == (11, [11])
    assert env.board.ufunc(1) == 2
    assert state_key(new) != before


@pytest.mark.parametrize("make", [numba.njit, numba.vectorize, numba.stencil])
def test_what_numba_compiles_is_shared(make: Any) -> None:
    env = BareEnv(call=make(lambda x: x + 1), table={})
    new = clone_env(env)
    assert new.call is env.call
    assert state_key(new) == state_key(env)
    assert digest(env) == digest(new)


def test_digests_tell_compiled_functions_apart() -> None:
    assert digest(numba.njit(lambda x: x + 1)) != digest(numba.njit(lambda x: x + 2))


@pytest.mark.parametrize("seed", [None, 3])
def test_distributions_are_copied_with_their_generators(seed: int | None) -> None:
    demand = scipy.stats.poisson(3)
    if seed is not None:
        demand.random_state = seed
    env = BareEnv(demand=demand, same=demand)
    new = clone_env(env)
    assert new.same is new.demand is not demand
    assert state_key(new) == state_key(env)
    drawn = []
    for one in (env, new):
        np.random.seed(5)  # noqa: NPY002  # the global generator is what is tested
        drawn.append(one.demand.rvs(20).tolist())
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize(
    "held",
    [random.random, random.random.__self__, np.random.normal, np.random.normal.__self__],  # type: ignore[attr-defined]
)
def test_generators_of_the_process_stay_outside(held: Any) -> None:
    new = clone_env(BareEnv(held=held, list=[held]))
    assert new.held == held
    before = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    assert replace_generators(new, np.random.default_rng(1)) == 0
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # type: ignore[index]  # noqa: NPY002


@dataclass(unsafe_hash=True)
class Token:
    number: int
    board: Any = field(hash=False, compare=False)
    cells: tuple[int, ...] = (1, 2)


def test_sets_are_filled_when_their_elements_can_be_hashed() -> None:
    board = BareEnv()
    board.first = Token(1, board)
    board.tokens = {board.first, Token(2, board)}
    board.names = {token: token.number for token in board.tokens}
    new = clone_env(BareEnv(first=board.first, board=board))
    assert new.first in new.board.tokens
    assert new.board.names[new.first] == 1
    assert (len(new.board.tokens), len(new.board.names)) == (2, 2)


class Unhashed:
    broken = False

    def __hash__(self) -> int:
        if self.broken:
            raise RuntimeError("not now")
        return 1


@pytest.mark.parametrize("kind", [set, frozenset])
def test_a_hash_that_raises_is_said_in_a_sentence(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    env = BareEnv(parts=kind([Unhashed()]))
    monkeypatch.setattr(Unhashed, "broken", True)
    with pytest.raises(CloneError, match=r"env\.parts is a .*set, whose content raised RuntimeError: not now"):
        clone_env(env)
