#!/usr/bin/env python
"""Scores of expectiminimax at 2048: how good the evaluation is that ``scripts/fit_2048.py`` fits.

    python scripts/bench_2048.py [AGENT...] [--games 20] [--seed 1]

where an agent is a spec such as ``"expectiminimax(depth=3)"`` or ``"expectiminimax(seconds=0.02)"``. The tiles of
each game are drawn from its own seed. Shown are the median and the mean score with its standard error, in how many
games each large tile came to be, and what a move costs.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any, NamedTuple

import numpy as np

from zermelo.agents import make_agent
from zermelo.envs import CHANCE
from zermelo.envs.games import Game2048
from zermelo.envs.rules import RulesGame

TILES = (11, 13, 14, 15)


class Game(NamedTuple):
    """A game that is over."""

    score: int
    largest: int
    moves: int
    nodes: int
    seconds: float


def play(game: RulesGame, agent: Any, seed: int) -> Game:
    """One game to its end."""
    generator = np.random.default_rng(seed)
    agent.reset(seed)
    state, moves, nodes, started = game.initial_state(), 0, 0, time.process_time()
    while not game.is_terminal(state):
        if game.to_move(state) == CHANCE:
            outcomes, chances = zip(*game.chance_outcomes(state), strict=True)
            state = game.result(state, int(generator.choice(outcomes, p=chances)))
            continue
        found = agent.search_state(game, state)
        state, moves, nodes = game.result(state, found.action), moves + 1, nodes + found.nodes
    return Game(state.score, int(game.rules.tiles(state).max()), moves, nodes, time.process_time() - started)


def main() -> None:
    """Plays, and prints a line after each agent."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="*", default=["expectiminimax(depth=1)", "expectiminimax(depth=2)"])
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    game = RulesGame(Game2048())
    for spec in given.agents:
        agent, played = make_agent(spec), []
        for number in range(given.games):
            played.append(play(game, agent, given.seed + number))
            print(f"  {number + 1}: {played[-1].score:,}", end="\r", flush=True)
        scores = [one.score for one in played]
        error = statistics.stdev(scores) / len(scores) ** 0.5 if len(scores) > 1 else 0.0
        moves, seconds = sum(one.moves for one in played), sum(one.seconds for one in played)
        reached = ", ".join(
            f"{1 << tile}: {np.mean([one.largest >= tile for one in played]):.0%}" for tile in TILES
        )
        print(
            f"{spec}: {len(scores)} games, median {statistics.median(scores):,.0f}, mean "
            f"{statistics.mean(scores):,.0f} ± {error:,.0f}; {reached}; {1000 * seconds / moves:.2f} ms a move, "
            f"{sum(one.nodes for one in played) / moves:,.0f} nodes"
        )


if __name__ == "__main__":
    main()
