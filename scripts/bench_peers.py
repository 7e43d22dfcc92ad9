"""Alpha-beta on Connect Four beside OpenSpiel's in Python and easyAI's: a part of ``scripts/bench_search.py``.

All search the same positions to the same depth, columns from left to right, without a table, windows open at both
ends, and value a position at the depth limit alike: stones in the middle column, the player's less the
opponent's. A node is a call of the search's own recursion, whoever's it is. Times are processor times of whole
calls, so ours pays for starting each search, too.
"""

from __future__ import annotations

import importlib.util
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from zermelo.agents import AlphaBetaAgent
from zermelo.envs.games import ConnectFour
from zermelo.envs.rules import RulesGame

__all__ = ["has", "peers"]

DEPTH = 8
POSITIONS = 4
MIDDLE = 3
STONE = 10
"""What a stone in the middle column is worth, in 1024ths of a win."""


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


class Measured(NamedTuple):
    """What searching all positions took: nodes and processor seconds; the values for the player to move."""

    nodes: int
    seconds: float
    values: list[float]


def has(module: str) -> bool:
    """Whether a peer is installed; says so if not."""
    found = importlib.util.find_spec(module) is not None
    if not found:
        print(f"  ({module} is not installed)")
    return found


def openings(seed: int, count: int) -> list[list[int]]:
    """Columns played to reach positions at plies 0 to 9 in which nobody has won and nobody can at once."""
    generator = random.Random(seed)
    game = RulesGame(ConnectFour())
    found: list[list[int]] = []
    while len(found) < count:
        moves: list[int] = []
        state = game.initial_state()
        for _ in range(2 * len(found) % 10):
            moves.append(generator.choice(game.legal_actions(state)))
            state = game.result(state, moves[-1])
            if game.is_terminal(state):
                break
        if not game.is_terminal(state) and all(
            not game.is_terminal(game.result(state, action)) for action in game.legal_actions(state)
        ):
            found.append(moves)
    return found


def least(runs: int, call: Callable[[], tuple[int, list[float]]]) -> Measured:
    """The quickest of several runs."""
    best: Measured | None = None
    for _ in range(runs):
        started = time.process_time()
        nodes, values = call()
        seconds = time.process_time() - started
        if best is None or seconds < best.seconds:
            best = Measured(nodes, seconds, values)
    assert best is not None, "there is a run at least"
    return best


def zermelo(lines: Sequence[Sequence[int]], depth: int, repeats: int) -> Measured:
    """Ours, as anybody would call it; each position several times over."""
    game = RulesGame(MiddleConnectFour())
    states = []
    for line in lines:
        state = game.initial_state()
        for action in line:
            state = game.result(state, action)
        states.append(state)
    agent = AlphaBetaAgent(
        depth=depth, ordering="fixed", table_mb=0, window="full", sooner=False, ties="first", quiescence=0
    )

    def run() -> tuple[int, list[float]]:
        found = [agent.search_state(game, state) for _ in range(repeats) for state in states]
        return sum(result.nodes for result in found), [result.value for result in found[: len(states)]]

    agent.search_state(game, states[0])  # compiles
    return least(3, run)


def open_spiel(lines: Sequence[Sequence[int]], depth: int) -> Measured:
    """OpenSpiel's alpha-beta, in Python over its states, which are C++."""
    import pyspiel
    from open_spiel.python.algorithms import minimax as theirs

    game = pyspiel.load_game("connect_four")
    states = []
    for line in lines:
        state = game.new_initial_state()
        for action in line:
            state.apply_action(action)
        states.append(state)

    def run(values: list[float]) -> None:
        for state in states:
            seat = state.current_player()

            def value(state: Any, seat: int = seat) -> float:
                moves = state.history()
                return STONE * (moves[seat::2].count(MIDDLE) - moves[1 - seat :: 2].count(MIDDLE)) / 1024

            values.append(theirs.alpha_beta_search(game, state, value, depth, seat)[0])

    return counted(theirs, "_alpha_beta", run)


def easy_ai(lines: Sequence[Sequence[int]], depth: int) -> Measured:
    """EasyAI's negamax with alpha-beta, over a board of NumPy, as in its own example of the game."""
    import sys

    import numpy as np
    from easyAI import AI_Player, Negamax, TwoPlayerGame

    class Four(TwoPlayerGame):  # type: ignore[misc]  # easyAI has no types
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

    return counted(sys.modules["easyAI.AI.Negamax"], "negamax", run)


def counted(module: Any, name: str, run: Callable[[list[float]], None]) -> Measured:
    """Runs a peer once to count the calls of its recursion, and once more to time it as it is."""
    nodes = 0
    inner = getattr(module, name)

    def counting(*args: Any, **named: Any) -> Any:
        nonlocal nodes
        nodes += 1
        return inner(*args, **named)

    values: list[float] = []
    setattr(module, name, counting)
    try:
        run(values)
    finally:
        setattr(module, name, inner)

    def timed() -> tuple[int, list[float]]:
        run([])
        return nodes, values

    return least(2, timed)


def peers() -> None:
    """Alpha-beta at equal depth, of the same positions with the same evaluation, no table, columns in order."""
    lines = openings(1, POSITIONS)
    repeats = 20
    ours = zermelo(lines, DEPTH, repeats)
    rate = ours.nodes / ours.seconds
    print(f"  {'':12}{'depth':>6}{'nodes':>12}{'nodes/s':>14}{'ratio':>8}  values at the roots")
    print(f"  {'zermelo':12}{DEPTH:6}{ours.nodes // repeats:12,}{rate:14,.0f}")
    for module, measure in (("pyspiel", open_spiel), ("easyAI", easy_ai)):
        if has(module):
            theirs = measure(lines, DEPTH)
            speed = theirs.nodes / theirs.seconds
            differ = sum(abs(a - b) > 1e-9 for a, b in zip(ours.values, theirs.values, strict=True))
            told = f"{differ} of {len(lines)} differ" if differ else f"all {len(lines)} equal"
            print(f"  {module:12}{DEPTH:6}{theirs.nodes:12,}{speed:14,.0f}{rate / speed:8,.0f}  {told}")
    deeper = zermelo(lines, DEPTH + 3, 1)
    each = ours.seconds / repeats / len(lines)
    start = each - ours.nodes / repeats / len(lines) / deeper.nodes * deeper.seconds
    print(f"  {'zermelo':12}{DEPTH + 3:6}{deeper.nodes:12,}{deeper.nodes / deeper.seconds:14,.0f}")
    print(
        f"  a search of ours to depth {DEPTH} takes {1000 * each:.2f} ms, {1000 * start:.2f} ms of them to start"
    )
