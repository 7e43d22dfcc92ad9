"""Agents on each of PettingZoo's nine classic environments."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

from zermelo.envs import UnsupportedGameError
from zermelo.evaluation import Scoring, Standings, round_robin

RANDOM = "random"
AGENTS = (
    "greedy",
    "alphabeta(depth=2)",
    "mcts(simulations=100)",
    "ismcts(simulations=20)",
    "determinized(agent=mcts(simulations=10), samples=2)",
    "cfr(most_states=20000)",
    "hanabi",
    "auto(nodes=500)",
)
GAMES = {
    "classic/tictactoe-v3": 100,
    "classic/connect_four-v3": 40,
    "classic/rps-v2": 60,
    "classic/leduc_holdem-v4": 100,
    "classic/texas_holdem-v4": 20,
    "classic/texas_holdem_no_limit-v6": 20,
    "classic/chess-v6": 6,
    "classic/go-v5(board_size=9)": 6,
    "classic/hanabi-v5": 4,
}
HANABI = "classic/hanabi-v5"
"""Cooperative: an agent plays with itself alone."""
MAX_MOVES = 300


def cells(standings: Standings, agent: str) -> tuple[str, str, str]:
    """The score, its interval, and what it is."""
    row = standings.row(agent)
    if standings.scoring is Scoring.WINS:
        low, high = row.interval
        return f"{100 * row.score:.0f} %", f"{100 * low:.0f} to {100 * high:.0f}", "of the points"
    alone = standings.alone(agent) if standings.scoring is Scoring.TEAM else None
    mean, (low, high) = (row.mean_reward, row.reward_interval) if alone is None else (alone.mean, alone.interval)
    ends = f"{low:.3g} to {high:.3g}" if math.isfinite(high - low) else ""
    if alone is None:
        return f"{mean:+.3g}", ends, "reward a game"
    return f"{mean:.3g}", ends, "team's score"


def classics(
    only: tuple[str, ...] = tuple(GAMES), games: int = 0, agents: tuple[str, ...] = AGENTS
) -> Iterator[dict[str, Any]]:
    """Every agent that can play one of PettingZoo's classic environments, against random.

    Without a number of games each environment has its own. For one environment the command line does the same:
    zermelo tournament classic/leduc_holdem-v4 random "ismcts(simulations=100)" cfr -n 200.
    """
    for env in only:
        for agent in (*agents, *([RANDOM] if env == HANABI else [])):
            playing = {"it": agent} if env == HANABI else {"it": agent, RANDOM: RANDOM}
            try:
                standings = round_robin(env, playing, games=games or GAMES[env], max_moves=MAX_MOVES)
            except UnsupportedGameError as error:
                print(f"{env}: {error}", file=sys.stderr)
                continue
            if any(row.failures for row in standings.rows):
                print(f"{env}: {standings.notes[0]}", file=sys.stderr)
                continue
            score, interval, unit = cells(standings, "it")
            row = {"environment": env, "agent": f"`{agent}`", "against random": score, "95 % interval": interval}
            yield {**row, "what it is": unit, "games": standings.games}
