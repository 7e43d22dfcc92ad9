"""Processes that play: pools of workers, Ray, and agents in processes of their own, where limits hold."""
