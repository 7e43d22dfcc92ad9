"""What is removed from the cache folder of compiled rules: old files written by this package, and nothing else."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from zermelo.envs.jit.code_cache import cache_root, one_compiler
from zermelo.envs.jit.machine_code import Code, write

NAME = f"perft-{'a1' * 16}.bin"
OTHER = f"perft-{'b2' * 16}.bin"
LONG_AGO = time.time() - 100 * 24 * 3600


@pytest.fixture(autouse=True)
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the user names."""
    monkeypatch.setenv("ZERMELO_CACHE_DIR", str(tmp_path))
    return tmp_path


def old(path: Path, content: bytes = b"the user's own\n") -> Path:
    """A file that nobody has touched for 100 days, nor the folders that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    age(path)
    return path


def age(path: Path) -> None:
    for each in (path, path.parent):
        os.utime(each, (LONG_AGO, LONG_AGO), follow_symlinks=False)


def compile_something() -> None:
    """Does what each compile does to the cache folder."""
    path = cache_root() / "Stairs" / OTHER
    with one_compiler(path):
        write(path, Code("entry", (), b"code"))


def keep_code(name: str = NAME) -> Path:
    """Machine code that was written long ago."""
    path = cache_root() / "Forgotten" / name
    with one_compiler(path):
        write(path, Code("entry", (), b"code"))
    age(path)
    return path


@pytest.mark.defect(1)
@pytest.mark.parametrize(
    "name", ["zermelo/src/game.py", "zermelo/.git/HEAD", f"zermelo/src/{NAME}", "src/game.py"]
)
def test_a_checkout_named_zermelo_loses_nothing(name: str, parent: Path) -> None:
    mine = old(parent / name)
    folder = old(parent / "zermelo" / "src" / "nested" / "data.txt").parent
    age(folder)
    compile_something()
    compile_something()
    assert mine.read_bytes() == b"the user's own\n"
    assert (folder / "data.txt").exists()


@pytest.mark.defect(1)
@pytest.mark.parametrize("name", ["notes.txt", "code.bin", NAME, f".{NAME}.0a1b2c3d.part", "nested/game.py"])
def test_files_of_others_in_the_cache_folder_stay(name: str) -> None:
    keep_code()
    mine = old(cache_root() / "Forgotten" / name)
    age(mine.parent)
    compile_something()
    assert mine.read_bytes() == b"the user's own\n"


@pytest.mark.defect(1)
def test_links_in_the_cache_folder_are_not_followed(parent: Path) -> None:
    code = keep_code().read_bytes()
    outside = old(parent / "outside" / NAME, code)
    (cache_root() / "Linked").symlink_to(outside.parent, target_is_directory=True)
    link = cache_root() / "Forgotten" / OTHER
    link.symlink_to(outside)
    age(link)
    compile_something()
    assert outside.read_bytes() == code
    assert link.is_symlink()
    assert (cache_root() / "Linked").is_symlink()


def test_old_machine_code_goes_and_young_stays() -> None:
    path = keep_code()
    compile_something()
    compile_something()
    assert not path.exists()
    assert (cache_root() / "Stairs" / OTHER).exists()


def test_old_folders_that_are_empty_go_and_young_ones_stay() -> None:
    compile_something()
    old, young = (cache_root() / name for name in ("Forgotten", "Recent"))
    old.mkdir()
    young.mkdir()
    os.utime(old, (LONG_AGO, LONG_AGO))
    compile_something()
    assert not old.exists()
    assert young.exists()


def test_a_folder_of_which_the_marker_is_gone_keeps_all() -> None:
    path = keep_code()
    markers = [each for each in cache_root().iterdir() if each.is_file()]
    assert len(markers) == 1
    markers[0].write_text("Signature: 8a477f597d28d172789f06886806bc55\n")  # another program's
    compile_something()
    assert path.exists()


def test_an_empty_folder_that_somebody_made_is_cleared_too(parent: Path) -> None:
    (parent / "zermelo").mkdir()
    path = keep_code()
    compile_something()
    assert not path.exists()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user whom permissions stop")
def test_a_folder_that_cannot_be_written_is_left_alone() -> None:
    path = keep_code()
    path.parent.chmod(0o500)
    try:
        compile_something()
        assert path.exists()
    finally:
        path.parent.chmod(0o700)


def clear_away(before: Callable[[], object]) -> None:
    """Compiles while another process changes the folder between listing and removing."""
    original = Path.lstat

    def lstat(self: Path) -> os.stat_result:
        found = original(self)
        before()
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "lstat", lstat)
        compile_something()


def test_two_processes_may_clear_away_at_once() -> None:
    first, second = keep_code(), keep_code(OTHER)
    clear_away(lambda: shutil.rmtree(first.parent, ignore_errors=True))
    assert not second.exists()
    assert (cache_root() / "Stairs" / OTHER).exists()
