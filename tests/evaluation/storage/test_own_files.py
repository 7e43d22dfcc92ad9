"""Files that somebody else wrote are not overwritten where this package has names of its own."""

from __future__ import annotations

import pytest

from zermelo.agents.solving.solve_policy import solve_policy
from zermelo.envs import ZermeloError
from zermelo.envs.games import Nim
from zermelo.evaluation import round_robin
from zermelo.evaluation.training.curve import RatingCurve

ENV = "zermelo/Nim-v0(heaps=[1, 2])"


@pytest.mark.parametrize(
    "name", ["spec.json", "standings.json", "standings.csv", "lock", "games.jsonl", "games.sqlite"]
)
def test_a_tournament_leaves_files_alone_that_it_did_not_write(name, tmp_path):
    mine = tmp_path / name
    mine.write_text("mine: do not touch, nor any part of it\n")
    with pytest.raises(ZermeloError, match="choose another folder"):
        round_robin(ENV, ["random", "greedy"], games=2, out=tmp_path)
    assert mine.read_text() == "mine: do not touch, nor any part of it\n"
    mine.unlink()
    round_robin(ENV, ["random", "greedy"], games=2, out=tmp_path)
    round_robin(ENV, ["random", "greedy"], games=4, out=tmp_path)


def test_a_policy_is_written_beside_nobodys_file(tmp_path):
    mine = tmp_path / "policy.json.partial"
    mine.write_text("mine\n")
    solve_policy(Nim()).save(tmp_path / "policy.json")
    assert mine.read_text() == "mine\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["policy.json", "policy.json.partial"]


@pytest.mark.parametrize("content", ["mine\n", "mine", '{"a": 1}\n'])
def test_ratings_are_written_over_nothing_but_ratings(content, tmp_path):
    mine = tmp_path / "curve.jsonl"
    mine.write_text(content)
    with pytest.raises(ZermeloError, match=r"curve\.jsonl"):
        RatingCurve(ENV, path=mine)
    assert mine.read_text() == content
    mine.write_text("")
    RatingCurve(ENV, path=mine)
