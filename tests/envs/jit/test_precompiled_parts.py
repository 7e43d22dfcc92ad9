"""Functions of kernels that rules have in common, compiled before, and kernels that several processes compile."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from zermelo.agents import AlphaBetaAgent, MaxNAgent, ParanoidAgent
from zermelo.agents.warmup import kernels_of
from zermelo.envs import as_game, perft
from zermelo.envs.games import DotsAndBoxes, Nim
from zermelo.envs.jit import build, compiling, parallel_compile
from zermelo.envs.jit.build import is_to_be_compiled
from zermelo.envs.jit.cache import kernel_archive
from zermelo.envs.jit.extensions import precompiled_parts
from zermelo.envs.jit.extensions.parts import PartCompiler
from zermelo.envs.jit.kernel import Kernel, Wanted
from zermelo.envs.jit.machine_code import Code
from zermelo.envs.jit.perft_kernel import leaves_kernel
from zermelo.envs.position import position
from zermelo.envs.support.code_parts import UncomparableError

OTHER = Nim((1, 2, 3))


class Row(NamedTuple):
    """Coins left, and the seat to move."""

    coins: int
    mover: int


class TakeAway(NamedTuple):
    """Two players take one to three coins in turn; whoever takes the last one wins."""

    coins: int = 9

    def num_actions(self) -> int:
        return 3

    def initial_state(self) -> Row:
        return Row(self.coins, 0)

    def to_move(self, state: Row) -> int:
        return state.mover

    def legal_actions(self, state: Row, actions: list[int]) -> int:
        count = min(state.coins, 3)
        for action in range(count):
            actions[action] = action
        return count

    def result(self, state: Row, action: int) -> Row:
        return Row(state.coins - action - 1, 1 - state.mover)

    def is_terminal(self, state: Row) -> bool:
        return state.coins == 0

    def utility(self, state: Row, seat: int) -> int:
        return -1 if seat == state.mover else 1


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return kernels_of(OTHER)["alphabeta"]


@pytest.fixture(scope="module")
def parts(kernel: Kernel) -> Code:
    made = compiling.compile_parts(OTHER, kernel)
    assert made is not None
    return made


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[dict[str, Code]], list[str]]:
    """Begins as a new process does, with an archive; returns the names of what Numba compiles."""

    numbers = itertools.count()

    def begin(content: dict[str, Code]) -> list[str]:
        compiled: list[str] = []
        pipelines = PartCompiler.define_pipelines

        def listed(self: PartCompiler) -> Any:
            compiled.append(self.state.func_id.func_name)
            return pipelines(self)

        kernel_archive.write_archive(tmp_path / "kernels.zip", content)
        monkeypatch.setattr(kernel_archive, "ARCHIVE", tmp_path / "kernels.zip")
        monkeypatch.setattr(build, "_BUILT", {})
        monkeypatch.setattr(compiling, "_KERNELS", {})
        monkeypatch.setattr(compiling, "_OF_KERNELS", compiling.Functions())
        monkeypatch.setattr(PartCompiler, "define_pipelines", listed)
        monkeypatch.setenv("ZERMELO_CACHE_DIR", str(tmp_path / f"cache{next(numbers)}"))
        return compiled

    return begin


def values(agent: AlphaBetaAgent) -> list[tuple[Any, ...]]:
    games = [TakeAway(coins) for coins in range(4, 14)]
    results = [agent.search_state(game) for game in games]
    return [(result.value, result.action, result.nodes) for result in results]


def test_rules_take_compiled_functions_of_others(
    kernel: Kernel, parts: Code, fresh: Callable[[dict[str, Code]], list[str]]
) -> None:
    names = {precompiled_parts.name_of_parts(kernel): parts}
    all_compiled = fresh({})
    expected = values(AlphaBetaAgent(depth=6))
    without = set(all_compiled)
    compiled = fresh(names)
    assert values(AlphaBetaAgent(depth=6)) == expected
    rest = set(compiled)
    assert rest < without
    assert {"search_root", "visit"} <= rest
    assert {"probe", "insert_sorted"} <= without - rest
    assert [value for value, *_ in expected[:2]] == [-1.0, 1.0]  # multiples of four are lost


@pytest.mark.slow
def test_two_kernels_keep_their_own_functions_of_one_name(fresh: Callable[[dict[str, Code]], list[str]]) -> None:
    """Of the root's functions max^n has other ones than the search of two sides, by the kernels' variants."""
    known = kernels_of(Nim((1, 2, 3), players=3))
    names = {
        precompiled_parts.name_of_parts(each): compiling.compile_parts(OTHER, each) for each in known.values()
    }
    content = {name: code for name, code in names.items() if code is not None}
    assert {"maxn", "paranoid"} <= set(known)
    assert len(content) == len(known) - 1  # none of perft's
    game = as_game(DotsAndBoxes(rows=2, columns=2, players=3))
    state = game.initial_state()
    for action in (7, 8, 6, 5, 9, 10, 2, 11):
        state = game.result(state, action)

    def found(agent: Any) -> tuple[Any, ...]:
        result = agent.search_state(game, state)
        return result.values_by_seat, result.action, result.nodes

    compiled = fresh(content)
    alone = found(ParanoidAgent(depth=3, ordering="fixed"))  # for which root actions that tie are looked at
    fresh(content)
    found(MaxNAgent(depth=3))
    plain = found(ParanoidAgent(depth=3, ordering="fixed", compile="never"))
    assert found(ParanoidAgent(depth=3, ordering="fixed")) == alone == plain
    assert plain[1:] == (3, 49)
    assert "insert_sorted" not in compiled  # those at hand were used


@pytest.mark.parametrize("damage", ["cut", "other bytes", "empty"])
def test_damaged_parts_are_none(
    damage: str, kernel: Kernel, parts: Code, fresh: Callable[[dict[str, Code]], list[str]]
) -> None:
    data = {"cut": parts.data[: len(parts.data) // 2], "other bytes": b"x" * 1000, "empty": b""}[damage]
    fresh({precompiled_parts.name_of_parts(kernel): Code("", (), data)})
    assert precompiled_parts.precompiled_parts(kernel) is None


def test_other_variants_and_sources_make_other_names(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    name = precompiled_parts.name_of_parts(kernel)
    assert precompiled_parts.name_of_parts(kernel) == name
    names = {name, *(precompiled_parts.name_of_parts(each) for each in kernels_of(OTHER).values())}
    assert len(names) == len(kernels_of(OTHER))
    with monkeypatch.context() as patched:
        patched.setattr("zermelo.agents.tree_search.alpha_beta.kernel.probe", values)
        assert precompiled_parts.name_of_parts(kernel) != name
    without_source = eval("lambda search, key: 0")
    monkeypatch.setattr("zermelo.agents.tree_search.alpha_beta.kernel.probe", without_source)
    with pytest.raises(UncomparableError):
        precompiled_parts.name_of_parts(kernel)


def test_a_kernel_of_rules_alone_has_no_parts() -> None:
    assert compiling.compile_parts(OTHER, leaves_kernel()) is None


def test_what_is_needed_is_compiled_by_the_search(fresh: Callable[[dict[str, Code]], list[str]]) -> None:
    compiled = fresh({})
    agent = AlphaBetaAgent(depth=3)
    needed, *others = agent.kernels(position(TakeAway()))
    assert others == compiled == []
    assert needed.rules == TakeAway()
    assert is_to_be_compiled(*needed)
    assert agent.search_state(TakeAway(3)).value == 1.0
    assert not is_to_be_compiled(*needed)


def test_another_process_compiles_the_second_kernel(fresh: Callable[[dict[str, Code]], list[str]]) -> None:
    compiled = fresh({})
    rules, kernel = OTHER, leaves_kernel()
    wanted = [Wanted(rules, each) for each in (kernels_of(OTHER)["alphabeta"], kernel)]
    parallel_compile.start_compilers(wanted, processors=1)
    parallel_compile.start_compilers(wanted[1:], processors=8)
    time.sleep(1)
    assert is_to_be_compiled(*wanted[1])  # one processor, or one kernel: nothing is started
    parallel_compile.start_compilers(wanted, processors=2)
    deadline = time.monotonic() + 60
    while is_to_be_compiled(*wanted[1]) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert perft(rules, 2) == 5 + 5 + 4 + 5 + 4 + 3  # coins left after each first move
    assert compiled == []
    assert is_to_be_compiled(*wanted[0])


def test_rules_that_cannot_be_sent_are_compiled_here(fresh: Callable[[dict[str, Code]], list[str]]) -> None:
    class Local(TakeAway):
        """Rules that no other process can import."""

    fresh({})
    kernels = kernels_of(as_game(Local()))
    wanted = [Wanted(Local(), each) for each in kernels.values()]
    parallel_compile.start_compilers(wanted, processors=4)
    assert perft(Local(), 2) == 9
