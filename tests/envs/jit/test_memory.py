"""Raw memory in plain Python, which compiled kernels reach by instructions of their own."""

import threading

import numba
import numpy as np

from zermelo.envs.jit import memory
from zermelo.envs.jit.extensions import instructions

assert instructions.LOOPS, "kernels reach memory by them"


def test_numbers_at_an_address():
    numbers, reals = np.arange(4, dtype=np.int64), np.zeros(3)
    memory.store(numbers.ctypes.data, 2, -(1 << 63))
    memory.store_float(reals.ctypes.data, 1, 0.5)
    assert numbers.tolist() == [0, 1, -(1 << 63), 3]
    assert memory.load(numbers.ctypes.data, 3) == 3
    assert memory.load_float(reals.ctypes.data, 1) == 0.5
    assert memory.take(numbers.ctypes.data + 24, 5) == 3
    assert numbers[3] == -2
    assert memory.add_float(reals.ctypes.data + 8, 0.25) == 0.5
    assert reals[1] == 0.75
    memory.store_release(numbers.ctypes.data, 1, 5)
    assert memory.load_acquire(numbers.ctypes.data, 1) == 5
    assert not memory.compare_and_swap(numbers.ctypes.data + 8, 1, 7)
    assert memory.compare_and_swap(numbers.ctypes.data + 8, 5, 1)
    assert memory.compare_and_swap_float(reals.ctypes.data + 8, 0.75, -0.5)
    assert (numbers[1], reals[1]) == (1, -0.5)
    reals[1] = 0.5
    memory.words(numbers.ctypes.data, 4)[0] = 7
    memory.floats(reals.ctypes.data, 3)[2] = 1.5
    assert numbers[0] == 7
    assert reals.tolist() == [0.0, 0.5, 1.5]


def test_products_keep_64_bits():
    assert memory.wrapped_product(1 << 40, 1 << 30) == 0
    assert memory.wrapped_product(-3, 5) == -15
    assert memory.wrapped_product((1 << 63) - 1, 3) == (1 << 63) - 3


def test_what_threads_add_at_the_same_time_is_all_there():
    @numba.njit("void(int64, int64, int64)", nogil=True)
    def add_often(number, real, times):
        for _ in range(times):
            memory.take(number, -1)
            memory.add_float(real, 0.5)
            while True:
                before = memory.load_acquire(number, 1)
                if memory.compare_and_swap(number + 8, before, before + 1):
                    break
            while True:
                sum_before = memory.load_float(real, 1)
                if memory.compare_and_swap_float(real + 8, sum_before, sum_before + 0.5):
                    break

    numbers, reals = np.zeros(2, dtype=np.int64), np.zeros(2)
    where = numbers.ctypes.data, reals.ctypes.data, 100_000
    threads = [threading.Thread(target=add_often, args=where) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (numbers.tolist(), reals.tolist()) == ([300_000] * 2, [150_000.0] * 2)
