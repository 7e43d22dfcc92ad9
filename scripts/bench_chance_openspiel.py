#!/usr/bin/env python
"""Expectiminimax beside OpenSpiel's: nodes, time and values of unpruned searches through dice.

    python scripts/bench_chance_openspiel.py [--positions 12] [--depth 3] [--plain 40000]

OpenSpiel's nodes are counted as ``scripts/bench_chance.py`` counts ours, as calls of its function. It is called on
its own game, for nodes, time and values, and on ours, where values must be equal. On its own backgammon some may
differ: a search may end in the midst of a double, whose four plays it splits otherwise. For time every leaf is
worth nothing, which costs neither side anything. Positions are random ones, seeded; time is processor time.
"""

from __future__ import annotations

import importlib.util
import random
import re
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bench_chance import Found, arguments, rate, require

from zermelo.agents.compiled.general.search import CompiledGeneralSearch
from zermelo.agents.compiled.program import compiled_search
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.agents.evaluators import make_evaluator
from zermelo.envs import CHANCE
from zermelo.envs.games import Backgammon, EinStein, Pig
from zermelo.envs.games.backgammon.rules import BackgammonState
from zermelo.envs.games.einstein import EinSteinState
from zermelo.envs.rules import RulesGame

EVALUATOR, NOTHING = make_evaluator("game"), make_evaluator("rewards")


class PipsBackgammon(Backgammon):
    """Backgammon evaluated by pips, which are quickly counted on any board."""

    __slots__ = ()

    def evaluation(self, state: Any, seat: int) -> int:
        """Pips ahead."""
        ahead = 0
        for place in range(1, 26):
            word, shift = (0, 4 * place) if place < 13 else (1, 4 * (place - 13))
            ahead += place * ((state[2 + word] >> shift & 15) - (state[word] >> shift & 15))
        return ahead if seat == state.seat else -ahead


class Peer(NamedTuple):
    """A game that OpenSpiel has too.

    Attributes:
        name: OpenSpiel's.
        rules: Ours.
        depths: To search.
        pair: The same random position, ours and theirs.
        worth: Of their position, for our first player: what our rules' evaluation says of it.
        seats: Our number of each of their players.
    """

    name: str
    rules: Any
    depths: Sequence[int]
    pair: Callable[[Any, random.Random], tuple[Any, Any]]
    worth: Callable[[Any], float]
    seats: tuple[int, int]


def random_walk(theirs: Any, generator: random.Random, longest: int) -> Any:
    """A random position of theirs in which a player has a choice."""
    while True:
        state, left = theirs.new_initial_state(), generator.randrange(longest)
        while not state.is_terminal() and (left > 0 or state.is_chance_node()):
            left -= not state.is_chance_node()
            state.apply_action(generator.choice(state.legal_actions()))
        if not state.is_terminal() and len(state.legal_actions()) > 1:
            return state


def checkers(state: Any) -> list[list[int]]:
    """In their backgammon, how many checkers each player has off, on its points, and on the bar."""
    found = []
    for player in (0, 1):
        points = [state.board(player, 24 - point if player == 0 else point - 1) for point in range(1, 25)]
        points.append(state.board(player, 100))
        found.append([15 - sum(points), *points])
    return found


def backgammon_pair(theirs: Any, generator: random.Random) -> tuple[Any, Any]:
    while True:
        state = random_walk(theirs, generator, 60)
        shown = re.search(r"Dice: (\d)(\d)", str(state))
        assert shown is not None
        low, high = sorted(map(int, shown.groups()))
        if low == high:  # OpenSpiel does not show in which half of a double it is
            continue
        seat = state.current_player()
        words = []
        for side in checkers(state) if seat == 0 else checkers(state)[::-1]:
            words.append(sum(n << 4 * place for place, n in enumerate(side[:13])))
            words.append(sum(n << 4 * place for place, n in enumerate(side[13:])))
        return BackgammonState(words[0], words[1], words[2], words[3], seat, 8 * high + low), state


def backgammon_worth(state: Any) -> float:
    first, second = (sum(place * n for place, n in enumerate(side)) for side in checkers(state))
    return (second - first) / 1024


def stones(state: Any) -> tuple[int, int]:
    """In their EinStein, our first and second player's stones."""
    cells = re.findall(r"\|(..)\|", str(state))
    where = {cell: 24 - index for index, cell in enumerate(cells)}
    first, second = (sum(where.get(f"{side}{s + 1}", 63) << 6 * s for s in range(6)) for side in "wb")
    return first, second


def einstein_pair(theirs: Any, generator: random.Random) -> tuple[Any, Any]:
    while True:
        state = theirs.new_initial_state()
        for _ in range(2):
            state.apply_action(generator.choice(state.legal_actions()))
        face, left = 0, generator.randrange(20)
        while not state.is_terminal() and (left > 0 or state.is_chance_node()):
            left -= not state.is_chance_node()
            action = generator.choice(state.legal_actions())
            face = action + 1 if state.is_chance_node() else 0
            state.apply_action(action)
        if not state.is_terminal() and len(state.legal_actions()) > 1:
            return EinSteinState(*stones(state), 12, 1 - state.current_player(), face), state


def einstein_worth(state: Any) -> float:
    return EinStein(random_start=True).evaluation(EinSteinState(*stones(state), 12, 0, 0), 0) / 1024


def pig_pair(theirs: Any, generator: random.Random) -> tuple[Any, Any]:
    state = random_walk(theirs, generator, 60)
    game = RulesGame(Pig())
    ours = game.initial_state()
    for action in state.history():
        ours = game.result(ours, action)
    return ours, state


def pig_worth(state: Any) -> float:
    first, second, turn, player = map(int, re.findall(r"\d+", str(state)))
    ahead = first - second + (turn if player == 0 else -turn)
    return int(1000 * ahead / 100) / 1024


class Adapted:
    """Our game as OpenSpiel's function sees a state."""

    def __init__(self, game: Any, state: Any) -> None:
        self.game, self.state = game, state

    def clone(self) -> Adapted:
        """A copy."""
        return Adapted(self.game, self.state)

    def apply_action(self, action: int) -> None:
        """Plays, or lets chance have its way."""
        self.state = self.game.result(self.state, action)

    def is_terminal(self) -> bool:
        """Whether the game has ended."""
        return bool(self.game.is_terminal(self.state))

    def player_return(self, player: int) -> float:
        """What a player got."""
        return float(self.game.utility(self.state)[player])

    def is_chance_node(self) -> bool:
        """Whether chance is to move."""
        return self.current_player() == CHANCE

    def current_player(self) -> int:
        """The player to move."""
        return int(self.game.to_move(self.state))

    def chance_outcomes(self) -> Any:
        """Outcomes and their probabilities."""
        return self.game.chance_outcomes(self.state)

    def legal_actions(self) -> Any:
        """The legal actions."""
        return self.game.legal_actions(self.state)


def whole_trees(game: Any, states: Sequence[Any], depth: int, evaluator: Any) -> Found:
    """Values and nodes of our unpruned search, each tree in one call as OpenSpiel's function searches it."""
    values, nodes, seconds = [], 0, 0.0
    limits = Limits(depth=depth)
    for state in states:
        budget = Budget(limits)
        searching = compiled_search(CompiledGeneralSearch, game, evaluator, budget, limits=limits, at_chance=True)
        assert searching is not None
        started = time.process_time()
        found = searching.visit(state, depth, *searching.window(state), 0)
        seconds += time.process_time() - started
        values.append(float(found.score[0]))
        nodes += budget.nodes
    return Found(values, nodes, seconds)


def openspiel(count: int, deepest: int, plainest: int) -> None:
    """Unpruned, beside OpenSpiel's expectiminimax: the same values, and nodes a second."""
    if importlib.util.find_spec("pyspiel") is None:
        print("  (OpenSpiel is not installed)")
        return
    import pyspiel
    from open_spiel.python.algorithms import minimax as algorithms

    whole = algorithms.expectiminimax

    def counted(state: Any, depth: int, worth: Callable[[Any], float]) -> tuple[float, int]:
        """The value for the player to move, and the calls that it took."""
        calls = 0

        def counting(*args: Any) -> Any:
            nonlocal calls
            calls += 1
            return whole(*args)

        algorithms.expectiminimax = counting
        try:
            return float(counting(state, depth, worth, state.current_player())[0]), calls
        finally:
            algorithms.expectiminimax = whole

    peers = [
        Peer(
            "backgammon",
            PipsBackgammon(),
            range(1, min(deepest, 2) + 1),
            backgammon_pair,
            backgammon_worth,
            (0, 1),
        ),
        Peer(
            "einstein_wurfelt_nicht",
            EinStein(random_start=True),
            range(2, deepest + 2),
            einstein_pair,
            einstein_worth,
            (1, 0),
        ),
        Peer("pig", Pig(), range(3, 2 * deepest + 1), pig_pair, pig_worth, (0, 1)),
    ]
    head = f"  {'game, depth':26}{'their nodes':>12}{'nodes/s':>12}{'our nodes':>12}{'nodes/s':>13}{'ratio':>7}"
    print(f"{head}{'equal':>10}{'on ours':>10}")
    for peer in peers:
        theirs, game, generator = pyspiel.load_game(peer.name), RulesGame(peer.rules), random.Random(2)
        pairs = [peer.pair(theirs, generator) for _ in range(count)]
        states = [ours for ours, _ in pairs]
        for depth in peer.depths:
            values = whole_trees(game, states, depth, EVALUATOR).values
            nodes = equal = on_ours = checked = 0
            for value, (ours, state) in zip(values, pairs, strict=True):
                sign = 1 if peer.seats[state.current_player()] == 0 else -1

                def worth(leaf: Any, sign: int = sign, peer: Peer = peer) -> float:
                    return sign * peer.worth(leaf)

                def worth_of_ours(leaf: Any, sign: int = sign, game: Any = game) -> float:
                    return sign * float(game.evaluation(leaf.state)[0])

                expected, calls = counted(state, depth, worth)
                nodes += calls
                equal += abs(sign * expected - value) < 1e-9
                if calls <= plainest:
                    expected, _ = counted(Adapted(game, ours), depth, worth_of_ours)
                    checked += 1
                    on_ours += abs(sign * expected - value) < 1e-9
            required = on_ours == checked and (equal == count or peer.name == "backgammon")
            require(required, f"values differ from OpenSpiel's in {peer.name} at depth {depth}")
            seconds = ours_seconds = float("inf")
            for _ in range(3):
                started = time.process_time()
                for _, state in pairs:
                    whole(state, depth, lambda leaf: 0.0, state.current_player())
                seconds = min(seconds, time.process_time() - started)
                again = whole_trees(game, states, depth, NOTHING)
                ours_seconds = min(ours_seconds, again.seconds)
            ratio = (again.nodes / ours_seconds) / (nodes / seconds)
            print(
                f"  {peer.name + ' ' + str(depth):26}{nodes:12,}{rate(nodes, seconds):>12}{again.nodes:12,}"
                f"{rate(again.nodes, ours_seconds):>13}{ratio:7.1f}{f'{equal} of {count}':>10}"
                f"{f'{on_ours} of {checked}':>10}",
                flush=True,
            )


if __name__ == "__main__":
    print(openspiel.__doc__)
    openspiel(*arguments(__doc__, None))
