"""Learned evaluations in compiled code: patterns, networks over planes, and dense policy-value networks."""
