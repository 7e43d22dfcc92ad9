"""Stores of game records, and their readers."""
