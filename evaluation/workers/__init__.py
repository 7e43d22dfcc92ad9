"""Processes that play: pools of workers, Ray, and agents in processes of their own, where limits hold."""

from zermelo.envs.support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
