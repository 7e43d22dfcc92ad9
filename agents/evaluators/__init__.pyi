from zermelo.agents.evaluators.fitted_linear import LinearEvaluator as LinearEvaluator
from zermelo.agents.evaluators.playout import PlayoutEvaluator as PlayoutEvaluator
from zermelo.agents.evaluators.policy_value import NetworkEvaluator as NetworkEvaluator
from zermelo.agents.evaluators.policy_value import PolicyValue as PolicyValue
from zermelo.agents.evaluators.protocol import Evaluator as Evaluator
from zermelo.agents.evaluators.protocol import squash as squash
from zermelo.agents.evaluators.registry import make_evaluator as make_evaluator
