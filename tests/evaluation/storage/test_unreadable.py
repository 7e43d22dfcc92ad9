"""One record that cannot be read is named, and the other games stand; a database that is locked says so."""

import json
import re
import sqlite3

import pytest
from doubles import toy_envs
from doubles.bad_agents import First, Good

from zermelo.evaluation import read_standings, round_robin
from zermelo.evaluation.cli import main
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.storage.games import read_games

AGENTS = {"a": Good("a"), "b": First("b")}
BAD = {
    "nonsense": "{nonsense",
    "empty": "",
    "nothing": json.dumps({}),
    "bytes": b"\xff\x00\xfe",
    "number": 5,
    "lines": "a\nb",
    "newer": json.dumps({"schema": 99}),
    "deep": "[" * 100_000,
}


def spoil(folder, record, index=2):
    db = sqlite3.connect(folder / "games.sqlite")
    with db:
        db.execute("UPDATE records SET record = ? WHERE game_index = ?", (record, index))
    db.close()


@pytest.mark.parametrize("name", BAD)
def test_the_other_games_stand(name, tmp_path, capsys):
    run = tmp_path / "run"
    whole = round_robin(toy_envs.ToyEnv, AGENTS, games=6, out=run)
    games = [*whole.records]
    spoil(run, BAD[name])
    standings = read_standings(run)
    assert standings.rows == whole.rows, "results are kept apart from records"
    assert [note for note in standings.notes if "the record of game 3 cannot be read" in note]
    assert [*standings.records] == games[:2] + games[3:]
    with pytest.raises(StoreError, match=r"^the record of game 3 cannot be read"):
        standings.records[2]
    for command in (["standings"], ["report"], ["export"], ["export", "--format", "json"]):
        with pytest.raises(SystemExit) as ended:
            main([command[0], str(run), *command[1:]])
        assert ended.value.code == 0
        assert "the record of game 3 cannot be read" in capsys.readouterr()[command[0] != "standings"]
    assert len((run / "games.csv").read_text().splitlines()) == 6
    assert "the record of game 3 cannot be read" in (run / "report.html").read_text()
    resumed = round_robin(toy_envs.ToyEnv, AGENTS, games=8, out=run)
    assert resumed.games == 8
    assert [note for note in resumed.notes if "the record of game 3 cannot be read" in note]


def test_games_that_are_left_out_are_named_once(tmp_path, capsys):
    round_robin(toy_envs.ToyEnv, AGENTS, games=20, out=tmp_path)
    for index in range(3, 12):
        spoil(tmp_path, "x", index)
    assert len([*read_games(tmp_path)]) == 11
    (said,) = capsys.readouterr().err.splitlines()
    assert re.match(
        r"zermelo: the record of game 4 cannot be read.* game 5, game 6, game 7, game 8 and 4 more: ", said
    )
    assert len(read_games(tmp_path)[2:5]) == 1
    assert "the record of game 4 cannot be read" in capsys.readouterr().err


def test_where_no_record_can_be_read_that_is_an_error(tmp_path):
    round_robin(toy_envs.ToyEnv, AGENTS, games=2, out=tmp_path)
    for index in range(2):
        spoil(tmp_path, "x", index)
    with pytest.raises(StoreError, match="the record of game 1 cannot be read"):
        [*read_games(tmp_path)]


class Fails(First):
    def act(self, env):
        raise RuntimeError("the reason")


def test_a_failure_whose_reason_cannot_be_read_is_counted(tmp_path):
    round_robin(toy_envs.ToyEnv, {"a": Good("a"), "fails": Fails("fails")}, games=2, out=tmp_path)
    spoil(tmp_path, "x", 0)
    standings = read_standings(tmp_path)
    assert standings.row("fails").failures == {"CRASH": 2}
    assert [
        note for note in standings.notes if "the record of game 1, which has the reason, cannot be read" in note
    ]


@pytest.fixture
def impatient(monkeypatch):
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **how: connect(*given, **{**how, "timeout": 0.05}))


def test_a_locked_database_is_said_to_be_locked(tmp_path, impatient):
    round_robin(toy_envs.ToyEnv, AGENTS, games=2, out=tmp_path)
    db = sqlite3.connect(tmp_path / "games.sqlite", isolation_level=None)
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("BEGIN EXCLUSIVE")
    db.execute("UPDATE run SET spec = spec")
    try:
        for use in (
            lambda: round_robin(toy_envs.ToyEnv, AGENTS, games=4, out=tmp_path),
            lambda: read_standings(tmp_path),
        ):
            with pytest.raises(
                StoreError, match=r"games\.sqlite is locked by another program.*close it"
            ) as caught:
                use()
            assert "another folder" not in str(caught.value)
    finally:
        db.close()
    assert round_robin(toy_envs.ToyEnv, AGENTS, games=4, out=tmp_path).games == 4


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("SQLITE_IOERR_LOCK", "cannot be locked .* local disk"),
        ("SQLITE_PROTOCOL", "cannot be locked .* local disk"),
        ("SQLITE_READONLY_DIRECTORY", "allow yourself to write"),
        ("SQLITE_CANTOPEN", "allow yourself to write"),
        ("SQLITE_BUSY", "is locked by another program"),
    ],
)
def test_each_way_to_be_refused_has_its_sentence(code, said, tmp_path, monkeypatch):
    error = sqlite3.OperationalError("says SQLite")
    error.sqlite_errorcode = getattr(sqlite3, code)

    def refuse(*given, **how):
        raise error

    from zermelo.evaluation.storage import database

    monkeypatch.setattr(database, "_checked_version", refuse)
    with pytest.raises(StoreError, match=said) as caught:
        round_robin(toy_envs.ToyEnv, AGENTS, games=2, out=tmp_path)
    assert "choose another folder" not in str(caught.value)


def test_a_file_system_without_locks_is_said_to_have_none(tmp_path, monkeypatch):
    import errno

    from zermelo.evaluation.storage import store

    def refuse(file):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(store, "_lock", refuse)
    with pytest.raises(StoreError, match=r"lock cannot be locked \(No locks available\).*local disk"):
        round_robin(toy_envs.ToyEnv, AGENTS, games=2, out=tmp_path)
