"""Agents for games in which players do not see the whole state."""
