"""Static evaluations: what a position is worth without searching it.

A name brings its module when it is first used, as in ``zermelo.envs``.
"""

from zermelo.envs.support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__, compiles=True)
