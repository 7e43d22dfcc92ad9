"""A database that is lost or damaged is built again from the games as text."""

import json

import pytest
from doubles import toy_envs
from doubles.bad_agents import First, Good
from doubles.made_games import numbers_of

from zermelo.evaluation import read_games, read_standings, round_robin
from zermelo.evaluation.errors import StoreError

AGENTS = {"a": Good, "b": First, "c": Good}


def play(out, **settings):
    return round_robin(toy_envs.DiceEnv, AGENTS, **{"games": 4, "out": out, **settings})


def never(record):
    pytest.fail("a game was played again")


@pytest.mark.parametrize(
    "settings", [{}, {"pairings": "swiss:2"}, {"openings": 1}, {"games": 200, "until_sure": True}]
)
@pytest.mark.parametrize("loss", ["lost", "empty", "overwritten", "cut"])
def test_a_database_is_built_again_from_whole_text(settings, loss, tmp_path, capsys):
    first = play(tmp_path, **settings)
    path, games = tmp_path / "games.sqlite", [*first.records]
    whole = path.read_bytes()
    if loss == "lost":
        path.unlink()
    else:
        path.write_bytes({"empty": b"", "overwritten": whole[:100] + b"x" * 9000, "cut": whole[:9000]}[loss])
    again = play(tmp_path, on_game=never, **settings)
    said = capsys.readouterr().err
    assert f"games.jsonl, which has {len(games)} games" in said
    assert (
        ("the damaged one is" in said) == (loss in ("overwritten", "cut")) == bool([*tmp_path.glob("*.damaged")])
    )
    assert numbers_of(again) == numbers_of(first) == numbers_of(read_standings(tmp_path))
    assert [*read_games(tmp_path)] == games
    play(tmp_path, on_game=never, **settings)
    assert not capsys.readouterr().err


def cut(tmp_path):
    """The games that the text lacks after that."""
    path = tmp_path / "games.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:3] + lines[4:-1]) + lines[-1][:50])


def test_games_that_the_text_lacks_are_named_and_played_again(tmp_path, capsys):
    first = play(tmp_path)
    cut(tmp_path)
    (tmp_path / "games.sqlite").unlink()
    played = []
    again = play(tmp_path, on_game=lambda record: played.append(record.game_id))
    assert "lacks 2 of its 12 games (0.1.1, 1.2.1), which are played again" in capsys.readouterr().err
    assert played == ["0.1.1", "1.2.1"]
    assert [game.without_timings() for game in again.records] == [game.without_timings() for game in first.records]
    assert any("which are played again" in note for note in read_standings(tmp_path).notes)


def test_a_damaged_database_is_not_given_up_for_text_that_lacks_games(tmp_path):
    play(tmp_path)
    cut(tmp_path)
    path = tmp_path / "games.sqlite"
    path.write_bytes(path.read_bytes()[:100] + b"x" * 9000)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(
        StoreError, match=r"is damaged .* lacks 2 of its 12 games \(0.1.1, 1.2.1\): .*move games.sql"
    ):
        play(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_text_of_another_run_builds_nothing(tmp_path):
    play(tmp_path)
    (tmp_path / "games.sqlite").unlink()
    for settings, said in (
        ({"seed": 1}, "and not this one"),
        ({"games": 6}, "by the command that the run was begun"),
    ):
        with pytest.raises(StoreError, match=said):
            play(tmp_path, **settings)
    path = tmp_path / "games.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    for key, value in {"seed": 3, "game_id": "7.0.0", "agents": ["a", "d"]}.items():
        path.write_text("".join([*lines[:-1], json.dumps({**json.loads(lines[-1]), key: value}) + "\n"]))
        with pytest.raises(StoreError, match=r"line 12, is the game .* of another run: choose another folder"):
            play(tmp_path)
    (tmp_path / "spec.json").unlink()
    with pytest.raises(StoreError, match="cannot be continued"):
        play(tmp_path)
    assert not (tmp_path / "games.sqlite").exists()


def test_a_run_of_which_only_the_specification_is_left_has_lost_its_games(tmp_path):
    play(tmp_path)
    for name in ("games.sqlite", "games.jsonl", "standings.json", "standings.csv"):
        (tmp_path / name).unlink()
    with pytest.raises(StoreError, match=r"its games are lost: remove .*spec\.json to begin again, or choose"):
        play(tmp_path)
    (tmp_path / "spec.json").unlink()
    assert play(tmp_path).complete
