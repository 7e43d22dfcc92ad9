"""Compiled tree searches: what their kernels share, and the Python side of them all."""
