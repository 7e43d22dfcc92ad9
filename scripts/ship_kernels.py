"""Compiles the kernels of our games for baselines of processors, as files that platform wheels have.

Usage: python scripts/ship_kernels.py FOLDER [TRIPLE]

TRIPLE is LLVM's name of the platform, by default this one. The files serve the version of Python that runs this,
and the installed versions of zermelo, Numba, llvmlite and NumPy; with others they are not found, and rules are
compiled.
"""

import functools
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from zermelo.agents.warmup import kernels_of
from zermelo.envs import as_game, make_env
from zermelo.envs.games import Go
from zermelo.envs.jit.code_cache import shipped_file
from zermelo.envs.jit.compiling import compile_kernel
from zermelo.envs.jit.history import on_path
from zermelo.envs.jit.machine_code import BASELINES, Processor, emit, platform_of, processor, write
from zermelo.envs.registration.registry import OWN_ENVS

LEFT_OUT = "minimax", "paranoid"


def games():
    """The names of our games, and other shapes of them that are usual."""
    return [*OWN_ENVS, Go(9), Go(13)]


def ship(rules, kernel, folder, triple):
    """Writes a kernel's machine code for each baseline; returns how many bytes that is."""
    state, size = rules.initial_state(), 0
    module, entry = compile_kernel(on_path(rules), kernel.function, kernel.arguments, dict(kernel.constants))
    for baseline in BASELINES[platform_of(triple)[0]]:
        code = emit(module.clone(), entry, Processor(triple, baseline))
        if not code.can_be_kept:
            raise SystemExit(f"{kernel.function.__name__} of {rules} has an address of this process in it")
        path = folder / shipped_file(rules, state, kernel, triple, baseline).name
        write(path, code)
        size += path.stat().st_size
    return size


def ship_game(source, folder, triple):
    """Writes the kernels of a game; returns a line about it."""
    started = time.perf_counter()
    if isinstance(source, str):
        env = make_env(source)
        env.reset(seed=0)
        source = env
    game = as_game(source)
    kernels = {name: kernel for name, kernel in kernels_of(game).items() if name not in LEFT_OUT}
    size = sum(ship(game.rules, kernel, folder, triple) for kernel in kernels.values())
    seconds = time.perf_counter() - started
    return f"{game.traits.name}: {', '.join(kernels) or 'nothing'}: {size / 1e6:.1f} MB, {seconds:.0f} s"


def main(folder, triple=None):
    triple = triple or processor().triple
    Path(folder).mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for line in pool.map(functools.partial(ship_game, folder=Path(folder), triple=triple), games()):
            print(line, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
