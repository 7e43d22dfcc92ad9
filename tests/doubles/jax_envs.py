"""Environments of JAX, to be run in a process of its own: one that has started JAX can no longer fork."""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any, NamedTuple

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete

from zermelo.agents import make_agent
from zermelo.envs import as_game, clone_env
from zermelo.envs.clone.generators import replace_generators
from zermelo.envs.clone.state_key import state_key

FACES = 3


class State(NamedTuple):
    """As environments of JAX keep it."""

    board: Any
    key: Any
    action_mask: Any


class GuessDice(gymnasium.Env[Any, Any]):
    """Four rolls of a die: a guess pays 1 if it is right; what was guessed last is masked."""

    def __init__(self, make_key: Any = jax.random.key) -> None:
        self.action_space, self.observation_space = Discrete(FACES), Box(0, FACES, (4,), np.int32)
        self.make_key, self.compilations = make_key, 0
        self._step = jax.jit(self._play, donate_argnums=0)

    def _play(self, state: State, count: Any, action: Any) -> tuple[State, Any]:
        self.compilations += 1
        key, own = jax.random.split(state.key)
        roll = jax.random.randint(own, (), 0, FACES)
        mask = jnp.ones(FACES, bool).at[action].set(False)
        return State(state.board.at[count].set(roll), key, mask), jnp.float32(roll == action)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.count = 0
        self.state = State(jnp.zeros(4, jnp.int32), self.make_key(seed or 0), jnp.ones(FACES, bool))
        self.seen = np.asarray(self.state.board)
        return self.state.board, {"action_mask": self.state.action_mask}

    def step(self, action: Any) -> Any:
        self.state, reward = self._step(self.state, self.count, action)
        self.seen = np.asarray(self.state.board)
        self.count += 1
        return self.state.board, reward, self.count == 4, False, {"action_mask": self.state.action_mask}


def found(make_key: Any) -> dict[str, Any]:
    """What copies and searches make of one."""
    env = GuessDice(make_key)
    env.reset(seed=3)
    env.step(1)
    before, key = env.state.board.tolist(), state_key(env)
    copies = [clone_env(env) for _ in range(12)]
    same = [state_key(new) == key for new in copies]
    replaced = [replace_generators(new, np.random.default_rng(number)) for number, new in enumerate(copies)]
    for new in copies:
        new.step(0)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        game = as_game(env)
        result = make_agent("expectimax(depth=2, samples=30)").search(env)
    return {
        "same": all(same),
        "replaced": max(replaced),
        "rolls": [int(new.state.board[1]) for new in copies],
        "seen": [int(new.seen[1]) for new in copies],
        "own": (env.state.board.tolist() == before, state_key(env) == key),
        "compilations": max(new.compilations for new in copies),
        "actions": game.legal_actions(game.snapshot(env)),
        "chance": game.traits.chance.value,
        "value": result.value,
        "said": " ".join(str(one.message) for one in said),
    }


if __name__ == "__main__":
    print(json.dumps(found(jax.random.PRNGKey if "plain" in sys.argv else jax.random.key)))
