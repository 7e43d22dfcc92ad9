"""Searches over rules, compiled by Numba."""
