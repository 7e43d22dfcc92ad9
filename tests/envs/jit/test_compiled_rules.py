"""Rules and their compiler: when it is loaded, and exceptions in compiled rules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from zermelo.envs import perft
from zermelo.envs.errors import RulesError
from zermelo.envs.games import Nim


@pytest.mark.thorough
def test_importing_the_rules_does_not_import_numba() -> None:
    code = (
        "import sys; import zermelo.envs, zermelo.agents, zermelo.envs.rules; "
        "import zermelo.agents.tree_search.alpha_beta.compiled, zermelo.agents.tree_search.exact.prover; "
        "zermelo.envs.as_game(zermelo.envs.games.ConnectFour()); print('numba' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


@pytest.mark.thorough
def test_an_exception_in_compiled_rules_is_one_in_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def is_terminal(self: Any, state: Any) -> bool:
        if state.heaps < 7:
            raise ValueError("too few")
        return False

    monkeypatch.setenv("ZERMELO_CACHE_DIR", str(tmp_path))
    rules = type("Raising", (Nim,), {"__slots__": (), "is_terminal": is_terminal})((9,))
    with pytest.raises(RulesError, match="compiled rules of Raising raised an exception: with NUMBA_DISABLE_JIT"):
        perft(rules, 6)
