"""Compiling ahead of time: what searching a game will need, put on disk before somebody waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from zermelo.agents.base.machine import default_threads
from zermelo.agents.kernels.program import can_search_any, can_search_through_chance
from zermelo.agents.monte_carlo.compiled import CompiledMonteCarlo
from zermelo.agents.monte_carlo.selection_rules import Selection
from zermelo.agents.tree_search.alpha_beta.compiled import CompiledAlphaBeta, can_search
from zermelo.agents.tree_search.chance.compiled import CompiledGeneralSearch
from zermelo.agents.tree_search.compiled import CompiledTreeSearch
from zermelo.agents.tree_search.exact.prover import PROOF, can_prove
from zermelo.agents.tree_search.interface import Root
from zermelo.agents.tree_search.many_players.compiled import CompiledMaxN
from zermelo.agents.tree_search.settings import AlphaBetaConfig, ChancePruning, MaxNConfig
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.game import Chance, Information, RewardSum
from zermelo.envs.jit.at_once import start_compilers
from zermelo.envs.jit.build import Kernel, build
from zermelo.envs.jit.compiling import why_not_compiled
from zermelo.envs.position import search_game
from zermelo.envs.rules.contract import method_or_default
from zermelo.envs.rules.rules_game import RulesGame


def kernels_of(game: Any) -> Mapping[str, Kernel]:
    """The kernels of a game of rules, by the search that needs them; refused if nothing can be compiled."""
    from zermelo.envs.jit.perft_kernel import leaves_kernel

    reason = why_not_compiled()
    if reason:
        raise UnsupportedGameError(f"nothing can be compiled here, as {reason}: searches run as plain Python")
    game = search_game(game)
    if not isinstance(game, RulesGame) or game.traits.information is Information.HIDDEN:
        return {}
    traits = game.traits
    kinds: dict[str, tuple[type[CompiledTreeSearch], Any]] = {}
    if (traits.seats > 2 or traits.reward_sum is RewardSum.GENERAL) and can_search_any(game):
        kinds |= {"maxn": (CompiledMaxN, MaxNConfig()), "paranoid": (CompiledGeneralSearch, AlphaBetaConfig())}
    if can_search_through_chance(game):
        kinds["expectiminimax"] = CompiledGeneralSearch, AlphaBetaConfig()
    if can_search(game):
        kinds["alphabeta"] = CompiledAlphaBeta, AlphaBetaConfig()
        kinds["minimax"] = CompiledAlphaBeta, AlphaBetaConfig(pruning=ChancePruning.NONE)
        if settings := method_or_default(game.rules, "search_settings")("selective"):
            selective = AlphaBetaConfig(**settings)
            kinds["alphabeta, selective"] = CompiledAlphaBeta, selective
    root = Root(game, None)
    kernels = {name: kind.program.kernel(*kind.variants(root, config)) for name, (kind, config) in kinds.items()}
    if CompiledMonteCarlo.can_search(game, None):
        variants = CompiledMonteCarlo.variants(game, None, Selection.UCT)
        kernels["mcts"] = CompiledMonteCarlo.program.kernel(*variants)
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
    start_compilers([(game.rules, kernel) for kernel in kernels.values()], default_threads())
    for name, kernel in kernels.items():
        started = time.perf_counter()
        build(game.rules, kernel)
        taken[name] = time.perf_counter() - started
        on_kernel(name, taken[name])
    return taken
