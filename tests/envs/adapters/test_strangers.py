"""Environments by others, listed in ``scripts/strangers.txt``: played or refused in a sentence, and none harmed.

``scripts/strangers.py --install VENV`` installs the packages; those that are not there are left out.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "strangers.py"
ROWS = [
    [part.strip() for part in line.split("|", 2)]
    for line in SCRIPT.with_suffix(".txt").read_text().splitlines()
    if line and not line.startswith("#")
]
REFUSED = {"mountain-car-continuous", "pendulum", "ss-indicator", "ss-sticky"}
"""Among those of PettingZoo, Gymnasium and OpenSpiel."""


def is_installed(source: str) -> bool:
    return importlib.util.find_spec(source.split(":")[0].strip().split(".")[0]) is not None


def test_the_list_has_enough_environments() -> None:
    assert len({name for name, _, _ in ROWS}) == len(ROWS) >= 115
    assert sum(is_installed(source) for _, _, source in ROWS) >= 30


@pytest.mark.slow
@pytest.mark.parametrize(("name", "requirement", "source"), ROWS, ids=[name for name, _, _ in ROWS])
def test_an_environment_by_others(name: str, requirement: str, source: str) -> None:
    if not is_installed(source):
        pytest.skip(f"{requirement} is not installed")
    done = subprocess.run([sys.executable, SCRIPT, "--one", name], capture_output=True, text=True, timeout=240)
    rows = [line for line in done.stdout.splitlines() if line.startswith("ROW ")]
    assert rows, done.stderr[-2000:]
    row = json.loads(rows[-1][4:])
    assert row["outcome"] in ("plays", "refused"), row
    assert not row["harmed"]
    if "==" not in requirement or requirement.startswith("shimmy"):
        assert (row["outcome"] == "refused") == (name in REFUSED), row
