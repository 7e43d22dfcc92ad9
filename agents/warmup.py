"""Compiling ahead of time: what searching a game will need, put on disk before somebody waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from zermelo.agents.base.machine import default_threads
from zermelo.agents.monte_carlo.agent import MCTSAgent
from zermelo.agents.tree_search.agent import FULL, TreeSearchAgent
from zermelo.agents.tree_search.alpha_beta.agents import AlphaBetaAgent, MinimaxAgent, SelectiveBy
from zermelo.agents.tree_search.chance.agents import ExpectiminimaxAgent
from zermelo.agents.tree_search.exact.prover import PROOF, can_prove
from zermelo.agents.tree_search.many_players.agents import MaxNAgent, ParanoidAgent
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.game import Chance, Information, RewardSum
from zermelo.envs.jit.build import build
from zermelo.envs.jit.compiling import why_not_compiled
from zermelo.envs.jit.kernel import Kernel, Wanted
from zermelo.envs.jit.parallel_compile import start_compilers
from zermelo.envs.position import position, search_game
from zermelo.envs.rules.contract import method_or_default
from zermelo.envs.rules.rules_game import RulesGame


def kernels_of(game: Any) -> Mapping[str, Kernel]:
    """The kernels of a game of rules, by the search that needs them; refused if nothing can be compiled."""
    from zermelo.envs.jit.perft_kernel import leaves_kernel

    reason = why_not_compiled()
    if reason:
        raise UnsupportedGameError(f"nothing can be compiled here, as {reason}: searches run as plain Python")
    root = position(game)
    game, traits = root.game, root.game.traits
    if not isinstance(game, RulesGame) or traits.information is Information.HIDDEN:
        return {}
    agents: dict[str, TreeSearchAgent | MCTSAgent] = {}
    if traits.seats > 2 or traits.reward_sum is RewardSum.GENERAL:
        agents |= {"maxn": MaxNAgent(depth=FULL), "paranoid": ParanoidAgent(depth=FULL)}
    if traits.chance is not Chance.NONE and (traits.seats == 1 or traits.is_opposed):
        agents["expectiminimax"] = ExpectiminimaxAgent(depth=FULL)
    if traits.chance is Chance.NONE and traits.is_opposed:
        agents |= {"alphabeta": AlphaBetaAgent(depth=FULL), "minimax": MinimaxAgent(depth=FULL)}
        if method_or_default(game.rules, "search_settings")("selective"):
            agents["alphabeta, selective"] = AlphaBetaAgent(depth=FULL, selective=SelectiveBy.GAME)
    agents["mcts"] = MCTSAgent()
    kernels = {name: found[0].kernel for name, agent in agents.items() if (found := agent.kernels(root))}
    if traits.chance is not Chance.NONE:
        return kernels
    if can_prove(game):
        kernels["solve"] = PROOF.kernel()
    kernels["perft"] = leaves_kernel()
    return kernels


def warm_up(game: Any, *, on_kernel: Callable[[str, float], Any] = lambda name, seconds: None) -> dict[str, float]:
    """Compiles all that searching a game will need, for later processes too; the seconds that each took, by name.

    Rules of one class use the same machine code. Raises as ``kernels_of``, and ``RulesError`` where rules do not
    compile.
    """
    taken = {}
    game = search_game(game)
    kernels = kernels_of(game)
    start_compilers([Wanted(game.rules, kernel) for kernel in kernels.values()], default_threads())
    for name, kernel in kernels.items():
        started = time.perf_counter()
        build(game.rules, kernel)
        taken[name] = time.perf_counter() - started
        on_kernel(name, taken[name])
    return taken
