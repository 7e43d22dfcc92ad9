"""Compiles the kernels of our games ahead of time, as files that come with the package.

Usage:
    python scripts/ship_kernels.py used     the archive of the repository: kernels that pages and examples use
    python scripts/ship_kernels.py check    says whether that is current; compiles nothing
    python scripts/ship_kernels.py all ARCHIVE                 for wheels: an archive with the kernels of all games
    python scripts/ship_kernels.py all ARCHIVE FOLDER [TRIPLE]    and machine code for one platform

An archive (``zermelo.envs.jit.cache.kernel_archive``) is for all platforms and versions of Python; of what is
there already, in it or in the repository's, only kernels whose sources have changed are compiled. Ctrl-C
keeps what is done.
FOLDER gets machine code for baselines of processors: for one platform, by default this one (TRIPLE is LLVM's name
of another), for the version of Python that runs this, and for the installed versions of zermelo, Numba, llvmlite
and NumPy; with others it is not found.
"""

import functools
import lzma
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from zermelo.agents.base.machine import default_threads
from zermelo.agents.specs import make_agent
from zermelo.agents.warmup import kernels_of
from zermelo.envs import as_game
from zermelo.envs.games import Go
from zermelo.envs.jit.cache.code_cache import shipped_file
from zermelo.envs.jit.cache.kernel_archive import (
    ARCHIVE,
    kernels_in,
    names_in_archive,
    object_name,
    portable_name,
    write_archive,
)
from zermelo.envs.jit.compiling import compile_kernel, compile_parts
from zermelo.envs.jit.extensions.precompiled_parts import name_of_parts
from zermelo.envs.jit.history import path_rules_of
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
from zermelo.envs.position import position
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
"""The kernels in the repository's archive: names of ``kernels_of``, or agents, of which it is the search's own."""
COMMON = {
    "zermelo/Nim-v0": ("alphabeta", "minimax", "mcts", "solve", "maxn(depth=3)", "paranoid(depth=3)"),
    "zermelo/Kalah-v0": ("alphabeta",),
    "zermelo/Pig-v0": ("expectiminimax", "maxn(depth=3)"),
}
"""Kernels whose functions that do not depend on rules serve the users' own rules too."""
ROOM, ROOM_OF_ALL = 1_990_000, 8_000_000
"""Bytes of the repository's archive, and of that in a wheel of at most 25 MB: bitcode has to fit; machine code is
added while it fits."""
TRIPLE, BASELINE = "x86_64-unknown-linux-gnu", "x86-64-v3"
"""The platform for which archives have machine code too."""


def used(table=USED):
    """Rules and kernels of the repository's archive, by what they are called."""
    for source, names in table.items():
        env = make(source)
        env.reset(seed=0)
        known = kernels_of(env)
        for name in names:
            if name in known:
                yield f"{source}: {name}", as_game(env).rules, known[name]
            elif found := make_agent(name).kernels(position(env)):
                yield f"{source}: {name}", *found[0]
            else:
                raise SystemExit(f"{name} searches {source} without a kernel")


def compiled(rules, kernel):
    """A kernel as a module of LLVM's, and its entry."""
    return compile_kernel(path_rules_of(rules), kernel)


def portable_codes(rules, kernel, there, about, made=None):
    """A kernel's bitcode, and its machine code for the platform of archives, by their names.

    What is there is not compiled again, nor where the module that it would be is at hand.
    """
    name = portable_name(rules, rules.initial_state(), kernel)
    target = object_name(name, TRIPLE, BASELINE)
    code = there.get(name) or portable(*(made or compiled(rules, kernel)))
    if not code.can_be_kept:
        raise SystemExit(f"{about} is not portable: it needs {', '.join(code.needs) or 'an address'}")
    return {name: code}, {target: there.get(target) or emit_portable(code, Processor(TRIPLE, BASELINE))}


def common_parts(there):
    """The functions that kernels have in common whatever the rules are, by the names of their modules."""
    parts = {}
    for about, rules, kernel in used(COMMON):
        name = name_of_parts(kernel)
        code = there.get(name) or compile_parts(path_rules_of(rules), kernel)
        parts[name] = code
        print(f"{about}, what all rules share: {len(code.data):,} bytes", flush=True)
    return parts


def write_both(path, kernels, objects, room):
    """Writes an archive: all bitcode, and of the machine code what fits, in this order."""
    size, files = write_archive(path, kernels), dict(kernels)
    for target, code in objects.items():
        bigger = size + len(lzma.compress(code.data)) + 500  # for its names and its checksum
        if bigger <= room:
            files, size = files | {target: code}, bigger
    size = write_archive(path, files)
    print(f"{path.name}: {len(kernels)} kernels, {len(files)} files, {size:,} bytes")
    if size > room:
        raise SystemExit(f"{path.name} has {size:,} bytes, and may have {room:,}: ship fewer kernels")


def write_used(path=ARCHIVE):
    """Writes the repository's archive; kernels that it has are not compiled again."""
    there, objects = kernels_in(path), {}
    kernels = common_parts(there)
    for about, rules, kernel in used():
        started = time.perf_counter()
        codes, targets = portable_codes(rules, kernel, there, about)
        kernels, objects = kernels | codes, objects | targets
        size = sum(len(code.data) for code in codes.values())
        print(f"{about}: {size:,} bytes, {time.perf_counter() - started:.0f} s", flush=True)
    write_both(path, kernels, objects, ROOM)


def check():
    """Says whether the repository's archive has all that it should; returns whether it does."""
    there = names_in_archive(ARCHIVE)
    missing = [
        about
        for about, rules, kernel in used()
        if portable_name(rules, rules.initial_state(), kernel) not in there
    ]
    missing += [
        f"{about}, what all rules share" for about, _, kernel in used(COMMON) if name_of_parts(kernel) not in there
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
    """Writes a kernel's machine code for each baseline; returns its module and its entry."""
    state = rules.initial_state()
    module, entry = compiled(rules, kernel)
    for baseline in BASELINES[platform_of(triple)[0]]:
        code = emit(module.clone(), entry, Processor(triple, baseline))
        if not code.can_be_kept:
            raise SystemExit(f"{kernel.function.__name__} of {rules} has an address of this process in it")
        write(folder / shipped_file(rules, state, kernel, triple, baseline).name, code)
    return module, entry


def ship_game(source, there, folder, triple):
    """Makes the kernels of a game; returns a line about it, their bitcode and their machine code by names."""
    started = time.perf_counter()
    if isinstance(source, str):
        env = make(source)
        env.reset(seed=0)
        source = env
    game = as_game(source)
    known = kernels_of(game).items()
    kernels = {name: (game.rules, kernel) for name, kernel in known if name not in LEFT_OUT}
    chosen = make_agent("auto").kernels(position(source))[:1]  # who does not name an agent gets this one
    if chosen and chosen[0] not in kernels.values():
        kernels["auto"] = chosen[0]
    codes, objects = {}, {}
    for name, (rules, kernel) in kernels.items():
        made = None if folder is None else ship(rules, kernel, folder, triple)
        bitcode, machine_code = portable_codes(rules, kernel, there, f"{source}: {name}", made)
        codes, objects = codes | bitcode, objects | machine_code
    seconds = time.perf_counter() - started
    return f"{game.traits.name}: {', '.join(kernels) or 'nothing'}: {seconds:.0f} s", codes, objects


def ship_all(archive, folder=None, triple=None):
    """Writes the kernels of all games, and those of the repository's archive."""
    there = kernels_in(ARCHIVE) | kernels_in(Path(archive))
    platform = {"folder": folder and Path(folder), "triple": triple or processor().triple}
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
    kernels, objects = common_parts(there), {}
    for about, rules, kernel in used():
        codes, targets = portable_codes(rules, kernel, there, about)
        kernels, objects = kernels | codes, objects | targets
    try:
        with ProcessPoolExecutor(default_threads()) as pool:
            for line, codes, targets in pool.map(functools.partial(ship_game, there=there, **platform), games()):
                print(line, flush=True)
                kernels, objects = kernels | codes, objects | targets
    except BaseException:
        write_archive(Path(archive), there | kernels | objects)  # to go on from there
        raise
    write_both(Path(archive), kernels, objects, ROOM_OF_ALL)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["used"]:
            write_used()
        case ["check"]:
            sys.exit(not check())
        case ["all", archive, *platform] if len(platform) <= 2:
            ship_all(archive, *platform)
        case _:
            sys.exit(__doc__)
