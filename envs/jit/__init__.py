"""Rules compiled by Numba: types, builds, machine code on disk, memory, and the check of both speeds."""
