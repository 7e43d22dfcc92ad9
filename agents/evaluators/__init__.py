"""Static evaluations: what a position is worth without searching it.

A name brings its module when it is first used, as in ``zermelo.envs``.
"""

from typing import TYPE_CHECKING

from zermelo.envs.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from zermelo.agents.evaluators.linear import LinearEvaluator as LinearEvaluator
    from zermelo.agents.evaluators.playout import PlayoutEvaluator as PlayoutEvaluator
    from zermelo.agents.evaluators.policy_value import NetworkEvaluator as NetworkEvaluator
    from zermelo.agents.evaluators.policy_value import PolicyValue as PolicyValue
    from zermelo.agents.evaluators.protocol import Evaluator as Evaluator
    from zermelo.agents.evaluators.protocol import squash as squash
    from zermelo.agents.evaluators.registry import make_evaluator as make_evaluator

if not TYPE_CHECKING:  # a type checker would take every name for one of ours
    __getattr__, __all__ = lazy_names(
        __name__,
        {
            "linear": "LinearEvaluator",
            "playout": "PlayoutEvaluator",
            "policy_value": "NetworkEvaluator PolicyValue",
            "protocol": "Evaluator squash",
            "registry": "make_evaluator",
        },
    )
