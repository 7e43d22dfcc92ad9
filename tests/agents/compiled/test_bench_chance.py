"""The benchmark of searches through chance runs, and stops where values or nodes differ."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    yield importlib.import_module("bench_chance")
    for name in ("bench_chance", "bench_chance_openspiel"):
        sys.modules.pop(name, None)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_little_of_what_pruning_leaves(bench: Any, capsys: pytest.CaptureFixture[str]) -> None:
    bench.pruning(*bench.arguments("", ["--positions", "2", "--depth", "1", "--plain", "3000"]))
    shown = capsys.readouterr().out
    for game in ("Backgammon 1", "EinStein 3", "Pig 2"):
        assert re.search(rf"{game} +unpruned +[\d,]+ +100\.0%", shown)
        assert len(re.findall(rf"{game} +Star", shown)) == 6


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.usefixtures("bench")
def test_a_little_beside_openspiel(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyspiel")
    importlib.import_module("bench_chance_openspiel").openspiel(2, 1, 3000)
    assert len(re.findall(r"2 of 2 +2 of 2\n", capsys.readouterr().out)) >= 2


def test_it_stops_where_searches_differ(bench: Any) -> None:
    with pytest.raises(SystemExit, match="bench_chance: they differ"):
        bench.require(False, "they differ")
    with pytest.raises(SystemExit):
        bench.arguments("", ["--positions", "some"])


def test_shuffled_moves_are_the_same_moves(bench: Any) -> None:
    ordered, shuffled = bench.RulesGame(bench.Backgammon()), bench.RulesGame(bench.ShuffledBackgammon())
    others = 0
    for state in bench.positions(ordered, 3, 10, 30):
        listed = list(shuffled.legal_actions(state))
        assert sorted(listed) == ordered.legal_actions(state)
        others += listed != sorted(listed)
    assert others > 5
