"""Ladders are built from games, and go on where they were stopped."""

import itertools
import json

import pytest
from typer.testing import CliRunner

from zermelo.agents.level import Levels
from zermelo.envs import UnsupportedGameError
from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation import evaluate_policy
from zermelo.evaluation.cli.app import app
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.ladders import builder, reward_builder
from zermelo.evaluation.ladders.builder import LadderBuilder, write_ladder
from zermelo.evaluation.ladders.games import Block, BlockPlayer
from zermelo.evaluation.ladders.reward_builder import RewardLadderBuilder, search_of
from zermelo.evaluation.workers.pool import ProcessRunner
from zermelo.evaluation.workers.work import SerialRunner

GAME = "classic/tictactoe-v3"
SHORT = {"seconds": 0.5, "width": 60.0}


class Dies(SerialRunner):
    """Is interrupted after some blocks."""

    def __init__(self, blocks):
        self.left = blocks

    def run(self, work, items):
        for found in super().run(work, items):
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            yield found


class Nobody:
    """Has nothing to play."""

    def run(self, work, items):
        raise AssertionError(f"{items} are in the journal")
        yield


@pytest.mark.slow
def test_a_ladder_goes_on_where_it_was_stopped(tmp_path):
    journal = tmp_path / "games"
    with pytest.raises(KeyboardInterrupt):
        LadderBuilder(GAME, journal, Dies(6), **SHORT).build()
    kept = journal.read_text()
    assert len(kept.splitlines()) == 7
    journal.write_text(kept + '["random", "greedy", 4')  # killed while it wrote
    found = LadderBuilder(GAME, journal, SerialRunner(), **SHORT).build()
    assert journal.read_text().startswith(kept)
    assert LadderBuilder(GAME, journal, Nobody(), **SHORT).build() == found
    (tmp_path / "more").write_text(journal.read_text())
    more = LadderBuilder(GAME, tmp_path / "more", SerialRunner(), **(SHORT | {"seconds": 1.0, "width": 40.0}))
    assert more.build()["games"] > found["games"]
    assert (tmp_path / "more").read_text().startswith(journal.read_text())
    elos = [rung["elo"] for rung in found["rungs"]]
    assert elos[0] == 0
    assert elos == sorted(elos)
    assert all(upper - lower < 130 for lower, upper in itertools.pairwise(elos))
    assert elos[-1] > 250
    assert found["game"] == "MNK(m=3, n=3, k=3, players=2)"
    assert [len(row) for row in found["covariance"]] == [*range(1, len(elos) + 1)]
    for rung, row in zip(found["rungs"][1:], found["covariance"][1:], strict=True):
        assert (rung["upper"] - rung["lower"]) / 2 == pytest.approx(1.96 * row[-1] ** 0.5, rel=0.1)
    with pytest.raises(StoreError, match="has the games of another ladder"):
        LadderBuilder(GAME, journal, SerialRunner(), seed=1)
    # A policy is rated on it, and levels play as it says.
    write_ladder(found, tmp_path / "ladder.json")
    middle = elos[-1] / 2
    level = f"level(elo={middle}, file={str(tmp_path / 'ladder.json')!r})"
    rating = evaluate_policy(level, GAME, ladder=tmp_path / "ladder.json", interval=100)
    assert rating.upper - rating.lower <= 100
    assert abs(rating.rating - middle) < 100
    assert str(rating).splitlines()[0].startswith(f"{level} in {GAME}: Elo ")
    assert "): between " in str(rating)
    assert f"; random 0, strongest rung {elos[-1]:.0f}" in str(rating)


@pytest.mark.thorough
def test_a_block_is_the_same_wherever_it_is_played():
    work, block = BlockPlayer(GAME, 3), Block("random", "alphabeta(depth=1)", 40, 0)
    alone = [found[:2] for found in SerialRunner().run(work, [block])]
    assert [found[:2] for found in ProcessRunner(2).run(work, [block])] == alone
    assert sum(alone[0][1][:3]) == 40
    other = [found[:2] for found in SerialRunner().run(work, [block._replace(number=1)])]
    assert other[0][1] != alone[0][1]


@pytest.mark.thorough
def test_agents_that_do_not_compile_play_one_by_one():
    _, result, _ = BlockPlayer(GAME, 0).run(Block("random", "paranoid(depth=1)", 4, 0))
    assert sum(result[:3]) == 4
    assert 4 * 3 <= result.moves <= 4 * 9


@pytest.mark.parametrize(
    ("env", "said"),
    [("zermelo/Pig-v0(players=3)", "has not two players"), ("zermelo/Kuhn-v0", "that `auto` plays by ismcts")],
)
def test_other_games_are_refused(tmp_path, env, said):
    with pytest.raises(UnsupportedGameError, match=said):
        LadderBuilder(env, tmp_path / "games", SerialRunner())


@pytest.mark.parametrize(
    ("upper", "weaker"),
    [
        ("mcts(simulations=64, reuse=False)", "mcts(simulations=8, reuse=False)"),
        ("mcts(simulations=2, reuse=False)", "noisy(agent=mcts(simulations=2, reuse=False), epsilon=0.5)"),
        ("noisy(agent=alphabeta(depth=1), epsilon=0.02)", "noisy(agent=alphabeta(depth=1), epsilon=0.51)"),
        ("alphabeta(depth=3)", "noisy(agent=alphabeta(depth=3), epsilon=0.5)"),
    ],
)
def test_what_lies_between_random_and_others(upper, weaker):
    assert builder._weaker(upper, 150.0, {"random": 0.0, upper: 300.0}) == weaker


def test_known_ratings_tell_which_noise_comes_next():
    known = {"random": 0.0, "noisy(agent=greedy, epsilon=0.6)": 100.0, "greedy": 400.0}
    assert builder._weaker("greedy", 250.0, known) == "noisy(agent=greedy, epsilon=0.3)"
    assert builder._weaker("greedy", 101.0, known) == "noisy(agent=greedy, epsilon=0.51)"  # not too near to it
    assert builder._weaker("greedy", 250.0, known | {"noisy(agent=greedy, epsilon=0.005)": 240.0}) is None


def test_rungs_that_are_hardly_stronger_are_left_out():
    assert builder._apart({"a": 60.0, "random": 0.0, "b": 62.0, "c": 5.0, "d": 75.0}) == ["random", "a", "d"]


@pytest.mark.thorough
def test_games_that_pay_amounts_are_rated_by_rewards(tmp_path):
    env = "zermelo/Kuhn-v0"
    with pytest.raises(InvalidSettingError, match="seconds must be"):
        RewardLadderBuilder(env, "ismcts", seconds=0)
    said = []
    found = RewardLadderBuilder(env, search_of(env), seconds=8.0, on_block=said.append).build()
    assert said
    path = tmp_path / "kuhn.json"
    write_ladder(found, path)
    levels = Levels.read(path)
    assert (levels.unit, levels.baseline) == ("reward", "random")
    assert levels.rungs[0] == ("random", 0, 0, 0, 0)
    assert levels.rungs[-1].lower > 0
    top = levels.rungs[-1].rating
    level = f"level(reward={top / 2}, file={str(path)!r})"
    rating = evaluate_policy(level, env, ladder=path)
    assert rating.by_reward
    assert rating.total.games == 400
    low, high = rating.total.reward_interval
    assert low - 0.1 < top / 2 < high + 0.1
    assert str(rating).startswith(f"{level} in {env}: mean reward {rating.strength:.3g} (")
    assert ") with random: " in str(rating)
    assert "; random 0, strongest rung " in str(rating)
    assert "By wins alone" not in str(rating)


def test_games_in_which_nobody_earns_more_have_no_levels(monkeypatch):
    monkeypatch.setattr(reward_builder, "MOST", reward_builder.FEW)  # as many games however slow the machine is
    monkeypatch.setitem(reward_builder.CANDIDATES, "ismcts", ("random", "noisy(agent=random, epsilon=0.5)"))
    with pytest.raises(UnsupportedGameError, match="no agent earns surely more than others with random"):
        RewardLadderBuilder("zermelo/Kuhn-v0", "ismcts", seconds=100.0, seed=1).build()


@pytest.mark.slow
def test_the_command(tmp_path):
    path = tmp_path / "new" / "ladder.json"
    shown = CliRunner().invoke(app, ["ladder", GAME, "--out", str(path), "--minutes", "0.005", "--width", "200"])
    assert shown.exit_code == 0, shown.output
    assert f"written to {path}" in shown.output
    levels = Levels.read(path)
    assert levels.rungs[0].agent == "random"
    assert levels.about["perfect"]["elo"] > 200
    assert ", perfect play about " in levels.around(100.0)
    played = (path.parent / "ladder.json.games").read_text().splitlines()[1:]
    assert levels.about["games"] <= sum(json.loads(line)[2] for line in played)


@pytest.mark.parametrize("text", ["{", "3\n", '"MNK(m=3, n=3, k=3, players=2), seed 0"\n[1]\n', "\xff"])
def test_a_journal_of_something_else_is_refused(tmp_path, text):
    (tmp_path / "games").write_text(text)
    with pytest.raises(StoreError, match=r"another ladder|is damaged"):
        LadderBuilder(GAME, tmp_path / "games", SerialRunner())
