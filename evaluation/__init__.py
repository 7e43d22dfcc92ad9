"""Matches, tournaments and their tables: which agent is better, and how sure that is."""

from zermelo.envs.support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
