"""Which action? Search agents, baselines and the evaluations they use.

A name brings its module when it is first used, as in ``zermelo.envs``.
"""

from typing import TYPE_CHECKING

from zermelo.envs.lazy_names import lazy_names
from zermelo.envs.registration.registry import GYMNASIUM_ENVS, register_with_imported

if TYPE_CHECKING:
    from zermelo.agents.agent import Agent
    from zermelo.agents.core.limits import Limits, StoppedBy
    from zermelo.agents.core.result import SearchResult
    from zermelo.agents.evaluators.linear import LinearEvaluator
    from zermelo.agents.evaluators.playout import PlayoutEvaluator
    from zermelo.agents.evaluators.protocol import Evaluator
    from zermelo.agents.evaluators.registry import make_evaluator
    from zermelo.agents.players.alpha_beta import AlphaBetaAgent
    from zermelo.agents.players.auto import AutoAgent
    from zermelo.agents.players.best_first import BestFirstAgent
    from zermelo.agents.players.expectimax import ExpectimaxAgent
    from zermelo.agents.players.expectiminimax import ExpectiminimaxAgent
    from zermelo.agents.players.greedy import GreedyAgent
    from zermelo.agents.players.hidden.agent_policy import agent_policy
    from zermelo.agents.players.hidden.determinized import DeterminizedAgent
    from zermelo.agents.players.hidden.ismcts import ISMCTSAgent
    from zermelo.agents.players.hidden.simultaneous import BackwardInductionAgent, SimultaneousMCTSAgent
    from zermelo.agents.players.learned.models import OnnxAgent, Sb3Agent, TorchAgent
    from zermelo.agents.players.learned.observation import Observation
    from zermelo.agents.players.learned.policy import PolicyAgent
    from zermelo.agents.players.max_n import MaxNAgent
    from zermelo.agents.players.mcts import MCTSAgent
    from zermelo.agents.players.minimax import MinimaxAgent
    from zermelo.agents.players.paranoid import BestReplyAgent, ParanoidAgent
    from zermelo.agents.players.random import RandomAgent
    from zermelo.agents.players.search_many import search_many
    from zermelo.agents.players.tables.cfr import CFRAgent
    from zermelo.agents.players.tables.policy_table import PolicyTableAgent
    from zermelo.agents.players.tables.value_iteration import ValueIterationAgent
    from zermelo.agents.solving.equilibrium.equilibrium import Equilibrium, EquilibriumProgress, solve_equilibrium
    from zermelo.agents.solving.equilibrium.matrix_games import (
        Dominated,
        MatrixSolution,
        dominated,
        equilibria,
        pure_equilibria,
        solve_matrix,
    )
    from zermelo.agents.solving.equilibrium.responses import Exploitability, best_responses, exploitability
    from zermelo.agents.solving.equilibrium.simultaneous import SimultaneousSolution, solve_simultaneous
    from zermelo.agents.solving.exact_values import ExactValue, exact_values
    from zermelo.agents.solving.policy import policy_of_values, solve_policy
    from zermelo.agents.solving.policy_table import Plan, PolicyTable
    from zermelo.agents.solving.solution import Outcome, Solution, SolvingProgress
    from zermelo.agents.solving.solve import solve
    from zermelo.agents.solving.value_iteration import ValueTable, value_iteration
    from zermelo.agents.specs import AgentEntry, list_agents, make_agent

__all__ = [
    "Agent",
    "AgentEntry",
    "AlphaBetaAgent",
    "AutoAgent",
    "BackwardInductionAgent",
    "BestFirstAgent",
    "BestReplyAgent",
    "CFRAgent",
    "DeterminizedAgent",
    "Dominated",
    "Equilibrium",
    "EquilibriumProgress",
    "Evaluator",
    "ExactValue",
    "ExpectimaxAgent",
    "ExpectiminimaxAgent",
    "Exploitability",
    "GreedyAgent",
    "ISMCTSAgent",
    "Limits",
    "LinearEvaluator",
    "MCTSAgent",
    "MatrixSolution",
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
    "SimultaneousMCTSAgent",
    "SimultaneousSolution",
    "Solution",
    "SolvingProgress",
    "StoppedBy",
    "TorchAgent",
    "ValueIterationAgent",
    "ValueTable",
    "agent_policy",
    "best_responses",
    "dominated",
    "equilibria",
    "exact_values",
    "exploitability",
    "list_agents",
    "make_agent",
    "make_evaluator",
    "policy_of_values",
    "pure_equilibria",
    "search_many",
    "solve",
    "solve_equilibrium",
    "solve_matrix",
    "solve_policy",
    "solve_simultaneous",
    "value_iteration",
]

if not TYPE_CHECKING:  # a type checker would take every name for one of ours
    __getattr__ = lazy_names(
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
            "players.expectimax": "ExpectimaxAgent",
            "players.expectiminimax": "ExpectiminimaxAgent",
            "players.greedy": "GreedyAgent",
            "players.hidden.agent_policy": "agent_policy",
            "players.hidden.determinized": "DeterminizedAgent",
            "players.hidden.ismcts": "ISMCTSAgent",
            "players.hidden.simultaneous": "BackwardInductionAgent SimultaneousMCTSAgent",
            "players.learned.models": "OnnxAgent Sb3Agent TorchAgent",
            "players.learned.observation": "Observation",
            "players.learned.policy": "PolicyAgent",
            "players.max_n": "MaxNAgent",
            "players.mcts": "MCTSAgent",
            "players.minimax": "MinimaxAgent",
            "players.paranoid": "BestReplyAgent ParanoidAgent",
            "players.tables.cfr": "CFRAgent",
            "players.tables.policy_table": "PolicyTableAgent",
            "players.random": "RandomAgent",
            "players.search_many": "search_many",
            "players.tables.value_iteration": "ValueIterationAgent",
            "solving.equilibrium.equilibrium": "Equilibrium EquilibriumProgress solve_equilibrium",
            "solving.equilibrium.matrix_games": "Dominated MatrixSolution dominated equilibria pure_equilibria "
            "solve_matrix",
            "solving.equilibrium.responses": "Exploitability best_responses exploitability",
            "solving.equilibrium.simultaneous": "SimultaneousSolution solve_simultaneous",
            "solving.exact_values": "ExactValue exact_values",
            "solving.policy": "policy_of_values solve_policy",
            "solving.policy_table": "Plan PolicyTable",
            "solving.solution": "Outcome Solution SolvingProgress",
            "solving.solve": "solve",
            "solving.value_iteration": "ValueTable value_iteration",
            "specs": "AgentEntry list_agents make_agent",
        },
    )

GYMNASIUM_ENVS["zermelo/Opponent-v0"] = "zermelo.agents.learning.opponent_env:OpponentEnv"
register_with_imported()
