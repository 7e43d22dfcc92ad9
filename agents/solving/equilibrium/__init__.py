"""Equilibria of games in which players do not see the whole state: policies that nobody can exploit."""
