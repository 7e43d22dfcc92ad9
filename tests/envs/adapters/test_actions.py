"""Integers that stand for actions, and masks of every shape."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.spaces.utils import flatten

from zermelo.envs import UnsupportedGameError
from zermelo.envs.adapters.actions import ActionCodec

SPACES = [
    spaces.Discrete(4),
    spaces.Discrete(4, start=-2),
    spaces.MultiDiscrete([3]),
    spaces.MultiDiscrete([2, 3, 4]),
    spaces.MultiDiscrete([2, 3], start=[5, -1]),
    spaces.MultiDiscrete([[2, 1], [3, 2]]),
    spaces.MultiDiscrete([2, 3], dtype=np.int8),
    spaces.MultiBinary(3),
    spaces.MultiBinary((2, 2)),
    spaces.Box(-1, 2, (2,), np.int64),
    spaces.Tuple([spaces.Discrete(2, start=1), spaces.MultiBinary(2)]),
    spaces.Dict(to=spaces.MultiDiscrete([2, 3]), kind=spaces.Discrete(2)),
    spaces.Tuple([spaces.Dict(a=spaces.Discrete(3)), spaces.Tuple([spaces.Discrete(2)])]),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_every_integer_is_another_action_of_the_space(space: Any) -> None:
    codec = ActionCodec(space, "it")
    actions = codec.all_actions()
    shown = [codec.to_env(action) for action in actions]
    assert len({repr(action) for action in shown}) == len(actions) == codec.size
    for action, env_action in zip(actions, shown, strict=True):
        assert space.contains(env_action)
        assert codec.to_index(env_action) == action
    for _ in range(20):
        sample = space.sample()
        assert repr(flatten(space, codec.to_env(codec.to_index(sample)))) == repr(flatten(space, sample))


def test_integers_of_a_discrete_space_are_its_own_actions() -> None:
    codec = ActionCodec(spaces.Discrete(3, start=5), "it")
    assert codec.is_discrete
    assert codec.all_actions() == (5, 6, 7)
    assert codec.to_env(6) == 6


@pytest.mark.parametrize(
    "mask",
    [
        [0, 1, 1],
        (False, True, True),
        np.array([0, 1, 1], np.int8),
        np.array([False, True, True]),
        np.array([0.0, 0.5, 1.0]),
    ],
    ids=lambda mask: f"{type(mask).__name__} {getattr(mask, 'dtype', '')}",
)
def test_masks_of_a_discrete_space(mask: Any) -> None:
    assert ActionCodec(spaces.Discrete(3), "it").masked(mask) == (1, 2)
    assert ActionCodec(spaces.Discrete(3, start=10), "it").masked(mask) == (11, 12)


def sampled(space: Any, mask: Any, times: int = 400) -> set[bytes]:
    space.seed(0)
    return {space.sample(mask).tobytes() for _ in range(times)}


def test_masks_of_a_multi_discrete_space_are_gymnasiums() -> None:
    space = spaces.MultiDiscrete([2, 3], start=[4, 0])
    for bits in itertools.product((0, 1), repeat=5):
        mask = (np.array(bits[:2], np.int8), np.array(bits[2:], np.int8))
        codec = ActionCodec(space, "it")
        found = codec.masked(mask)
        assert codec.masked(np.concatenate(mask)) == found
        if any(bits):
            assert {codec.to_env(action).tobytes() for action in found} == sampled(space, mask, 60)
        else:
            assert found == ()


def test_nested_masks() -> None:
    space = spaces.MultiDiscrete([[2, 2], [2, 3]])
    ones = [np.ones(n, np.int8) for n in (2, 2, 2, 3)]
    ones[3][1] = 0
    codec = ActionCodec(space, "it")
    found = codec.masked(((ones[0], ones[1]), (ones[2], ones[3])))
    assert len(found) == 16
    assert all(codec.to_env(action)[1, 1] != 1 for action in found)


def test_a_mask_for_flat_indices() -> None:
    codec = ActionCodec(spaces.MultiDiscrete([3, 3]), "it")
    mask = np.zeros(9)
    mask[[1, 5]] = 1
    assert codec.masked(mask) == (1, 5)
    binary = ActionCodec(spaces.MultiBinary(3), "it")
    assert binary.masked([0, 0, 0, 1, 1, 0, 0, 0]) == (3, 4)


def test_masks_of_a_multi_binary_space_are_gymnasiums() -> None:
    space = spaces.MultiBinary(3)
    codec = ActionCodec(space, "it")
    for digits in itertools.product((0, 1, 2), repeat=3):
        mask = np.array(digits, np.int8)
        assert {codec.to_env(action).tobytes() for action in codec.masked(mask)} == sampled(space, mask, 100)


@pytest.mark.parametrize(
    ("space", "mask", "message"),
    [
        (
            spaces.Discrete(3),
            [1, 1],
            r"the action mask of it has shape \(2,\), but its action space .* needs 3 entries",
        ),
        (spaces.MultiDiscrete([2, 3]), np.ones(4), "needs a tuple of masks with 2, 3 entries"),
        (spaces.MultiDiscrete([2, 3]), (np.ones(3), np.ones(2)), "needs a tuple of masks with 2, 3 entries"),
        (spaces.MultiDiscrete([2, 2]), np.ones(4), "a flat one is ambiguous here"),
        (spaces.MultiBinary(3), np.ones(5), r"needs shape \(3,\), with 0, 1 or 2"),
        (spaces.MultiBinary(30), np.full(30, 2), r"allows 1\.07e\+09 actions"),
        (spaces.MultiDiscrete([400, 400]), (np.ones(400), np.ones(400)), r"allows 1\.6e\+05 actions"),
    ],
    ids=str,
)
def test_masks_that_do_not_fit(space: Any, mask: Any, message: str) -> None:
    with pytest.raises(UnsupportedGameError, match=message):
        ActionCodec(space, "it").masked(mask)


@pytest.mark.parametrize(
    ("space", "remedy"),
    [
        (spaces.Box(0, 1), r"discretise\(env, bins=5\)"),
        (spaces.Tuple([spaces.Discrete(2), spaces.Box(0, 1)]), "discretise"),
        (spaces.Text(3), r"discretise\(env, actions="),
    ],
    ids=str,
)
def test_spaces_that_cannot_be_enumerated(space: Any, remedy: str) -> None:
    with pytest.raises(UnsupportedGameError, match=rf"the action space of it is .*cannot be enumerated.*{remedy}"):
        ActionCodec(space, "it")


def test_a_space_too_great_without_a_mask() -> None:
    with pytest.raises(UnsupportedGameError, match=r"has 1e\+06 actions and no action mask"):
        ActionCodec(spaces.MultiDiscrete([1000, 1000]), "it").all_actions()


TABLES = [
    spaces.MultiDiscrete([3, 4]),
    spaces.MultiDiscrete([2, 3, 4]),
    spaces.Tuple([spaces.Discrete(2, start=1), spaces.MultiBinary(2)]),
    spaces.Dict(cell=spaces.MultiDiscrete([3, 2]), way=spaces.Discrete(4), whole=spaces.Discrete(2)),
]


@pytest.mark.parametrize("space", TABLES, ids=str)
def test_a_mask_may_be_the_table_of_actions_or_of_their_first_components(space: Any) -> None:
    codec = ActionCodec(space, "it")
    shape = sizes(space)
    generator = np.random.default_rng(0)
    for axes in range(2, len(shape) + 1):
        mask = generator.integers(2, size=shape[:axes])
        expected = [
            number for number, places in enumerate(itertools.product(*map(range, shape))) if mask[places[:axes]]
        ]
        assert codec.masked(mask) == tuple(expected)
        nothing = codec.masked(np.zeros(shape[:axes], np.int8))
        assert nothing == (tuple(range(codec.size // mask.size)) if axes < len(shape) else ())


def sizes(space: Any) -> list[int]:
    """The numbers of values of the components of a space, in its order."""
    if isinstance(space, spaces.Tuple | spaces.Dict):
        parts = space.spaces.values() if isinstance(space, spaces.Dict) else space.spaces
        return [size for part in parts for size in sizes(part)]
    if isinstance(space, spaces.MultiBinary):
        return [2] * int(np.prod(space.shape))
    return [int(space.n)] if isinstance(space, spaces.Discrete) else [*map(int, space.nvec.ravel())]


def test_rows_of_one_mask_for_each_component_are_no_table() -> None:
    codec = ActionCodec(spaces.MultiDiscrete([3, 3, 3]), "it")
    rows = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1]])
    assert codec.masked(rows) == codec.masked(tuple(rows)) == (4, 5)
    square = np.array([[0, 1], [1, 0]])
    two = ActionCodec(spaces.MultiDiscrete([2, 2]), "it")
    assert two.masked(square) == two.masked(tuple(square)) == (2,)
