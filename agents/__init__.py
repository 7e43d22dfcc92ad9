"""Which action? Search agents, baselines and the evaluations they use."""

from zermelo.agents.agent import Agent
from zermelo.agents.alpha_beta import AlphaBetaAgent
from zermelo.agents.batch import ExactValue, exact_values, search_many
from zermelo.agents.best_reply import BestReplyAgent
from zermelo.agents.evaluators.linear import LinearEvaluator
from zermelo.agents.evaluators.playout import PlayoutEvaluator
from zermelo.agents.evaluators.protocol import Evaluator
from zermelo.agents.evaluators.registry import make_evaluator
from zermelo.agents.expectimax import ExpectimaxAgent
from zermelo.agents.expectiminimax import ExpectiminimaxAgent
from zermelo.agents.greedy import GreedyAgent
from zermelo.agents.learned import OnnxAgent, Sb3Agent, TorchAgent
from zermelo.agents.limits import Limits, StoppedBy
from zermelo.agents.max_n import MaxNAgent
from zermelo.agents.minimax import MinimaxAgent
from zermelo.agents.observation import Observation
from zermelo.agents.paranoid import ParanoidAgent
from zermelo.agents.policy import PolicyAgent
from zermelo.agents.policy_table import Plan, PolicyTable, PolicyTableAgent
from zermelo.agents.random_agent import RandomAgent
from zermelo.agents.result import SearchResult
from zermelo.agents.solution import Outcome, Solution, SolvingProgress
from zermelo.agents.solving import solve
from zermelo.agents.solving_policy import solve_policy
from zermelo.agents.specs import AgentEntry, list_agents, make_agent
from zermelo.agents.value_iteration import ValueIterationAgent, ValueTable, value_iteration
from zermelo.agents.value_policy import policy_of_values

__all__ = [
    "Agent",
    "AgentEntry",
    "AlphaBetaAgent",
    "BestReplyAgent",
    "Evaluator",
    "ExactValue",
    "ExpectimaxAgent",
    "ExpectiminimaxAgent",
    "GreedyAgent",
    "Limits",
    "LinearEvaluator",
    "MaxNAgent",
    "MinimaxAgent",
    "Observation",
    "OnnxAgent",
    "Outcome",
    "ParanoidAgent",
    "Plan",
    "PlayoutEvaluator",
    "PolicyAgent",
    "PolicyTable",
    "PolicyTableAgent",
    "RandomAgent",
    "Sb3Agent",
    "SearchResult",
    "Solution",
    "SolvingProgress",
    "StoppedBy",
    "TorchAgent",
    "ValueIterationAgent",
    "ValueTable",
    "exact_values",
    "list_agents",
    "make_agent",
    "make_evaluator",
    "policy_of_values",
    "search_many",
    "solve",
    "solve_policy",
    "value_iteration",
]
