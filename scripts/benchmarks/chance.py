"""Searches through chance: what pruning leaves of expectiminimax, scores at 2048, matches at backgammon."""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.common import fastest
from zermelo.agents import ExpectiminimaxAgent, make_agent
from zermelo.envs import CHANCE, as_game
from zermelo.envs.games import Backgammon, EinStein, Game2048, Pig
from zermelo.envs.registration.make import make
from zermelo.envs.rules import RulesGame

WAYS: dict[str, dict[str, Any]] = {
    "unpruned": {},
    "Star1": {"pruning": "star1"},
    "Star2": {"pruning": "star2"},
    "Star2, table": {"pruning": "star2", "memory_mb": 16},
}


def random_positions(game: Any, seed: int, count: int, longest: int) -> list[Any]:
    """Unfinished positions with a choice, after some random moves and rolls."""
    generator = random.Random(seed)
    found: list[Any] = []
    while len(found) < count:
        state, left = game.initial_state(), generator.randrange(longest)
        while not game.is_terminal(state) and (left > 0 or game.to_move(state) == CHANCE):
            if game.to_move(state) == CHANCE:
                outcomes, chances = zip(*game.chance_outcomes(state), strict=True)
                state = game.result(state, generator.choices(outcomes, chances)[0])
            else:
                left -= 1
                state = game.result(state, generator.choice(game.legal_actions(state)))
        if not game.is_terminal(state) and len(game.legal_actions(state)) > 1:
            found.append(state)
    return found


def pruning(positions: int = 12, depth: int = 3) -> Iterator[dict[str, Any]]:
    """What Star1 and Star2 leave of the nodes of expectiminimax, by game and depth.

    The depth is that of backgammon; other games go further. Pruned searches deepen step by step and order moves as
    agents do by default. The script stops if a value differs from that of the unpruned search.
    """
    games = [
        (Backgammon(), range(1, depth + 1), 40),
        (EinStein(), range(2, depth + 3), 30),
        (Pig(), range(2, 2 * depth + 1, 2), 60),
    ]
    for rules, depths, longest in games:
        game = RulesGame(rules)
        states = random_positions(game, 1, positions, longest)
        for deep in depths:
            expected: list[float] = []
            unpruned = 0
            for way, settings in WAYS.items():
                given: dict[str, Any] = {"depth": deep, "chance_at_limit": "evaluate", "memory_mb": 0, **settings}
                agent = ExpectiminimaxAgent(**given)

                def search(agent: Any = agent, game: Any = game, states: Any = states) -> list[Any]:
                    return [agent.search_state(game, state) for state in states]

                results = search()  # compiles
                (seconds,) = fastest(3, search)
                nodes, values = sum(result.nodes for result in results), [result.value for result in results]
                expected, unpruned = expected or values, unpruned or nodes
                if any(abs(a - b) > 1e-9 for a, b in zip(values, expected, strict=True)):
                    raise SystemExit(f"{way} at depth {deep} of {game.traits.name} changes a value: a defect")
                row = {"game, depth": f"{type(rules).__name__} {deep}", "search": way, "nodes": nodes}
                yield {**row, "share %": 100 * nodes / unpruned, "seconds": seconds, "nodes/s": nodes / seconds}


def _score(depth: int, seed: int) -> tuple[int, int, int, float]:
    """The score of a game of 2048, the exponent of its largest tile, its moves, and its seconds."""
    rules, generator, started, moves = Game2048(), random.Random(seed), time.perf_counter(), 0
    agent, game = ExpectiminimaxAgent(depth=depth), RulesGame(rules)
    state = game.initial_state()
    while not game.is_terminal(state):
        if state.tiles_to_come:
            outcomes, chances = zip(*game.chance_outcomes(state), strict=True)
            state = game.result(state, generator.choices(outcomes, chances)[0])
        else:
            state = game.result(state, agent.search_state(game, state).action)
            moves += 1
    return state.score, int(rules.tiles(state).max()), moves, time.perf_counter() - started


def tiles(games: int = 100, depths: tuple[int, ...] = (1, 2, 3), workers: int = 2) -> Iterator[dict[str, Any]]:
    """Scores of 2048 by expectiminimax of some depths, with 95 % intervals, and games with the largest tiles."""
    for depth in depths:
        with ProcessPoolExecutor(workers) as pool:
            found = np.array(list(pool.map(functools.partial(_score, depth), range(games))))
        scores, largest, moves, seconds = found.T
        half = 1.96 * scores.std(ddof=1) / games**0.5
        yield {
            "depth": depth,
            "games": games,
            "mean score": f"{scores.mean():,.0f} ± {half:,.0f}",
            "median": float(np.median(scores)),
            **{f"{1 << tile:,} %": 100 * float(np.mean(largest >= tile)) for tile in (13, 14, 15)},
            "ms a move": 1000 * float(seconds.sum() / moves.sum()),
        }


def _points(first: str, second: str, seed: int) -> tuple[float, float]:
    """The points of the first agent in a game of backgammon, and what is left of them without the luck of rolls.

    The luck of a roll is by how much it is better than the average of all, as a search one move deep values them.
    """
    env = make("zermelo/Backgammon-v0(most_points=3)")
    env.reset(seed=seed)
    game, judge, ours, luck = as_game(env), ExpectiminimaxAgent(depth=1), seed % 2, 0.0
    agents = [make_agent(second if seat ^ ours else first) for seat in (0, 1)]
    state = game.initial_state()
    while not game.is_terminal(state):
        if game.to_move(state) == CHANCE:
            outcomes, chances = zip(*game.chance_outcomes(state), strict=True)
            rolled = [game.result(state, outcome) for outcome in outcomes]
            values = [judge.search_state(game, after).value * (1 - 2 * (after.seat ^ ours)) for after in rolled]
            state = game.snapshot(env)
            luck += values[rolled.index(state)] - float(np.dot(chances, values))
        action = agents[game.to_move(state)].act(env)
        env.step(action)
        state = game.result(state, action)
    points = game.utility(state)[ours]
    return points, points - luck


def games_of_backgammon(first: str, second: str, games: int, workers: int) -> npt.NDArray[np.float64]:
    """The points of the first agent in each game, and those without luck; an array of shape (games, 2)."""
    with ProcessPoolExecutor(workers) as pool:
        return np.array(list(pool.map(functools.partial(_points, first, second), range(games), chunksize=10)))


def backgammon(
    first: str = "expectiminimax(depth=2)",
    second: str = "gnubg(level=expert)",
    games: int = 2000,
    workers: int = 2,
) -> Iterator[dict[str, Any]]:
    """Mean points a game of one agent against another at backgammon, and those without the luck of the rolls.

    Luck is 0 on average, however it is measured; without it the 95 % interval is several times as narrow.
    """
    found = games_of_backgammon(first, second, games, workers)
    half = 1.96 * found.std(axis=0, ddof=1) / games**0.5
    (points, rest), (wide, narrow) = found.mean(axis=0), half
    yield {
        "agents": f"{first}, {second}",
        "games": games,
        "points": f"{points:+.3f} ± {wide:.3f}",
        "without luck": f"{rest:+.3f} ± {narrow:.3f}",
    }
