"""The benchmark of searches through chance runs, and stops where values or nodes differ."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("benchmarks.chance")


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_little_of_what_pruning_leaves(bench: Any) -> None:
    rows = list(bench.pruning(positions=2, depth=1, plain=3000))
    for game in ("Backgammon 1", "EinStein 3", "Pig 2"):
        shares = [row["share %"] for row in rows if row["game, depth"] == game]
        assert len(shares) == 7
        assert shares[0] == 100


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_openspiel_finds_the_same_values_and_nodes(bench: Any) -> None:
    pytest.importorskip("pyspiel")
    rows = list(bench.expectiminimax(positions=2, depth=2))
    names = ("backgammon", "einstein_wurfelt_nicht", "pig")
    assert {row["game, depth"].split()[0] for row in rows} == {*names}


def test_it_stops_where_searches_differ(bench: Any) -> None:
    with pytest.raises(SystemExit, match="they differ"):
        bench.require(False, "they differ")


def test_shuffled_moves_are_the_same_moves(bench: Any) -> None:
    ordered, shuffled = bench.RulesGame(bench.Backgammon()), bench.RulesGame(bench.ShuffledBackgammon())
    others = 0
    for state in bench.random_positions(ordered, 3, 10, 30):
        listed = list(shuffled.legal_actions(state))
        assert sorted(listed) == ordered.legal_actions(state)
        others += listed != sorted(listed)
    assert others > 5
