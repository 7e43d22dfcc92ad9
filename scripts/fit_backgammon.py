"""Teaches the networks of backgammon and Hypergammon by self-play, and writes them to a file.

A play is chosen by what the networks say of the positions that it leads to. They learn in two ways:

1. After each game, backwards from its end: each position before a roll is moved towards what the next one is said
   to be worth by then, the last one towards how the game ended (temporal differences: Tesauro 1995). It is fast,
   but what a single roll shows is mostly luck.
2. In rounds: positions of many games are labelled by all 21 rolls, each with the best play, and by what the rest
   of the game showed without the luck of its rolls ("variance reduction", as in GNU Backgammon's rollouts); then
   the networks learn from all labels many times over (Adam: Kingma and Ba 2015). Now and then a play is tried that
   only looks nearly best, as searches look at such positions too.

python scripts/fit_backgammon.py --help
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer
from backgammon_self_play import LONGEST, SCALES, WINS, Floats, by_row, label, match, self_play, teach

from zermelo.envs.games import Backgammon, Hypergammon
from zermelo.envs.games.backgammon import network as networks
from zermelo.envs.games.backgammon.network import LAST_BIASES, NETWORKS, OUTPUTS, ROWS, UNIT, Weights
from zermelo.envs.rules import bits

CHUNK: Final = 1000
"""Games between two looks at the clock."""
SHARE: Final = np.float32(0.9)
"""How much of what the rest of a game shows counts in a label."""
PASSES: Final = 20
"""How often the networks learn from a round's labels."""
ROUND_RATE: Final = 2e-3
"""The learning rate at the start of a round; it falls to 0."""


def as_floats(weights: Weights) -> Floats:
    """Weights as they learn, over features of about one size."""
    floats = weights.astype(np.float32) / UNIT
    return _scaled(floats, 1 / SCALES)


def as_weights(floats: Floats) -> Weights:
    """Weights as files have them."""
    whole = np.rint(_scaled(floats, SCALES) * UNIT)
    return np.clip(whole, -(1 << 15), (1 << 15) - 1).astype(np.int16)


def _scaled(floats: Floats, scales: Floats) -> Floats:
    return floats * by_row(scales)[:, None]


def first_floats(hidden: int, seed: int) -> Floats:
    generator = np.random.default_rng(seed)
    floats = generator.standard_normal((ROWS, hidden)) * 0.15
    floats[LAST_BIASES] = 0
    floats[LAST_BIASES, : NETWORKS * WINS] = np.tile([0, -1.2, -4, -1.2, -4], NETWORKS)
    return floats.astype(np.float32)


def main(
    out: Annotated[Path, typer.Argument(help="The file to write; learning goes on from it if it is there.")],
    games: Annotated[
        int, typer.Option(min=0, help="Games of self-play of backgammon; Hypergammon has a tenth.")
    ] = (300_000),
    rounds: Annotated[int, typer.Option(min=0, help="Rounds of labels after them, of backgammon.")] = 5,
    labels: Annotated[int, typer.Option(min=1, help="Positions that are labelled in a round.")] = 1_200_000,
    hidden: Annotated[int, typer.Option(min=len(OUTPUTS) * NETWORKS, help="Hidden units of each network.")] = 512,
    rate: Annotated[float, typer.Option(min=0.0, help="The learning rate at the start of the games.")] = 0.03,
    last_rate: Annotated[float, typer.Option(min=1e-9, help="The learning rate at the end.")] = 0.001,
    threads: Annotated[int, typer.Option(min=1, help="Threads that label.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Of weights and dice.")] = 1,
) -> None:
    """Teaches the networks of backgammon and Hypergammon, and writes them to a file, which is safe to stop.

    Example: python scripts/fit_backgammon.py networks.npz --games 300000 --rounds 5
    """
    found = networks.load_weights(out) if out.exists() else {}
    for rules, number in ((Backgammon(3), games), (Hypergammon(3), max(games // 10, 1))):
        name = type(rules).__name__
        weights = as_floats(found.setdefault(name, as_weights(first_floats(hidden, seed))))
        dice = np.full(1, seed, np.int64)
        looked, done = time.monotonic(), 0
        while done < number:
            now = np.float32(rate * (last_rate / rate) ** (done / number))
            chunk = min(CHUNK, number - done)
            rolls, errors = self_play(rules, weights, chunk, now, dice)
            done += chunk
            if time.monotonic() - looked > 60 or done == number:
                looked = time.monotonic()
                found[name] = as_weights(weights)
                write(out, found)
                tell(rules, f"{done:,} of {number:,} games", errors / rolls, found[name])
    name, weights = Backgammon.__name__, as_floats(found[Backgammon.__name__])
    earlier: list[tuple[Any, Floats]] = []
    for index in range(rounds):
        both = [*earlier, labelled(Backgammon(3), weights, labels, threads, seed + index)]
        earlier = both[-1:]
        positions, targets = map(np.concatenate, zip(*both, strict=True))
        order = np.random.default_rng(seed + index)
        moments = np.zeros_like(weights), np.zeros_like(weights)
        for step in range(PASSES):
            now = np.float32(ROUND_RATE * (1 - step / PASSES))
            error = teach(positions, targets, order.permutation(len(positions)), weights, moments, now)
        found[name] = as_weights(weights)
        write(out, found)
        tell(Backgammon(3), f"{index + 1} of {rounds} rounds", error, found[name])


def tell(rules: Any, what: str, error: float, weights: Weights) -> None:
    """Prints how strong networks are by now."""
    points, half = match(
        rules, as_floats(weights), as_floats(networks.load_weights(networks.FILE)[type(rules).__name__]), 2000, 1
    )
    print(
        f"{type(rules).__name__}: {what}, error {error:.4f}, against the shipped networks "
        f"{points:+.3f} +- {half:.3f} points a game",
        flush=True,
    )


def labelled(rules: Any, weights: Floats, number: int, threads: int, seed: int) -> tuple[Any, Floats]:
    """Positions with their labels, made by some threads."""
    each = max(number // threads, LONGEST)
    positions = np.zeros((threads, each, 4), np.int64)
    targets = np.zeros((threads, each, WINS), np.float32)

    def run(thread: int) -> int:
        dice = np.full(1, bits.mix(seed * threads + thread), np.int64)
        return int(label(rules, weights, SHARE, dice, positions[thread], targets[thread]))

    with ThreadPoolExecutor(threads) as pool:
        counts = list(pool.map(run, range(threads)))
    here = [positions[thread, :count] for thread, count in enumerate(counts)]
    there = [targets[thread, :count] for thread, count in enumerate(counts)]
    return np.concatenate(here), np.clip(np.concatenate(there), 0, 1)


def write(path: Path, found: dict[str, Weights]) -> None:
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez_compressed(file, **found)  # type: ignore[arg-type]
    part.replace(path)


if __name__ == "__main__":
    typer.run(main)
