"""How much a tournament costs on top of its games: random against random, every game stored.

python scripts/bench_tournament.py [--games 4000] [--rounds 3] [--million]

Each round measures, one after another: a bare PettingZoo loop (one environment, legal actions drawn by the action
space from the mask, nothing checked, nothing stored); a tournament in this process; and one in one and in two
worker processes. The rates of workers leave out their start: they are taken between the first tenth of the games
and the last. Best of the rounds. Processor time is given too, as it hardly depends on what else the machine does;
there the start is left out by taking the difference of a long and a short run. ``--million`` also fills a store
with a million games and times its standings, ratings and report.
"""

import argparse
import resource
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from zermelo.evaluation import SqliteStore, read_games, read_standings, round_robin
from zermelo.evaluation.output.report import report_page
from zermelo.evaluation.sandbox.fork_server import servers
from zermelo.evaluation.sandbox.meters import cpu_seconds
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


def tournament(games, workers):
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
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) + sum(map(cpu_seconds, servers()))


def processor_time(games, workers):
    """Processor seconds a game of this process and of its workers."""
    spent = []
    for count in (games // 4, games + games // 4):
        here, there = time.process_time(), children_time()
        with tempfile.TemporaryDirectory() as folder:
            round_robin(ENV, AGENTS, games=count, workers=workers, out=folder)
        spent.append((time.process_time() - here, children_time() - there))
    return tuple((long - short) / games for short, long in zip(*spent, strict=True))


def throughput(games, rounds):
    """Prints the rates and their ratios."""
    from zermelo.evaluation.tournament import run as module

    names = ("bare loop", "in this process", "1 worker process", "2 worker processes")
    rates = {name: [] for name in names}
    bare_seconds, here_seconds, parent_seconds, worker_seconds = [], [], [], []
    for _ in range(rounds):
        rate, seconds = bare_loop(games)
        rates["bare loop"].append(rate)
        bare_seconds.append(seconds)
        rates["in this process"].append(tournament(games, 1))
        rates["1 worker process"].append(tournament_in_workers(module, games, 1))
        rates["2 worker processes"].append(tournament_in_workers(module, 2 * games, 2))
        here_seconds.append(processor_time(games, 1)[0])
        parent, workers = processor_time(games, 2)
        parent_seconds.append(parent)
        worker_seconds.append(workers)
    best = {name: max(values) for name, values in rates.items()}
    for name, rate in best.items():
        print(f"{name:20} {rate:8.0f} games/s   {rate / best['bare loop']:.2f} of the bare loop")
    print(f"2 workers: {best['2 worker processes'] / 2 / best['bare loop']:.2f} of the bare loop for each")
    print(f"2 workers over one in this process: {best['2 worker processes'] / best['in this process']:.2f}")
    print(f"2 workers over one worker process:  {best['2 worker processes'] / best['1 worker process']:.2f}")
    bare, here = min(bare_seconds), min(here_seconds)
    parent, worker = min(parent_seconds), min(worker_seconds)
    print(f"processor time a game: bare loop {1e6 * bare:.0f} us, in this process {1e6 * here:.0f} us,")
    print(f"  with 2 workers {1e6 * worker:.0f} us in a worker and {1e6 * parent:.0f} us in the parent")
    print(f"a worker by processor time: {bare / worker:.2f} of the bare loop; in this process {bare / here:.2f}")
    print(f"2 workers on 2 processors, at most: {2 * here / (worker + parent):.2f} times one in this process;")
    print(f"  with processors to spare: {here * 2 / worker:.2f} times")


def tournament_in_workers(module, games, workers):
    """Like ``tournament``, but one worker too is a process of its own."""
    from zermelo.evaluation.runners.processes import ProcessRunner

    if workers > 1:
        return tournament(games, workers)
    here = module.SerialRunner
    module.SerialRunner = lambda player: ProcessRunner(player, 1)
    try:
        return tournament(games, 1)
    finally:
        module.SerialRunner = here


def million(games=1_000_000):
    """Prints how long the standings of very many stored games take, and the memory."""
    plan = Tournament.prepare(ENV, ["random", "greedy", "alphabeta(depth=1)"], games=games // 3)
    samples = {}
    for record in plan_sample(plan):
        samples.setdefault(record.agents, []).append(record)
    generator = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        clock = time.perf_counter()
        with SqliteStore(folder, plan.to_dict(), plan.schedule) as store:
            for game in plan.schedule:
                kind = samples[game.seats]
                store.append(replace(kind[generator.integers(len(kind))], game_id=game.game_id, seed=game.seed))
                store.kept()
        count = len(plan.schedule)
        size = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e9
        print(f"{count:,} games stored in {time.perf_counter() - clock:.0f} s, {size:.2f} GB")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        clock = time.perf_counter()
        standings = read_standings(folder)
        counted = time.perf_counter()
        print(standings.ratings.players[0].name, "leads")
        done = time.perf_counter()
        print(f"standings {counted - clock:.2f} s, ratings {done - counted:.2f} s more")
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(f"memory: grew by {grown:.0f} MB (peak of the process {before / 1024:.0f} MB before)")
        clock, processor = time.perf_counter(), time.process_time()
        page = report_page(read_games(folder), standings=read_standings(folder))
        spent, worked = time.perf_counter() - clock, time.process_time() - processor
        print(f"report {spent:.0f} s ({worked:.0f} s of processor time), {len(page) / 1e6:.2f} MB")
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(f"memory: grew by {grown:.0f} MB in all")


def plan_sample(plan):
    """Records of some games of the plan, really played."""
    return round_robin(plan.env, [participant.source for participant in plan.participants], games=200).records


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--million", action="store_true")
    arguments = parser.parse_args()
    throughput(arguments.games, arguments.rounds)
    if arguments.million:
        million()
    sys.exit(0)
