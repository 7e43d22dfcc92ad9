"""Agents of a board in processes of their own, with their jobs and answers."""
