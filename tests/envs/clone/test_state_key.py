import itertools
import random
import weakref
from collections import OrderedDict, deque
from types import MethodType

import chess
import numpy as np
import pettingzoo
import pytest
from doubles.clone_envs import BareEnv, DiceEnv, Point
from gymnasium.spaces import Discrete

from zermelo.envs import CloneError, clone_env
from zermelo.envs.clone.state_key import digest, state_key


def key(value):
    return state_key(BareEnv(value=value))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        (None, 0),
        ("a", b"a"),
        (np.int8(1), np.int64(1)),
        ([1], (1,)),
        ([1, 2], [2, 1]),
        ([[], []], [[[]]]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, OrderedDict(a=1)),
        ({1}, frozenset({1})),
        ({1, 2}, {1, 3}),
        (deque([1], 2), deque([1], 3)),
        (np.zeros(4), np.zeros((2, 2))),
        (np.zeros(4, np.int8), np.zeros(4, np.uint8)),
        (Point(1, 2), (1, 2)),
        (chess.Move(1, 2), chess.Move(1, 3)),
        (iter([1, 2]), iter([1, 3])),
        (itertools.count(1), itertools.count(2)),
        (bytearray(b"a"), bytearray(b"b")),
        (complex(0, 0.0), complex(0, -0.0)),
    ],
)
def test_what_differs_has_different_keys(first, second):
    assert key(first) != key(second)
    assert key(first) == key(clone_env(BareEnv(value=first)).value)
    hash(key(first))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (float("nan"), float("nan")),
        ({"a", "b", "c"}, {"c", "b", "a"}),
        ({(1, 2), (3, 4)}, {(3, 4), (1, 2)}),
        (np.random.default_rng(1), np.random.default_rng(2)),
        (Discrete(3), Discrete(3)),
        (np.zeros((2, 3)), np.zeros((3, 2)).T),
        (chess.Board(), chess.Board()),
    ],
)
def test_what_is_the_same_has_the_same_key(first, second):
    assert key(first) == key(second)


def test_what_is_shared_counts():
    row = [0]
    assert key([row, row]) != key([[0], [0]])
    loop = []
    loop.append(loop)
    other = []
    other.append(other)
    assert key(loop) == key(other)


def test_attributes_in_any_order():
    assert state_key(BareEnv(a=1, b=2)) == state_key(BareEnv(b=2, a=1))


def test_closures_count_with_what_they_captured():
    def make(number):
        cells = [number]
        return lambda: cells

    assert key(make(1)) == key(make(1))
    assert key(make(1)) != key(make(2))


@pytest.mark.parametrize(("name", "moves", "other"), [("tictactoe-v3", [0, 1, 4, 8], [4, 8, 0, 1])])
def test_transpositions_meet(name, moves, other):
    keys = []
    for line in (moves, other):
        env = pettingzoo.make("aec", f"classic/{name}")
        env.reset()
        for move in line:
            env.step(move)
            env.last()
        keys.append(state_key(env))
    assert keys[0] == keys[1]
    env.step(2)
    assert state_key(env) != keys[0]


def test_repetitions_and_counters_of_chess_count():
    env = pettingzoo.make("aec", "classic/chess-v6")
    env.reset()
    raw = env.unwrapped
    before = state_key(raw)
    for uci in ("g1f3", "g8f6", "f3g1", "f6g8"):
        raw.board.push_uci(uci)
    assert raw.board.board_fen() == chess.Board().board_fen()
    assert state_key(raw) != before


def test_looking_and_what_only_draws_do_not_count(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = pettingzoo.make("aec", "classic/connect_four-v3", render_mode="rgb_array")
    env.reset()
    before = state_key(env)
    env.last()
    env.render()
    assert state_key(env) == before


def test_rewards_received_count():
    env = DiceEnv()
    env.reset(seed=1)
    before = state_key(env)
    env._cumulative_rewards = {"a": 1, "b": 0}
    assert state_key(env) != before


def test_open_spiel_states_are_known_by_their_history():
    pyspiel = pytest.importorskip("pyspiel")
    state = pyspiel.load_game("tic_tac_toe").new_initial_state()
    before = key(state)
    assert key(state.clone()) == before
    state.apply_action(3)
    assert key(state) != before


def test_what_has_no_value_is_named():
    env = BareEnv(parts=[(number for number in range(3))])
    with pytest.raises(CloneError, match=r"no key .* env\.parts\[0\] is a generator"):
        state_key(env)


class Token:
    def __init__(self, number, board=None):
        self.number, self.board, self.near = number, board, set()


def board_of(numbers):
    board = Token(10)
    board.near = {Token(number, board) for number in numbers}
    return board


def test_a_set_may_hold_what_leads_back_to_it():
    first, second = board_of([1, 2, 3]), board_of([3, 1, 2])
    assert key(first) == key(second) == key(clone_env(BareEnv(value=first)).value)
    assert digest(first) == digest(second)
    next(iter(second.near)).number = 9
    assert key(first) != key(second)
    assert digest(first) != digest(second)
    first.near = frozenset(first.near)
    assert key(first) == key(clone_env(BareEnv(value=first)).value)


def graph(pairs, size, shuffled):
    nodes = [Token(0) for _ in range(size)]
    shuffled.shuffle(nodes)
    for one, other in shuffled.sample(pairs, len(pairs)):
        nodes[one].near.add(nodes[other])
        nodes[other].near.add(nodes[one])
    return set(nodes)


@pytest.mark.parametrize(
    ("pairs", "size"),
    [
        ([(0, 1), (2, 3)], 4),
        ([(number, (number + 1) % 9) for number in range(9)], 9),
        ([(number, number + 1) for number in range(8)], 9),
        (list(itertools.combinations(range(6), 2)), 6),
    ],
    ids=["pairs", "cycle", "path", "complete"],
)
def test_a_graph_of_nodes_with_sets_of_neighbours_has_one_key(pairs, size):
    shuffled = random.Random(1)
    graphs = [graph(pairs, size, shuffled) for _ in range(4)]
    assert len({key(nodes) for nodes in graphs}) == len({digest(nodes) for nodes in graphs}) == 1
    next(iter(graphs[0])).near.pop()
    assert key(graphs[0]) != key(graphs[1])


def test_graphs_that_look_alike_from_every_node_differ():
    one, two = [[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)], [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]]
    assert key(graph(one, 6, random.Random(1))) != key(graph(two, 6, random.Random(1)))


def test_a_weak_reference_to_what_comes_later_says_to_which():
    tokens = [Token(1), Token(1)]
    keys = {state_key(BareEnv(chosen=weakref.ref(token), tokens=tokens)) for token in tokens}
    assert len(keys) == 2


def test_what_two_bound_callables_do_counts():
    def bound(number):
        token = Token(0)
        token.call = MethodType(np.vectorize(lambda self, x: x + number), token)
        return token

    assert key(bound(1)) == key(bound(1)) == key(clone_env(BareEnv(value=bound(1))).value)
    assert digest(bound(1)) == digest(bound(1)) != digest(bound(2))
    assert key(bound(1)) != key(bound(2))
