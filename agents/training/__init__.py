"""Training against agents: a seat of a game as an environment of one's own, alone or many at once."""

from zermelo.envs.support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
