"""The same searches over rules, compiled by Numba."""
