"""What a folder keeps of the commands that played its games."""

import contextlib

import pytest

from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.storage.database import FILE, open_writer
from zermelo.evaluation.storage.invocations import Invocation, InvocationLog, machine, notes_of, read_run
from zermelo.evaluation.storage.store import Store
from zermelo.evaluation.tournament.plan import Tournament
from zermelo.evaluation.tournament.run import read_standings, run
from zermelo.evaluation.tournament.settings import RunSettings, TournamentSettings

GAME = "zermelo/MNK-v0"


def play(folder, games, command="", **settings):
    plan = Tournament.prepare(GAME, ["random", "greedy"], TournamentSettings(games=games))
    return run(plan, RunSettings(out=folder, **settings), command=command)


def test_every_command_that_played_games_is_kept(tmp_path):
    play(tmp_path, 2, command="zermelo tournament first")
    play(tmp_path, 2, command="zermelo tournament again")  # nothing is missing
    play(tmp_path, 4)
    found = read_run(tmp_path).invocations
    assert [(one.command, one.games) for one in found] == [("zermelo tournament first", 2), ("", 2)]
    assert all(one.seconds >= 0 and one.started[4] == "-" for one in found)
    assert found[0].machine["processors"] == machine()["processors"]
    assert "numpy" in found[0].versions


def test_notes_of_all_commands_stay_with_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr("zermelo.evaluation.tournament.run.crowding_of", lambda plan, workers: "Crowded.")
    assert "Crowded." in play(tmp_path, 2, progress=False).notes
    monkeypatch.undo()
    assert "Crowded." in play(tmp_path, 4).notes
    assert "Crowded." in read_standings(tmp_path).notes


def test_notes_are_said_once():
    calls = [Invocation("", 0.0, 1, "", {}, {}, notes) for notes in (("a", "b"), ("b",), ())]
    assert notes_of(calls) == ["a", "b"]


def test_folders_without_a_database_have_none(tmp_path):
    assert read_run(tmp_path) is None
    (tmp_path / "games.sqlite").touch()
    assert read_run(tmp_path) is None


@pytest.mark.parametrize("about", ["{", "[]", '{"command": "x"}', '{"command": 1, "machine": 3}'])
def test_what_somebody_else_wrote_is_refused(tmp_path, about):
    plan = Tournament.prepare(GAME, ["random", "greedy"], TournamentSettings(games=2))
    Store(plan.schedule, plan.to_dict(), tmp_path).close()
    with contextlib.closing(open_writer(tmp_path / FILE)) as db:
        InvocationLog().add(db, 1)
        db.execute("UPDATE invocations SET about = ?", (about,))
    with pytest.raises(StoreError, match="the commands that played its games cannot be read"):
        read_run(tmp_path)
