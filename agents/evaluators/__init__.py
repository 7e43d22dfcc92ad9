"""Static evaluations: what a position is worth without searching it."""

from zermelo.agents.evaluators.linear import LinearEvaluator
from zermelo.agents.evaluators.playout import PlayoutEvaluator
from zermelo.agents.evaluators.policy_value import NetworkEvaluator, PolicyValue
from zermelo.agents.evaluators.protocol import Evaluator, squash
from zermelo.agents.evaluators.registry import make_evaluator

__all__ = [
    "Evaluator",
    "LinearEvaluator",
    "NetworkEvaluator",
    "PlayoutEvaluator",
    "PolicyValue",
    "make_evaluator",
    "squash",
]
