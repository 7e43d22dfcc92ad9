"""Raw memory in plain Python, which compiled kernels reach by instructions of their own."""

import numpy as np

from zermelo.envs.jit import memory


def test_numbers_at_an_address():
    numbers, reals = np.arange(4, dtype=np.int64), np.zeros(3)
    memory.store(numbers.ctypes.data, 2, -(1 << 63))
    memory.store_float(reals.ctypes.data, 1, 0.5)
    assert numbers.tolist() == [0, 1, -(1 << 63), 3]
    assert memory.load(numbers.ctypes.data, 3) == 3
    assert memory.load_float(reals.ctypes.data, 1) == 0.5
    assert memory.take(numbers.ctypes.data + 24, 5) == 3
    assert numbers[3] == -2
    memory.words(numbers.ctypes.data, 4)[0] = 7
    memory.floats(reals.ctypes.data, 3)[2] = 1.5
    assert numbers[0] == 7
    assert reals.tolist() == [0.0, 0.5, 1.5]


def test_products_keep_64_bits():
    assert memory.wrapped_product(1 << 40, 1 << 30) == 0
    assert memory.wrapped_product(-3, 5) == -15
    assert memory.wrapped_product((1 << 63) - 1, 3) == (1 << 63) - 3
