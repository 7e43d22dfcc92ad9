"""Files of evaluations that may be anybody's: no code that they name is run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from zermelo.agents import make_agent
from zermelo.agents.evaluators.fitted.evaluator import FittedEvaluator, load_evaluation
from zermelo.agents.evaluators.fitted.feature_sets import NamedFeatures
from zermelo.envs import ZermeloError

NAMED = {"kind": "named", "source": "beside_evaluation:FEATURES"}
CODE = "open('ran', 'w').close()\nFEATURES = {'one': lambda game, state: 1.0}\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.delitem(sys.modules, "beside_evaluation", raising=False)
    (tmp_path / "beside_evaluation.py").write_text(CODE)
    return tmp_path


@pytest.mark.parametrize("features", [NAMED, {"kind": "above", "inner": NAMED}])
def test_an_evaluation_file_runs_no_code_that_it_names(features: dict[str, object], here: Path) -> None:
    stored = {"form": "zermelo evaluation", "version": 1, "features": features, "weights": [1.0, 0.0]}
    (here / "values.json").write_text(json.dumps(stored))
    with pytest.raises(ZermeloError, match=r"if you know it, write fitted\(path=\.\.\., features='beside"):
        make_agent("greedy(evaluator='values.json')")
    with pytest.raises(ZermeloError, match="a file may name any code"):
        make_agent("greedy(evaluator=fitted(path='values.json', features='os:environ'))")
    assert not (here / "ran").exists()


def test_features_that_the_user_names_are_imported(here: Path) -> None:
    features = NamedFeatures("beside_evaluation:FEATURES")
    written = FittedEvaluator(features, np.array([2.0, 1.0]), "values.json")
    (here / "values.json").write_text(written.as_json())
    agent = make_agent(f"greedy(evaluator={written.spec()})")
    assert agent.evaluator == written


@pytest.mark.parametrize(
    "features",
    [
        {"kind": "patterns", "seats": 2, "rows": 10**12, "columns": 3, "codes": [0, 1]},
        {"kind": "patterns", "seats": 2, "rows": 100, "columns": 100, "codes": [0, 1, 2]},
        {"kind": "patterns", "seats": 2, "rows": 3, "columns": 3, "codes": [0, 1], "turns": ["x"]},
        {"kind": "patterns", "seats": 2, "rows": 3, "columns": 3, "codes": [0, 1], "longest": -1},
        {"kind": "patterns", "seats": 2, "rows": 3, "columns": 3, "codes": [0, 1], "_windows": 1},
        {"kind": "patterns", "seats": 2, "rows": 3, "columns": 4, "codes": [0, 1], "turns": [0, 4]},
        {"kind": "patterns", "seats": 2, "rows": 3, "columns": 3},
        {"kind": "observation", "seats": 10**400, "length": 3},
        {"kind": "above", "inner": {"kind": "above", "inner": {}}},
        {"kind": "unheard of"},
        {},
    ],
)
def test_odd_features_are_one_sentence(features: dict[str, object], here: Path) -> None:
    stored = {"form": "zermelo evaluation", "version": 1, "features": features, "weights": [1.0, 0.0]}
    (here / "values.json").write_text(json.dumps(stored))
    with pytest.raises(ZermeloError, match=r"values\.json is no evaluation"):
        load_evaluation("values.json")
