"""The benchmark of searches through chance runs, and stops where values or nodes differ."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "bench_chance.py"


@pytest.fixture
def bench() -> Any:
    spec = importlib.util.spec_from_file_location("bench_chance", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_little_of_each_part(bench: Any, capsys: pytest.CaptureFixture[str]) -> None:
    bench.main(["--positions", "2", "--depth", "1", "--plain", "3000"])
    shown = capsys.readouterr().out
    for game in ("Backgammon 1", "EinStein 3", "Pig 2"):
        assert re.search(rf"{game} +unpruned +[\d,]+ +100\.0%", shown)
        assert len(re.findall(rf"{game} +Star", shown)) == 6
    if importlib.util.find_spec("pyspiel") is not None:
        assert len(re.findall(r"2 of 2 +2 of 2\n", shown)) >= 2


def test_it_stops_where_searches_differ(bench: Any) -> None:
    with pytest.raises(SystemExit, match="bench_chance: they differ"):
        bench.require(False, "they differ")
    with pytest.raises(SystemExit):
        bench.main(["dice"])


def test_shuffled_moves_are_the_same_moves(bench: Any) -> None:
    ordered, shuffled = bench.RulesGame(bench.Backgammon()), bench.RulesGame(bench.ShuffledBackgammon())
    others = 0
    for state in bench.positions(ordered, 3, 10, 30):
        listed = list(shuffled.legal_actions(state))
        assert sorted(listed) == ordered.legal_actions(state)
        others += listed != sorted(listed)
    assert others > 5
