"""Agents for single games, a folder each: to remove one, delete its folder and its name in ``base.experts``."""
