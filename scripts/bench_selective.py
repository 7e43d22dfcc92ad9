"""What late-move reductions and null moves save, and what they win: a part of ``scripts/bench_search.py``."""

from __future__ import annotations

import random
from typing import Any

from zermelo.agents import AlphaBetaAgent
from zermelo.envs.games import MNK, Breakthrough, Othello
from zermelo.envs.rules import RulesGame
from zermelo.evaluation import elo

__all__ = ["selective"]

SETTINGS: dict[str, dict[str, int]] = {
    "reductions": {"late_move_reductions": 3},
    "null moves": {"null_move": 2},
    "both": {"late_move_reductions": 3, "null_move": 2},
}
POSITIONS = 10
GAMES = 100
NODES = 5_000


def opening(game: RulesGame, generator: random.Random, moves: int) -> Any:
    """An unfinished position after so many random moves."""
    while True:
        state = game.initial_state()
        for _ in range(moves):
            if not game.is_terminal(state):
                state = game.result(state, generator.choice(game.legal_actions(state)))
        if not game.is_terminal(state):
            return state


def nodes_to_depth(game: RulesGame, depth: int) -> None:
    """Nodes to a fixed depth, all positions together, without and with each setting."""
    generator = random.Random(1)
    states = [opening(game, generator, 10) for _ in range(POSITIONS)]

    def nodes(**settings: int) -> int:
        agent = AlphaBetaAgent(depth=depth, **settings)
        return sum(agent.search_state(game, state).nodes for state in states)

    full = nodes()
    shares = "".join(f"{nodes(**settings) / full:12.2f}" for settings in SETTINGS.values())
    print(f"  {game.traits.name:20}{f'nodes to depth {depth}':26}{full:12,}{shares}")


def match(game: RulesGame, settings: dict[str, int]) -> str:
    """Games with a setting against games without, at equal nodes a move; each opening from both seats."""
    generator = random.Random(2)
    counts = {1: 0, 0: 0, -1: 0}
    agents = [AlphaBetaAgent(nodes=NODES, table_mb=1, **chosen) for chosen in (settings, {})]
    for _ in range(GAMES // 2):
        start = opening(game, generator, 6)
        for seat in (0, 1):
            state = start
            while not game.is_terminal(state):
                agent = agents[0] if game.to_move(state) == seat else agents[1]
                state = game.result(state, agent.search_state(game, state).action)
            value = game.utility(state)[seat]
            counts[(value > 0) - (value < 0)] += 1
    return f"{counts[1]}-{counts[0]}-{counts[-1]}: {elo(counts[1], counts[0], counts[-1])}"


def selective() -> None:
    """Late-move reductions (3) and null moves (2): nodes to a depth, as a share; wins, draws, losses and Elo."""
    print(f"  {'':46}{'without':>12}" + "".join(f"{name:>12}" for name in SETTINGS))
    for rules, depth in ((Othello(), 9), (Breakthrough(), 6), (MNK(7, 7, 5), 6)):
        nodes_to_depth(RulesGame(rules), depth)
    print(f"  {GAMES} games at {NODES:,} nodes a move against the same agent without")
    for rules in (Othello(), Breakthrough()):
        for name, settings in SETTINGS.items():
            print(f"  {RulesGame(rules).traits.name:20}{name:26}{match(RulesGame(rules), settings)}", flush=True)
