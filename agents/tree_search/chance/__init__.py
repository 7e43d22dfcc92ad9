"""Expectiminimax and expectimax: averages over dice.

Plain, they are ``alpha_beta.plain`` with chance nodes, pruned by Star1 (``plain_star``) or Star2
(``plain_probing``).
"""
