"""Positions and moves as people see and write them."""
