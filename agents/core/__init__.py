"""Shared by every search: limits, budget, results, mate distance, the gate."""
