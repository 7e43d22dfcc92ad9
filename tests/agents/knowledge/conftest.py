"""Small endgame tables, made once."""

from __future__ import annotations

import pytest

from zermelo.agents.knowledge_building.build_table import build_table
from zermelo.envs.games import MNK, Chess, Kalah

TICTACTOE = MNK(3, 3, 3)
KALAH = Kalah(3, 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def tictactoe(folder):
    build_table(TICTACTOE, folder / "tictactoe.ztable", states=5000)
    return str(folder / "tictactoe.ztable")


@pytest.fixture(scope="module")
def kalah(folder):
    build_table(KALAH, folder / "kalah.ztable", stones=8)
    return str(folder / "kalah.ztable")


@pytest.fixture(scope="module")
def kqk(folder):
    return build_table(Chess(), folder / "kqk.ztable", pieces="KQK")
