"""Monte Carlo tree search: simulations a second beside OpenSpiel's C++, and matches against it and alpha-beta.

    python scripts/bench_mcts.py [PART...] [--games 100] [--seconds 0.2]

where a part is ``speed`` (both from the start position, without a solver, in one thread), ``equal`` (matches
against OpenSpiel's search at equal simulations) or ``playouts`` (matches against alpha-beta with playouts at equal
time); all if none is given. Matches are played over OpenSpiel's states, without compiled rules, each opening of
four random moves from both seats.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import pyspiel

from zermelo.agents import AlphaBetaAgent, MCTSAgent
from zermelo.agents.compiled.monte_carlo.search import CompiledMonteCarlo
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.core.monte_carlo import Start
from zermelo.envs import as_game
from zermelo.envs.games import MNK, Breakthrough, ConnectFour, Kalah, Othello
from zermelo.envs.rules import RulesGame
from zermelo.evaluation import elo

SPEED = {
    "tic_tac_toe": (MNK(m=3, n=3, k=3), 300_000),
    "connect_four": (ConnectFour(), 200_000),
    "othello": (Othello(), 40_000),
    "breakthrough": (Breakthrough(), 40_000),
    "mancala": (Kalah(), 100_000),
}
EQUAL = ("tic_tac_toe", "connect_four", "breakthrough(rows=6,columns=6)", "hex(board_size=5)", "clobber")
PLAYOUTS = ("hex(board_size=5)", "hex(board_size=7)", "clobber", "oware", "quoridor(board_size=5)", "breakthrough")
SIMULATIONS = 300


def their_bot(game: Any, simulations: int, seed: int, *, solve: bool = False) -> Any:
    """OpenSpiel's search."""
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    return pyspiel.MCTSBot(game, evaluator, 2.0, simulations, 1000, solve, seed, False)


def speed(games: int, seconds: float) -> None:
    """Simulations a second of processor time: the best of five turns each, and the median of the turns' ratios."""
    print(f"  {'game':32}{'ours':>14}{'theirs':>14}{'ratio':>8}")
    policy = MCTSAgent(solver=False).policy
    for name, (rules, count) in SPEED.items():
        game, limits = RulesGame(rules), Limits(simulations=count)
        state, theirs = game.initial_state(), pyspiel.load_game(name)
        turns = []
        for seed in range(5):
            start = Start(game, state, policy, seed)
            search = CompiledMonteCarlo(game, None, Budget(limits), limits=limits, start=start)
            started = time.process_time()
            search.run(limits, count)
            rate = count / (time.process_time() - started)
            bot = their_bot(theirs, count // 10, seed)
            started = time.process_time()
            bot.mcts_search(theirs.new_initial_state())
            turns.append((rate, count // 10 / (time.process_time() - started)))
        best, their_best = (max(rates) for rates in zip(*turns, strict=True))
        ratio = statistics.median(rate / their_rate for rate, their_rate in turns)
        print(f"  {name:32}{best:14,.0f}{their_best:14,.0f}{ratio:8.1f}", flush=True)


Player = Callable[[Any], int]


def match(name: str, first: Callable[[int], Player], second: Callable[[int], Player], games: int) -> str:
    """Wins, draws and losses of the first, and the difference in Elo."""
    game, generator = pyspiel.load_game(name), random.Random(1)
    counts = {1: 0, 0: 0, -1: 0}
    for number in range(games // 2):
        start = game.new_initial_state()
        for _ in range(4):
            if not start.is_terminal():
                start.apply_action(generator.choice(start.legal_actions()))
        for seat in (0, 1):
            players = [first(number), second(number)]
            state = start.clone()
            while not state.is_terminal():
                state.apply_action(players[state.current_player() != seat](state))
            value = state.returns()[seat]
            counts[(value > 0) - (value < 0)] += 1
    wins, draws, losses = counts[1], counts[0], counts[-1]
    share = 100 * (wins + draws / 2) / max(sum(counts.values()), 1)
    return f"{wins:5}-{draws}-{losses:<5}{share:6.1f} %   {elo(wins, draws, losses)}"


def ours(**settings: Any) -> Callable[[int], Player]:
    """An agent of ours as a player of OpenSpiel's states."""

    def make(seed: int) -> Player:
        agent = MCTSAgent(seed=seed, **settings)
        return lambda state: agent.search_state(as_game(state, backend="environment"), state).action

    return make


def equal(games: int, seconds: float) -> None:
    """Against OpenSpiel's search, both without a solver, and over OpenSpiel's own states."""
    for name in EQUAL:
        game = pyspiel.load_game(name)

        def theirs(seed: int, game: Any = game) -> Player:
            step: Player = their_bot(game, SIMULATIONS, seed).step
            return step

        told = match(name, ours(simulations=SIMULATIONS, solver=False, keep_tree=False), theirs, games)
        print(f"  {name:34}{told}", flush=True)


def playouts(games: int, seconds: float) -> None:
    """Against alpha-beta with playouts, at equal time."""

    def alpha_beta(seed: int) -> Player:
        agent = AlphaBetaAgent(seed=seed, seconds=seconds, evaluator="playout")
        return lambda state: agent.search_state(as_game(state, backend="environment"), state).action

    for name in PLAYOUTS:
        print(f"  {name:34}{match(name, ours(seconds=seconds), alpha_beta, games)}", flush=True)


PARTS: dict[str, Callable[[int, float], None]] = {"speed": speed, "equal": equal, "playouts": playouts}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all if none is given")
    parser.add_argument("--games", type=int, default=100, help="games a match (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.2, help="a move, in playouts (default: %(default)s)")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"unknown parts: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    for part in given.parts or PARTS:
        print(f"{part}: {PARTS[part].__doc__}")
        PARTS[part](given.games, given.seconds)
