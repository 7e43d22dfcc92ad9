"""Hanabi: points of teams by conventions, and with search on top."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from zermelo.agents import make_agent
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits
from zermelo.envs import as_game, make_env
from zermelo.evaluation.stats.score_interval import student_interval


def _game(players: int) -> Any:
    env = make_env(f"classic/hanabi-v5(players={players}, hand_size={5 if players < 4 else 4})")
    env.reset(seed=0)
    return as_game(env)


def _mean(points: Any) -> str:
    low, high = student_interval(list(map(float, points)))
    return f"{np.mean(points):.2f} ({low:.2f} to {high:.2f})"


def hanabi(games: int = 1_000, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Mean points of teams that play by one convention, with 95 % intervals, and games a second of processor time.

    PettingZoo's environment takes all points away with the last life; "points kept" counts them.
    """
    for convention in ("smart", "hats"):
        for players in (2, 3, 4, 5):
            game, agent = _game(players), make_agent(f"hanabi(convention={convention})")
            made: Any = agent
            policy, started = made.blueprint(game, Budget(Limits())), time.process_time()
            points, lives = policy.play_on(game.initial_state(), samples=games, seed=seed)
            rate = games / (time.process_time() - started)
            scored = np.where(lives > 0, points, 0)[:, 0]
            row = {"convention": convention, "players": players, "points": _mean(scored)}
            row |= {"points kept": _mean(points[:, 0]), "perfect": f"{np.mean(scored == 25):.0%}"}
            yield row | {"games a second": f"{rate:,.0f}"}


def hanabi_search(
    games: int = 200, players: int = 2, search: str = "sparta(samples=100)", searching: int = 1, seed: int = 1
) -> Iterator[dict[str, Any]]:
    """Points gained by players who search while the others play the blueprint, on the same decks."""
    game, agent, usual = _game(players), make_agent(search), make_agent("hanabi")
    gains, totals, spent = [], [], 0.0
    for number in range(games):
        points = []
        for seats in (range(searching), ()):
            started = time.process_time()
            points.append(_points(game, agent, usual, seats, seed + number))
            spent += (time.process_time() - started) * bool(seats)
        gains.append(points[0] - points[1])
        totals.append(points)
    row = {
        "players": players,
        "searching": searching,
        "search": f"`{search}`",
        "blueprint": _mean([p for _, p in totals]),
    }
    row |= {"with search": _mean([p for p, _ in totals]), "gain": _mean(gains)}
    yield row | {"games": games, "seconds a game": f"{spent / games:.1f}"}


def _points(game: Any, agent: Any, usual: Any, searching: Any, seed: int) -> float:
    """The points of one game, with cards that depend on the seed and on how many were dealt before."""
    chance, state = random.Random(seed), game.initial_state()
    agent.reset(seed)
    while not game.is_terminal(state):
        if outcomes := game.chance_outcomes(state):
            state = game.result(state, chance.choices(*zip(*outcomes, strict=True))[0])
        else:
            mover = agent if game.to_move(state) in searching else usual
            state = game.result(state, mover.search_state(game, state).action)
    return float(game.utility(state)[0])
