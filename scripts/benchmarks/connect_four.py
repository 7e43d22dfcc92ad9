"""Connect Four beside other packages: alpha-beta at equal depth."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks.common import counted, fastest, installed
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


Searches = Callable[[list[float]], None]
"""Searches all positions and appends their values for the player to move."""


def open_spiel(lines: Sequence[Sequence[int]], depth: int) -> tuple[Any, str, Searches]:
    """OpenSpiel's alpha-beta, in Python over its states, which are C++."""
    import pyspiel
    from open_spiel.python.algorithms import minimax as theirs

    game, states = pyspiel.load_game("connect_four"), []
    for line in lines:
        states.append(game.new_initial_state())
        for action in line:
            states[-1].apply_action(action)

    def run(values: list[float]) -> None:
        for state in states:
            seat = state.current_player()

            def value(state: Any, seat: int = seat) -> float:
                moves = state.history()
                return STONE * (moves[seat::2].count(MIDDLE) - moves[1 - seat :: 2].count(MIDDLE)) / 1024

            values.append(theirs.alpha_beta_search(game, state, value, depth, seat)[0])

    return theirs, "_alpha_beta", run


def easy_ai(lines: Sequence[Sequence[int]], depth: int) -> tuple[Any, str, Searches]:
    """EasyAI's negamax with alpha-beta, over a board of NumPy, as in its own example of the game."""
    import numpy as np
    from easyAI import AI_Player, Negamax, TwoPlayerGame

    class Four(TwoPlayerGame):
        def __init__(self, players: Any, line: Sequence[int]) -> None:
            self.players, self.current_player = players, 1
            self.board = np.zeros((6, 7), int)
            for column in line:
                self.make_move(column)
                self.switch_player()

        def possible_moves(self) -> list[int]:
            return [column for column in range(7) if self.board[:, column].min() == 0]

        def make_move(self, column: int) -> None:
            self.board[np.argmin(self.board[:, column] != 0), column] = self.current_player

        def lose(self) -> bool:
            stones = self.board == self.opponent_index
            across = (stones[:, :-3] & stones[:, 1:-2] & stones[:, 2:-1] & stones[:, 3:]).any()
            up = (stones[:-3] & stones[1:-2] & stones[2:-1] & stones[3:]).any()
            rising = (stones[:-3, :-3] & stones[1:-2, 1:-2] & stones[2:-1, 2:-1] & stones[3:, 3:]).any()
            falling = (stones[3:, :-3] & stones[2:-1, 1:-2] & stones[1:-2, 2:-1] & stones[:-3, 3:]).any()
            return bool(across or up or rising or falling)

        def is_over(self) -> bool:
            return self.lose() or self.board.min() > 0

        def scoring(self) -> int:
            if self.lose():
                return -1024
            middle = self.board[:, MIDDLE]
            return STONE * int((middle == self.current_player).sum() - (middle == self.opponent_index).sum())

    algorithm = Negamax(depth)
    games = [Four([AI_Player(algorithm), AI_Player(algorithm)], line) for line in lines]

    def run(values: list[float]) -> None:
        for game in games:
            game.player.ask_move(game)
            values.append(max(min(algorithm.alpha / 1024, 1.0), -1.0))  # it adds a little to sooner wins

    return sys.modules["easyAI.AI.Negamax"], "negamax", run


def alphabeta(depth: int = 8, positions: int = 4, repeats: int = 20) -> Iterator[dict[str, Any]]:
    """Alpha-beta at equal depth, of the same positions with the same evaluation, beside OpenSpiel and easyAI.

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
    for module, peer in (("pyspiel", open_spiel), ("easyAI", easy_ai)):
        if installed(module):
            *recursion, run = peer(lines, depth)
            nodes, values = counted(*recursion, run)
            (seconds,) = fastest(2, lambda run=run: run([]))
            equal = sum(abs(a - b) < 1e-9 for a, b in zip(expected, values, strict=True))
            told = {"ratio": f"{ours / (nodes / seconds):,.0f}", "values": f"{equal} of {len(lines)} equal"}
            yield {"search": module, "depth": depth, "nodes": nodes, "nodes/s": nodes / seconds, **told}
