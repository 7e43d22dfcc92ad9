"""``zermelo compare`` and ``--sprt``: two agents, by pairs of games."""

import json
import math
import re

import pytest
from doubles import toy_envs
from doubles.bad_agents import First, Good, Last

from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation import read_standings, round_robin, sprt
from zermelo.evaluation.cli.standings import parse_sprt
from zermelo.evaluation.stats.ratings.elo import ELO_SCALE
from zermelo.evaluation.stats.ratings.sprt import Sprt


@pytest.mark.thorough
def test_pairs_decide_and_the_numbers_are_those_of_the_functions(tmp_path, run):
    standings = round_robin(toy_envs.DiceEnv, {"a": Good, "b": Good}, games=40, out=tmp_path)
    pairs = standings.results.between("b", "a").pairs
    assert sum(pairs) == 20
    assert standings.results.between("b", "a").flip() == standings.results.between("a", "b")
    code, shown, _ = run("compare", tmp_path, "b", "a", "--sprt", "elo0=0,elo1=10")
    assert code == 0
    assert str(sprt(pairs=pairs, elo0=0, elo1=10)) in shown
    assert "20 pairs with the seats exchanged" in shown
    met = standings.rewards["b", "a"]
    assert f"reward: {met.mean:+.4g} a game, 95 % interval {met.interval[0]:+.4g} to " in shown
    code, _, said = run("compare", tmp_path, "b", "c")
    assert code == 2
    assert "'c' does not play" in said


@pytest.mark.thorough
def test_a_run_stops_when_the_test_has_decided(tmp_path):
    test = Sprt(elo0=0, elo1=200)
    standings = round_robin(
        toy_envs.DiceEnv, {"good": Good, "last": Last}, games=400, sprt=test, out=tmp_path, seed=1
    )
    assert standings.games < 400
    assert standings.complete
    assert re.match(r"SPRT of good against last: .* \(LLR -\d\.\d+, bounds -2\.94 and 2\.94\)", standings.notes[0])
    assert read_standings(tmp_path).notes == standings.notes
    two = round_robin(toy_envs.DiceEnv, {"good": Good, "last": Last}, games=400, sprt=test, seed=1, workers=2)
    assert two.games == standings.games


def test_agents_are_known_as_they_were_written(tmp_path, run):
    names = ["alphabeta(depth=1, evaluator='playout', backend='clone')", "random", "random(seed=3)"]
    round_robin("classic/tictactoe-v3", names, games=2, out=tmp_path, progress=False)
    rows = [row.agent for row in read_standings(tmp_path).rows]
    stored = next(row for row in rows if row.startswith("alphabeta"))
    same = (names[0], "alphabeta(depth=1, backend='clone', evaluator=playout, tables=None)", "alphabeta")
    for written in (*same, str(1 + rows.index(stored))):
        code, shown, _ = run("compare", tmp_path, written, "random")
        assert (code, shown.startswith(f"{stored} against random: ")) == (0, True), written
    code, _, said = run("compare", tmp_path, "and", "random")
    assert code == 2
    assert "'and' means several agents" in said
    assert len(said.splitlines()) == 1 + len(rows)


def test_no_test_is_shown_that_nobody_asked_for(tmp_path, run):
    """One of hypotheses by default says "not decided" beside a likelihood of 100 %, which was none."""
    round_robin("classic/tictactoe-v3", ["alphabeta(depth=3)", "random"], games=40, out=tmp_path, progress=False)
    shown = run("compare", tmp_path, "alphabeta(depth=3)", "random")[1]
    assert "SPRT" not in shown
    assert "stronger > 99.9 % (" in shown


def test_it_is_for_two_agents():
    with pytest.raises(InvalidSettingError, match="of two agents in a game for two, not of 3 agents"):
        round_robin(toy_envs.DiceEnv, [Good("a"), First("b"), First("c")], sprt=Sprt())


@pytest.mark.parametrize("text", ["", "elo0", "elo=1", "elo0=x", "elo0=5,elo1=0"])
def test_odd_settings(text):
    with pytest.raises(InvalidSettingError):
        parse_sprt(text)


@pytest.mark.thorough
def test_a_run_is_tested_with_its_own_hypotheses(tmp_path, run):
    own = Sprt(elo0=0, elo1=50, alpha=0.1)
    standings = round_robin(
        toy_envs.DiceEnv, {"good": Good, "last": Last}, games=20, sprt=own, out=tmp_path, progress=False
    )
    pairs = standings.results.between("good", "last").pairs
    expected = str(own.test(pairs=pairs))
    assert "between 0 and 50 normalized Elo" in expected
    for names in (("good", "last"), ("last", "good")):  # the run's test, whoever is named first
        code, shown, _ = run("compare", tmp_path, *names)
        assert code == 0
        assert f"SPRT of good against last, hypotheses of the run: {expected}" in shown
        assert any(expected in note for note in standings.notes)
    code, shown, _ = run("compare", tmp_path, "last", "good", "--sprt", "elo0=0,elo1=10")
    flipped = standings.results.between("last", "good").pairs
    assert f"SPRT of last against good, hypotheses of --sprt: {sprt(pairs=flipped, elo1=10)}" in shown
    found = json.loads(run("compare", tmp_path, "last", "good", "--json")[1])
    assert (found["sprt_agents"], found["sprt_source"]) == (["good", "last"], "the run")
    assert (found["sprt"]["elo0"], found["sprt"]["elo1"], found["sprt"]["alpha"]) == (0, 50, 0.1)


@pytest.mark.thorough
def test_tables_and_comparison_give_the_same_difference_on_one_scale(tmp_path, run):
    """Games of three results and a first seat that is worth something."""
    standings = round_robin(toy_envs.DiceEnv, {"a": Good, "b": Good}, games=30, out=tmp_path, progress=False)
    found = json.loads(run("compare", tmp_path, "a", "b", "--json")[1])
    in_table = {row["agent"]: row["elo"] for row in json.loads(run("standings", tmp_path, "--json")[1])["agents"]}
    assert in_table["a"] - in_table["b"] == pytest.approx(found["elo"]["elo"], abs=1e-4)
    score = standings.row("a").score
    assert found["elo"]["elo"] == pytest.approx(400 * math.log10(score / (1 - score)))
    assert found["sprt_source"] == "the default"
    for words in (("compare", tmp_path, "a", "b"), ("standings", tmp_path)):
        assert ELO_SCALE in " ".join(run(*words)[1].split())
    code, _, said = run("compare", tmp_path, "a", "a")
    assert code == 2
    assert "'a' is compared with itself: choose two of" in said


class Crashes(Good):
    """Crashes at its first move in every game, or in every second one."""

    def __init__(self, name, always):
        super().__init__(name)
        self.always, self.seed = always, 0

    def reset(self, seed=None):
        self.seed = seed
        super().reset(seed)

    def act(self, env):
        if self.always or self.seed % 2:
            raise RuntimeError("now and then")
        return super().act(env)


@pytest.mark.parametrize("rule", [{"sprt": Sprt(elo1=100)}, {"until_sure": True}])
@pytest.mark.parametrize(
    ("env", "rival", "said", "judged"),
    [
        (toy_envs.ToyEnv, Last("last"), "first v last (60 games are 2)", 2),
        (toy_envs.DiceEnv, Crashes("crash", always=True), "crash failed in every game, so it has no rating", 0),
        (toy_envs.DiceEnv, Crashes("half", always=False), "half lost", 60),
    ],
)
def test_neither_copies_nor_crashes_decide(tmp_path, run, rule, env, rival, said, judged):
    agents = {"first": First("first"), rival.name: rival}
    standings = round_robin(env, agents, games=60, score="wins", out=tmp_path, **rule)
    assert standings.games == 60
    assert not re.search(r" rather than |leads for sure", standings.notes[0])
    assert any(said in note for note in standings.notes)
    assert standings.ratings.games == judged
    assert standings.results.judged.between("first", rival.name).games == judged
    code, shown, _ = run("compare", tmp_path, "first", rival.name)
    assert code == 0
    assert ("No Elo: there are no games to judge them by" in shown) is (judged == 0)
    assert not re.search(" rather than ", shown, re.MULTILINE)
