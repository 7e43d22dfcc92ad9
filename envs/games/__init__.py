"""Games, one a module or folder, loaded when they are asked for. ``zermelo.envs.rules`` explains their methods."""

from zermelo.envs.support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
