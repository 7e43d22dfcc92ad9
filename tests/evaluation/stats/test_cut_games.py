"""Notes on games that the limit on moves ended."""

from zermelo.evaluation import read_standings, round_robin

ENDED = "ended unfinished and count"


def test_games_that_the_limit_ended_are_said(tmp_path):
    """Their results look like draws."""
    played = round_robin("classic/tictactoe-v3", ["random", "greedy"], games=4, max_moves=3, out=tmp_path, seed=1)
    for standings in (played, read_standings(tmp_path)):
        (note,) = [note for note in standings.notes if ENDED in note]
        assert note.startswith("4 of 4 games were ended unfinished")
        assert "max_moves is 3" in note


def test_games_that_ended_by_themselves_need_no_note():
    standings = round_robin("classic/tictactoe-v3", ["random", "greedy"], games=2, max_moves=9, seed=1)
    assert not [note for note in standings.notes if ENDED in note]
