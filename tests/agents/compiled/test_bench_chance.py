"""The benchmark of searches through chance runs."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_openspiel_finds_the_same_values_and_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspiel")
    monkeypatch.syspath_prepend(str(SCRIPTS))
    bench = importlib.import_module("benchmarks.chance")
    rows = list(bench.expectiminimax(positions=2, depth=2))
    names = ("backgammon", "einstein_wurfelt_nicht", "pig")
    assert {row["game, depth"].split()[0] for row in rows} == {*names}
