"""Chess against Stockfish at a given rating, from balanced openings."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.common import result_of
from zermelo.agents import AlphaBetaAgent
from zermelo.agents.base.clock import GameClock
from zermelo.agents.policies.uci import UciAgent
from zermelo.envs.games import Chess
from zermelo.envs.registration.make import make
from zermelo.envs.rules.rules_game import RulesGame

OPENINGS = Path(__file__).with_name("chess_openings.json")
"""Moves, as action numbers, that lead to fifty positions in which neither side is much better (``chess_book``)."""
LONGEST = 400
"""Games of more moves are drawn."""
BALANCED = 0.06
"""The largest value, in the game's utility, of a balanced position: a quarter of a pawn."""
Rows = Iterator[dict[str, Any]]


class Timing(NamedTuple):
    """Seconds for a move; or, if there is a clock, for a game, and for each move on top."""

    seconds: float
    clock: float
    increment: float


def chess_book(openings: int = 50, plies: int = 8, nodes: int = 300_000) -> Rows:
    """Balanced openings of random moves by our own search, none of which gives a pawn away.

    Writes scripts/benchmarks/chess_openings.json.
    """
    generator, game = random.Random(1), RulesGame(Chess())
    quick, sure = (AlphaBetaAgent(nodes=limit, selective="game", ties="first") for limit in (nodes // 30, nodes))
    lines: list[list[int]] = []
    while len(lines) < openings:
        line: list[int] = []
        state = game.initial_state()
        while len(line) < plies:
            action = generator.choice(game.legal_actions(state))
            after = game.result(state, action)
            if game.is_terminal(after) or abs(quick.search_state(game, after).value) > 2 * BALANCED:
                continue
            line.append(action)
            state = after
        if abs(sure.search_state(game, state).value) <= BALANCED and line not in lines:
            lines.append(line)
    OPENINGS.write_text(json.dumps(lines) + "\n")
    yield {"openings": len(lines), "plies": plies}


def played(env: Any, line: Sequence[int], ours: int, engine: UciAgent, timing: Timing) -> float:
    """Plays a game after an opening, our search in seat ``ours``; what it scored: 1, 0.5 or 0."""
    env.reset(seed=0)
    for action in line:
        env.step(action)
    engine.reset(0)
    limit = timing.clock or timing.seconds
    agent = AlphaBetaAgent(seconds=limit, selective="game", evaluator="network", reuse=True, seed=0)
    agent.prepare(env)
    left = [timing.clock, timing.clock]
    seats = {name: seat for seat, name in enumerate(env.possible_agents)}
    for _ in range(LONGEST):
        if any(env.terminations.values()) or any(env.truncations.values()):
            break
        seat = seats[env.agent_selection]
        if timing.clock:
            times = (max(left[0], 0.001), max(left[1], 0.001))
            for player in (engine, agent):
                player.tell_clock(GameClock(left=times, seat=seat, increment=timing.increment))
        began = time.perf_counter()
        action = agent.act(env) if seat == ours else engine.act(env)
        left[seat] += timing.increment - (time.perf_counter() - began)
        if timing.clock and left[seat] < timing.increment:
            return 0.0 if seat == ours else 1.0
        env.step(action)
    won = env.rewards[env.possible_agents[ours]]
    return 0.5 if won == 0 else float(won > 0)


def chess(
    elo: tuple[int, ...] = (2200, 2400, 2500),
    games: int = 100,
    seconds: float = 0.1,
    clock: float = 0.0,
    increment: float = 0.1,
    path: str = "stockfish",
) -> Rows:
    """Matches of alpha-beta, as auto sets it, against Stockfish at ratings (its UCI_Elo, 1350 to 2850).

    Fifty balanced openings by our own search (``chess_book``), each with both colours: so 100 games, or the first
    ``games`` of them. Either ``seconds`` a move or, with ``--clock 10``, ten seconds for a game and ``increment``
    for each move. One thread each, which never think at once. The difference in Elo has its 95 % interval.
    ``path`` is the engine's program. Stockfish 16 rates levels anew: 15.1's at 2023 and 2179 have 2500 and 2700.
    """
    env, timing = make("classic/chess-v6"), Timing(seconds, clock, increment)
    lines = [line for line in json.loads(OPENINGS.read_text()) for _ in range(2)][:games]
    for rating in elo:
        engine = UciAgent(path=path, elo=rating, seconds=None if clock else seconds)
        scores = [played(env, line, number % 2, engine, timing) for number, line in enumerate(lines)]
        counts = (scores.count(1.0), scores.count(0.5), scores.count(0.0))
        yield {"Stockfish at": rating, **result_of(*counts)}
