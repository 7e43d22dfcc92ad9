"""Go on 9x9: simulations a second beside OpenSpiel's C++, matches between settings, and against GNU Go.

    python scripts/bench_go.py [PART...] [--games 40] [--simulations 1000] [--level 10]

where a part is ``speed`` (from the start position, without a solver, in one thread), ``settings`` (matches between
settings of ``mcts`` at equal simulations) or ``gnugo`` (``auto`` with so many simulations against GNU Go, which
Debian has); all if none is given. GNU Go captures what is dead before it passes, as PettingZoo counts all stones.
"""

from __future__ import annotations

import argparse
import random
import time
from typing import Any

import pyspiel

from zermelo.agents import MCTSAgent
from zermelo.agents.players.engines.protocols import GtpAgent
from zermelo.envs.games import Go
from zermelo.envs.rules import RulesGame
from zermelo.evaluation import elo, play_match

GNUGO = "gnugo --mode gtp --chinese-rules --play-out-aftermath --capture-all-dead"
BEST = Go().search_settings("mcts")
SETTINGS: list[dict[str, Any]] = [
    {"rave": 0.0, "exploration": 0.5},
    {"rave": 300.0},
    {"rave": 3_000.0},
    {"exploration": 0.1},
]


def speed(games: int, simulations: int, level: int) -> None:
    """Simulations a second of processor time: ours by UCT and by the settings for Go, theirs by UCT."""
    theirs = pyspiel.load_game("go(board_size=9,komi=7.5)")
    for name, size, settings in (("uct", 9, {}), ("go's settings", 9, BEST), ("go's settings", 19, BEST)):
        game = RulesGame(Go(size))
        MCTSAgent(simulations=10, **settings).search_state(game, game.initial_state())  # compiles
        started = time.process_time()
        count = 10_000 if size == 9 else 1_000
        MCTSAgent(simulations=count, solver=False, **settings).search_state(game, game.initial_state())
        print(f"  {size}x{size} {name:20}{count / (time.process_time() - started):10,.0f}", flush=True)
    bot = pyspiel.MCTSBot(theirs, pyspiel.RandomRolloutEvaluator(1, 1), 2.0, 3_000, 1_000, False, 1, False)
    started = time.process_time()
    bot.mcts_search(theirs.new_initial_state())
    print(f"  9x9 {'OpenSpiel':20}{3_000 / (time.process_time() - started):10,.0f}")


def score(game: Any, first: dict[str, Any], second: dict[str, Any], games: int, simulations: int) -> str:
    """Wins, draws and losses of the first settings, from openings of two random moves, each from both sides."""
    counts, generator = [0, 0, 0], random.Random(1)
    for number in range(games // 2):
        start = game.initial_state()
        for _ in range(2):
            start = game.result(start, generator.choice(game.legal_actions(start)[:-1]))
        for seat in (0, 1):
            agents = [
                MCTSAgent(simulations=simulations, seed=2 * number + seat, **each) for each in (first, second)
            ]
            state = start
            while not game.is_terminal(state):
                agent = agents[game.to_move(state) != seat]
                state = game.result(state, agent.search_state(game, state).action)
            counts[1 - int(game.utility(state)[seat])] += 1
    wins, draws, losses = counts
    return f"{wins}-{draws}-{losses}   {elo(wins, draws, losses)}"


def settings(games: int, simulations: int, level: int) -> None:
    """The settings for Go against others."""
    for other in SETTINGS:
        result = score(RulesGame(Go(superko=0)), BEST, BEST | other, games, simulations)
        print(f"  against {other}: {result}", flush=True)


def gnugo(games: int, simulations: int, level: int) -> None:
    """In PettingZoo's environment, colours in turn."""
    agents = [MCTSAgent(simulations=simulations, **BEST), GtpAgent(path=GNUGO, level=level)]
    counts = [0, 0, 0]
    for seed in range(games):
        seat = seed % 2
        record = play_match("classic/go-v5(board_size=9)", agents[::-1] if seat else agents, seed=seed)
        counts[1 - int(record.rewards[seat])] += 1
        print(f"  {counts[0]}-{counts[2]} after {seed + 1} games", flush=True)
    print(f"  against GNU Go's level {level}: {elo(*counts)}")


PARTS = {"speed": speed, "settings": settings, "gnugo": gnugo}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all if none is given")
    parser.add_argument("--games", type=int, default=40, help="games a match (default: %(default)s)")
    parser.add_argument("--simulations", type=int, default=1_000, help="a move (default: %(default)s)")
    parser.add_argument("--level", type=int, default=10, help="GNU Go's (default: %(default)s)")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"unknown parts: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    for part in given.parts or PARTS:
        print(f"{part}: {(PARTS[part].__doc__ or '').splitlines()[0]}")
        PARTS[part](given.games, given.simulations, given.level)
