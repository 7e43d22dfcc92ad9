"""Monte Carlo tree search beside OpenSpiel's in C++, and matches by which agents choose and are set."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from typing import Any

import pyspiel

from benchmarks.common import match, result_of, taken
from zermelo.agents import MCTSAgent
from zermelo.agents.auto import MATCHES
from zermelo.envs.games import (
    MNK,
    Amazons,
    Breakthrough,
    Chess,
    ConnectFour,
    Domineering,
    DotsAndBoxes,
    Hexapawn,
    Isolation,
    Kalah,
    Othello,
    Oware,
)
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.env import RulesEnv

SPEED = {
    "tic_tac_toe": (MNK(m=3, n=3, k=3), 300_000),
    "connect_four": (ConnectFour(), 200_000),
    "othello": (Othello(), 40_000),
    "breakthrough": (Breakthrough(), 40_000),
    "mancala": (Kalah(), 100_000),
}
OPENSPIEL = (
    "y(board_size=9)", "havannah", "nine_mens_morris", "checkers", "quoridor", "quoridor(board_size=5)",
    "antichess", "chinese_checkers", "crazyhouse", "cursor_go(board_size=9)", "gomoku", "hive", "lines_of_action",
    "shogi", "twixt", "ultimate_tic_tac_toe", "xiangqi", "amazons", "hex(board_size=7)", "clobber",
)  # fmt: skip
"""Games of OpenSpiel for two players without chance who see everything; only the last three have rules of ours."""
CHOICE = (
    Amazons(), Amazons(6), Breakthrough(), Chess(), ConnectFour(), Domineering(), DotsAndBoxes(), Hexapawn(),
    Isolation(), Kalah(), MNK(), Othello(), Oware(),
)  # fmt: skip
"""Rules with an evaluation, for two players without chance."""

Rows = Iterator[dict[str, Any]]


def mcts(only: tuple[str, ...] = tuple(SPEED), rounds: int = 5, share: float = 1.0) -> Rows:
    """Simulations a second of processor time from the start position, without a solver, in one thread.

    The best of the rounds, in which both searches take turns, and the median of the rounds' ratios; ``share`` is
    the part of the usual simulations.
    """
    for name in only:
        rules, count = SPEED[name][0], int(SPEED[name][1] * share)
        game, theirs = RulesGame(rules), pyspiel.load_game(name)
        state = game.initial_state()
        agent = MCTSAgent(simulations=count, solver=False)
        agent.search_state(game, state)  # compiles
        bots = [
            pyspiel.MCTSBot(
                theirs, pyspiel.RandomRolloutEvaluator(1, seed), 2.0, count // 10, 1000, False, seed, False
            )
            for seed in range(rounds)
        ]

        def ours(agent: Any = agent, game: Any = game, state: Any = state) -> None:
            agent.reset(0)
            agent.search_state(game, state)

        own, others = taken(
            rounds, ours, lambda bots=bots, theirs=theirs: bots.pop().mcts_search(theirs.new_initial_state())
        )
        ratio = statistics.median(10 * other / mine for mine, other in zip(own, others, strict=True))
        yield {"game": name, "ours": count / min(own), "theirs": count // 10 / min(others), "ratio": ratio}


def mcts_openspiel(only: tuple[str, ...] = OPENSPIEL, games: int = 20, seconds: float = 0.2) -> Rows:
    """Matches of auto against OpenSpiel's search as it comes (with its solver, uct_c 2), at equal time."""
    totals = [0, 0, 0]
    for name in only:
        cells = match(f"openspiel/{name}", f"auto(seconds={seconds})", f"openspiel_mcts(seconds={seconds})", games)
        totals = [sum(pair) for pair in zip(totals, (cells["won"], cells["drawn"], cells["lost"]), strict=True)]
        yield {"game": name, **cells}
    yield {"game": "all", **result_of(*totals)}


def mcts_choice(only: tuple[str, ...] = tuple(map(str, CHOICE)), games: int = 100, seconds: float = 0.2) -> Rows:
    """Matches of Monte Carlo against alpha-beta at equal time, both as auto sets them.

    Writes agents/matches.json, by which auto chooses.
    """
    shares = json.loads(MATCHES.read_text())
    agents = f"mcts(seconds={seconds})", f"alphabeta(seconds={seconds}, selective=game, reuse=true)"
    for rules in CHOICE:
        if str(rules) in only:
            cells = match(RulesEnv(rules), *agents, games)
            shares[str(rules)] = round((cells["won"] + cells["drawn"] / 2) / games, 3)
            MATCHES.write_text(json.dumps(shares, indent=2, sort_keys=True) + "\n")
            yield {"rules": str(rules), **cells}
