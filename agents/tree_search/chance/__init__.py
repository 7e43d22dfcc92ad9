"""Expectiminimax and expectimax: averages over dice.

Plain, they are the search of ``alpha_beta.plain`` with chance nodes.
"""
