"""Steps a second for a learner: many games at once beside other libraries, and what frameworks learn.

Actions are random and legal, and to draw them is part of every figure.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pettingzoo

from zermelo.agents.training import OpponentEnv, make_vec

OPPONENTS = ("random", "greedy", "alphabeta(depth=2)", "alphabeta(depth=4)", "mcts(simulations=100)", "level(800)")
GAMES = {
    # Ours, PettingZoo's and pgx's name.
    "tic-tac-toe": ("zermelo/MNK-v0", "classic/tictactoe-v3", "tic_tac_toe"),
    "connect four": ("zermelo/ConnectFour-v0", "classic/connect_four-v3", "connect_four"),
    "othello": ("zermelo/Othello-v0", None, "othello"),
    "backgammon": ("zermelo/Backgammon-v0", None, "backgammon"),
    "go 9x9": ("zermelo/Go-v0", "classic/go-v5", "go_9x9"),
    "chess": ("zermelo/Chess-v0", "classic/chess-v6", "chess"),
}
FEW = 64
"""More games than that are not given to one process each."""
SCRIPTS = Path(__file__).resolve().parents[1]
GUIDES = [SCRIPTS.parent / "docs" / "guides" / f"{name}.md" for name in ("training", "training_libraries")]
VECTOR = """
from train_ppo import agent_of, train
from zermelo.evaluation import gauntlet

steps = 1_000_000
opponents = ["random", "alphabeta(depth=1)"]
learned = agent_of(train("zermelo/MNK-v0", opponents, steps, games=512, seed=0))
standings = gauntlet("zermelo/MNK-v0", [learned, *opponents], games=200, workers=1)
"""
"""What ``scripts/train_ppo.py`` does."""
RESULTS = """
import json
import time
from benchmarks.learning import peak_mib

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


def measured(seconds: float, steps: Callable[..., Iterator[int]], *given: Any, **settings: Any) -> str:
    """The rate, or why there is none."""
    running = steps(*given, **settings)
    try:
        return f"{rate(running, seconds):,.0f}"
    except ImportError as error:
        return f"no {error.name}"
    finally:
        running.close()  # type: ignore[attr-defined]  # a generator


def examples() -> dict[str, str]:
    """The guides' examples that learn, by library, and the script."""
    text = "\n".join(guide.read_text() for guide in GUIDES)
    parts = re.findall(r"^## (\w+)|^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
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


def many(
    only: tuple[str, ...] = tuple(GAMES), sizes: tuple[int, ...] = (1, 64, 1024, 8192), seconds: float = 2.0
) -> Iterator[dict[str, Any]]:
    """Steps a second of make_vec, all seats at random.

    Beside PettingZoo's own loop, Gymnasium's AsyncVectorEnv over PettingZoo's environment, and pgx on the
    processor (pip install pgx). A step is one player's action.
    """
    for name in only:
        ours, theirs, in_pgx = GAMES[name]
        for games in sizes:
            yield {
                "game": name,
                "games": games,
                "make_vec": measured(seconds, our_vector, ours, games, opponent=None),
                "pgx": measured(seconds, pgx_steps, in_pgx, games),
                "AsyncVectorEnv": measured(seconds, processes, theirs, games) if theirs and games <= FEW else "-",
                "PettingZoo": measured(seconds, their_loop, theirs) if theirs and games == 1 else "-",
            }


def opponents(
    only: tuple[str, ...] = OPPONENTS, games: int = 1024, seconds: float = 2.0
) -> Iterator[dict[str, Any]]:
    """The learner's steps a second in many games of connect four; the opponent's answer is part of a step."""
    for name in only:
        steps = measured(seconds, our_vector, "zermelo/ConnectFour-v0", games, opponent=name)
        yield {"opponent": f"`{name}`", "steps a second": steps}


def frameworks(only: tuple[str, ...] = tuple(examples()), steps: int = 0) -> Iterator[dict[str, Any]]:
    """Tic-tac-toe learned from scratch, and scores in % over 200 games against each opponent.

    Run are the examples of docs/guides/training*.md that learn, and scripts/train_ppo.py,
    for as many steps as they say unless steps are given.
    """
    for name in only:
        found = learned(examples()[name], **({"steps": steps} if steps else {}))
        scores = zip(("random", "alphabeta(depth=1)"), found["scores"], strict=True)
        row = {"library": name, "steps": found["steps"], **{agent: f"{score:.1f}" for agent, score in scores}}
        row |= {"seconds of processor": f"{found['processor']:,.0f}", "seconds": f"{found['wall']:,.0f}"}
        yield {**row, "MiB": f"{found['memory']:,.0f}"}
