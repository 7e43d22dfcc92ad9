"""Files of machine code that are damaged: none of them is believed, whichever bit is wrong."""

from __future__ import annotations

import os
import random
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from zermelo.envs.games import Nim
from zermelo.envs.jit.cache.code_cache import shipped_file
from zermelo.envs.jit.machine_code import Code, baselines, processor, read, write
from zermelo.envs.jit.perft_kernel import leaves_kernel

SCRIPT = Path(__file__).parents[3] / "scripts" / "ship_kernels.py"

CODE = Code("entry", ("needed",), bytes(range(100)))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "kernel-0123.bin"
    write(path, CODE)
    return path


def test_what_was_written_is_read(file: Path) -> None:
    assert read(file) == CODE


@pytest.mark.thorough
def test_no_bit_can_be_wrong(file: Path) -> None:
    content = file.read_bytes()
    for place in range(len(content)):
        for bit in {5, place % 8}:  # the fifth makes small letters of capitals
            damaged = bytearray(content)
            damaged[place] ^= 1 << bit
            file.write_bytes(damaged)
            assert read(file) is None, (place, bit)


def test_no_byte_can_be_missing_or_be_too_many(file: Path) -> None:
    content = file.read_bytes()
    for damaged in (*(content[:size] for size in range(0, len(content), 9)), content + b"\0", b"\n" + content):
        file.write_bytes(damaged)
        assert read(file) is None


def test_a_file_of_another_name_is_not_read(file: Path) -> None:
    assert read(file.rename(file.with_name("kernel-4567.bin"))) is None


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    assert read(tmp_path) is None
    assert read(tmp_path / "nothing.bin") is None
    (tmp_path / "loop.bin").symlink_to(tmp_path / "loop.bin")
    assert read(tmp_path / "loop.bin") is None


PERFT = "print(perft(RULES, 4))"
PROOF = "print(Prover(RulesGame(RULES)).score(RULES.initial_state()))"
START = """
import sys
from pathlib import Path
from zermelo.agents.tree_search.exact.prover import Prover
from zermelo.envs import perft
from zermelo.envs.games import Nim
from zermelo.envs.jit import build, compiling
from zermelo.envs.jit.cache import code_cache, kernel_archive
from zermelo.envs.rules import RulesGame

RULES = Nim((3, 4, 5))
kernel_archive.ARCHIVE = Path("none")
"""
DAMAGE = """
class CompilerCalledError(Exception):
    pass

def refuse(*_):
    raise CompilerCalledError

compiling.compile_kernel = refuse
path = Path(sys.argv[1])
content = path.read_bytes()
code_cache._SHIPPED = path.parent if path.parent.name == "shipped" else Path("none")
for bit in map(int, sys.argv[2].split(",")):
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << bit % 8
    path.write_bytes(damaged)
    build._BUILT.clear()
    print(bit, end=" ", flush=True)
    try:
        RUN
    except CompilerCalledError:
        print("missed", flush=True)
"""


def python(cache: Path, script: str, *arguments: str) -> str:
    """Output of a fresh process that keeps machine code in a folder; what it said before it crashed, if it did."""
    settings = {**os.environ, "ZERMELO_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", START + script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=settings, check=False).stdout


def believed(path: Path, bits: list[int], run: str) -> list[int]:
    """Those bits with which a process believes the file, whether it then answers or crashes."""
    content, found = path.read_bytes(), list[int]()
    while bits:
        lines = python(
            path.parents[2], DAMAGE.replace("RUN", run), str(path), ",".join(map(str, bits))
        ).splitlines()
        path.write_bytes(content)
        assert lines, "the process did not begin"
        found += [int(line.split()[0]) for line in lines if not line.endswith("missed")]
        bits = bits[len(lines) :]
    return found


def header_and_code(content: bytes, places: int) -> list[int]:
    """A bit of each byte of the header, and of so many places of the code, by number."""
    header, source = len(content) - len(content.split(b"\n", 3)[3]), random.Random(1)
    chosen = [*range(header), *sorted(source.sample(range(header, len(content)), places))]
    return [8 * place + source.randrange(8) for place in chosen]


@pytest.fixture(scope="module", params=[PERFT, PROOF], ids=["perft", "proof"])
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The file of a kernel in a cache of its own, and what runs it."""
    cache = tmp_path_factory.mktemp("cache")
    assert python(cache, request.param)
    [path] = cache.rglob("*.bin")
    return path, request.param


@pytest.mark.thorough
def test_a_damaged_kernel_is_compiled(kept: tuple[Path, str]) -> None:
    path, run = kept
    bits = header_and_code(path.read_bytes(), 20)
    assert believed(path, bits[-20:] + bits[::5], run) == []


@pytest.mark.slow
def test_a_kernel_with_any_bit_of_its_header_wrong_is_compiled(kept: tuple[Path, str]) -> None:
    path, run = kept
    assert believed(path, header_and_code(path.read_bytes(), 1000), run) == []


@pytest.mark.thorough
def test_a_damaged_kernel_of_the_package_is_compiled(tmp_path: Path) -> None:
    rules, kernel = Nim((3, 4, 5)), leaves_kernel()
    folder = tmp_path / "zermelo" / "shipped"
    folder.mkdir(parents=True)
    runpy.run_path(str(SCRIPT))["ship"](rules, kernel, folder, processor().triple)
    path = shipped_file(rules, rules.initial_state(), kernel, processor().triple, baselines()[0])
    path = folder / path.name
    for other in set(folder.iterdir()) - {path}:
        other.unlink()
    bits = header_and_code(path.read_bytes(), 20)
    assert believed(path, bits[-20:] + bits[::5], PERFT) == []
