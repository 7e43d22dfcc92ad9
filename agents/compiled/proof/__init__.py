"""Proofs of wins, draws and losses over compiled rules."""
