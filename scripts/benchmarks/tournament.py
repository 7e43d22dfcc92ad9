"""Cost of a tournament on top of its games."""

import tempfile
import time

from zermelo.evaluation import round_robin

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
