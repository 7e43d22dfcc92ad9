"""Steps a second for a learner: one seat against agents, and many games at once beside other libraries.

    python scripts/bench_learning.py [PART...] [--only NAME] [--seconds 2]

where a part is ``seat`` (``OpponentEnv`` on PettingZoo's connect four, by opponent), ``many`` (``make_vec``, by
game and number of games, beside PettingZoo's own loop, Gymnasium's ``AsyncVectorEnv`` and pgx), ``opponents``
(``make_vec`` on connect four, by opponent) or ``frameworks`` (what the examples of ``docs/guides/training.md``
learn, and ``scripts/train_vector_ppo.py``); all if none is given. Actions are random and legal, and to draw them
is part of every figure. A step of ``many`` is one player's action; of ``seat`` and ``opponents`` the learner's
action with the answer to it. pgx runs where it is installed (``pip install pgx``), on the processor. Behind each
figure of ``many`` is the most memory, in MiB, that a process of its own had for it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pettingzoo

from zermelo.agents.learning import OpponentEnv, make_vec

OPPONENTS = ("random", "greedy", "alphabeta(depth=2)", "alphabeta(depth=4)", "mcts(simulations=100)")
GAMES = {
    # Ours, PettingZoo's and pgx's name.
    "tic-tac-toe": ("zermelo/MNK-v0", "classic/tictactoe-v3", "tic_tac_toe"),
    "connect four": ("zermelo/ConnectFour-v0", "classic/connect_four-v3", "connect_four"),
    "othello": ("zermelo/Othello-v0", None, "othello"),
    "backgammon": ("zermelo/Backgammon-v0", None, "backgammon"),
    "go 9x9": ("zermelo/Go-v0", "classic/go-v5", "go_9x9"),
    "chess": ("zermelo/Chess-v0", "classic/chess-v6", "chess"),
}
SIZES = (1, 64, 1024, 8192)
FEW = 64
"""More games than that are not given to one process each."""
SCRIPTS = Path(__file__).resolve().parent
GUIDE = SCRIPTS.parent / "docs" / "guides" / "training.md"
VECTOR = """
from train_vector_ppo import agent_of, train
from zermelo.evaluation import gauntlet

steps = 1_000_000
opponents = ["random", "alphabeta(depth=1)"]
learned = agent_of(train("zermelo/MNK-v0", opponents, steps, games=512, seed=0))
standings = gauntlet("zermelo/MNK-v0", [learned, *opponents], games=200, workers=1)
"""
"""What ``scripts/train_vector_ppo.py`` does."""
RESULTS = """
import json
import time
from bench_learning import peak_mib

scores = [100 * standings.crosstable["ppo", opponent] for opponent in opponents]
print()
print(json.dumps({"scores": scores, "steps": steps, "processor": time.process_time(), "memory": peak_mib()}))
"""
"""What is run behind an example: its last line of output says how it went."""


def rate(steps: Iterator[int], seconds: float) -> float:
    """Steps a second, after a first one that may compile."""
    next(steps)
    count, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        count += next(steps)
    return count / (time.perf_counter() - started)


def drawn(masks: Any, generator: np.random.Generator) -> Any:
    """A random legal action for each game; 0 where there is none."""
    places = np.flatnonzero(masks)
    games, actions = np.divmod(places, masks.shape[1])
    counts = np.bincount(games, minlength=len(masks))
    chosen = np.cumsum(counts) - counts + (generator.random(len(masks)) * counts).astype(int)
    found = np.zeros(len(masks), int)
    found[counts > 0] = actions[chosen[counts > 0]]
    return found


def our_vector(name: str, games: int, **settings: Any) -> Iterator[int]:
    """Steps of ``make_vec``."""
    envs, generator = make_vec(name, games, **settings), np.random.default_rng(0)
    _, infos = envs.reset(seed=0)
    while True:
        *_, infos = envs.step(drawn(infos["action_mask"], generator))
        yield games


def their_loop(name: str) -> Iterator[int]:
    """Steps of PettingZoo's environment in PettingZoo's loop."""
    env, generator = pettingzoo.make("aec", name), np.random.default_rng(0)
    while True:
        env.reset(seed=int(generator.integers(2**31)))
        for _ in env.agent_iter():
            seen, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            env.step(int(generator.choice(np.flatnonzero(seen["action_mask"]))))
            yield 1


def one_seat(name: str, opponent: str) -> Iterator[int]:
    """Steps of ``OpponentEnv``."""
    env, generator = OpponentEnv(name, opponent), np.random.default_rng(0)
    while True:
        _, info = env.reset()
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(
                int(generator.choice(np.flatnonzero(info["action_mask"])))
            )
            over = terminated or truncated
            yield 1


def processes(name: str, games: int) -> Iterator[int]:
    """Steps of ``OpponentEnv`` against random in Gymnasium's vector environment, a process a game."""
    envs = gymnasium.vector.AsyncVectorEnv([lambda: OpponentEnv(name, "random")] * games)
    generator = np.random.default_rng(0)
    seen, _ = envs.reset(seed=0)
    try:
        while True:
            seen, *_ = envs.step(drawn(seen["action_mask"], generator))
            yield games
    finally:
        envs.close()


def pgx_steps(name: str, games: int) -> Iterator[int]:
    """Steps of pgx, compiled for all games at once; a game that is over begins again."""
    jax, pgx = importlib.import_module("jax"), importlib.import_module("pgx")
    numbers, wrappers = jax.numpy, importlib.import_module("pgx.experimental.wrappers")
    env = pgx.make(name)
    step = jax.jit(jax.vmap(wrappers.auto_reset(env.step, env.init)))
    state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), games))

    @jax.jit
    def choose(masks: Any, key: Any) -> Any:
        return jax.random.categorical(key, numbers.log(masks.astype(numbers.float32)), axis=-1)

    key = jax.random.PRNGKey(1)
    while True:
        key, one, two = jax.random.split(key, 3)
        state = step(state, choose(state.legal_action_mask, one), jax.random.split(two, games))
        state.observation.block_until_ready()
        yield games


def peak_mib(process: int | str = "self") -> float:
    """The most memory that a process and those it began have had; what they share counts for each of them.

    It is read from Linux' ``/proc``, as ``ru_maxrss`` of a new process begins with that of its parent.
    """
    folder = Path("/proc") / str(process)
    own = re.search(r"VmHWM:\s+(\d+) kB", (folder / "status").read_text())
    children = " ".join(path.read_text() for path in folder.glob("task/*/children")).split()
    return (int(own[1]) / 1024 if own else 0.0) + sum(map(peak_mib, children))


def measured(steps: Iterator[int], seconds: float) -> tuple[str, str]:
    """The rate, or why there is none; and the memory that this process has had by then."""
    try:
        return f"{rate(steps, seconds):,.0f}", f"{peak_mib():,.0f}"
    except ImportError as error:
        return f"no {error.name}", "-"
    finally:
        steps.close()  # type: ignore[attr-defined]  # a generator


def measured_apart(
    seconds: float, steps: Callable[..., Iterator[int]], *given: Any, **settings: Any
) -> tuple[str, str]:
    """The same in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(_measured, seconds, steps, given, settings).result()


def _measured(
    seconds: float, steps: Callable[..., Iterator[int]], given: Sequence[Any], settings: dict[str, Any]
) -> tuple[str, str]:
    warnings.simplefilter("ignore")
    return measured(steps(*given, **settings), seconds)


def examples() -> dict[str, str]:
    """The guide's examples that learn, by library, and the script."""
    parts = re.findall(r"^## (\w+)|^```python\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    found, heading = {}, ""
    for name, block in parts:
        heading = name or heading
        if "\nsteps = " in block:
            found[heading] = block
    return found | {"make_vec": VECTOR}


def learned(code: str, **changes: int) -> dict[str, Any]:
    """Runs an example in a process of its own, and returns what ``RESULTS`` says of it.

    Args:
        code: The example.
        changes: Other numbers for ``steps`` and ``games``.

    Raises:
        RuntimeError: It fails; the message ends with what it printed.
    """
    for name, number in changes.items():
        code = re.sub(rf"\b{name}( ?= ?)[\d_]+", rf"{name}\g<1>{number}", code)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", code + RESULTS],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(SCRIPTS), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"{code}\nfails with:\n{done.stderr}")
    return {**json.loads(done.stdout.splitlines()[-1]), "wall": time.perf_counter() - started}


def seat(names: Sequence[str], seconds: float) -> None:
    """The learner's steps a second in one game."""
    print(f"  {'opponent':28}{'steps a second':>16}")
    for name in names:
        steps, _ = measured(one_seat("classic/connect_four-v3", name), seconds)
        print(f"  {name:28}{steps:>16}", flush=True)


def many(names: Sequence[str], seconds: float) -> None:
    """Steps a second, all seats played at random, and MiB."""
    heads = ("make_vec", "pgx", "AsyncVectorEnv", "PettingZoo")
    print(f"  {'game':14}{'games':>7}" + "".join(f"{head:>15}{'MiB':>7}" for head in heads))
    for name in names:
        ours, theirs, in_pgx = GAMES[name]
        for games in SIZES:
            row = [measured_apart(seconds, our_vector, ours, games, opponent=None)]
            row.append(measured_apart(seconds, pgx_steps, in_pgx, games))
            small = theirs is not None and games <= FEW
            row.append(measured_apart(seconds, processes, theirs, games) if small else ("-", "-"))
            row.append(measured_apart(seconds, their_loop, theirs) if theirs and games == 1 else ("-", "-"))
            columns = "".join(f"{steps:>15}{memory:>7}" for steps, memory in row)
            print(f"  {name:14}{games:7}{columns}", flush=True)


def opponents(names: Sequence[str], seconds: float) -> None:
    """The learner's steps a second in 1,024 games of connect four."""
    print(f"  {'opponent':28}{'steps a second':>16}")
    for name in names:
        steps, _ = measured(our_vector("zermelo/ConnectFour-v0", 1024, opponent=name), seconds)
        print(f"  {name:28}{steps:>16}", flush=True)


def frameworks(names: Sequence[str], seconds: float) -> None:
    """Tic-tac-toe learned from scratch, and scores in % over 200 games each."""
    heads = ("random", "alphabeta(depth=1)", "seconds", "of processor", "MiB")
    print(f"  {'library':14}{'steps':>11}" + "".join(f"{head:>20}" for head in heads))
    for name in names:
        found = learned(examples()[name])
        figures = [f"{score:.1f}" for score in found["scores"]]
        figures += [f"{found[figure]:,.0f}" for figure in ("wall", "processor", "memory")]
        row = "".join(f"{figure:>20}" for figure in figures)
        print(f"  {name:14}{found['steps']:11,}{row}", flush=True)


PARTS: dict[str, tuple[Callable[[Sequence[str], float], None], Sequence[str]]] = {
    "seat": (seat, OPPONENTS),
    "many": (many, tuple(GAMES)),
    "opponents": (opponents, OPPONENTS),
    "frameworks": (frameworks, tuple(examples())),
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all if none is given")
    parser.add_argument("--only", metavar="NAME", help="one line of a part, such as othello")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each figure (default: %(default)s)")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"unknown parts: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    warnings.simplefilter("ignore")  # what environments say while they are made
    for part in given.parts or PARTS:
        run, names = PARTS[part]
        chosen = [name for name in names if given.only in (None, name)]
        print(f"{part}: {(run.__doc__ or '').splitlines()[0]}")
        run(chosen, given.seconds)
