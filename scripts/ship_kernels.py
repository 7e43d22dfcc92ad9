"""Compiles the kernels of our games ahead of time, as files that come with the package.

Usage:
    python scripts/ship_kernels.py used     the archive of the repository: kernels that pages and examples use
    python scripts/ship_kernels.py check    says whether that is current; compiles nothing
    python scripts/ship_kernels.py all ARCHIVE FOLDER [TRIPLE]    for wheels: the kernels of all games

An archive (``zermelo.envs.jit.portable``) is for all platforms and versions of Python; of what the repository's
has already only kernels whose sources have changed are compiled. FOLDER gets machine code for baselines of
processors: for one platform, by default this one (TRIPLE is LLVM's name of another), for the version of Python
that runs this, and for the installed versions of zermelo, Numba, llvmlite and NumPy; with others it is not found.
"""

import functools
import lzma
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from unittest import mock

from zermelo.agents.specs import make_agent
from zermelo.agents.warmup import kernels_of
from zermelo.envs import as_game
from zermelo.envs.games import Go
from zermelo.envs.jit import build
from zermelo.envs.jit.code_cache import shipped_file
from zermelo.envs.jit.compiling import compile_kernel
from zermelo.envs.jit.history import on_path
from zermelo.envs.jit.machine_code import (
    BASELINES,
    Processor,
    emit,
    emit_portable,
    platform_of,
    portable,
    processor,
    write,
)
from zermelo.envs.jit.portable import (
    ARCHIVE,
    kernels_in,
    names_in_archive,
    object_name,
    portable_name,
    write_archive,
)
from zermelo.envs.registration.make import make
from zermelo.envs.registration.registry import OWN_ENVS

LEFT_OUT = "minimax", "paranoid"
USED = {
    "classic/tictactoe-v3": ("alphabeta", "minimax", "mcts", "solve", "perft", "expectiminimax"),
    "classic/connect_four-v3": ("alphabeta", "minimax", "mcts", "solve", "perft", "expectiminimax"),
    "classic/chess-v6": ("alphabeta", "auto", "alphabeta, selective", "perft"),
    "zermelo/Go-v0(size=9)": ("mcts",),
    "classic/go-v5": ("mcts",),
    "classic/hanabi-v5": ("auto",),
    "classic/texas_holdem-v4": ("auto",),
    "zermelo/Game2048-v0": ("expectiminimax",),
    "zermelo/Pig-v0": ("expectiminimax", "mcts"),
    "zermelo/Othello-v0": ("alphabeta", "auto"),
    "zermelo/Breakthrough-v0": ("alphabeta", "mcts"),
    "zermelo/Kalah-v0": ("alphabeta", "mcts"),
    "zermelo/Hex-v0": ("mcts",),
    "zermelo/Nim-v0": ("alphabeta", "solve"),
    "zermelo/Backgammon-v0": ("expectiminimax",),
}
"""The kernels in the repository's archive: names of ``kernels_of``, or agents whose first search is asked."""
ROOM = 1_990_000
"""Bytes of the repository's archive: bitcode has to fit; machine code is added in that order while it fits."""
TRIPLE, BASELINE = "x86_64-unknown-linux-gnu", "x86-64-v3"
"""The platform for which the repository's archive has machine code too."""


class Asked(Exception):  # noqa: N818  # it ends a search, and is no error
    """A search asks for a kernel."""


def asked_by(agent, env):
    """The rules and the kernel that an agent's first search waits for."""

    def ask(rules, kernel, waits):
        raise Asked(rules, kernel)

    with mock.patch.object(build, "_built", ask):
        try:
            make_agent(agent).search(env)
        except Asked as asked:
            return asked.args
    raise SystemExit(f"{agent} searches {env} without a kernel")


def used():
    """Rules and kernels of the repository's archive, by what they are called."""
    for source, names in USED.items():
        env = make(source)
        env.reset(seed=0)
        known = kernels_of(env)
        for name in names:
            rules, kernel = (as_game(env).rules, known[name]) if name in known else asked_by(name, env)
            yield f"{source}: {name}", rules, kernel


def compiled(rules, kernel):
    """A kernel as a module of LLVM's, and its entry."""
    return compile_kernel(on_path(rules), kernel.function, kernel.arguments, dict(kernel.constants))


def write_used(path=ARCHIVE):
    """Writes the repository's archive; kernels that it has are not compiled again."""
    there, kernels, objects = kernels_in(path), {}, {}
    for about, rules, kernel in used():
        name, started = portable_name(rules, rules.initial_state(), kernel), time.perf_counter()
        code = there.get(name) or portable(*compiled(rules, kernel))
        if not code.can_be_kept:
            raise SystemExit(f"{about} is not portable: it needs {', '.join(code.needs) or 'an address'}")
        target = object_name(name, TRIPLE, BASELINE)
        kernels[name] = code
        objects[target] = there.get(target) or emit_portable(code, Processor(TRIPLE, BASELINE))
        print(f"{about}: {len(code.data):,} bytes, {time.perf_counter() - started:.0f} s", flush=True)
    size = write_archive(path, kernels)
    for target, code in objects.items():
        bigger = size + len(lzma.compress(code.data)) + 500  # for its names and its checksum
        if bigger <= ROOM:
            kernels, size = kernels | {target: code}, bigger
    size = write_archive(path, kernels)
    print(f"{path.name}: {len(kernels)} files, {size:,} bytes")
    if size > ROOM:
        raise SystemExit(f"{path.name} has {size:,} bytes, and may have {ROOM:,}: take kernels out of USED")


def check():
    """Says whether the repository's archive has all that it should; returns whether it does."""
    there = names_in_archive(ARCHIVE)
    missing = [
        about
        for about, rules, kernel in used()
        if portable_name(rules, rules.initial_state(), kernel) not in there
    ]
    if missing:
        print(
            f"{ARCHIVE.name} lacks {len(missing)} kernels, whose sources have changed ({missing[0]}): they are "
            "compiled when they are needed; scripts/ship_kernels.py used makes it anew"
        )
    else:
        print(f"{ARCHIVE.name} is current")
    return not missing


def games():
    """The names of our games, and other shapes of them that are usual."""
    return [*OWN_ENVS, Go(9), Go(13)]


def ship(rules, kernel, folder, triple):
    """Writes a kernel's machine code for each baseline; returns its bitcode by its name, if it is portable."""
    state = rules.initial_state()
    module, entry = compiled(rules, kernel)
    for baseline in BASELINES[platform_of(triple)[0]]:
        code = emit(module.clone(), entry, Processor(triple, baseline))
        if not code.can_be_kept:
            raise SystemExit(f"{kernel.function.__name__} of {rules} has an address of this process in it")
        write(folder / shipped_file(rules, state, kernel, triple, baseline).name, code)
    bitcode = portable(module, entry)
    return {portable_name(rules, state, kernel): bitcode} if bitcode.can_be_kept else {}


def ship_game(source, folder, triple):
    """Writes the kernels of a game; returns a line about it, and their bitcode by names."""
    started = time.perf_counter()
    if isinstance(source, str):
        env = make(source)
        env.reset(seed=0)
        source = env
    game = as_game(source)
    kernels = {name: kernel for name, kernel in kernels_of(game).items() if name not in LEFT_OUT}
    codes = {}
    for kernel in kernels.values():
        codes |= ship(game.rules, kernel, folder, triple)
    seconds = time.perf_counter() - started
    return f"{game.traits.name}: {', '.join(kernels) or 'nothing'}: {len(codes)} portable, {seconds:.0f} s", codes


def ship_all(archive, folder, triple=None):
    """Writes the kernels of all games, and those of the repository's archive."""
    triple, kernels = triple or processor().triple, kernels_in(ARCHIVE)
    Path(folder).mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for line, codes in pool.map(functools.partial(ship_game, folder=Path(folder), triple=triple), games()):
            print(line, flush=True)
            kernels |= codes
    print(f"{archive}: {len(kernels)} files, {write_archive(Path(archive), kernels):,} bytes")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["used"]:
            write_used()
        case ["check"]:
            sys.exit(not check())
        case ["all", archive, folder, *triple] if len(triple) <= 1:
            ship_all(archive, folder, *triple)
        case _:
            sys.exit(__doc__)
