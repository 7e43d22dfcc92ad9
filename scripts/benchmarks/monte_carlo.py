"""Monte Carlo tree search beside OpenSpiel's in C++, and matches by which agents choose and are set."""

from __future__ import annotations

import json
import random
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import pyspiel

from benchmarks.common import Player, match, openings, result_of, searching, taken
from zermelo.agents import AlphaBetaAgent, AutoAgent, MCTSAgent
from zermelo.agents.players.auto import MATCHES
from zermelo.envs import as_game
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
    """Matches of auto against OpenSpiel's search as it comes (with its solver, uct_c 2), at equal time.

    Shown too is the longest that a move of auto took, in seconds.
    """
    totals = [0, 0, 0]
    for name in only:
        source = pyspiel.load_game(name)
        game = as_game(source, backend="environment")
        starts = openings(game, games // 2, 2, source.new_initial_state())
        chosen = AutoAgent(seconds=seconds).search(starts[0]).method
        longest = [0.0]
        cells = match(game, starts, _auto(seconds, longest), _openspiel(source, seconds))
        totals = [sum(pair) for pair in zip(totals, (cells["won"], cells["drawn"], cells["lost"]), strict=True)]
        yield {"game": name, **cells, "longest, s": longest[0], "auto chose": chosen.partition(":")[0]}
    yield {"game": "all", **result_of(*totals), "longest, s": 0.0, "auto chose": ""}


def _auto(seconds: float, longest: list[float]) -> Callable[[int], Player]:
    """Players of OpenSpiel's states, by our rules where there are any; notes the longest time of a move."""

    def make(seed: int) -> Player:
        agent = AutoAgent(seed=seed, seconds=seconds)

        def play(game: Any, state: Any) -> int:
            result = agent.search(state)
            longest[0] = max(longest[0], result.seconds)
            return int(result.env_action)

        return play

    return make


def _openspiel(source: Any, seconds: float) -> Callable[[int], Player]:
    def make(seed: int) -> Player:
        generator = random.Random(seed)
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        bot = pyspiel.MCTSBot(
            source, evaluator, 2.0, 1 << 30, 1000, True, seed, False, max_wall_clock_time=seconds
        )

        def play(game: Any, state: Any) -> int:
            root = bot.mcts_search(state)
            # Its step() reads an action that is not there where time was too short for two simulations.
            return int(root.best_child().action if root.children else generator.choice(state.legal_actions()))

        return play

    return make


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
