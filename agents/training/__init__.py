"""Training against agents: a seat of a game as an environment of one's own, alone or many at once.

A name brings its module when it is first used, as in ``zermelo.envs``.
"""

from typing import TYPE_CHECKING

from zermelo.envs.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from zermelo.agents.training.labels import label_positions as label_positions
    from zermelo.agents.training.linear import Tuned as Tuned
    from zermelo.agents.training.linear import tune as tune
    from zermelo.agents.training.opponent_env import OpponentEnv as OpponentEnv
    from zermelo.agents.training.schedules import Ladder as Ladder
    from zermelo.agents.training.schedules import Mix as Mix
    from zermelo.agents.training.schedules import OpponentSchedule as OpponentSchedule
    from zermelo.agents.training.schedules import SelfPlay as SelfPlay
    from zermelo.agents.training.schedules import agent_of as agent_of
    from zermelo.agents.training.vectors.env import RulesVectorEnv as RulesVectorEnv
    from zermelo.agents.training.vectors.env import make_vec as make_vec

if not TYPE_CHECKING:  # a type checker would take every name for one of ours
    __getattr__, __all__ = lazy_names(
        __name__,
        {
            "labels": "label_positions",
            "linear": "Tuned tune",
            "opponent_env": "OpponentEnv",
            "schedules": "Ladder Mix OpponentSchedule SelfPlay agent_of",
            "vectors.env": "RulesVectorEnv make_vec",
        },
    )
