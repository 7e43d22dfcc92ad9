"""The benchmark of searches through chance runs."""

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
    rows = list(bench.pruning(positions=2, depth=1))
    for game in ("Backgammon 1", "EinStein 3", "Pig 2"):
        shares = [row["share %"] for row in rows if row["game, depth"] == game]
        assert len(shares) == len(bench.WAYS)
        assert shares[0] == 100
