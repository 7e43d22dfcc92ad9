"""Which action? Search agents, baselines and the evaluations they use.

A name brings its module when it is first used, as in ``zermelo.envs``.
"""

from typing import TYPE_CHECKING

from zermelo.envs.registration.registry import GYMNASIUM_ENVS, register_with_imported
from zermelo.envs.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from zermelo.agents.agent import Agent as Agent
    from zermelo.agents.core.limits import Limits as Limits
    from zermelo.agents.core.limits import StoppedBy as StoppedBy
    from zermelo.agents.core.result import SearchResult as SearchResult
    from zermelo.agents.evaluators.linear import LinearEvaluator as LinearEvaluator
    from zermelo.agents.evaluators.playout import PlayoutEvaluator as PlayoutEvaluator
    from zermelo.agents.evaluators.protocol import Evaluator as Evaluator
    from zermelo.agents.evaluators.registry import make_evaluator as make_evaluator
    from zermelo.agents.players.alpha_beta import AlphaBetaAgent as AlphaBetaAgent
    from zermelo.agents.players.auto import AutoAgent as AutoAgent
    from zermelo.agents.players.best_first import BestFirstAgent as BestFirstAgent
    from zermelo.agents.players.greedy import GreedyAgent as GreedyAgent
    from zermelo.agents.players.hidden.blueprints import agent_policy as agent_policy
    from zermelo.agents.players.hidden.ismcts import ISMCTSAgent as ISMCTSAgent
    from zermelo.agents.players.hidden.simultaneous import BackwardInductionAgent as BackwardInductionAgent
    from zermelo.agents.players.hidden.simultaneous import SimultaneousMCTSAgent as SimultaneousMCTSAgent
    from zermelo.agents.players.learned.models import OnnxAgent as OnnxAgent
    from zermelo.agents.players.learned.models import Sb3Agent as Sb3Agent
    from zermelo.agents.players.learned.models import TorchAgent as TorchAgent
    from zermelo.agents.players.learned.observation import Observation as Observation
    from zermelo.agents.players.learned.policy import PolicyAgent as PolicyAgent
    from zermelo.agents.players.max_n import BestReplyAgent as BestReplyAgent
    from zermelo.agents.players.max_n import MaxNAgent as MaxNAgent
    from zermelo.agents.players.max_n import ParanoidAgent as ParanoidAgent
    from zermelo.agents.players.mcts import MCTSAgent as MCTSAgent
    from zermelo.agents.players.minimax import ExpectimaxAgent as ExpectimaxAgent
    from zermelo.agents.players.minimax import ExpectiminimaxAgent as ExpectiminimaxAgent
    from zermelo.agents.players.minimax import MinimaxAgent as MinimaxAgent
    from zermelo.agents.players.random import RandomAgent as RandomAgent
    from zermelo.agents.players.search_many import search_many as search_many
    from zermelo.agents.players.tables import CFRAgent as CFRAgent
    from zermelo.agents.players.tables import PolicyTableAgent as PolicyTableAgent
    from zermelo.agents.players.tables import ValueIterationAgent as ValueIterationAgent
    from zermelo.agents.solving.equilibrium.equilibrium import Equilibrium as Equilibrium
    from zermelo.agents.solving.equilibrium.equilibrium import Exploitability as Exploitability
    from zermelo.agents.solving.equilibrium.equilibrium import best_responses as best_responses
    from zermelo.agents.solving.equilibrium.equilibrium import exploitability as exploitability
    from zermelo.agents.solving.equilibrium.equilibrium import solve_equilibrium as solve_equilibrium
    from zermelo.agents.solving.equilibrium.matrix_games import Dominated as Dominated
    from zermelo.agents.solving.equilibrium.matrix_games import MatrixSolution as MatrixSolution
    from zermelo.agents.solving.equilibrium.matrix_games import dominated as dominated
    from zermelo.agents.solving.equilibrium.matrix_games import equilibria as equilibria
    from zermelo.agents.solving.equilibrium.matrix_games import pure_equilibria as pure_equilibria
    from zermelo.agents.solving.equilibrium.matrix_games import solve_matrix as solve_matrix
    from zermelo.agents.solving.equilibrium.matrix_games import solve_simultaneous as solve_simultaneous
    from zermelo.agents.solving.policy_table import Plan as Plan
    from zermelo.agents.solving.policy_table import PolicyTable as PolicyTable
    from zermelo.agents.solving.solution import Outcome as Outcome
    from zermelo.agents.solving.solution import Solution as Solution
    from zermelo.agents.solving.solution import SolvingProgress as SolvingProgress
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

if not TYPE_CHECKING:  # a type checker would take every name for one of ours
    __getattr__, __all__ = lazy_names(
        __name__,
        {
            "agent": "Agent",
            "core.limits": "Limits StoppedBy",
            "core.result": "SearchResult",
            "evaluators.linear": "LinearEvaluator",
            "evaluators.playout": "PlayoutEvaluator",
            "evaluators.protocol": "Evaluator",
            "evaluators.registry": "make_evaluator",
            "players.alpha_beta": "AlphaBetaAgent",
            "players.auto": "AutoAgent",
            "players.best_first": "BestFirstAgent",
            "players.greedy": "GreedyAgent",
            "players.hidden.blueprints": "agent_policy",
            "players.hidden.ismcts": "ISMCTSAgent",
            "players.hidden.simultaneous": "BackwardInductionAgent SimultaneousMCTSAgent",
            "players.learned.models": "OnnxAgent Sb3Agent TorchAgent",
            "players.learned.observation": "Observation",
            "players.learned.policy": "PolicyAgent",
            "players.max_n": "BestReplyAgent MaxNAgent ParanoidAgent",
            "players.mcts": "MCTSAgent",
            "players.minimax": "ExpectimaxAgent ExpectiminimaxAgent MinimaxAgent",
            "players.tables": "CFRAgent PolicyTableAgent ValueIterationAgent",
            "players.random": "RandomAgent",
            "players.search_many": "search_many",
            "solving.equilibrium.equilibrium": "Equilibrium Exploitability best_responses exploitability "
            "solve_equilibrium",
            "solving.equilibrium.matrix_games": "Dominated MatrixSolution dominated equilibria pure_equilibria "
            "solve_matrix solve_simultaneous",
            "solving.policy_table": "Plan PolicyTable",
            "solving.solution": "Outcome Solution SolvingProgress",
            "solving.solve": "ExactValue exact_values policy_of_values solve solve_policy",
            "solving.value_iteration": "ValueTable value_iteration",
            "specs": "AgentEntry list_agents make_agent",
        },
    )

GYMNASIUM_ENVS["zermelo/Opponent-v0"] = "zermelo.agents.learning.opponent_env:OpponentEnv"
register_with_imported()
