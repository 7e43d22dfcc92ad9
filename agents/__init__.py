"""Which action? Search agents, baselines and the evaluations they use, loaded by name as in ``zermelo.envs``."""

from zermelo.envs.registration.registry import GYMNASIUM_ENVS, register_with_imported
from zermelo.envs.support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)

GYMNASIUM_ENVS["zermelo/Opponent-v0"] = "zermelo.agents.training.opponent_env:OpponentEnv"
register_with_imported()
