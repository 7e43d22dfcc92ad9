"""Machine code that comes with the package: found where nothing is kept, and only where it is right."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from zermelo.envs import perft
from zermelo.envs.games import Nim
from zermelo.envs.jit import build, machine_code
from zermelo.envs.jit.cache import code_cache, kernel_archive
from zermelo.envs.jit.machine_code import baselines, platform_of, processor
from zermelo.envs.jit.perft_kernel import leaves_kernel

SCRIPT = Path(__file__).parents[3] / "scripts" / "ship_kernels.py"
RULES, DEPTH, LEAVES = Nim((3, 4, 5)), 4, 4338

pytestmark = pytest.mark.skipif(not baselines(), reason="this processor has no baseline")


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the kernel that counts leaves."""
    folder = tmp_path_factory.mktemp("shipped")
    runpy.run_path(str(SCRIPT))["ship"](RULES, leaves_kernel(), folder, processor().triple)
    return folder


class CompilerCalledError(Exception):
    """The compiler was asked."""


@pytest.fixture
def package(shipped: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A process whose package has that folder, with nothing built or kept, and which refuses to compile."""

    def refuse(*_: Any) -> Any:
        raise CompilerCalledError

    monkeypatch.setattr(build, "_BUILT", {})
    monkeypatch.setattr(code_cache, "_SHIPPED", shipped)
    monkeypatch.setattr(kernel_archive, "ARCHIVE", tmp_path / "none.zip")
    monkeypatch.setenv("ZERMELO_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("zermelo.envs.jit.compiling.compile_kernel", refuse)
    return tmp_path


@pytest.mark.thorough
def test_it_is_found_and_counts_the_same(package: Path) -> None:
    assert perft(RULES, DEPTH) == LEAVES
    assert perft(Nim((3, 4, 5, 6)), 1) == 18  # other parameters, the same code
    assert not list(package.rglob("*.bin"))


@pytest.mark.thorough
@pytest.mark.usefixtures("package")
def test_a_lower_baseline_serves_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_cache, "baselines", lambda: baselines()[-1:])
    assert perft(RULES, DEPTH) == LEAVES


@pytest.mark.thorough
@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("baselines", list),
        ("_versions", lambda: ("0.1", "0.2", "0.3")),
        ("digest_of", lambda *_, **__: "other sources"),
        ("_ENTRY_POINTS", "otherwise"),
        ("processor", lambda: machine_code.Processor("riscv64-unknown-linux-gnu", "generic")),
    ],
    ids=["processor", "versions", "sources", "entry", "platform"],
)
def test_whatever_differs_is_compiled(name: str, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_cache, name, value)
    with pytest.raises(CompilerCalledError):
        perft(RULES, DEPTH)


@pytest.mark.thorough
@pytest.mark.usefixtures("package")
def test_a_torn_file_is_not_believed(shipped: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for file in shipped.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes()[:-100])
    monkeypatch.setattr(code_cache, "_SHIPPED", tmp_path)
    with pytest.raises(CompilerCalledError):
        perft(RULES, DEPTH)


@pytest.mark.parametrize(
    ("triple", "platform"),
    [
        ("x86_64-unknown-linux-gnu", ("x86_64", "linux")),
        ("arm64-apple-darwin23.1.0", ("aarch64", "darwin")),
        ("aarch64-unknown-linux-gnu", ("aarch64", "linux")),
        ("x86_64-pc-windows-msvc-elf", ("x86_64", "windows")),
    ],
)
def test_platforms_have_no_versions(triple: str, platform: tuple[str, str]) -> None:
    assert platform_of(triple) == platform
