"""Cost of a tournament on top of its games, and of a million stored games."""

from __future__ import annotations

import os
import resource
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from zermelo.evaluation import Store, read_games, read_standings, round_robin
from zermelo.evaluation.output.report import report_page
from zermelo.evaluation.sandbox.processes import servers
from zermelo.evaluation.tournament.plan import Tournament

ENV = "classic/tictactoe-v3"
AGENTS = {"random": "random", "other": "random"}


def bare_loop(games):
    """Games a second, and processor seconds a game, of a loop over ``agent_iter`` that keeps nothing."""
    import pettingzoo

    env = pettingzoo.make("aec", ENV)
    clock, processor = time.perf_counter(), time.process_time()
    for seed in range(games):
        env.reset(seed=seed)
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            over = terminated or truncated
            env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))
    return games / (time.perf_counter() - clock), (time.process_time() - processor) / games


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


def children_time():
    """Processor seconds of the processes that this one has started, and of those that its fork server has."""
    ticks = 0
    for server in servers():  # their processes have ended
        ticks += sum(map(int, Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()[11:15]))
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) + ticks / os.sysconf("SC_CLK_TCK")


def processor_time(games, workers):
    """Processor seconds a game of this process and of its workers."""
    spent = []
    for count in (games // 4, games + games // 4):
        here, there = time.process_time(), children_time()
        with tempfile.TemporaryDirectory() as folder:
            round_robin(ENV, AGENTS, games=count, workers=workers, out=folder)
        spent.append((time.process_time() - here, children_time() - there))
    return tuple((long - short) / games for short, long in zip(*spent, strict=True))


def tournament(games: int = 4000, rounds: int = 3):
    """Games a second of random against random, every game stored, beside a bare PettingZoo loop.

    The bare loop has one environment and draws legal actions from the mask; nothing is checked, nothing stored.
    The rates of workers leave out their start: they are taken between the first tenth of the games and the last.
    Best of the rounds, in which all take turns. Processor time, in microseconds a game of all workers and of the
    parent, hardly depends on what else the machine does; there the start is left out by taking the difference of a
    long and a short run.
    """
    rates = {name: [] for name in ("bare loop", "in this process", "2 worker processes")}
    bare, here, apart = [], [], []
    for _ in range(rounds):
        rate, seconds = bare_loop(games)
        rates["bare loop"].append(rate)
        bare.append((seconds,))
        rates["in this process"].append(stored_rate(games, 1))
        rates["2 worker processes"].append(stored_rate(2 * games, 2))
        here.append(processor_time(games, 1)[:1])
        apart.append(processor_time(games, 2)[::-1])
    spent = {"bare loop": bare, "in this process": here, "2 worker processes": apart}
    for name, found in rates.items():
        least = [f"{1e6 * min(each):.0f}" for each in zip(*spent.get(name, ()), strict=True)]
        here_time, parent_time, *_ = *least, "", ""
        share = f"{max(found) / max(rates['bare loop']):.2f}"
        row = {"tournament": name, "games/s": max(found), "of the bare loop": share}
        yield {**row, "us a game": here_time, "us in the parent": parent_time}


def million(games: int = 1_000_000):
    """Time in which a million games of random, greedy and alpha-beta are stored, ranked, rated and reported.

    Some games are played, and stored again and again. Memory is by how much that of the process has grown by then.
    """
    agents = ["random", "greedy", "alphabeta(depth=1)"]
    plan = Tournament.prepare(ENV, agents, games=games // 3)
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
