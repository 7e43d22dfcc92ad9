"""What is written for shapes gives what the general walk gives, whatever happens to an environment later."""

import random
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pettingzoo
import pytest
from doubles.clone_envs import BareEnv, MyList, Piece, find_generators
from gymnasium import spaces

from zermelo.envs import clone_env, register_clone
from zermelo.envs.clone.key_plan import compile_key, written_key
from zermelo.envs.clone.kinds import is_shared_type
from zermelo.envs.clone.libraries import is_bare_generator
from zermelo.envs.clone.plan import compile_copier
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.clone.traversal import copy_generally, path_to, reachable


class Board:
    def __init__(self):
        self.squares = [0] * 9
        self.history = []


class Env(BareEnv):
    pass


def template():
    env = Env(
        agents=["a", "b"],
        board=Board(),
        array=np.zeros((3, 3), np.int8),
        shaped=np.arange(4).reshape(2, 2),
        rewards={"a": 0, "b": 0.0},
        infos={"a": {}, "b": {}},
        pieces=[Piece("a"), Piece("b", [1])],
        turn="a",
        seen=set(),
        pair=(1, [2]),
        spaces={"a": spaces.Discrete(3), "b": spaces.Dict(x=spaces.Box(0, 1))},
        rng=np.random.default_rng(1),
        nothing=None,
    )
    env.order = env.agents
    env.pieces[0].owner = env
    return env


def places(env):
    """Every container and object in an environment that a mutation may go into; spaces never change."""
    inside_spaces = set()
    for obj in reachable(env):
        if isinstance(obj, spaces.Space):
            inside_spaces |= {id(part) for part in reachable(obj)}
    objects = [obj for obj in reachable(env) if isinstance(obj, list | dict) or hasattr(obj, "__dict__")]
    return [obj for obj in objects if id(obj) not in inside_spaces and not isinstance(obj, np.random.Generator)]


def mutate(env, chance):
    """Changes one thing anywhere: adds, removes, retypes, aliases, empties or replaces."""
    objects = places(env)
    values = [
        lambda: 7,
        lambda: "text",
        lambda: None,
        lambda: [1, [2]],
        dict,
        lambda: {"k": [1]},
        lambda: np.arange(3),
        lambda: np.array([[1], None], dtype=object),
        lambda: Piece("c"),
        lambda: MyList([1]),
        lambda: np.random.default_rng(2),
        lambda: random.Random(1),
        lambda: spaces.Discrete(2, seed=1),
        lambda: (1, 2),
        lambda: ([1],),
        lambda: env,
        lambda: env.__dict__,
        lambda: np.asarray(env.__dict__.get("array"))[...],
        lambda: weakref.ref(env),
        lambda: lambda: env,
        lambda: frozenset({1}),
        lambda: bytearray(b"x"),
        lambda: chance.choice(objects),
        lambda: chance.choice(objects),
    ]
    value = chance.choice(values)()
    target = chance.choice(objects)
    if isinstance(target, list):
        action = chance.choice(["set", "append", "pop", "clear"])
        if action == "append" or not target:
            target.append(value)
        elif action == "set":
            target[chance.randrange(len(target))] = value
        elif action == "pop":
            target.pop()
        else:
            target.clear()
        return
    fields = target if isinstance(target, dict) else target.__dict__
    action = chance.choice(["set", "set", "add", "remove", "reorder"])
    if action == "add" or not fields:
        fields[f"new{chance.randrange(3)}"] = value
    elif action == "set":
        fields[chance.choice(list(fields))] = value
    elif action == "remove":
        del fields[chance.choice(list(fields))]
    else:
        name = next(iter(fields))
        fields[name] = fields.pop(name)


def assert_right(env, new, *, shares_generators=False):
    """Equal as a graph, and with nothing in common that can change, random generators aside if they are shared."""
    assert state_key(new) == state_key(env)
    mine = {id(obj) for obj in reachable(env) if not is_shared_type(type(obj))}
    shared = set()
    for obj in reachable(new):
        if isinstance(obj, spaces.Box):
            shared |= {id(obj.low), id(obj.high), id(obj.bounded_below), id(obj.bounded_above)}
        if isinstance(obj, spaces.Space) and not find_generators(obj):
            shared |= {id(part) for part in reachable(obj)}
        if shares_generators and is_bare_generator(obj):
            shared |= {id(part) for part in reachable(obj)}
            assert id(obj) in mine, path_to(new, obj)
    for obj in reachable(new):
        if id(obj) in mine and id(obj) not in shared:
            assert isinstance(obj, tuple | frozenset | weakref.ref) or callable(obj), path_to(new, obj)
    assert len(find_generators(new)) == len(find_generators(env))


@pytest.mark.parametrize("seed", range(150))
def test_the_written_copier_is_right_or_gives_up_after_any_changes(seed):
    chance = random.Random(seed)
    env = template()
    written = compile_copier(env, loose=seed % 2 == 1)
    assert written is not None
    copy, scan = written
    assert_right(env, copy(env))
    assert_right(env, copy(env, True), shares_generators=True)
    used = 0
    for _ in range(6):
        mutate(env, chance)
        new = copy(env)
        used += new is not None
        if new is not None:
            assert_right(env, new)
            assert_right(env, copy(env, True), shares_generators=True)
            assert {id(source.bit_generator) for source in scan(env)} == {id(g) for g in find_generators(env)}
        assert_right(env, copy_generally(env))
        assert_right(env, copy_generally(env, shares_generators=True), shares_generators=True)
        assert_right(env, clone_env(env))


@pytest.mark.parametrize("seed", range(150))
def test_the_written_key_is_that_of_the_walk_or_none_after_any_changes(seed):
    def exactly(key):
        return [(type(item), item) for item in key]  # as 1 equals True

    chance = random.Random(seed)
    env = template()
    write = compile_key(env)
    assert exactly(write(env)) == exactly(state_key(env))
    for _ in range(6):
        mutate(env, chance)
        key = write(env)
        assert key is None or exactly(key) == exactly(state_key(env))
        other = compile_key(env)
        assert other is None or exactly(other(env)) == exactly(state_key(env))


def test_a_written_key_is_used_again_after_harmless_changes():
    env = template()
    write = compile_key(env)
    before = write(env)
    env.board.squares += ["x", 3]
    env.turn, env.nothing, env.seen = None, b"", {1, 2}
    env.array[0, 0] = 1
    assert write(env) == state_key(env) != before


def test_keys_are_written_anew_once_a_class_says_what_it_is_made_of():
    class Deck:
        def __init__(self):
            self.cards, self.looks = [1, 2], 0

    envs = [Env(deck=Deck()) for _ in range(2)]
    envs[1].deck.looks = 1
    assert len({written_key(env) for env in envs for _ in range(9)}) == 2
    register_clone(Deck, flatten=lambda deck: [deck.cards], unflatten=lambda parts: Deck())
    assert len({written_key(env) for env in envs for _ in range(9)}) == 1


def test_a_generator_with_attributes_of_its_own_is_copied_where_others_are_shared():
    class Counting(random.Random):
        draws = 0

    marked = random.Random(1)
    marked.draws = 0
    env = Env(counting=Counting(1), marked=marked, plain=random.Random(1), rng=np.random.default_rng(1))
    new = copy_generally(env, shares_generators=True)
    assert new.counting is not env.counting
    assert new.marked is not env.marked
    assert (new.plain, new.rng) == (env.plain, env.rng)


def test_it_is_used_again_after_harmless_changes():
    env = template()
    copy, _ = compile_copier(env, loose=True)
    env.board.squares[3] = "x"
    env.board.history.append(5)
    env.turn, env.nothing = None, 3.5
    env.rewards["c"] = True
    new = copy(env)
    assert new is not None
    assert_right(env, new)


@pytest.mark.parametrize(
    "change",
    [
        lambda env: env.board.squares.__setitem__(3, [1]),
        lambda env: env.rewards.__setitem__("a", np.zeros(1)),
        lambda env: env.rewards.__setitem__(Piece, [1]),
        lambda env: setattr(env, "order", ["a", "b"]),
        lambda env: setattr(env, "seen", env.__dict__),
        lambda env: setattr(env, "rewards", env.infos["a"]),
        lambda env: setattr(env.board, "history", env.board.squares),
        lambda env: setattr(env, "array", env.array[:2]),
        lambda env: env.array.setflags(write=False),
        lambda env: setattr(env, "array", env.array.astype(object)),
        lambda env: setattr(env, "array", env.shaped.base),
        lambda env: setattr(env, "array", env.shaped[:1]),
        lambda env: setattr(env, "shaped", np.frombuffer(bytearray(4), np.uint8)),
        lambda env: env.spaces["a"].seed(1),
        lambda env: env.spaces["b"]["x"].seed(1),
        lambda env: setattr(env, "extra", 1),
        lambda env: delattr(env, "nothing"),
        lambda env: setattr(env, "nothing", env.rng),
        lambda env: setattr(env, "nothing", [1]),
        lambda env: setattr(env.pieces[0], "owner", Piece("z")),
        lambda env: env.pieces.append(env.pieces[0]),
        lambda env: env.pieces.__setitem__(1, env.pieces[0]),
        lambda env: setattr(env, "agents", MyList(env.agents)),
        lambda env: setattr(env, "board", Piece("x")),
    ],
)
def test_it_gives_up_where_it_would_be_wrong(change):
    env = template()
    copy, scan = compile_copier(env, loose=False)
    change(env)
    assert copy(env) is None
    assert scan(env) is None
    assert_right(env, clone_env(env))


@pytest.mark.parametrize(
    "name", ["tictactoe-v3", "connect_four-v3", "chess-v6", "rps-v2", "hanabi-v5", "leduc_holdem-v4"]
)
def test_the_fast_environments_have_a_written_copier_all_through_a_game(name):
    env = pettingzoo.make("aec", f"classic/{name}")
    env.reset(seed=1)
    chance = np.random.default_rng(1)
    for _ in range(3):
        clone_env(env)
    for _ in range(12):
        written = compile_copier(env.unwrapped, loose=False)
        assert written is not None
        assert_right(env.unwrapped, written[0](env.unwrapped))
        observation, _, ended, _, _ = env.last()
        if ended:
            break
        mask = observation.get("action_mask") if isinstance(observation, dict) else np.ones(3)
        env.step(int(chance.choice(np.flatnonzero(mask))))


def test_threads_may_clone_a_new_class_at_the_same_time():
    """Each finds another shape first, so that all of them learn shapes and put the one that fits in front."""

    class Fresh(BareEnv):
        pass

    envs = [Fresh(board=Board(), **{f"field_{n}_{i}": [i] for i in range(n)}) for n in range(6)]

    def work(start):
        chosen = random.Random(start)
        return [len(vars(clone_env(env))) - 1 for env in (chosen.choice(envs) for _ in range(300))]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(work, range(4)))
    finally:
        sys.setswitchinterval(interval)
    for start, lengths in enumerate(found):
        chosen = random.Random(start)
        assert lengths == [chosen.choice(range(6)) for _ in range(300)]
