#!/usr/bin/env python
"""The same agents on each of PettingZoo's nine classic environments: who plays what, and how well against random.

    python scripts/bench_classics.py [ENV...] [--games N] [--write]

plays every agent that can against ``random`` and prints a table; ``--write`` puts it into ``docs/classics.md``.
An environment is named as in ``classic/chess-v6``, or by a part of that. For one environment the command line
does the same: ``zermelo tournament classic/leduc_holdem-v4 random "ismcts(simulations=100)" cfr -n 200``.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from pathlib import Path
from typing import NamedTuple

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
FILE = Path(__file__).resolve().parent.parent / "docs" / "classics.md"


class Line(NamedTuple):
    """What is said of one agent on one environment."""

    env: str
    agent: str
    games: int
    score: str
    interval: str
    unit: str
    seconds: float


def line(env: str, agent: str, games: int) -> Line | None:
    """An agent's games against random; None if it cannot play there."""
    started = time.perf_counter()
    try:
        agents = [agent] if env == HANABI else [agent, RANDOM]
        standings = round_robin(env, agents, games=games, max_moves=MAX_MOVES)
    except UnsupportedGameError as error:
        print(f"{env}: {error}", file=sys.stderr)
        return None
    if any(row.failures for row in standings.rows):
        print(f"{env}: {standings.notes[0]}", file=sys.stderr)
        return None
    name = next(row.agent for row in standings.rows if row.agent != RANDOM or len(agents) == 1)
    return Line(env, agent, standings.games, *figures(standings, name), time.perf_counter() - started)


def figures(standings: Standings, agent: str) -> tuple[str, str, str]:
    """The score, its interval, and what it is."""
    row = standings.row(agent)
    if standings.scoring is Scoring.WINS:
        low, high = row.interval
        return f"{100 * row.score:.0f} %", f"{100 * low:.0f} to {100 * high:.0f}", "of the points"
    alone = standings.alone(agent) if standings.scoring is Scoring.TEAM else None
    mean, (low, high) = (row.mean_reward, row.reward_interval) if alone is None else (alone.mean, alone.interval)
    ends = f"{low:.3g} to {high:.3g}" if math.isfinite(high - low) else ""
    return (
        f"{mean:+.3g}" if alone is None else f"{mean:.3g}",
        ends,
        "reward a game" if alone is None else "team's score",
    )


def table(lines: list[Line]) -> str:
    """The lines in Markdown."""
    head = "| environment | agent | against random | 95 % interval | what it is | games |"
    return "\n".join([head, "| --- | --- | --- | --- | --- | --- |", *map(row_of, lines)])


def row_of(at: Line) -> str:
    """A line in Markdown."""
    return f"| {at.env} | `{at.agent}` | {at.score} | {at.interval} | {at.unit} | {at.games:,} |"


def known() -> list[Line]:
    """The lines that the page has already."""
    found = []
    for text in FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else ():
        cells = [cell.strip() for cell in text.strip("|").split("|")]
        if text.startswith("| classic/") and len(cells) == len(Line._fields) - 1:
            env, agent, score, interval, unit, games = cells
            found.append(Line(env, agent.strip("`"), int(games.replace(",", "")), score, interval, unit, 0.0))
    return found


def merged(old: list[Line], new: list[Line]) -> list[Line]:
    """Old lines and new ones, which take the places of old ones, by environment and agent."""
    order = [*AGENTS, RANDOM]
    lines = {(at.env, at.agent): at for at in [*old, *new] if at.env in GAMES and at.agent in order}
    return sorted(lines.values(), key=lambda at: ([*GAMES].index(at.env), order.index(at.agent)))


def page(lines: list[Line]) -> str:
    """The text of the page."""
    return f"""# The nine classic environments

Every agent that plays one of PettingZoo's classic environments, against `random`. Made by
`python scripts/bench_classics.py --write`; agents that cannot play a game (searches that would have to peek at
hidden cards, `cfr` where a game is too large) are left out, and so is alpha-beta on Go, which takes minutes.

Where games are won, drawn and lost, the score is in % of the points. Where they pay amounts it is the mean reward
of a game, in the environment's units, and both games of a pair have the same cards with the seats exchanged.
Hanabi is cooperative: the number is the mean score of a team of that agent alone (25 is perfect). Games of more
than {MAX_MOVES} moves end there, as they stand.

For one environment:

<!-- not run: minutes -->

```sh
zermelo tournament classic/leduc_holdem-v4 random "ismcts(simulations=500)" cfr --games 400
```

{table(lines)}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("envs", nargs="*", metavar="ENV")
    parser.add_argument("--games", type=int)
    parser.add_argument("--agents", nargs="*", default=AGENTS)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    chosen = [env for env in GAMES if not given.envs or any(name in env for name in given.envs)]
    if not chosen:
        parser.error(f"no environment is called {' or '.join(given.envs)}: there are {', '.join(GAMES)}")
    lines: list[Line] = []
    for env in chosen:
        for agent in (*given.agents, *([RANDOM] if env == HANABI else [])):
            at = line(env, agent, given.games or GAMES[env])
            if at is not None:
                lines.append(at)
                if given.write:  # what is known so far: the whole takes minutes
                    FILE.parent.mkdir(exist_ok=True)
                    FILE.write_text(page(merged(known(), lines)), encoding="utf-8")
                print(f"{env:34}{agent:54}{at.score:>8}  {at.interval:18}{at.seconds:.0f} s", flush=True)
    print(f"\n{table(lines)}")


if __name__ == "__main__":
    main()
