"""How strong searches are in games without a ladder, and whether levels are as strong as their names say."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zermelo.agents import AutoAgent
from zermelo.agents.level import FOLDER as SHIPPED
from zermelo.agents.level import Levels, levels_for
from zermelo.agents.training.vectors.opponents import Match
from zermelo.envs import UnsupportedGameError, as_game, list_envs
from zermelo.envs.registration.make import make
from zermelo.evaluation import Standings, round_robin
from zermelo.evaluation.ladders.ladder import rating_among
from zermelo.evaluation.match.score import Scoring

DATA = Path(__file__).resolve().parents[2] / "docs" / "games" / "levels.json"
LEVELS = {
    "alphabeta": ("greedy", "alphabeta(nodes=1000)", "alphabeta(nodes=30000)"),
    "expectiminimax": ("greedy", "expectiminimax(nodes=300)", "expectiminimax(nodes=5000)"),
    "mcts": ("mcts(simulations=20)", "mcts(simulations=200)", "mcts(simulations=2000)"),
    "ismcts": (
        "ismcts(simulations=20)",
        "ismcts(simulations=200)",
        "cfr(most_states=20000)",
    ),
    "ismcts over copies": ("ismcts(simulations=20)",),
    "holdem": ("ismcts(simulations=20)", "holdem"),
    "simultaneous_mcts": ("simultaneous_mcts(simulations=20)", "simultaneous_mcts(simulations=200)"),
    "hanabi": ("ismcts(simulations=20)", "hanabi"),
}
"""Agents, weakest first, by the search that ``auto`` takes."""
GAMES = {
    "zermelo/Game2048-v0": 6,
    "zermelo/Goofspiel-v0": 10,
    "zermelo/Kuhn-v0": 400,
    "zermelo/Leduc-v0": 400,
    "classic/chess-v6": 10,
    "classic/go-v5(board_size=9)": 10,
    "zermelo/Go-v0": 10,
    "classic/leduc_holdem-v4": 400,
    "classic/rps-v2": 30,
}
"""Games of each match, if not 20: few where they take long, many where the cards decide much."""
AMOUNTS = ("Kuhn", "Leduc", "leduc", "texas", "rps", "Game2048")
"""Games whose rewards are amounts, by a part of their name."""
MAX_MOVES = 30_000
OTHERS, PAIRS = 4, 1_000
"""Rungs that a level meets when it is rated again, and pairs of games with each at most."""
FEW = 10
"""Pairs of games that tell how long games take."""
SHARES = (0.15, 0.4, 0.65, 0.99)
"""Where on a ladder levels are rated again."""
NAMES = tuple(
    "classic/go-v5(board_size=9)" if entry.name == "classic/go-v5" else entry.name
    for entry in list_envs()
    if entry.name.startswith(("classic/", "zermelo/"))
)


def score(standings: Standings) -> str:
    """The score of the agent ``it`` with its interval: % of the points, a reward, or the score of a team."""
    row = standings.row("it")
    if standings.scoring is Scoring.WINS:
        return f"{100 * row.score:.0f} % ({100 * row.interval[0]:.0f} to {100 * row.interval[1]:.0f})"
    alone = standings.alone("it") if standings.scoring is Scoring.TEAM else None
    mean, (low, high) = (row.mean_reward, row.reward_interval) if alone is None else (alone.mean, alone.interval)
    form = ",.0f" if abs(mean) >= 1000 else ".3g"
    ends = f" ({low:{form}} to {high:{form}})" if math.isfinite(high - low) and low < high else ""
    return f"{mean:{form}}{ends}" if alone is not None or len(standings.rows) == 1 else f"{mean:+.3g}{ends}"


def strengths(only: tuple[str, ...] = NAMES, games: int = 0) -> Iterator[dict[str, Any]]:
    """Agents of growing limits, each against random and against the agent above it.

    Scores are % of the points where games are won and lost, and else the mean reward of a game; in brackets is the
    95 % interval. Games for one player and cooperative games show the agent's own result.
    Writes docs/games/levels.json, which the pages of games show. Games with a ladder are left out.
    """
    for name in only:
        env = make(name)
        env.reset(seed=0)
        if levels_for(env) is not None:
            continue
        search = AutoAgent(nodes=50, compile="never").search(env).method.partition(":")[0]
        if search == "ismcts" and not hasattr(as_game(env), "rules"):
            search = "ismcts over copies"  # which take a hundred times as long
        alone = search == "hanabi" or len(getattr(env, "possible_agents", "1")) == 1
        scoring = Scoring.REWARDS if any(part in name for part in AMOUNTS) else Scoring.AUTO
        count, rows, above = games or GAMES.get(name, 20), [], ""
        for agent in LEVELS[search]:
            row = {"agent": agent, "ms a move": "", "against random": "", "against the row above": ""}
            try:
                for heading, other in (("against random", "random"), ("against the row above", above)):
                    if not other or (alone and heading != "against random"):
                        continue
                    playing = {"it": agent} if alone else {"it": agent, "other": other}
                    standings = round_robin(name, playing, games=count, max_moves=MAX_MOVES, score=scoring)
                    if any(found.failures for found in standings.rows):
                        raise UnsupportedGameError(standings.notes[0])
                    row[heading] = score(standings)
                    milliseconds = 1000 * standings.row("it").seconds_per_move
                    row["ms a move"] = f"{milliseconds:.2g}" if milliseconds < 100 else f"{milliseconds:.0f}"
            except UnsupportedGameError as error:
                print(f"{name}: {agent}: {error}", file=sys.stderr)
                continue
            above = agent
            rows.append(row | {"games": standings.games})
            yield {"game": name} | rows[-1]
        known = json.loads(DATA.read_text()) if DATA.exists() else {}
        known[re.sub(r"\(.*", "", name)] = rows
        DATA.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n")


def held_out(ladder: Levels, elo: float, seconds: float, seed: int) -> tuple[float, float, float, int]:
    """The rating of a level with its interval, and its games: new ones, against the rungs near it but its own."""
    mix = ladder.mix(elo)
    named = {rung.agent: rung.rating for rung in ladder.rungs}
    nearest = sorted((abs(rung.rating - elo), rung.agent) for rung in ladder.rungs)
    others = [agent for _, agent in nearest if agent not in (mix.lower, mix.upper)][:OTHERS]
    results = {}
    for number, other in enumerate(others):
        games, points = 0, 0.0
        for own, share in ((mix.lower, 1 - mix.share), (mix.upper, mix.share)):
            if share < 0.01:
                continue
            env, opening = ladder.about["env"], ladder.about["opening"]
            few = Match(env, own, other, FEW, opening=opening)
            started = time.process_time()
            few.play(seed)
            pairs = min(PAIRS, FEW * seconds / OTHERS / (time.process_time() - started))
            match = Match(env, own, other, max(FEW, round(share * pairs)), opening=opening)
            wins, draws, losses, _ = match.play(seed + number + 1)
            games, points = games + wins + draws + losses, points + wins + draws / 2
        results[other] = games, points
    return *rating_among(named, results)[:3], sum(games for games, _ in results.values())


def levels(
    only: tuple[str, ...] = tuple(sorted(path.stem for path in SHIPPED.glob("*.json"))), seconds: float = 1.0
) -> Iterator[dict[str, Any]]:
    """Levels rated again in new games against the rungs near them: half of them lie in the middle between rungs.

    A level meets the four rungs nearest to it, without those that it plays as, each for a quarter of the seconds.
    """
    for name in only:
        ladder = Levels.read(SHIPPED / f"{name}.json")
        if ladder.unit != "elo":
            continue
        rungs, found = ladder.rungs, []
        for share in SHARES:
            place = min(int(share * (len(rungs) - 1)), len(rungs) - 2)
            for elo in ((rungs[place].rating + rungs[place + 1].rating) / 2, rungs[place + 1].rating):
                rating, lower, upper, games = held_out(ladder, elo, seconds, seed=10_000 + len(found))
                found.append((abs(rating - elo), f"{elo:.0f}: {rating:.0f} ({lower:.0f} to {upper:.0f})", games))
        said = [text for _, text, _ in found]
        yield {
            "ladder": name,
            "levels between rungs, rated again": "; ".join(said[::2]),
            "levels on rungs": "; ".join(said[1::2]),
            "largest difference": f"{max(off for off, _, _ in found):.0f}",
            "games": f"{sum(games for _, _, games in found):,}",
        }
