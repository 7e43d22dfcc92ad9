"""Monte Carlo tree search beside OpenSpiel's in C++, and matches by which agents choose and are set."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from typing import Any

import pyspiel

from benchmarks.common import match, openings, searching, taken
from zermelo.agents import AlphaBetaAgent, MCTSAgent
from zermelo.agents.players.matches import MATCHES
from zermelo.envs.games import (
    MNK,
    Amazons,
    Breakthrough,
    Chess,
    ConnectFour,
    Domineering,
    DotsAndBoxes,
    Hex,
    Hexapawn,
    Isolation,
    Kalah,
    Othello,
    Oware,
)
from zermelo.envs.rules import RulesGame

SPEED = {
    "tic_tac_toe": (MNK(m=3, n=3, k=3), 300_000),
    "connect_four": (ConnectFour(), 200_000),
    "othello": (Othello(), 40_000),
    "breakthrough": (Breakthrough(), 40_000),
    "mancala": (Kalah(), 100_000),
}
WEIGHTS = {
    "connect_four": ConnectFour(),
    "othello 6x6": Othello(6, 6),
    "oware": Oware(),
    "hex 7x7": Hex(7, 7),
    "breakthrough 6x6": Breakthrough(6, 6),
    "kalah": Kalah(),
}
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


def mcts_choice(only: tuple[str, ...] = tuple(map(str, CHOICE)), games: int = 100, seconds: float = 0.2) -> Rows:
    """Matches of Monte Carlo against alpha-beta at equal time, both as auto sets them.

    Writes agents/players/matches.json, by which auto chooses.
    """
    shares = json.loads(MATCHES.read_text())
    alpha_beta = searching(AlphaBetaAgent, seconds=seconds, selective="game", reuse=True)
    for rules in CHOICE:
        if str(rules) in only:
            game = RulesGame(rules)
            starts = openings(game, games // 2, 2)
            cells = match(game, starts, searching(MCTSAgent, seconds=seconds), alpha_beta)
            shares[str(rules)] = round((cells["won"] + cells["drawn"] / 2) / max(2 * len(starts), 1), 3)
            MATCHES.write_text(json.dumps(shares, indent=2, sort_keys=True) + "\n")
            yield {"rules": str(rules), **cells}


def mcts_weights(only: tuple[str, ...] = tuple(WEIGHTS), games: int = 100, simulations: int = 300) -> Rows:
    """Matches of exploration 0.5 against exploration 1, at equal simulations, and at ten times as many."""
    for name in only:
        game = RulesGame(WEIGHTS[name])
        starts = openings(game, games // 2, 4)
        for count in (simulations, 10 * simulations):
            players = [
                searching(MCTSAgent, simulations=count, exploration=weight, reuse=False) for weight in (0.5, 1.0)
            ]
            yield {"game": name, "simulations": count, **match(game, starts, *players)}
