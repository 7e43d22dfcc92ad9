"""Random numbers of kernels: a counter in the record, each value of which is mixed into 64 bits."""

from __future__ import annotations

from zermelo.agents.kernels.layout import KernelRecord
from zermelo.envs.jit.memory import load_float
from zermelo.envs.rules.bits import mix, shift_right


def random_bits(search: KernelRecord) -> int:
    """The next 64 random bits."""
    search.random += 1
    return mix(search.random)


def random_below(search: KernelRecord, count: int) -> int:
    """A whole number below ``count``."""
    return (shift_right(random_bits(search), 32) * count) >> 32


def random_uniform(search: KernelRecord) -> float:
    """A number from 0.0 up to 1.0."""
    return shift_right(random_bits(search), 11) * 1.1102230246251565e-16


def random_outcome(search: KernelRecord, count: int, probabilities: int, step: int) -> int:
    """Which of ``count`` outcomes chance takes; ``step`` words lie between two probabilities."""
    threshold = random_uniform(search)
    for index in range(count):
        threshold -= load_float(probabilities, index * step)
        if threshold < 0:
            return index
    return count - 1
