"""Clones of sets, queues and many plain values at once."""

import copy
import queue
import random
import sys
import zlib

import pytest
from doubles.clone_envs import BareEnv

from zermelo.envs import clone_env
from zermelo.envs.clone.state_key import state_key


def test_fast_and_general_copies_go_through_a_set_in_the_same_order():
    numbers = set(range(100))
    for number in range(97):
        numbers.discard(number)
    numbers.add(9)
    env = BareEnv(numbers=numbers)
    first = clone_env(env).numbers
    for _ in range(10):
        new = clone_env(env).numbers
    assert list(new) == list(first)
    assert new == first == numbers


class Name(str):
    """Text whose hash, unlike that of ``str``, is the same in every run."""

    __slots__ = ()

    def __hash__(self) -> int:
        return zlib.crc32(self.encode())


@pytest.mark.parametrize(
    "kind",
    [int, lambda number: Name(number), lambda number: (number % 20, number // 20)],
    ids=["int", "str", "pair"],
)
def test_a_set_that_only_grew_is_gone_through_in_the_same_order(kind):
    chosen = random.Random(3)
    same = 0
    for size in range(1, 200):
        env = BareEnv(moves=set())
        for _ in range(size):
            env.moves.add(kind(chosen.randrange(400)))
        copied = clone_env(env)
        assert copied.moves == env.moves
        same += list(copied.moves) == list(env.moves)
    assert same > 100  # those that came in each other's way may have come in another order


def test_a_set_is_copied_as_fast_as_a_deep_copy():
    env = BareEnv(cells={(row, column) for row in range(100) for column in range(100)})
    for cell in sorted(env.cells)[:6_000]:
        env.cells.discard(cell)
    assert clone_env(env).cells == env.cells
    calls = []
    for way in (clone_env, copy.deepcopy):
        counted = []
        sys.setprofile(lambda frame, event, argument, counted=counted: counted.append(event))
        try:
            way(env)
        finally:
            sys.setprofile(None)
        calls.append(len(counted))
    assert calls[0] < calls[1]


def test_queues_are_copied_with_what_waits_in_them():
    waiting = queue.SimpleQueue()
    for item in ([1], [2], [3]):
        waiting.put(item)
    env = BareEnv(waiting=waiting, first=None)
    before = state_key(env)
    new = clone_env(env)
    assert state_key(new) == state_key(env) == before
    assert new.waiting.get() == [1]
    new.waiting.get().append(9)
    assert state_key(new) != before
    assert [waiting.get() for _ in range(waiting.qsize())] == [[1], [2], [3]]


def test_many_sets_or_lists_of_plain_values_are_copied_in_one_go():
    lists = [[number, None] for number in range(40)]
    holder = BareEnv(
        sets=[{(number, "a"), (number + 1, "b"), number} for number in range(40)],
        lists=lists,
        twice=[lists[0]] * 20,
        mixed=[[[number]] for number in range(40)],
    )
    copy = clone_env(holder)
    for name in ("sets", "lists", "twice", "mixed"):
        assert getattr(copy, name) == getattr(holder, name)
        assert [list(part) for part in getattr(copy, name)] == [list(part) for part in getattr(holder, name)]
        assert {*map(id, getattr(copy, name))}.isdisjoint(map(id, getattr(holder, name)))
    assert all(part is copy.lists[0] for part in copy.twice), "one list in two places is one list in the copy"
    copy.sets[3].clear()
    copy.lists[3].clear()
    copy.mixed[3][0].clear()
    assert (len(holder.sets[3]), len(holder.lists[3]), holder.mixed[3]) == (3, 2, [[3]])
