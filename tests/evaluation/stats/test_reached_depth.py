"""Searches that were cut before the depth that they were asked for are named where their results are read."""

import re

import pytest

from zermelo.evaluation import evaluate_policy, rate_checkpoints, read_standings, round_robin

GAME, CUT, WHOLE = "zermelo/Hex-v0", "maxn(depth=2, nodes=500)", "alphabeta(depth=2, nodes=100000)"
SAID = re.escape(CUT) + r" completed depth 1\.0 of 2 on average, as its nodes ran out in (\d+) % of its moves"


def test_a_search_that_is_cut_in_most_moves_is_named(tmp_path):
    standings = round_robin(GAME, [CUT, WHOLE, "alphabeta(nodes=5)"], games=2, out=tmp_path)
    for table in (standings, read_standings(tmp_path)):
        said = [note for note in table.all_notes if "completed depth" in note]
        assert len(said) == 2
        assert int(re.match(SAID, said[0])[1]) > 50
        assert said[1].startswith("alphabeta(nodes=5) completed depth 0.0 of 1")


@pytest.mark.parametrize("policy", [CUT, WHOLE])
def test_evaluations_say_it_of_the_policy_and_its_opponents(policy):
    rating = evaluate_policy(policy, GAME, ladder=[WHOLE], games=2)
    assert len(re.findall(SAID, str(rating))) == (policy == CUT)
    assert len(re.findall("completed depth", str(rating))) == (policy == CUT)
    rated = rate_checkpoints(GAME, {1: policy, 2: "random"}, ladder=["greedy"], games=8)
    assert len(re.findall(SAID, str(rated))) == (policy == CUT)
