"""Names, counts and files of odd kinds: the right value, or a sentence."""

import enum

import numpy as np
import pytest

from zermelo.envs.errors import InvalidSettingError, ZermeloError
from zermelo.evaluation import Standings, fit_ratings, read_games, read_standings, round_robin
from zermelo.evaluation.results import GameCounts

NIM = "zermelo/Nim-v0(heaps=[1, 2])"


class Number(enum.IntEnum):
    ONE, TWO = 1, 2


@pytest.mark.parametrize(
    "results",
    [
        [(Number.ONE, Number.TWO, 1), (Number.TWO, Number.ONE, 0.5)],
        [(np.int64(1), np.int64(2), np.float32(1)), (np.int64(2), np.int64(1), np.float32(0.5))],
        [(np.array([1, 2]), np.array([3.0, 2.0])), (np.array([2, 1]), np.array([1, 1]))],
        np.array([[1, 2, 1], [2, 1, 0.5]]),
        np.array([["1", "2", 1], ["2", "1", 0.5]], dtype=object),
    ],
    ids=["IntEnum", "numbers of NumPy", "arrays of seats", "an array", "an array of objects"],
)
def test_results_name_players_by_numbers_of_any_kind(results):
    table = fit_ratings(results, anchor=Number.TWO)
    assert table.players == fit_ratings([("1", "2", 1), ("2", "1", 0.5)], anchor="2").players
    assert table[1] == table[Number.ONE] == table[np.int64(1)] == table["1"]
    assert table.superiority(1, 2) == table.superiority("1", "2") > 0.5
    assert GameCounts.match(1, Number.TWO, wins=np.int64(2)) == GameCounts.match("1", "2", wins=2)


@pytest.mark.parametrize(
    "results",
    [[5], [None], [("a", "b", [1])], [("a", "b", np.array([1]))], [(("a", "b"), ("x", "y"))], [(("a", "b"), None)],
     [(("a", "b"), (1, None))], [(True, False, 1)], [(1.5, 2, 1)]],
    ids=str,
)  # fmt: skip
def test_what_is_no_result_is_said(results):
    with pytest.raises(InvalidSettingError, match=r"a result|scores must be numbers"):
        fit_ratings(results)


@pytest.mark.parametrize("dispersion", [0, -1.0, float("nan"), float("inf")])
def test_a_dispersion_is_a_positive_number(dispersion):
    with pytest.raises(InvalidSettingError, match="dispersion must be a finite number greater than 0"):
        fit_ratings([("a", "b", 1)], dispersion=dispersion)


@pytest.mark.parametrize("two", [Number.TWO, np.int64(2), np.array(2)], ids=["IntEnum", "NumPy's", "an array"])
def test_a_tournament_takes_whole_numbers_of_any_kind(two, tmp_path):
    agents = {Number.ONE: "random", np.int64(2): "greedy"}
    settings = {"games": two, "seed": two, "anchor": two, "openings": [[np.int64(0)]], "workers": Number.ONE}
    standings = round_robin(
        NIM, agents if two.__hash__ else {"1": "random", "2": "greedy"}, **settings, out=tmp_path
    )
    assert {row.agent for row in standings.rows} == {"1", "2"}
    assert (standings.games, standings.anchor) == (2, "2")
    assert read_standings(tmp_path).records == standings.records
    with pytest.raises(InvalidSettingError, match=r"games must be a whole number of .*, not array\(\[2\]\)"):
        round_robin(NIM, ["random", "greedy"], games=np.array([2]))


@pytest.mark.parametrize("names", [["games.sqlite"], ["games.jsonl"], ["games.sqlite", "games.jsonl"]])
def test_files_of_no_bytes_are_no_tournament_and_may_be_written(names, tmp_path):
    for name in names:
        (tmp_path / name).touch()
    for read in (read_games, read_standings):
        with pytest.raises(ZermeloError, match=r"holds no tournament: games.* is empty"):
            read(tmp_path)
    assert round_robin(NIM, ["random", "greedy"], games=2, out=tmp_path).complete


def test_standings_are_of_games():
    with pytest.raises(InvalidSettingError, match=r"records must be games \(GameRecord\), not 'x'"):
        Standings.from_records(["x"])
