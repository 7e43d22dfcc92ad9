"""Checks of what people bring: that rules keep the contract, and that clones of environments are right."""
