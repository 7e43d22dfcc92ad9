"""Every database is closed where it was opened, not when memory is cleaned up: Python 3.13 warns of the others."""

import sqlite3

import pytest
from doubles.bad_agents import First, Good
from doubles.toy_envs import ToyEnv

from zermelo.evaluation import read_games, read_standings, round_robin
from zermelo.evaluation.errors import StoreError


@pytest.fixture
def opened(monkeypatch):
    """The connections that are made."""
    connect, made = sqlite3.connect, []

    def connected(*given, **how):
        made.append(connect(*given, **how))
        return made[-1]

    monkeypatch.setattr(sqlite3, "connect", connected)
    return made


def is_closed(db):
    with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
        db.execute("SELECT 1")
    return True


def test_after_a_run(opened, tmp_path):
    assert round_robin(ToyEnv, [Good("a"), First("b")], games=2, out=tmp_path).complete
    assert read_standings(tmp_path).complete
    assert len(opened) > 3
    assert all(map(is_closed, opened))


def test_where_it_is_damaged(opened, tmp_path):
    (tmp_path / "games.sqlite").write_bytes(b"no database" * 1000)
    with pytest.raises(StoreError, match="is damaged"):
        read_games(tmp_path)
    assert opened
    assert all(map(is_closed, opened))
