"""Training against agents: a seat of a game as an environment of one's own, alone or many at once.

A name brings its module when it is first used, as in ``zermelo.envs``.
"""

from typing import TYPE_CHECKING

from zermelo.envs.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from zermelo.agents.learning.labels import label_positions as label_positions
    from zermelo.agents.learning.opponent_env import OpponentEnv as OpponentEnv
    from zermelo.agents.learning.schedules import Ladder as Ladder
    from zermelo.agents.learning.schedules import Mix as Mix
    from zermelo.agents.learning.schedules import OpponentSchedule as OpponentSchedule
    from zermelo.agents.learning.schedules import SelfPlay as SelfPlay
    from zermelo.agents.learning.schedules import agent_of as agent_of
    from zermelo.agents.learning.tuning.linear import Tuned as Tuned
    from zermelo.agents.learning.tuning.linear import tune as tune
    from zermelo.agents.learning.vector_env import RulesVectorEnv as RulesVectorEnv
    from zermelo.agents.learning.vector_env import make_vec as make_vec

if not TYPE_CHECKING:  # a type checker would take every name for one of ours
    __getattr__, __all__ = lazy_names(
        __name__,
        {
            "labels": "label_positions",
            "opponent_env": "OpponentEnv",
            "schedules": "Ladder Mix OpponentSchedule SelfPlay agent_of",
            "tuning.linear": "Tuned tune",
            "vector_env": "RulesVectorEnv make_vec",
        },
    )
