"""Tensors, modules and generators of PyTorch in environments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from doubles.awkward_lifetimes import CountToSix
from doubles.clone_envs import BareEnv

from zermelo.agents import MCTSAgent
from zermelo.envs import as_game, clone_env
from zermelo.envs.clone.generators import replace_generators
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.errors import UnknownTraitWarning
from zermelo.envs.game import Chance

torch: Any = pytest.importorskip("torch")

OBJECTS = {
    "tensor": lambda: torch.arange(5.0),
    "half": lambda: torch.ones(3, dtype=torch.bfloat16),
    "parameter": lambda: torch.nn.Parameter(torch.ones(2)),
    "module": lambda: torch.nn.Linear(3, 2),
    "optimizer": lambda: torch.optim.Adam(torch.nn.Linear(3, 2).parameters()),
    "generator": lambda: torch.Generator().manual_seed(3),
    "output": lambda: torch.nn.Linear(3, 2)(torch.ones(3)),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_what_pytorch_makes_is_copied_and_compared(name: str) -> None:
    env = BareEnv(made=OBJECTS[name]())
    new = clone_env(env)
    assert new.made is not env.made
    assert state_key(new) == state_key(env) == state_key(clone_env(new))


def test_keys_tell_tensors_apart() -> None:
    env = BareEnv(board=torch.zeros(4), net=torch.nn.Linear(2, 2))
    new = clone_env(env)
    new.board[2] = 1
    assert env.board.sum() == 0
    assert state_key(new) != state_key(env)
    new = clone_env(env)
    with torch.no_grad():
        new.net.weight[0, 0] += 1
    assert state_key(new) != state_key(env)
    assert state_key(BareEnv(board=torch.zeros(4))) != state_key(BareEnv(board=torch.zeros(2, 2)))


class TensorBoard(CountToSix):
    """Counts in a tensor, rolls with a generator of its own if it has one."""

    def __init__(self, generator: Any = None) -> None:
        super().__init__()
        self.generator = generator

    def start(self, seed: int | None, options: dict[str, Any]) -> None:
        self.board = torch.zeros(1, dtype=torch.int64)

    @property
    def count(self) -> int:
        return int(self.board)

    @count.setter
    def count(self, value: int) -> None:
        self.board[0] = value

    def play(self, agent: Any, action: int) -> None:
        if self.generator is not None:
            action = int(torch.randint(2, (1,), generator=self.generator))
        super().play(agent, action)


def test_a_tensor_is_no_chance_and_a_generator_is() -> None:
    plain, dice = TensorBoard(), TensorBoard(torch.Generator().manual_seed(1))
    for env in (plain, dice):
        env.reset(seed=0)
    assert as_game(plain).traits.chance is Chance.NONE
    assert "chance" in as_game(dice).traits.assumed  # of the class, as it was made without arguments to compare
    before = dice.generator.get_state().tolist()
    with pytest.warns(UnknownTraitWarning, match="a step drew a random number"):
        MCTSAgent(simulations=50, seed=0).act(dice)
    assert dice.generator.get_state().tolist() == before
    assert as_game(dice).traits.chance is Chance.SAMPLED
    draws = []
    for seed in range(12):
        new = clone_env(dice)
        assert replace_generators(new, np.random.default_rng(seed)) == 1
        draws.append(int(torch.randint(1000, (1,), generator=new.generator)))
    assert len(set(draws)) > 8


@pytest.mark.parametrize("first", ["array", "tensor"])
def test_tensors_and_arrays_go_on_sharing_memory(first: str) -> None:
    array = np.zeros((2, 3))
    tensor = torch.from_numpy(array[1])
    parts = {"array": array, "tensor": tensor} if first == "array" else {"tensor": tensor, "array": array}
    new = clone_env(clone_env(BareEnv(**parts)))
    new.array[1, 2] = 7
    assert new.tensor.tolist() == [0, 0, 7]
    new.tensor[0] = 5
    assert new.array[1].tolist() == [5, 0, 7]
    assert not array.any()
    tensor = torch.zeros(3)
    new = clone_env(BareEnv(tensor=tensor, array=tensor.numpy()))
    new.array[1] = 7
    assert new.tensor.tolist() == [0, 7, 0]
    assert not tensor.any()


VIEWS: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda tensor: tensor.detach().numpy()[1:],
    "dlpack": lambda tensor: np.from_dlpack(tensor.detach())[1:],
    "detached": lambda tensor: tensor.detach()[1:],
}


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("make", [torch.zeros, lambda size: torch.nn.Parameter(torch.zeros(size))])
@pytest.mark.parametrize("view", VIEWS)
def test_views_of_tensors_stay_views(view: str, make: Callable[[int], Any], is_first: bool) -> None:
    tensor = make(3)
    parts = {"tensor": tensor, "view": VIEWS[view](tensor)}
    env = BareEnv(**dict(reversed(parts.items()) if is_first else parts))
    new = clone_env(clone_env(env))
    assert state_key(new) == state_key(env)
    new.view[1] = 7
    assert new.tensor.tolist() == [0, 0, 7]
    with torch.no_grad():
        new.tensor[1] = 5
    assert new.view.tolist() == [5, 7]
    assert tensor.tolist() == [0, 0, 0]


def test_arrays_that_came_by_dlpack_alone_go_on_sharing_memory() -> None:
    tensor = torch.zeros(3)
    new = clone_env(BareEnv(part=np.from_dlpack(tensor)[1:], whole=np.from_dlpack(tensor)))
    new.whole[2] = 7
    assert new.part.tolist() == [0, 7]
    assert not tensor.any()
