"""What late-move reductions, null moves, futility pruning and singular extensions win, game by game.

Each agent with a setting plays the same agent without it, at equal nodes a move, from openings of random moves,
each from both seats: wins-draws-losses, and the difference in Elo with its 95 % interval. What pays is then
written into a game's ``selective_settings``. ``scripts/bench_search.py`` runs a part of it.

    python scripts/bench_selective.py [GAMES] [NAME ...]     # 100 games a line; the games of RULES
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Mapping
from typing import Any

from zermelo.agents import AlphaBetaAgent
from zermelo.envs.games import MNK, Breakthrough, ConnectFour, Domineering, Kalah, Othello
from zermelo.envs.rules import RulesGame
from zermelo.evaluation import elo

__all__ = ["selective"]

SETTINGS: dict[str, dict[str, float]] = {
    "reductions": {"late_move_reductions": 3},
    "null moves": {"null_move": 2},
    "futility": {"futility": 0.1},
    "singular": {"singular": 0.1},
}
RULES = (Othello(), Breakthrough(), ConnectFour(), Kalah(), MNK(7, 7, 5), Domineering())
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

    def nodes(settings: Mapping[str, Any]) -> int:
        agent = AlphaBetaAgent(depth=depth, **settings)
        return sum(agent.search_state(game, state).nodes for state in states)

    full = nodes({})
    shares = "".join(f"{nodes(settings) / full:12.2f}" for settings in SETTINGS.values() if fits(game, settings))
    print(f"  {game.traits.name:20}{f'nodes to depth {depth}':26}{full:12,}{shares}")


def fits(game: RulesGame, settings: Mapping[str, Any]) -> bool:
    """Null moves need games in which a turn can be skipped."""
    return "null_move" not in settings or hasattr(game, "pass_turn")


def match(game: RulesGame, settings: Mapping[str, Any], games: int) -> str:
    """Games with a setting against games without, at equal nodes a move; each opening from both seats."""
    generator = random.Random(2)
    counts = {1: 0, 0: 0, -1: 0}
    shared: dict[str, Any] = {"nodes": NODES, "table_mb": 1, "keep_table": True}
    agents = [AlphaBetaAgent(**shared, **settings), AlphaBetaAgent(**shared)]
    for _ in range(games // 2):
        start = opening(game, generator, 6)
        for seat in (0, 1):
            state = start
            for agent in agents:
                agent.reset()
            while not game.is_terminal(state):
                agent = agents[0] if game.to_move(state) == seat else agents[1]
                state = game.result(state, agent.search_state(game, state).action)
            value = game.utility(state)[seat] - game.traits.constant / 2
            counts[(value > 0) - (value < 0)] += 1
    return f"{counts[1]:4}-{counts[0]}-{counts[-1]:<4} {elo(counts[1], counts[0], counts[-1])}"


def matches(rules: Any, games: int) -> None:
    """A line for each setting that fits."""
    game = RulesGame(rules)
    for name, settings in SETTINGS.items():
        if fits(game, settings):
            print(f"  {game.traits.name:24}{name:14}{match(game, settings, games)}", flush=True)


def selective() -> None:
    """Nodes to a depth, as a share; wins, draws, losses and Elo in two games."""
    print(f"  {'':46}{'without':>12}" + "".join(f"{name:>12}" for name in SETTINGS))
    for rules, depth in ((Othello(), 9), (Breakthrough(), 6), (MNK(7, 7, 5), 6)):
        nodes_to_depth(RulesGame(rules), depth)
    print(f"  {GAMES} games at {NODES:,} nodes a move against the same agent without")
    for rules in (Othello(), Breakthrough()):
        matches(rules, GAMES)


if __name__ == "__main__":
    names = [type(each).__name__ for each in RULES]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="?", type=int, default=GAMES, help="games a line (default: %(default)s)")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}; all if none")
    given = parser.parse_args()
    if unknown := set(given.names) - set(names):
        parser.error(f"unknown games: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    for each in RULES:
        if not given.names or type(each).__name__ in given.names:
            matches(each, given.games)
