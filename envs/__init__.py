"""Games: live environments, copied and adapted so that they can be searched.

Importing this package takes no time worth mentioning: a name brings its module when it is first used. None of them
loads pettingzoo, gymnasium or pygame; what needs them loads them when called.
"""

import importlib
import sys

from zermelo.envs.support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

if "pettingzoo" in sys.modules or "gymnasium" in sys.modules:  # they are told of our environments
    importlib.import_module(f"{__name__}.registration")
