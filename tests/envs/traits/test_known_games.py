"""Play finds the traits of ten known games of which it is told nothing."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "known_games.py"


def known_games() -> Any:
    spec = importlib.util.spec_from_file_location("known_games", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::zermelo.envs.errors.UnknownTraitWarning")
@pytest.mark.usefixtures("seen_by_nobody")
@pytest.mark.parametrize("name", list(known_games().GAMES))
def test_the_traits_of_a_known_game_are_found(name: str) -> None:
    shown, is_right = known_games().found(name)
    assert is_right, shown
