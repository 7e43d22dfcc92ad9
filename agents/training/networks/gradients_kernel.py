"""The gradient of a small network's log loss and the steps of Adam (Kingma and Ba, ICLR 2015), compiled."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

_FIRST_DECAY, _SECOND_DECAY, _SMALL = np.float32(0.9), np.float32(0.999), np.float32(1e-8)
_WEIGHT_DECAY: Final = np.float32(1e-4)
_ZERO, _ONE, _TWO = np.float32(0), np.float32(1), np.float32(2)


class Weights(NamedTuple):
    """The weights of a network, or numbers that belong to them."""

    first: Floats  # of the hidden layer; shape (columns, hidden)
    bias: Floats  # its bias; shape (hidden,)
    outputs: Floats  # of the output, in each phase, those for the player to move first; shape (phases, 2 * hidden)
    output_bias: Floats  # shape (phases,)

    def zeros(self) -> Weights:
        return Weights(*(np.zeros_like(part) for part in self))


def _list_columns(planes: Any, movers: Any, columns: Any, active: Any) -> None:
    """Lists, for the player to move and then the opponent, the columns of the bits that are set and have one."""
    for row in range(len(movers)):
        for seat in range(2):
            listed = active[row, 0 if movers[row] == seat else 1]
            place = 0
            for word in range(planes.shape[2]):
                bits, bit = planes[row, seat, word], 64 * word
                while bits != 0:
                    if bits & np.uint64(1) != 0 and columns[seat, bit] >= 0:
                        listed[place] = columns[seat, bit]
                        place += 1
                    bits >>= np.uint64(1)
                    bit += 1


def _add_gradients(rows: Any, active: Any, phases: Any, targets: Any, weights: Any, gradients: Any) -> float:
    """The sum of the losses of the positions ``rows``; adds their gradients, unless these are empty arrays.

    ``active`` are the columns that are set, for the player to move and the opponent, and behind them -1, of shape
    (positions, 2, width); ``phases`` and ``targets``, the chances of winning to learn, of shape (positions,).
    """
    hidden, width = weights.bias.shape[0], active.shape[2]
    sums = np.empty((2, hidden), np.float32)
    slopes = np.empty(hidden, np.float32)
    total = 0.0
    for row in rows:
        phase = phases[row]
        odds = weights.output_bias[phase]
        for side in range(2):
            here = sums[side]
            for unit in range(hidden):
                here[unit] = weights.bias[unit]
            for place in range(width):
                column = active[row, side, place]
                if column < 0:
                    break
                added = weights.first[column]
                for unit in range(hidden):
                    here[unit] += added[unit]
            outputs = weights.outputs[phase, side * hidden : (side + 1) * hidden]
            part = _ZERO
            for unit in range(hidden):
                clipped = min(max(here[unit], _ZERO), _ONE)
                part += clipped * clipped * outputs[unit]
            odds += part
        target = targets[row]
        total += max(odds, _ZERO) - odds * target + math.log1p(math.exp(-abs(odds)))
        if gradients.bias.shape[0] == 0:
            continue
        error = _ONE / (_ONE + np.float32(math.exp(-odds))) - target
        gradients.output_bias[phase] += error
        for side in range(2):
            here = sums[side]
            outputs = weights.outputs[phase, side * hidden : (side + 1) * hidden]
            slope_of_outputs = gradients.outputs[phase, side * hidden : (side + 1) * hidden]
            for unit in range(hidden):
                clipped = min(max(here[unit], _ZERO), _ONE)
                slope_of_outputs[unit] += error * clipped * clipped
                slope = _TWO * error * clipped * outputs[unit] if clipped < _ONE else _ZERO
                slopes[unit] = slope
                gradients.bias[unit] += slope
            for place in range(width):
                column = active[row, side, place]
                if column < 0:
                    break
                changed = gradients.first[column]
                for unit in range(hidden):
                    changed[unit] += slopes[unit]
    return total


def _descend(weights: Any, gradients: Any, means: Any, squares: Any, rate: Any, number: int, largest: Any) -> None:
    """Step ``number``, from 1 on, of Adam for an array; weights stay within ``largest``, gradients become 0."""
    first, second = _ONE / (_ONE - _FIRST_DECAY**number), _ONE / (_ONE - _SECOND_DECAY**number)
    flat, slopes, mean, square = weights.ravel(), gradients.ravel(), means.ravel(), squares.ravel()
    for place in range(len(flat)):
        slope = slopes[place]
        mean[place] += (slope - mean[place]) * (_ONE - _FIRST_DECAY)
        square[place] += (slope * slope - square[place]) * (_ONE - _SECOND_DECAY)
        moved = mean[place] * first / (math.sqrt(square[place] * second) + _SMALL)
        changed = flat[place] * (_ONE - rate * _WEIGHT_DECAY) - rate * moved
        flat[place] = min(max(changed, -largest), largest)
        slopes[place] = _ZERO


list_columns: Any = numba.njit(nogil=True)(_list_columns)
add_gradients: Any = numba.njit(nogil=True, fastmath={"contract", "reassoc"})(_add_gradients)
descend: Any = numba.njit(nogil=True)(_descend)
