"""Checks that somebody's rules keep the contract."""
