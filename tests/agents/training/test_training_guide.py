"""The examples of ``docs/guides/training*.md`` that learn run, and in full they learn what the guides say."""

import importlib.util
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"
NEEDS = {"MaskablePPO": "sb3_contrib", "tianshou": "tianshou", "RLlib": "tree", "make_vec": "torch"}
EXTRAS = {"MaskablePPO": "sb3", "tianshou": "tianshou", "RLlib": "rllib", "make_vec": "torch"}


def load_script():
    spec = importlib.util.spec_from_file_location("bench_learning", SCRIPTS / "benchmarks" / "learning.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


bench = load_script()


def require(library):
    if importlib.util.find_spec(NEEDS[library]) is None:
        pytest.skip(f"needs scripts/setup {EXTRAS[library]}")


def test_every_library_has_its_example():
    assert bench.examples().keys() == NEEDS.keys()


@pytest.mark.thorough
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "library", [pytest.param(name, marks=[pytest.mark.slow] * (name in ("RLlib", "tianshou"))) for name in NEEDS]
)
def test_examples_run(library, monkeypatch):
    require(library)
    if library == "tianshou":
        monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # it compiles for ten seconds what is run once here
    found = bench.learned(bench.examples()[library], steps=2048, games=4)
    assert found["steps"] == 2048
    assert len(found["scores"]) == 2
    assert all(0 <= score <= 100 for score in found["scores"])
    assert found["memory"] > 100


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("library", NEEDS)
def test_examples_learn_tic_tac_toe(library):
    require(library)
    against_random, against_search = bench.learned(bench.examples()[library])["scores"]
    assert against_random >= 90
    assert against_search >= 50


def test_an_example_that_fails_says_why():
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        bench.learned("steps = 1 / 0")
