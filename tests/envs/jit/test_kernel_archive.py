"""Kernels for all platforms that come with the package: found by sources, made into machine code without Numba."""

from __future__ import annotations

import random
import runpy
import subprocess
import sys
import types
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zermelo.envs import perft
from zermelo.envs.games import Nim
from zermelo.envs.jit import build
from zermelo.envs.jit.cache import kernel_archive
from zermelo.envs.jit.cache.sources import digest_of
from zermelo.envs.jit.machine_code import Code, Processor, baselines, emit_portable, processor
from zermelo.envs.jit.perft_kernel import leaves_kernel
from zermelo.envs.support.code_parts import UncomparableError

SCRIPT = Path(__file__).parents[3] / "scripts" / "ship_kernels.py"
RULES, DEPTH, LEAVES = Nim((3, 4, 5)), 4, 4338


@pytest.fixture(scope="module")
def bitcode() -> Code:
    """The kernel that counts leaves."""
    script = runpy.run_path(str(SCRIPT))
    made: Code = script["portable"](*script["compiled"](RULES, leaves_kernel()))
    return made


@pytest.fixture
def archive(bitcode: Code, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A process whose package has only that kernel, with nothing built or kept, and which refuses to compile."""

    def refuse(*_: Any) -> Any:
        raise CompilerCalledError

    path = tmp_path / "kernels.zip"
    kernel_archive.write_archive(path, {name(): bitcode})
    monkeypatch.setattr(build, "_BUILT", {})
    monkeypatch.setattr(kernel_archive, "ARCHIVE", path)
    monkeypatch.setenv("ZERMELO_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("zermelo.envs.jit.compiling.compile_kernel", refuse)
    return path


class CompilerCalledError(Exception):
    """The compiler was asked."""


def name() -> str:
    return kernel_archive.portable_name(RULES, RULES.initial_state(), leaves_kernel())


@pytest.mark.thorough
def test_bitcode_becomes_machine_code_that_is_kept(archive: Path) -> None:
    assert perft(RULES, DEPTH) == LEAVES
    assert len(list(archive.parent.rglob("leaves-*.bin"))) == 1


@pytest.mark.thorough
@pytest.mark.skipif(not baselines(), reason="this processor has no baseline")
def test_machine_code_for_this_processor_comes_first(archive: Path, bitcode: Code) -> None:
    code = emit_portable(bitcode, Processor(processor().triple, baselines()[0]))
    assert code is not None
    target = kernel_archive.object_name(name(), processor().triple, baselines()[0])
    kernel_archive.write_archive(archive, {target: code})
    assert perft(RULES, DEPTH) == LEAVES
    assert not list(archive.parent.rglob("leaves-*.bin"))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("sys.byteorder", "big"),
        ("zermelo.envs.jit.cache.code_cache.digest_of", lambda *_, **__: "other sources"),
        ("zermelo.envs.jit.cache.code_cache._ENTRY_POINTS", "otherwise"),
    ],
    ids=["byte order", "sources", "entry"],
)
@pytest.mark.usefixtures("archive")
def test_whatever_differs_is_compiled(where: str, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(where, value)
    with pytest.raises(CompilerCalledError):
        perft(RULES, DEPTH)


@pytest.mark.thorough
@pytest.mark.parametrize("data", [b"", b"no bitcode", b"BC\xc0\xde" + bytes(100)])
def test_what_llvm_cannot_read_is_compiled(archive: Path, bitcode: Code, data: bytes) -> None:
    kernel_archive.write_archive(archive, {name(): bitcode._replace(data=data)})
    with pytest.raises(CompilerCalledError):
        perft(RULES, DEPTH)


def test_a_function_that_this_process_lacks_is_a_miss(bitcode: Code) -> None:
    assert emit_portable(bitcode._replace(needs=("no_such_function",))) is None


@pytest.mark.thorough
def test_no_byte_of_the_archive_can_be_wrong(archive: Path, bitcode: Code) -> None:
    content = archive.read_bytes()
    for place in range(0, len(content), 17):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        archive.write_bytes(damaged)
        assert kernel_archive.archived(name()) in (None, bitcode._replace(can_be_kept=True)), place


@pytest.mark.usefixtures("archive")
@pytest.mark.parametrize("content", [b"", b"PK", b"x" * 1000, bytes(100_000)])
def test_what_is_no_archive_is_passed_over(archive: Path, content: bytes) -> None:
    archive.write_bytes(content)
    assert kernel_archive.archived(name()) is kernel_archive.archived_object(name()) is None
    assert kernel_archive.kernels_in(archive) == {}


def test_an_entry_of_another_name_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kernels.zip"
    kernel_archive.write_archive(path, {"first": Code("entry", (), b"code")})
    with zipfile.ZipFile(path) as archive:
        content = archive.read("first")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("second", content)
    assert kernel_archive.kernels_in(path) == {}


def test_the_same_kernels_make_the_same_archive(tmp_path: Path) -> None:
    codes = {"b": Code("entry", (), b"code"), "a": Code("entry", ("needed",), b"more")}
    for path in (tmp_path / "one", tmp_path / "other"):
        kernel_archive.write_archive(path, codes)
        assert kernel_archive.kernels_in(path) == codes
        codes = dict(reversed(codes.items()))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("triple", "cpu", "begins"),
    [
        ("x86_64-unknown-linux-gnu", "x86-64-v2", b"\x7fELF"),
        ("aarch64-unknown-linux-gnu", "generic", b"\x7fELF"),
        ("arm64-apple-darwin23.1.0", "apple-m1", b"\xcf\xfa\xed\xfe"),
        ("x86_64-pc-windows-msvc", "x86-64", b"\x64\x86"),
    ],
)
def test_machine_code_can_be_made_for_every_platform(bitcode: Code, triple: str, cpu: str, begins: bytes) -> None:
    code = emit_portable(bitcode, Processor(triple, cpu))
    assert code is not None
    assert code.data.startswith(begins)


# -- the script that writes archives


def test_machine_code_is_added_to_an_archive_while_it_fits(tmp_path: Path) -> None:
    def some(size: int) -> Code:
        return Code("entry", (), random.Random(size).randbytes(size))

    write, path = runpy.run_path(str(SCRIPT))["write_both"], tmp_path / "kernels.zip"
    write(path, {"bitcode": some(900)}, {"too big": some(5000), "small": some(500)}, 4000)
    assert kernel_archive.kernels_in(path) == {"bitcode": some(900), "small": some(500)}
    with pytest.raises(SystemExit, match="ship fewer kernels"):
        write(path, {"bitcode": some(900)}, {}, 900)


def test_what_an_archive_has_is_not_compiled_again() -> None:
    script = runpy.run_path(str(SCRIPT))
    target = kernel_archive.object_name(name(), script["TRIPLE"], script["BASELINE"])
    bitcode, machine_code = Code("entry", (), b"bitcode"), Code("entry", (), b"machine code")
    there = {name(): bitcode, target: machine_code}
    assert script["portable_codes"](RULES, leaves_kernel(), there, "leaves") == (
        {name(): bitcode},
        {target: machine_code},
    )


# -- names: by sources, and by nothing else


def module_of(text: str, folder: Path, called: str = "helper") -> types.ModuleType:
    """A module with some text, from a file, which was there before this package was imported."""
    path = folder / f"{called}.py"
    path.write_text(text)
    made = types.ModuleType(called)
    made.__file__ = str(path)
    exec(compile(text, str(path), "exec"), vars(made))
    return made


@pytest.fixture
def old_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zermelo.envs.support.source._LOADED", float("inf"))


def digest(method: Callable[..., Any]) -> str:
    rules = type("Edited", (Nim,), {"__slots__": (), "__module__": "edited", "to_move": method})
    return digest_of(rules, type(RULES.initial_state()), leaves_kernel(), by_source=True)


TEXT = """
STEP = 1

def helper(value):
    '''Helps.'''
    return value + 0

def outer(value):
    def inner():
        return value
    def to_move(self, state):
        return helper(state.mover) + STEP + inner()
    return to_move

to_move = outer(5)
"""


@pytest.mark.usefixtures("old_files")
@pytest.mark.parametrize(
    ("old", "new"),
    [("STEP = 1", "STEP = 2"), ("value + 0", "value + 1"), ("outer(5)", "outer(6)"), ("+ STEP", "- STEP")],
    ids=["constant", "helper", "closure", "method"],
)
def test_an_edit_is_another_kernel(old: str, new: str, tmp_path: Path) -> None:
    folders = [tmp_path / each for each in ("one", "same", "other")]
    digests = []
    for folder, text in zip(folders, (TEXT, "# a line above\n" + TEXT, TEXT.replace(old, new)), strict=True):
        folder.mkdir()
        digests.append(digest(module_of(text, folder).to_move))
    assert digests[0] == digests[1]
    assert digests[0] != digests[2]


def test_a_file_that_was_changed_while_it_was_in_use_has_no_source(tmp_path: Path) -> None:
    with pytest.raises(UncomparableError, match="to_move, which has no source"):
        digest(module_of(TEXT, tmp_path).to_move)


def test_what_exec_made_has_no_source() -> None:
    space: dict[str, Any] = {}
    exec("def to_move(self, state): return 0", space)
    with pytest.raises(UncomparableError, match="to_move, which has no source"):
        digest(space["to_move"])


@pytest.mark.usefixtures("old_files")
def test_a_lambda_has_no_source_as_another_may_be_on_its_line(tmp_path: Path) -> None:
    with pytest.raises(UncomparableError, match="<lambda>, which has no source"):
        digest(module_of("to_move = lambda self, state: 0", tmp_path).to_move)


@pytest.mark.usefixtures("old_files")
def test_ends_of_lines_are_the_platforms(tmp_path: Path) -> None:
    text = "def to_move(self, state):\n    return (\n        0\n    )\n"
    plain = digest(module_of(text, tmp_path).to_move)
    (tmp_path / "windows").mkdir()
    made = module_of(text, tmp_path / "windows")
    (tmp_path / "windows" / "helper.py").write_bytes(text.replace("\n", "\r\n").encode())
    assert digest(made.to_move) == plain


# -- the archive of the repository

MEASURED = """
import sys
from zermelo.agents.specs import make_agent
from zermelo.envs.registration.make import make

env = make(sys.argv[1])
env.reset(seed=0)
result = make_agent(sys.argv[2]).search(env)
print("numba" in sys.modules, result.nodes > 0)
"""


@pytest.mark.slow
@pytest.mark.skipif(not kernel_archive.ARCHIVE.exists(), reason="this package has no archive")
def test_what_the_repository_has_needs_no_compiler(tmp_path: Path) -> None:
    script = runpy.run_path(str(SCRIPT))
    if not script["check"]():
        pytest.skip("the archive is to be made anew: scripts/ship_kernels.py used")
    command = [sys.executable, "-c", MEASURED]
    settings = {"ZERMELO_CACHE_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    for env, agent in (
        ("classic/tictactoe-v3", "alphabeta(depth=3)"),
        ("classic/chess-v6", "alphabeta(depth=2)"),
        ("zermelo/Backgammon-v0", "expectiminimax(depth=1)"),
    ):
        for cpu in ({}, {"NUMBA_CPU_NAME": "x86-64"}):
            done = subprocess.run(
                [*command, env, agent], capture_output=True, text=True, check=True, env=settings | cpu
            )
            assert done.stdout == "False True\n", (env, cpu, done.stderr)


def test_the_archive_of_the_repository_is_small() -> None:
    assert kernel_archive.ARCHIVE.stat().st_size <= 2_000_000
