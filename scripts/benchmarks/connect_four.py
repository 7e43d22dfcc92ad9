"""Connect Four beside OpenSpiel: alpha-beta at equal depth."""

from __future__ import annotations

import random
import unittest.mock
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks.common import fastest, installed
from zermelo.agents import AlphaBetaAgent
from zermelo.envs.games import ConnectFour
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.scores import WIN

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


def alphabeta(depth: int = 8, positions: int = 4, repeats: int = 20) -> Iterator[dict[str, Any]]:
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
            depth=deeper, ordering="fixed", memory_mb=0, window="full", sooner=False, ties="first", quiescence=0
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
