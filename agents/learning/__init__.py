"""Training against agents: a seat of a game as an environment of one's own, alone or many at once.

A name brings its module when it is first used, as in ``zermelo.envs``.
"""

from typing import TYPE_CHECKING

from zermelo.envs.lazy_names import lazy_names

if TYPE_CHECKING:
    from zermelo.agents.learning.labels import label_positions
    from zermelo.agents.learning.opponent_env import OpponentEnv
    from zermelo.agents.learning.policies import agent_of
    from zermelo.agents.learning.schedules import Ladder, Mix, OpponentSchedule, SelfPlay
    from zermelo.agents.learning.tuning.tune import Tuned, tune
    from zermelo.agents.learning.vector_env import RulesVectorEnv, make_vec

__all__ = [
    "Ladder",
    "Mix",
    "OpponentEnv",
    "OpponentSchedule",
    "RulesVectorEnv",
    "SelfPlay",
    "Tuned",
    "agent_of",
    "label_positions",
    "make_vec",
    "tune",
]

if not TYPE_CHECKING:  # a type checker would take every name for one of ours
    __getattr__ = lazy_names(
        __name__,
        {
            "labels": "label_positions",
            "opponent_env": "OpponentEnv",
            "policies": "agent_of",
            "schedules": "Ladder Mix OpponentSchedule SelfPlay",
            "tuning.tune": "Tuned tune",
            "vector_env": "RulesVectorEnv make_vec",
        },
    )
