"""What a tournament, a million stored games and a cluster's tasks cost, and how true intervals of ratings are."""

import contextlib
import functools
import itertools
import random
import resource
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from zermelo.agents.base.tasks import PureWork, Tasks
from zermelo.agents.level import Levels, Rung
from zermelo.evaluation import fit_ratings, read_games, read_standings, round_robin
from zermelo.evaluation.ladders.ladder import (
    ANCHOR_GAMES,
    COVARIANCE,
    POLICY,
    RatedAnchors,
    RatedPolicy,
    covariance_of,
)
from zermelo.evaluation.report.page import report_page
from zermelo.evaluation.results import GameCounts, Result, ResultCount, Results
from zermelo.evaluation.stats.ratings.table import RatingTable
from zermelo.evaluation.storage.store import Store
from zermelo.evaluation.tournament.plan import Tournament
from zermelo.evaluation.tournament.settings import TournamentSettings
from zermelo.evaluation.workers.ray import RayRunner

ENV = "classic/tictactoe-v3"
AGENTS = {"random": "random", "other": "random"}


def bare_loop(games):
    """Games a second of a loop over ``agent_iter`` that keeps nothing."""
    import pettingzoo

    env = pettingzoo.make("aec", ENV)
    clock = time.perf_counter()
    for seed in range(games):
        env.reset(seed=seed)
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            over = terminated or truncated
            env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))
    return games / (time.perf_counter() - clock)


def stored_rate(games, workers):
    """Games a second of a stored tournament, from the first tenth of the games to the end."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        round_robin(
            ENV,
            AGENTS,
            games=games,
            workers=workers,
            out=folder,
            on_game=lambda _: times.append(time.perf_counter()),
        )
    start = len(times) // 10
    return (len(times) - 1 - start) / (times[-1] - times[start])


def tournament(games: int = 4000, rounds: int = 3):
    """Games a second of random against random, every game stored, beside a bare PettingZoo loop.

    The bare loop has one environment and draws legal actions from the mask; nothing is checked, nothing stored.
    The rates of workers leave out their start: they are taken between the first tenth of the games and the last.
    Best of the rounds, in which all take turns.
    """
    ways = {
        "bare loop": lambda: bare_loop(games),
        "in this process": lambda: stored_rate(games, 1),
        "2 worker processes": lambda: stored_rate(2 * games, 2),
    }
    rounds_of = [[way() for way in ways.values()] for _ in range(rounds)]
    rates = dict(zip(ways, map(max, zip(*rounds_of, strict=True)), strict=True))
    for name, rate in rates.items():
        yield {"tournament": name, "games/s": rate, "of the bare loop": f"{rate / rates['bare loop']:.2f}"}


def million(games: int = 1_000_000):
    """Time in which a million games of random, greedy and alpha-beta are stored, ranked, rated and reported.

    Some games are played, and stored again and again. Memory is by how much that of the process has grown by then.
    """
    agents = ["random", "greedy", "alphabeta(depth=1)"]
    plan = Tournament.prepare(ENV, agents, TournamentSettings(games=games // 3))
    samples = {}
    for record in round_robin(ENV, agents, games=min(games // 3, 200)).records:
        samples.setdefault(record.agents, []).append(record)
    generator = np.random.default_rng(0)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder:

        def store():
            with Store(plan.schedule, plan.to_dict(), folder) as opened:
                for game in plan.schedule:
                    kind = samples[game.seats]
                    record = kind[generator.integers(len(kind))]
                    opened.append(replace(record, game_id=game.game_id, seed=game.seed))
                    opened.kept()
            size = sum(path.stat().st_size for path in Path(folder).iterdir())
            return f"{len(plan.schedule):,} games, {size / 1e6:,.0f} MB"

        def rank():
            return f"{read_standings(folder).rows[0].agent} leads"

        def rate():
            return f"{read_standings(folder).ratings.players[0].name} leads"

        def report():
            return f"{len(report_page(read_games(folder), standings=read_standings(folder))) / 1e6:.2f} MB"

        for step in (store, rank, rate, report):
            clock, processor = time.perf_counter(), time.process_time()
            result = step()
            row = {"step": step.__name__, "result": result, "seconds": time.perf_counter() - clock}
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024
            yield {**row, "of processor": time.process_time() - processor, "memory grew by MB": grown}


@dataclass
class Sleeping(PureWork):
    """Tasks that take so long and do nothing; an item is a number of bytes, and so long is the result."""

    seconds: float

    def run(self, item, on_turn=None):
        """Sleeps."""
        time.sleep(self.seconds)
        return bytes(item)


def rate(nodes, seconds, size, count):
    """Tasks a second from the first fifth of them on, on so many nodes beside the driver's."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        for _ in range(nodes):
            made.add_node(num_cpus=1)
        times = []
        with contextlib.closing(Tasks(Sleeping(seconds), runner := RayRunner(address=made.address))) as tasks:
            for _ in tasks.map([size] * count):
                times.append(time.perf_counter())
        del tasks, runner
    finally:
        made.shutdown()
    first = count // 5
    return (count - 1 - first) / (times[-1] - times[first])


def cluster(games: int = 600, empty: int = 40_000):
    """Tasks a second on a local Ray cluster of nodes of one processor each."""
    for seconds, size, count in ((0.05, 4_000, games), (0.0, 0, empty), (0.0, 4_000, empty)):
        one, two = (rate(nodes, seconds, size, count) for nodes in (1, 2))
        task = f"{1000 * seconds:.0f} ms, results of {size:,} bytes"
        yield {"task": task, "one node": one, "two nodes": two, "ratio": f"{two / one:.2f}"}


# -- intervals of ratings

SPREADS = (0, 100, 200, 400)
"""Elo between the weakest and the strongest player; the others lie evenly between."""
FIRST_SEAT = 50
"""What the first seat is worth, in Elo."""


@functools.lru_cache(maxsize=10_000)
def rated(counts: GameCounts) -> RatingTable:
    """The table of ratings that are counted from the weakest player."""
    return fit_ratings(counts, anchor="a")


def simulated(ratings: dict[str, float], games: int, draws: float, dice: random.Random) -> GameCounts:
    """Games of each pair with the seats in turn; ``draws`` is the rate of draws among equals."""
    results = []
    for one, other in itertools.combinations(ratings, 2):
        for number in range(games):
            exchanged = (number + ord(one[0]) + ord(other[0])) % 2
            first, second = (other, one) if exchanged else (one, other)
            score = 1 / (1 + 10 ** ((ratings[second] - ratings[first] - FIRST_SEAT) / 400))
            drawn = draws * 4 * score * (1 - score)
            chances = (score - drawn / 2, drawn, 1 - score - drawn / 2)
            results.append((first, second, dice.choices((1.0, 0.5, 0.0), chances)[0]))
    return GameCounts(results)


def coverage(
    players: tuple[int, ...] = (3, 4, 8),
    games: tuple[int, ...] = (1, 2, 5, 10, 40),
    draws: tuple[int, ...] = (0, 30, 60),
    tournaments: int = 200,
) -> Iterator[dict[str, Any]]:
    """Percentage of 95 % intervals of ``fit_ratings`` that hold the true rating, in simulated round robins.

    The weakest player is fixed at 0, and the intervals of all others count. A column for each distance of the
    weakest and the strongest. The first seat is worth 50 Elo. Standard errors of 200 tournaments are 0.6 to 1.5.
    """
    for number, each, rate in itertools.product(players, games, draws):
        row: dict[str, Any] = {"players": number, "games of a pair": each, "draws": f"{rate} %"}
        for spread in SPREADS:
            names, dice = "abcdefghijklmnopqrstuvwxyz"[:number], random.Random(1)
            truth = {name: spread * place / (number - 1) for place, name in enumerate(names)}
            tables = [rated(simulated(truth, each, rate / 100, dice)) for _ in range(tournaments)]
            ends = [(name, table[name]) for table in tables for name in names[1:]]
            held = sum(found.lower <= truth[name] <= found.upper for name, found in ends)
            row[f"0 to {spread} Elo"] = f"{100 * held / len(ends):.1f}"
        yield row


def results_of(counts: GameCounts) -> Results:
    """Counted games as results that are no copies."""
    groups = {
        Result(players, ranks): ResultCount(games, (0, 0), (0, 0), games, number)
        for number, (players, ranks, games) in enumerate(counts.items())
    }
    return Results(groups)


def games_with(policy: float, ratings: dict[str, float], games: int, draws: float, dice: random.Random) -> Results:
    """Games of a policy with each of some agents."""
    met = GameCounts()
    for name, rating in ratings.items():
        met += simulated({name: rating, POLICY: policy}, games, draws, dice)
    return results_of(met)


def value_of(policy: float, truth: dict[str, float], draws: float) -> float:
    """The rating that 10,000 games of each pair give."""
    counts = simulated({**truth, POLICY: policy}, 10_000, draws, random.Random(0))
    return fit_ratings(counts, anchor=next(iter(truth)), seat_effects=False)[POLICY].elo


ANCHORS = {"random": 0.0, "b": 150.0, "c": 300.0, "d": 450.0}
RUNGS = {chr(ord("a") + place): 75.0 * place for place in range(9)}


def on_anchors(policy: float, draws: float, games: int, dice: random.Random) -> RatedPolicy:
    """A policy rated by as many games with each of four anchors as they have among themselves."""
    own = results_of(simulated(ANCHORS, max(games, ANCHOR_GAMES), draws, dice))
    return RatedAnchors((), ANCHORS, (), "", own).rating_of(games_with(policy, ANCHORS, games, draws, dice))


def on_ladder(
    policy: float, draws: float, games: int, dice: random.Random, *, has_covariance: bool
) -> RatedPolicy:
    """A policy rated by blocks of ten games with the rung that seems nearest, on a ladder of few games."""
    truth, counts = RUNGS, GameCounts()
    for one, other in itertools.pairwise(truth):
        counts += simulated({one: truth[one], other: truth[other]}, 400, draws, dice)
    table = fit_ratings(counts, anchor="a", seat_effects=False)
    rungs = tuple(Rung(name, table[name].elo, table[name].lower, table[name].upper, 1.0) for name in truth)
    triangle = [row[: place + 1] for place, row in enumerate(table.covariance([*truth]).tolist())]
    levels = Levels("", rungs, about={COVARIANCE: triangle} if has_covariance else {})
    elo = {rung.agent: rung.rating for rung in rungs}
    ladder = RatedAnchors((), elo, (), "", covariance=covariance_of(levels))
    met, estimate = GameCounts(), 300.0
    for _ in range(games // 10):
        nearest = min(elo, key=lambda name: abs(elo[name] - estimate))
        met += simulated({nearest: truth[nearest], POLICY: policy}, 10, draws, dice)
        estimate = ladder.rating_of(results_of(met)).rating
    return ladder.rating_of(results_of(met))


def policies(
    games: tuple[int, ...] = (20, 100, 300),
    draws: tuple[int, ...] = (0, 60),
    strengths: tuple[int, ...] = (50, 250, 500),
    repeats: int = 200,
) -> Iterator[dict[str, Any]]:
    """Percentage of 95 % intervals of ``evaluate_policy`` that hold the rating of 10,000 games of each pair.

    Games are simulated. Anchors, 150 Elo apart, meet as ``evaluate_policy`` lets them; the policy has so many
    games with each. Ladders have nine rungs, 75 Elo apart, rated by 400 games of each with the next; the policy
    has three times as many games there. Standard errors of 200 repeats are 1.0 to 1.8.
    """
    ways = {
        "anchors": (1, ANCHORS, on_anchors),
        "a ladder": (3, RUNGS, functools.partial(on_ladder, has_covariance=True)),
        "an old file": (3, RUNGS, functools.partial(on_ladder, has_covariance=False)),
    }
    for (way, (times, truth, rate_one)), each, drawn in itertools.product(ways.items(), games, draws):
        row: dict[str, Any] = {"rated on": way, "games": times * each, "draws": f"{drawn} %"}
        for strength in strengths:
            dice, value = random.Random(strength), value_of(strength, truth, drawn / 100)
            found = [rate_one(strength, drawn / 100, times * each, dice) for _ in range(repeats)]
            held = sum(one.lower <= value <= one.upper for one in found)
            row[f"{strength} Elo"] = f"{100 * held / repeats:.1f}"
            widths = sorted(one.upper - one.lower for one in found)
            row["width"] = f"{widths[repeats // 2]:.0f}"
        yield row
