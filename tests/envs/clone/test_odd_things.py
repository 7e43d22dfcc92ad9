"""Clones of odd things: views, generators, locks, streams and classes that copy themselves."""

import gc
import io
import itertools
import random
import sys
import threading
import weakref

import numpy as np
import pytest
from doubles.clone_envs import BareEnv, odd_env
from gymnasium import spaces

from zermelo.envs import CloneError, clone_env
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.clone.traversal import copy_generally, path_to

MUTABLE = (list, dict, set, bytearray, np.ndarray)


@pytest.fixture(params=["first clone", "specialised"])
def pair(request):
    """An odd environment and its clone, by the general walk or after many clones of its class."""
    env = odd_env()
    for _ in range(20 if request.param == "specialised" else 0):
        clone_env(env)
    return env, clone_env(env)


def test_plain_containers_are_equal_and_apart(pair):
    env, new = pair
    for name in (
        "numbers",
        "mapping",
        "named",
        "queue",
        "counts",
        "ordered",
        "default",
        "group",
        "frozen",
        "text",
    ):
        assert getattr(new, name) == getattr(env, name), name
        assert type(getattr(new, name)) is type(getattr(env, name)), name
    new.mapping[2]["b"][1].append(9)
    new.named.x.append(9)
    new.queue[1].append(9)
    new.ordered["b"].append(9)
    new.default["z"].append(9)
    new.group.add(9)
    assert env.mapping == {"a": [1], 2: {"b": (1, [2])}}
    assert env.named == ([1], {"y": 2})
    assert list(env.queue) == [1, [2]]
    assert new.queue.maxlen == 3
    assert env.ordered["b"] == [1]
    assert "z" not in env.default
    assert 9 not in env.group


def test_what_is_one_object_stays_one_object(pair):
    env, new = pair
    assert new.same is new.numbers is new.loop[0]
    assert new.numbers is not env.numbers
    assert new.itself is new
    assert new.loop[1] is new.loop
    assert new.piece.owner is new
    assert new.weak() is new.piece
    assert list(new.scores) == new.agents
    assert new.agents[0] is not env.agents[0]


def test_methods_closures_and_partials_lead_to_the_copy(pair):
    env, new = pair
    assert new.bound.__self__ is new
    new.method("e4")
    assert new.piece.moves == ["e4"]
    assert env.piece.moves == []
    new.move(4)
    assert new.numbers == [1, 2, 3, 4]
    assert new.tick() == 1
    assert new.count() == 1
    assert env.count() == 0
    assert new.numbers[-1] == 1
    assert new.default_argument() is new.numbers
    new.wrapped(7)
    assert new.numbers[-1] == 7
    assert env.numbers == [1, 2, 3]


def test_slots_properties_and_subclasses(pair):
    env, new = pair
    new.slotted.board.append(9)
    new.both.board.append(9)
    new.both.extra.add(9)
    new.both.free.append(9)
    new.guarded.inner["cells"][0] = 5
    new.space.cells.append(9)
    new.my_list.tag.append(9)
    new.my_int.tag.append(9)
    new.my_dict["a"].append(9)
    assert (env.slotted.board, env.both.board, env.both.extra, env.both.free) == ([1, 2], [1, 2], {3}, [4])
    assert not hasattr(new.slotted, "unset")
    assert (env.guarded.total, new.guarded.total) == (0, 5)
    assert env.space.cells == [1]
    assert (env.my_list.tag, env.my_int.tag, env.my_dict) == ([5], [6], {"a": [1]})
    assert new.my_int == 7
    assert type(new.my_array) is type(env.my_array)
    assert new.constant == env.constant


def test_iterators_go_on_from_where_they_were(pair):
    env, new = pair
    assert [next(new.turns) for _ in range(4)] == ["b", "c", "a", "b"]
    assert next(env.turns) == "b"
    assert (next(new.counter), next(env.counter)) == (3, 3)
    assert list(new.iterator) == list(env.iterator) == [1, 2, 3]


def test_views_stay_views(pair):
    env, new = pair
    new.middle[0, 0] = 7
    assert new.board[1, 1] == 7
    new.turned[3, 0] = 5
    assert new.board[0, 0] == 5
    assert not env.board.any()
    assert new.turned.strides == env.turned.strides
    new.objects[0].append(9)
    assert env.objects[0] == [1]
    new.proxy["a"].append(9)
    assert env.proxy["a"] == [1]


def test_a_key_is_that_of_the_original_until_something_changes(pair):
    env, new = pair
    assert state_key(new) == state_key(env)
    new.objects[1]["a"] = 3
    assert state_key(new) != state_key(env)


@pytest.mark.parametrize(
    "layout", ["C", "F", "swapped", "read only", "negative", "broadcast", "empty", "structured"]
)
def test_arrays_keep_layout_and_flags(layout):
    array = np.arange(24).reshape(2, 3, 4)
    if layout == "F":
        array = np.asfortranarray(array)
    elif layout == "swapped":
        array = np.copy(array.transpose(1, 0, 2), order="K")
    elif layout == "read only":
        array.flags.writeable = False
    elif layout == "negative":
        array = array[:, ::-1]
    elif layout == "broadcast":
        array = np.broadcast_to(np.arange(3), (4, 3))
    elif layout == "empty":
        array = array[:0]
    elif layout == "structured":
        array = np.zeros(3, dtype=[("a", "i4"), ("b", "O")])
        array["b"][1] = [1]
    new = clone_env(BareEnv(array=array)).array
    assert new is not array
    assert new.dtype == array.dtype
    assert new.tolist() == array.tolist()
    assert new.flags.writeable == array.flags.writeable
    if layout != "empty":
        assert new.strides == array.strides
    if layout == "structured":
        new["b"][1].append(2)
        assert array["b"][1] == [1]


def test_arrays_over_other_memory():
    memory = bytearray(8)
    env = BareEnv(memory=memory, view=np.frombuffer(memory, dtype=np.uint8))
    new = clone_env(env)
    new.view[2] = 7
    assert new.memory[2] == 7
    assert env.memory[2] == 0


@pytest.mark.parametrize("nested", [False, True])
def test_spaces_are_shared_until_they_have_a_generator(nested):
    inner = spaces.Discrete(1000)
    space = spaces.Dict({"a": inner, "b": spaces.Tuple([inner, spaces.Box(0, 1)])}) if nested else inner
    env = BareEnv(space=space)
    assert clone_env(env).space is space
    space.seed(3)
    twin = clone_env(env)
    assert twin.space is not space
    assert twin.space == space
    for _ in range(5):
        twin.space.sample()
    fresh = clone_env(env)
    expected = [repr(space.sample()) for _ in range(3)]
    assert [repr(fresh.space.sample()) for _ in range(3)] == expected


def test_generators_share_what_they_shared():
    rng = np.random.default_rng(3)
    env = BareEnv(
        rng=rng, roll=rng.integers, twin=np.random.Generator(rng.bit_generator), old=np.random.RandomState(4)
    )
    env.gauss = random.Random(5)
    env.gauss.gauss(0, 1)
    env.old.randn()
    new = clone_env(env)
    assert new.roll.__self__ is new.rng
    assert new.twin.bit_generator is new.rng.bit_generator is not rng.bit_generator
    drawn = [new.roll(10**6), new.twin.integers(10**6), new.old.randn(), new.gauss.gauss(0, 1), new.rng.random()]
    assert drawn == [
        env.roll(10**6),
        env.twin.integers(10**6),
        env.old.randn(),
        env.gauss.gauss(0, 1),
        rng.random(),
    ]
    assert new.rng.spawn(1)[0].random() == rng.spawn(1)[0].random()


class Engine:
    pass


def test_what_cannot_be_copied_is_named_by_its_path():
    engine = Engine()
    engine.parts = {"main": [memoryview(bytearray(4))[1:3]]}
    with pytest.raises(CloneError, match=r"env\.board\.parts\['main'\]\[0\] is .*memoryview"):
        clone_env(BareEnv(board=engine))


def test_a_held_lock_is_refused_and_a_free_one_is_new():
    env = BareEnv(lock=threading.Lock(), other=threading.RLock())
    new = clone_env(env)
    assert new.lock is not env.lock
    with env.lock, pytest.raises(CloneError, match=r"env\.lock is a lock that is held"):
        clone_env(env)
    assert new.lock.acquire(blocking=False)


def test_streams_and_buffers():
    env = BareEnv(out=sys.stdout, buffer=io.StringIO("abc"))
    env.buffer.seek(1)
    new = clone_env(env)
    assert new.out is env.out
    assert new.buffer.read() == "bc"
    assert env.buffer.read() == "bc"


@pytest.mark.thorough
def test_weak_references_to_things_outside_are_kept_and_those_inside_follow():
    outside, inside = Engine(), Engine()
    names = weakref.WeakValueDictionary(inside=inside, outside=outside)
    env = BareEnv(away=weakref.ref(outside), names=names, keys=weakref.WeakKeyDictionary({inside: [1]}))
    env.target = weakref.ref(inside)
    env.kept = inside
    new = clone_env(env)
    gc.collect()
    assert new.away() is outside
    assert new.target() is new.kept is not inside
    assert new.names["inside"] is new.kept
    assert new.names["outside"] is outside
    assert new.keys[new.kept] == [1]


@pytest.mark.thorough
def test_too_deep_a_nesting_is_said():
    nested = []
    for _ in range(100_000):
        nested = [nested]
    env = BareEnv(nested=nested)
    with pytest.raises(CloneError, match="nested deeper"):
        clone_env(env)
    while nested:
        nested = nested.pop()


@pytest.mark.parametrize(("wrong", "words"), [(None, "None"), (BareEnv, "the class BareEnv"), (7, "7")])
def test_only_live_environments_are_cloned(wrong, words):
    with pytest.raises(CloneError, match=f"needs a live environment.*{words}"):
        clone_env(wrong)


def test_paths_are_said_as_python_would():
    env = odd_env()
    assert path_to(env, env.both.extra) == "env.both.extra"
    assert path_to(env, env.mapping[2]["b"][1]) == "env.mapping[2]['b'][1]"


def test_own_deepcopy_of_parts_is_used():
    class Part:
        def __init__(self):
            self.handle, self.copies = object(), 0

        def __deepcopy__(self, memo):
            new = Part()
            new.copies = self.copies + 1
            return new

    part = Part()
    new = copy_generally(BareEnv(a=part, b=[part]))
    assert new.a.copies == 1
    assert new.b[0] is new.a


def test_itertools_of_several_kinds():
    env = BareEnv(pairs=zip([1, 2], "ab", strict=True), chain=itertools.chain([1], [2]), numbered=enumerate("xy"))
    next(env.pairs)
    new = clone_env(env)
    assert list(new.pairs) == [(2, "b")] == list(env.pairs)
    assert list(new.chain) == [1, 2] == list(env.chain)
    assert list(new.numbered) == [(0, "x"), (1, "y")] == list(env.numbered)
