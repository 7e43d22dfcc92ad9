"""The memory of a policy-value network of dense layers, as ``agents.compiled.evaluators.dense`` reads it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.observer import Observer
from zermelo.envs import UnsupportedGameError
from zermelo.envs.jit.history import starter
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.words import flat


def can_ask(game: RulesGame, network: Any) -> bool:
    """True if kernels can evaluate a game by a network: opposed players, bounds, observations that compile."""
    lower, upper = game.traits.utility_bounds
    if not (game.traits.is_opposed and math.isfinite(upper - lower) and lower < upper):
        return False
    try:
        seen = Observer(game).size
    except UnsupportedGameError:
        return False
    layers = network.network
    return len(layers[0].weights) == seen and len(layers[-4].biases) == game.traits.num_actions


def hold_network(search: Search, game: RulesGame, network: Any) -> None:
    """Gives a thread's record a network, with vectors of its own."""
    observer, layers = Observer(game), network.network
    lower, upper = game.traits.utility_bounds
    vectors: dict[str, Any] = {"seen": np.zeros(observer.size, np.float32)}
    rows = []
    for step, layer in network.placed(layers):
        target = vectors.setdefault(step.target, np.zeros(len(layer.biases), np.float32))
        arrays = vectors[step.source], target, layer.weights, layer.biases
        rows.append([*(each.ctypes.data for each in arrays), *layer.weights.shape, step.adds + 2 * step.rectifies])
    vectors["written"] = np.zeros(observer.size, observer.dtype)
    ends = np.array([math.nextafter(lower, math.inf), math.nextafter(upper, -math.inf)]).view(np.int64).tolist()
    addresses = [vectors[name].ctypes.data for name in ("logits", "value")]
    head = [vectors["written"].ctypes.data, observer.size, *addresses, *ends, len(layers)]
    search.hold("network", np.array([*head, *(word for row in rows for word in row)], np.int64))
    search.held |= vectors | {f"layer {number}": layer.weights for number, layer in enumerate(layers)}
    search.observed, search.position_words = observer.size, observer.words
    search.hold("scratch_state", np.zeros(len(flat(starter(game.rules, 0)(game.initial_state())[1])), np.int64))
