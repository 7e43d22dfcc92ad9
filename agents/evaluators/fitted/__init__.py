"""Evaluations whose weights are fitted to games."""
