"""Files of evaluations that may be anybody's: no code that they name is run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zermelo.agents import make_agent
from zermelo.agents.evaluators.fitted_linear import Features, FittedLinear
from zermelo.agents.evaluators.registry import load_evaluation
from zermelo.envs import ZermeloError
from zermelo.envs.support.data_files import write_json

SOURCE = "beside_evaluation:FEATURES"
CODE = "open('ran', 'w').close()\nFEATURES = {'one': lambda game, state: 1.0}\n"
STORED = {"form": "zermelo linear evaluation", "version": 2, "features": SOURCE, "weights": [1.0, 0.0]}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.delitem(sys.modules, "beside_evaluation", raising=False)
    (tmp_path / "beside_evaluation.py").write_text(CODE)
    return tmp_path


def test_an_evaluation_file_runs_no_code_that_it_names(here: Path) -> None:
    write_json("values.json", json.dumps(STORED).encode())
    with pytest.raises(ZermeloError, match=r"if you know it, write linear\(path=\.\.\., features='beside"):
        make_agent("greedy(evaluator='values.json')")
    with pytest.raises(ZermeloError, match="a file may name any code"):
        make_agent("greedy(evaluator=linear(path='values.json', features='os:environ'))")
    assert not (here / "ran").exists()


def test_features_that_the_user_names_are_imported(here: Path) -> None:
    written = FittedLinear(Features(SOURCE), np.array([2.0, 1.0]), "values.json")
    written.save("values.json")
    agent = make_agent(f"greedy(evaluator={written.spec()})")
    assert agent.evaluator == written


@pytest.mark.parametrize(
    "wrong",
    [
        {"features": 3},
        {"features": {"kind": "patterns"}},
        {"weights": []},
        {"weights": ["1"]},
        {"weights": [1.0, 10**400]},
        {"weights": [None]},
        {"version": 1},
        {"form": "unheard of"},
    ],
)
def test_odd_contents_are_one_sentence(wrong: dict[str, Any], here: Path) -> None:
    write_json("values.json", json.dumps(STORED | {"features": "observation"} | wrong).encode())
    with pytest.raises(ZermeloError, match=r"'values\.json' is no evaluation, or it is damaged"):
        load_evaluation("values.json")
