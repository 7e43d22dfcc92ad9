"""Searches of games for two beside OpenSpiel's, and the matches by which ``auto`` chooses between them."""

from __future__ import annotations

import json
import random
import statistics
import unittest.mock
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks.common import fastest, installed, match, result_of, taken
from zermelo.agents import AlphaBetaAgent, MCTSAgent
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
from zermelo.envs.rules.scores import WIN

Rows = Iterator[dict[str, Any]]

# -- alpha-beta of Connect Four

GAME = RulesGame(ConnectFour())
MIDDLE = 3
STONE = 10
"""Value of a stone in the middle column, in 1024ths of a win."""


class MiddleConnectFour(ConnectFour):
    """Connect Four with the simplest of evaluations."""

    __slots__ = ()

    def evaluation(self, state: Any, seat: int) -> int:
        """Stones in the middle column, the seat's less the other's."""
        column = ((1 << self.rows) - 1) << (MIDDLE * (self.rows + 1))
        mine = state.mover if seat == self.to_move(state) else state.mover ^ state.stones
        difference = 0
        for row in range(self.rows):
            square = 1 << (MIDDLE * (self.rows + 1) + row)
            if state.stones & column & square:
                difference += 1 if mine & square else -1
        return STONE * difference


def position(moves: Sequence[int]) -> Any:
    """The state after these columns."""
    state = GAME.initial_state()
    for action in moves:
        state = GAME.result(state, action)
    return state


def random_moves(seed: int, count: int, plies: Callable[[int], int]) -> list[list[int]]:
    """Columns to positions, the n-th after ``plies(n)``, in which nobody has won or wins at once."""
    generator, found = random.Random(seed), []
    while len(found) < count:
        moves: list[int] = []
        state = GAME.initial_state()
        while len(moves) < plies(len(found)) and not GAME.is_terminal(state):
            moves.append(generator.choice(GAME.legal_actions(state)))
            state = GAME.result(state, moves[-1])
        if not GAME.is_terminal(state) and GAME.rules.bounds(state)[1] < WIN - 1:
            found.append(moves)
    return found


def open_spiel(lines: Sequence[Sequence[int]], depth: int) -> tuple[int, list[float], float]:
    """Nodes, values and seconds of OpenSpiel's alpha-beta, in Python over its states, which are C++."""
    import pyspiel
    from open_spiel.python.algorithms import minimax as theirs

    game = pyspiel.load_game("connect_four")

    def search(line: Sequence[int]) -> float:
        state = game.new_initial_state()
        for action in line:
            state.apply_action(action)
        seat = state.current_player()

        def value(state: Any) -> float:
            moves = state.history()
            return STONE * (moves[seat::2].count(MIDDLE) - moves[1 - seat :: 2].count(MIDDLE)) / 1024

        return float(theirs.alpha_beta_search(game, state, value, depth, seat)[0])

    with unittest.mock.patch.object(theirs, "_alpha_beta", wraps=theirs._alpha_beta) as recursion:
        values = [search(line) for line in lines]
    (seconds,) = fastest(2, lambda: [search(line) for line in lines])
    return recursion.call_count, values, seconds


def alphabeta(depth: int = 8, positions: int = 4, repeats: int = 20) -> Rows:
    """Alpha-beta at equal depth, of the same positions with the same evaluation, beside OpenSpiel.

    All search columns from left to right, without a table, windows open at both ends, and value a position at the
    depth limit by the stones in the middle column. A node is a call of the search's own recursion. Times are
    processor times of whole calls, so ours pays for starting each search, which weighs less in the deeper one.
    """
    lines = random_moves(1, min(positions, 28), lambda number: 2 * number % 10)
    game, states = RulesGame(MiddleConnectFour()), [position(line) for line in lines]
    expected: list[float] = []
    ours = 0.0
    for deeper, times in ((depth, repeats), (depth + 3, 1)):
        agent = AlphaBetaAgent(
            depth=deeper,
            ordering="fixed",
            memory_mb=0,
            window="full",
            prefer_short_wins=False,
            ties="first",
            quiescence=0,
        )
        found = [agent.search_state(game, state) for state in states]  # compiles
        (seconds,) = fastest(
            3, lambda a=agent, n=times: [a.search_state(game, s) for _ in range(n) for s in states]
        )
        nodes = sum(result.nodes for result in found)
        rate = nodes * times / seconds
        if not expected:
            ours, expected = rate, [result.value for result in found]
        yield {"search": "zermelo", "depth": deeper, "nodes": nodes, "nodes/s": rate, "ratio": "", "values": ""}
    if installed("pyspiel"):
        nodes, values, seconds = open_spiel(lines, depth)
        equal = sum(abs(a - b) < 1e-9 for a, b in zip(expected, values, strict=True))
        cells = {"ratio": f"{ours / (nodes / seconds):,.0f}", "values": f"{equal} of {len(lines)} equal"}
        yield {"search": "pyspiel", "depth": depth, "nodes": nodes, "nodes/s": nodes / seconds, **cells}


# -- Monte Carlo tree search

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


def mcts(only: tuple[str, ...] = tuple(SPEED), rounds: int = 5, share: float = 1.0) -> Rows:
    """Simulations a second of processor time from the start position, without a solver, in one thread.

    The best of the rounds, in which both searches take turns, and the median of the rounds' ratios; ``share`` is
    the part of the usual simulations.
    """
    import pyspiel

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
