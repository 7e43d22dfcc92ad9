"""Evaluation by a policy-value network of dense layers, compiled; it gives the numbers of ``evaluators.dense``.

The network of a thread is a block of words: where the observation is written, how many numbers it has, the
addresses of the logits and of the value, the lowest and the highest value, and how many layers there are; then for
each layer the addresses of its source, target, weights and biases, how many inputs and outputs it has, and its
flags.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.observing import WIDE, observe
from zermelo.envs.jit.memory import float32s, floats, int8s, load, load_float, words
from zermelo.envs.rules.protocol import Rules

SEEN, INPUTS, LOGITS, VALUE, LOWEST, HIGHEST, LAYERS = range(7)
SOURCE, TARGET, WEIGHTS, BIASES, ROWS, COLUMNS, FLAGS, LAYER = range(8)
ADDS: Final = 1
RECTIFIES: Final = 2


def multiply(layer: int) -> None:
    """Works out the target of a layer."""
    rows, columns, flags, weights = (
        load(layer, ROWS),
        load(layer, COLUMNS),
        load(layer, FLAGS),
        load(layer, WEIGHTS),
    )
    source, target = float32s(load(layer, SOURCE), rows), float32s(load(layer, TARGET), columns)
    biases = float32s(load(layer, BIASES), columns)
    for column in range(columns):
        target[column] = biases[column] + target[column] if flags & ADDS != 0 else biases[column]
    for row in range(rows):
        factor = source[row]
        if factor != 0:
            values = float32s(weights + 4 * columns * row, columns)
            for column in range(columns):
                target[column] += factor * values[column]
    if flags & RECTIFIES != 0:
        for column in range(columns):
            if target[column] < 0:
                target[column] = 0


def ask_network(rules: Rules, state: Any, search: Search) -> None:
    """Has the network evaluate a state in which a player is to move; its answer is in the block's vectors."""
    block = search.network
    count = load(block, INPUTS)
    seen, first = load(block, SEEN), float32s(load(block + 8 * (LAYERS + 1), SOURCE), count)
    observe(rules, state, rules.to_move(state), seen, 0, search.scratch_state, search)
    if WIDE:
        wide = words(seen, count)
        for place in range(count):
            first[place] = wide[place]
    else:
        numbers = int8s(seen, count)
        for place in range(count):
            first[place] = numbers[place]
    for number in range(load(block, LAYERS)):
        multiply(block + 8 * (LAYERS + 1 + LAYER * number))


def network_utility(rules: Rules, state: Any, search: Search) -> float:
    """The utility of the first seat, strictly inside the bounds, from the network's answer."""
    answer = math.tanh(np.float64(float32s(load(search.network, VALUE), 1)[0]))
    lower, upper = search.lower_value, search.upper_value
    value = lower + (answer + 1) / 2 * (upper - lower)
    value = min(max(value, load_float(search.network, LOWEST)), load_float(search.network, HIGHEST))
    return value if rules.to_move(state) == 0 else search.total - value


def network_priors(count: int, actions: int, priors: int, search: Search) -> None:
    """Writes the probabilities of ``count`` actions in the network's answer."""
    logits = float32s(load(search.network, LOGITS), search.actions)
    numbers, shares = words(actions, count), floats(priors, count)
    top, total = -math.inf, 0.0
    for place in range(count):
        top = max(top, np.float64(logits[numbers[place]]))
    for place in range(count):
        shares[place] = math.exp(np.float64(logits[numbers[place]]) - top)
        total += shares[place]
    for place in range(count):
        shares[place] /= total
