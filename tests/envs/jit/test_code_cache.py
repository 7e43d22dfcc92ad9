"""Compiled rules on disk, each time in fresh processes: that is where a wrong cache shows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zermelo.envs.jit.cache.code_cache import one_compiler
from zermelo.envs.jit.machine_code import Code, read, write
from zermelo.envs.support.files import cache_root

RULES = """
from typing import NamedTuple
from stairs_helper import STEP, countdown

class StairsState(NamedTuple):
    left: int
    mover: int

class Stairs(NamedTuple):
    start: int = 12

    def num_actions(self): return 2
    def initial_state(self): return StairsState(self.start, 0)
    def to_move(self, state): return state.mover
    def legal_actions(self, state, actions):
        count = 0
        for action in range(2):
            if self._after(state, action) >= 0:
                actions[count] = action
                count += 1
        return count
    def result(self, state, action): return StairsState(self._after(state, action), 1 - state.mover)
    def is_terminal(self, state): return state.left < 1
    def utility(self, state, seat): return -1 if seat == state.mover else 1
    def _after(self, state, action): return countdown(state.left, action + {least})
"""

HELPER = """
STEP = {step}

def countdown(left, by):
    return left - by * STEP
"""

LARGE = """
import numpy as np
from zermelo.envs.rules.arrays import large_table, load_short

STEP = 1
steps = large_table("stairs", lambda: np.full(1_000_000, {step}, np.int16))

def countdown(left, by):
    return left - by * load_short(steps(), 999_999)
"""

COUNT = """
from zermelo.envs import perft
from zermelo.envs.errors import RulesError
from stairs_rules import Stairs
print(perft(Stairs(), 6))
"""


class Folder:
    """A user's folder with a game in two files, and processes that count its leaves."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cache = path / "cache"
        self.package_before: set[Path] = set()
        self.write()

    def write(self, *, least: int = 1, step: int = 1) -> None:
        (self.path / "stairs_rules.py").write_text(RULES.format(least=least))
        (self.path / "stairs_helper.py").write_text(HELPER.format(step=step))

    def start(self, script: str = "", **environment: str) -> subprocess.Popen[str]:
        return self.python("-c", f"{script}\n{COUNT}", **environment)

    def python(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """A fresh process that keeps machine code in this folder."""
        clean = {k: v for k, v in os.environ.items() if k not in ("NUMBA_DISABLE_JIT", "NUMBA_CACHE_DIR")}
        settings = {
            **clean,
            "ZERMELO_CACHE_DIR": str(self.cache),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": str(self.path),
            **environment,
        }
        return subprocess.Popen(
            [sys.executable, *arguments], env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def count(self, script: str = "", **environment: str) -> tuple[int, str]:
        """The number of leaves that a fresh process counts, and what it said on standard error."""
        return finished(self.start(script, **environment))

    def kept(self) -> list[Path]:
        return sorted(self.cache.rglob("*.bin"))


def finished(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, said = process.communicate(timeout=240)
    assert process.returncode == 0, f"exit status {process.returncode}\n{said}"
    return int(out), said


def leaves(left: int, depth: int, least: int = 1, step: int = 1) -> int:
    """Worked out without the package: ways down the stairs in steps of ``least`` or ``least + 1``, times
    ``step``."""
    if depth == 0:
        return 1
    if left < 1:
        return 0
    return sum(leaves(left - s * step, depth - 1, least, step) for s in (least, least + 1) if left - s * step >= 0)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def machine_code_in_the_package() -> set[Path]:
    import zermelo.envs.jit as package

    files = Path(package.__file__).parent.rglob("*")
    return {file for file in files if file.suffix in (".nbi", ".nbc", ".bin")}


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A folder after its first process, which compiled: what is seen of that, and a cache that tests copy."""
    folder = Folder(tmp_path_factory.mktemp("first"))
    folder.package_before = machine_code_in_the_package()
    count, said = folder.count()
    assert count == leaves(12, 6)
    assert "compiling the rules of Stairs" in said
    assert folder.kept()
    return folder


@pytest.fixture
def warm(first_run: Folder, folder: Folder) -> Folder:
    """A folder in whose cache the machine code is."""
    shutil.copytree(first_run.cache, folder.cache)
    return folder


@pytest.mark.thorough
def test_a_second_process_takes_the_code_from_disk_and_counts_the_same(warm: Folder) -> None:
    kept = {file: file.stat().st_mtime_ns for file in warm.kept()}
    assert kept
    # numba 6061: a recursive kernel read back without its full signature crashed here
    assert warm.count() == (leaves(12, 6), "")
    assert {file: file.stat().st_mtime_ns for file in warm.kept()} == kept


@pytest.mark.thorough
def test_a_second_process_needs_no_compiler(warm: Folder) -> None:
    told = "import atexit, sys; atexit.register(lambda: print('numba' in sys.modules, file=sys.stderr))"
    assert warm.count(told) == (leaves(12, 6), "False\n")


@pytest.mark.thorough
def test_arrays_that_are_only_borrowed_need_no_compiler(folder: Folder) -> None:
    """Code of Go's that frees an array's memory is never called, so it needs nothing of Numba's."""
    code = (
        "import sys; from zermelo.envs import perft; from zermelo.envs.games import Go; "
        "print(perft(Go(2), 4)); print('numba' in sys.modules, file=sys.stderr)"
    )
    (first, _), (second, said) = [finished(folder.python("-c", code)) for _ in range(2)]
    assert (first, said) == (second, "False\n")


@pytest.mark.thorough
@pytest.mark.slow
def test_two_kinds_of_processor_share_a_folder(warm: Folder) -> None:
    here = warm.kept()
    count, said = warm.count(NUMBA_CPU_NAME="generic")
    assert count == leaves(12, 6)
    assert "compiling" in said
    for other in ({}, {"NUMBA_CPU_NAME": "generic"}):
        assert warm.count(**other) == (leaves(12, 6), "")
    assert len(warm.kept()) == 2
    assert set(here) < set(warm.kept())


@pytest.mark.thorough
@pytest.mark.parametrize("edit", [{"least": 2}, {"step": 2}], ids=["rules", "a file that they import from"])
def test_an_edit_is_seen(warm: Folder, edit: dict[str, int]) -> None:
    warm.write(**edit)
    assert warm.count()[0] == leaves(12, 6, **edit)
    warm.write()
    assert warm.count() == (leaves(12, 6), "")


@pytest.mark.thorough
def test_rules_that_make_arrays_are_read_back(folder: Folder) -> None:
    # Their machine code calls functions of Numba's, which a process that does not compile has not loaded.
    (folder.path / "stairs_helper.py").write_text(
        "import numpy as np\nSTEP = 1\n\ndef countdown(left, by):\n    return left - np.full(by, STEP).sum()\n"
    )
    assert folder.count()[0] == leaves(12, 6)
    assert folder.kept()
    assert folder.count() == (leaves(12, 6), "")


@pytest.mark.thorough
def test_a_large_table_is_no_part_of_the_code(folder: Folder) -> None:
    for step in (1, 2):
        (folder.path / "stairs_helper.py").write_text(LARGE.format(step=step))
        count, said = folder.count()
        assert count == leaves(12, 6, step=step)
        assert said.count("compiling") == 2 - step
        assert folder.count(NUMBA_DISABLE_JIT="1")[0] == count
    assert sum(file.stat().st_size for file in folder.kept()) < 1_000_000


@pytest.mark.thorough
def test_two_processes_at_once(folder: Folder) -> None:
    both = [finished(process) for process in [folder.start(), folder.start()]]
    assert [count for count, _ in both] == [leaves(12, 6)] * 2
    assert sum("compiling the rules of Stairs" in said for _, said in both) == 1  # the other waits for it
    assert folder.count() == (leaves(12, 6), "")


@pytest.mark.thorough
def test_a_full_disk_costs_one_line(folder: Folder) -> None:
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    count, said = folder.count(full)
    assert count == leaves(12, 6)
    assert said.count("cannot be kept in") == 1
    assert "Traceback" not in said
    assert folder.count()[0] == leaves(12, 6)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "damage",
    [
        lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(file.read_bytes().replace(b"leaves", b"leaver", 1)),
        lambda file: file.chmod(0),
    ],
    ids=["torn", "empty", "another entry", "unreadable"],
)
def test_a_damaged_file_is_replaced(warm: Folder, damage: Callable[[Path], Any]) -> None:
    [file] = warm.kept()
    damage(file)
    count, said = warm.count()
    assert count == leaves(12, 6)
    assert "Traceback" not in said
    assert warm.count() == (leaves(12, 6), "")


@pytest.mark.thorough
def test_a_folder_in_place_of_a_file_costs_one_line(warm: Folder) -> None:
    [file] = warm.kept()
    file.unlink()
    file.mkdir()
    count, said = warm.count()
    assert count == leaves(12, 6)
    assert said.count("cannot be kept in") == 1
    assert "Traceback" not in said


@pytest.mark.thorough
def test_files_that_are_swapped_are_both_replaced(warm: Folder) -> None:
    """Kernels of rules with the same names have the same names too: only the file's own tells them apart."""
    first = warm.kept()
    warm.write(least=2)
    warm.count()
    [one], [other] = first, set(warm.kept()) - set(first)
    codes = one.read_bytes(), other.read_bytes()
    one.write_bytes(codes[1])
    other.write_bytes(codes[0])
    assert warm.count()[0] == leaves(12, 6, least=2)
    warm.write()
    assert warm.count()[0] == leaves(12, 6)
    assert (one.read_bytes(), other.read_bytes()) == codes


def test_files_of_others_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However old, whatever their names: a checkout that is called like the cache folder loses nothing."""
    monkeypatch.setenv("ZERMELO_CACHE_DIR", str(tmp_path))
    name = f"perft-{'a1' * 16}.bin"
    mine = [cache_root() / each for each in ("src/game.py", f"Stairs/{name}", f"Stairs/.{name}.0a1b2c3d.part")]
    for path in mine:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("the user's own")
        os.utime(path, (0, 0))
    other = cache_root() / "Stairs" / f"perft-{'b2' * 16}.bin"
    with one_compiler(other):
        write(other, Code("entry", (), b"code"))
    assert {path.read_text() for path in mine} == {"the user's own"}
    assert read(other) == Code("entry", (), b"code")


@pytest.mark.thorough
def test_the_package_is_not_written_to(first_run: Folder) -> None:
    assert machine_code_in_the_package() == first_run.package_before


@pytest.mark.thorough
@pytest.mark.slow
def test_numba_cache_dir_is_used_where_ours_is_not_set(folder: Folder) -> None:
    other = folder.path / "elsewhere"
    assert folder.count(ZERMELO_CACHE_DIR="", NUMBA_CACHE_DIR=str(other))[0] == leaves(12, 6)
    assert list(other.rglob("Stairs/*.bin"))
    assert not folder.kept()


@pytest.mark.parametrize(
    ("script", "environment", "reason"),
    [
        ("", {"NUMBA_DISABLE_JIT": "1"}, "NUMBA_DISABLE_JIT is set"),
        ("import sys; sys.modules['numba'] = None", {}, "numba is not installed"),
    ],
)
def test_without_the_compiler_plain_python_answers_and_says_so_once(
    folder: Folder, script: str, environment: dict[str, str], reason: str
) -> None:
    count, said = folder.count(script, **environment)
    assert count == leaves(12, 6)
    assert said.count(f"{reason}: games of rules run as plain Python, hundreds of times slower") == 1
    assert not folder.kept()


@pytest.mark.thorough
def test_rules_in_a_script_that_is_run_are_kept_too(folder: Folder) -> None:
    script = folder.path / "play.py"
    script.write_text(RULES.format(least=1) + COUNT.replace("from stairs_rules import Stairs", ""))
    count, said = finished(folder.python(str(script)))
    assert count == leaves(12, 6)
    assert "compiling the rules of Stairs" in said
    assert finished(folder.python(str(script))) == (count, "")


MINIMAX = """
from zermelo.agents import MinimaxAgent
from zermelo.envs.rules import RulesGame
from stairs_rules import Stairs
game = RulesGame(Stairs())
print(MinimaxAgent(depth=4, evaluator="rewards").search_state(game, game.initial_state()).nodes)
"""

SEARCHES = """
from zermelo.agents import AlphaBetaAgent, MinimaxAgent
from zermelo.agents.tree_search.exact.prover import Prover
from zermelo.envs.rules import RulesGame
from stairs_rules import Stairs
noisy = type("Stairs", (Stairs,), {"__slots__": (), "is_noisy": lambda self, state, action: action == 1})
how = {"depth": 4, "evaluator": "rewards"}
total = MinimaxAgent(**how).search_state(RulesGame(Stairs())).nodes
for settings in ({"quiescence": 0, "memory_mb": 0}, {"quiescence": 3}, {"late_move_reductions": 1}):
    total += AlphaBetaAgent(**how, **settings).search_state(RulesGame(noisy())).nodes
prover = Prover(RulesGame(Stairs()))
total += 1000 * prover.score(Stairs().initial_state()).lower + prover.nodes
print(total)
"""


@pytest.mark.thorough
@pytest.mark.parametrize("searches", [MINIMAX, pytest.param(SEARCHES, marks=pytest.mark.slow)], ids=["one", "all"])
def test_kernels_can_be_read_back(folder: Folder, searches: str) -> None:
    # A recursive kernel that is not quite right for the cache works when compiled and crashes when read back.
    cold, said = finished(folder.python("-c", searches))
    assert "compiling the rules of Stairs" in said
    assert finished(folder.python("-c", searches)) == (cold, "")
