"""What can be refused is refused before anything is compiled."""

import pytest

from zermelo.envs import ZermeloError
from zermelo.evaluation import round_robin
from zermelo.evaluation.stats.ratings.sprt import Sprt
from zermelo.evaluation.tournament import plan

AGENTS = ["random", "alphabeta(depth=1)", "mcts(simulations=5)"]


@pytest.mark.parametrize(
    ("agents", "settings", "said"),
    [
        (["alphabeta(depth=1)"], {}, "a tournament needs at least 2 agents, not 1"),
        (AGENTS, {"games": 0}, "games must be a whole number of at least 1, not 0"),
        (AGENTS, {"anchor": "rnd"}, "the anchor 'rnd' does not play: choose one of random,"),
        (AGENTS, {"sprt": Sprt()}, "two agents"),
        (AGENTS[:2], {"sprt": Sprt(), "until_sure": True}, "a run stops either by until_sure or by sprt"),
        (AGENTS, {"score": "win"}, "score must be one of 'auto', 'wins', 'rewards', 'team', not 'win'"),
        (
            AGENTS,
            {"openings": "missing.pgn"},
            "cannot read the openings: there is no file 'missing.pgn'",
        ),
        (AGENTS, {"out": "/dev/null/run"}, "cannot write the games to /dev/null/run: Not a directory"),
    ],
)
def test_nothing_is_compiled_for_a_run_that_is_refused(agents, settings, said, monkeypatch):
    def compiles(*given, **more):
        raise AssertionError("compiled before the run was refused")

    monkeypatch.setattr(plan, "rehearse", compiles)
    with pytest.raises(ZermeloError) as caught:
        round_robin("zermelo/MNK-v0", agents, **settings)
    assert said in str(caught.value)
