"""Which action? Search agents, baselines and the evaluations they use.

A name brings its module when it is first used, as in ``zermelo.envs``.
"""

from typing import TYPE_CHECKING

from zermelo.envs.registration.registry import GYMNASIUM_ENVS, register_with_imported
from zermelo.envs.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from zermelo.agents.agent import Agent as Agent
    from zermelo.agents.auto import AutoAgent as AutoAgent
    from zermelo.agents.base.limits import Limits as Limits
    from zermelo.agents.base.limits import StoppedBy as StoppedBy
    from zermelo.agents.base.result import SearchResult as SearchResult
    from zermelo.agents.base.solution import Outcome as Outcome
    from zermelo.agents.base.solution import Solution as Solution
    from zermelo.agents.base.solution import SolvingProgress as SolvingProgress
    from zermelo.agents.baselines import GreedyAgent as GreedyAgent
    from zermelo.agents.baselines import RandomAgent as RandomAgent
    from zermelo.agents.equilibrium.agents import BackwardInductionAgent as BackwardInductionAgent
    from zermelo.agents.equilibrium.agents import CFRAgent as CFRAgent
    from zermelo.agents.equilibrium.agents import PolicyTableAgent as PolicyTableAgent
    from zermelo.agents.equilibrium.equilibrium import Equilibrium as Equilibrium
    from zermelo.agents.equilibrium.equilibrium import Exploitability as Exploitability
    from zermelo.agents.equilibrium.equilibrium import best_responses as best_responses
    from zermelo.agents.equilibrium.equilibrium import exploitability as exploitability
    from zermelo.agents.equilibrium.equilibrium import solve_equilibrium as solve_equilibrium
    from zermelo.agents.equilibrium.matrix_games import Dominated as Dominated
    from zermelo.agents.equilibrium.matrix_games import MatrixSolution as MatrixSolution
    from zermelo.agents.equilibrium.matrix_games import dominated as dominated
    from zermelo.agents.equilibrium.matrix_games import equilibria as equilibria
    from zermelo.agents.equilibrium.matrix_games import pure_equilibria as pure_equilibria
    from zermelo.agents.equilibrium.matrix_games import solve_matrix as solve_matrix
    from zermelo.agents.equilibrium.matrix_games import solve_simultaneous as solve_simultaneous
    from zermelo.agents.equilibrium.policy_table import Plan as Plan
    from zermelo.agents.equilibrium.policy_table import PolicyTable as PolicyTable
    from zermelo.agents.evaluators.linear import LinearEvaluator as LinearEvaluator
    from zermelo.agents.evaluators.playout import PlayoutEvaluator as PlayoutEvaluator
    from zermelo.agents.evaluators.protocol import Evaluator as Evaluator
    from zermelo.agents.evaluators.registry import make_evaluator as make_evaluator
    from zermelo.agents.monte_carlo.agent import MCTSAgent as MCTSAgent
    from zermelo.agents.monte_carlo.information_sets.agent import ISMCTSAgent as ISMCTSAgent
    from zermelo.agents.monte_carlo.simultaneous.agent import SimultaneousMCTSAgent as SimultaneousMCTSAgent
    from zermelo.agents.policies.models import OnnxAgent as OnnxAgent
    from zermelo.agents.policies.models import Sb3Agent as Sb3Agent
    from zermelo.agents.policies.models import TorchAgent as TorchAgent
    from zermelo.agents.policies.observation import Observation as Observation
    from zermelo.agents.policies.policy import PolicyAgent as PolicyAgent
    from zermelo.agents.policies.probabilities import agent_policy as agent_policy
    from zermelo.agents.solving.agents import BestFirstAgent as BestFirstAgent
    from zermelo.agents.solving.agents import ValueIterationAgent as ValueIterationAgent
    from zermelo.agents.solving.solve import ExactValue as ExactValue
    from zermelo.agents.solving.solve import exact_values as exact_values
    from zermelo.agents.solving.solve import policy_of_values as policy_of_values
    from zermelo.agents.solving.solve import solve as solve
    from zermelo.agents.solving.solve import solve_policy as solve_policy
    from zermelo.agents.solving.value_iteration import ValueTable as ValueTable
    from zermelo.agents.solving.value_iteration import value_iteration as value_iteration
    from zermelo.agents.specs import AgentEntry as AgentEntry
    from zermelo.agents.specs import list_agents as list_agents
    from zermelo.agents.specs import make_agent as make_agent
    from zermelo.agents.training.search_many import search_many as search_many
    from zermelo.agents.tree_search.alpha_beta.agents import AlphaBetaAgent as AlphaBetaAgent
    from zermelo.agents.tree_search.alpha_beta.agents import MinimaxAgent as MinimaxAgent
    from zermelo.agents.tree_search.chance.agents import ExpectimaxAgent as ExpectimaxAgent
    from zermelo.agents.tree_search.chance.agents import ExpectiminimaxAgent as ExpectiminimaxAgent
    from zermelo.agents.tree_search.many_players.agents import BestReplyAgent as BestReplyAgent
    from zermelo.agents.tree_search.many_players.agents import MaxNAgent as MaxNAgent
    from zermelo.agents.tree_search.many_players.agents import ParanoidAgent as ParanoidAgent

if not TYPE_CHECKING:  # a type checker would take every name for one of ours
    __getattr__, __all__ = lazy_names(
        __name__,
        {
            "agent": "Agent",
            "auto": "AutoAgent",
            "base.limits": "Limits StoppedBy",
            "base.result": "SearchResult",
            "base.solution": "Outcome Solution SolvingProgress",
            "baselines": "GreedyAgent RandomAgent",
            "equilibrium.agents": "BackwardInductionAgent CFRAgent PolicyTableAgent",
            "equilibrium.equilibrium": "Equilibrium Exploitability best_responses exploitability "
            "solve_equilibrium",
            "equilibrium.matrix_games": "Dominated MatrixSolution dominated equilibria pure_equilibria "
            "solve_matrix solve_simultaneous",
            "equilibrium.policy_table": "Plan PolicyTable",
            "evaluators.linear": "LinearEvaluator",
            "evaluators.playout": "PlayoutEvaluator",
            "evaluators.protocol": "Evaluator",
            "evaluators.registry": "make_evaluator",
            "monte_carlo.agent": "MCTSAgent",
            "monte_carlo.information_sets.agent": "ISMCTSAgent",
            "monte_carlo.simultaneous.agent": "SimultaneousMCTSAgent",
            "policies.models": "OnnxAgent Sb3Agent TorchAgent",
            "policies.observation": "Observation",
            "policies.policy": "PolicyAgent",
            "policies.probabilities": "agent_policy",
            "solving.agents": "BestFirstAgent ValueIterationAgent",
            "solving.solve": "ExactValue exact_values policy_of_values solve solve_policy",
            "solving.value_iteration": "ValueTable value_iteration",
            "specs": "AgentEntry list_agents make_agent",
            "training.search_many": "search_many",
            "tree_search.alpha_beta.agents": "AlphaBetaAgent MinimaxAgent",
            "tree_search.chance.agents": "ExpectimaxAgent ExpectiminimaxAgent",
            "tree_search.many_players.agents": "BestReplyAgent MaxNAgent ParanoidAgent",
        },
    )

GYMNASIUM_ENVS["zermelo/Opponent-v0"] = "zermelo.agents.training.opponent_env:OpponentEnv"
register_with_imported()
