"""Swiss and knockout tournaments: the same games however they are played, killed and gone on with."""

import contextlib
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from doubles import toy_envs
from doubles.bad_agents import First, Good, Last
from doubles.made_games import numbers_of

from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation import read_games, read_standings, round_robin
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.report.page import report_page
from zermelo.evaluation.stats.ratings.sprt import Sprt
from zermelo.evaluation.tournament.settings import TournamentSettings

AGENTS = {f"{kind.__name__}{number}": kind for number in range(3) for kind in (Good, First, Last)}


def play(pairings, **settings):
    return round_robin(toy_envs.DiceEnv, AGENTS, **{"games": 2, "seed": 4, "pairings": pairings, **settings})


def games_of(standings):
    return [record.without_timings() for record in standings.records]


@pytest.mark.parametrize("pairings", ["swiss:4", "knockout"])
def test_the_games_are_the_same_for_any_number_of_workers_and_after_any_loss(pairings, tmp_path):
    whole = play(pairings)
    assert whole.complete
    assert [game.game_id for game in whole.records][:2] == ["0.0.0.0", "0.0.0.1"]
    assert games_of(play(pairings, workers=2, out=tmp_path)) == games_of(whole)
    db = sqlite3.connect(tmp_path / "games.sqlite")
    with db:
        for table in ("games", "records"):
            db.execute(f"DELETE FROM {table} WHERE game_index IN (0, 5) OR game_index > 9")
    db.close()
    assert games_of(play(pairings, out=tmp_path)) == games_of(whole)
    assert numbers_of(read_standings(tmp_path)) == numbers_of(whole)


def test_rounds_can_be_added_to_a_swiss_tournament_and_nothing_else(tmp_path):
    play("swiss:3", out=tmp_path)
    longer = play("swiss:4", out=tmp_path)
    assert games_of(longer) == games_of(play("swiss:4"))
    for other in ({"pairings": "swiss:2"}, {"pairings": "knockout"}, {"games": 4}):
        with pytest.raises(StoreError, match="already holds a tournament, and not this one"):
            play(**{"pairings": "swiss:4", "out": tmp_path, **other})
    with pytest.raises(StoreError, match="already holds a tournament, and not this one"):
        round_robin(toy_envs.DiceEnv, {**AGENTS, "new": Good}, games=2, seed=4, pairings="swiss:4", out=tmp_path)


def test_tables_and_reports_have_the_rounds():
    swiss, knockout = play("swiss:4"), play("knockout")
    text = str(swiss)
    assert "points v agent" in text
    assert "round 4" in text
    assert text.count("2 bye") == 4
    for ranked_by in ("rewards", "wins"):
        table = str(play("swiss:4", score=ranked_by)).split("points v agent")[1].split("\n\n")[0]
        lines = [re.split(r" {2,}", line) for line in table.split("\n")[2:]]
        totals = [float(line[6]) for line in lines]
        assert totals == [sum(float(cell.split()[0]) for cell in line[2:6]) for line in lines]
        assert (totals == sorted(totals, reverse=True)) == (ranked_by == "wins")
    assert "points incl. bye" in text
    assert "(a bye counts as a match won)" in text
    assert "incl. bye" not in str(knockout)
    assert "change who leads" not in text
    assert "do not show which of" not in text
    rounds = swiss.to_dict()["rounds"]
    assert [len(of_round) for of_round in rounds] == [4] * 4
    assert all(sum(match["points"]) == match["games"] == 2 for of_round in rounds for match in of_round)
    assert [len(of_round) for of_round in knockout.to_dict()["rounds"]] == [1, 4, 2, 1]
    winner = knockout.rows[0].agent
    assert knockout.notes[0].startswith(f"{winner} won the knockout: the final against {knockout.rows[1].agent}")
    for standings in (swiss, knockout):
        page = report_page(standings.records, standings=standings)
        assert '<section id="rounds"' in page
        assert ("points incl. bye" in page) == (standings is swiss)
        ratings = page.partition('<section id="ratings"')[2].partition("<tbody")[2].partition("</table")[0]
        ranked = [row.agent for row in standings.rows]
        assert sorted(ranked, key=lambda name: ratings.rindex(f">{name}<")) == ranked


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"pairings": "swiss:0"}, "a number of rounds is written swiss:9, .* not 'swiss:0'"),
        ({"pairings": "swiss:x"}, "not 'swiss:x'"),
        ({"pairings": "knockout:3"}, "not 'knockout:3'"),
        ({"pairings": "swis"}, "did you mean 'swiss'"),
        ({"pairings": "swis:3"}, "did you mean 'swiss:3'"),
        ({"pairings": "swiss:9"}, "9 agents have met each other after 8 rounds, so they cannot play 9"),
        ({"pairings": "swiss:4", "until_sure": True}, "until_sure stops where it is sure who is stronger"),
        ({"pairings": "knockout", "sprt": Sprt()}, "sprt stops where it is sure who is stronger"),
    ],
)
def test_what_cannot_be_played_in_rounds_is_refused(settings, said):
    with pytest.raises(InvalidSettingError, match=said):
        play(**settings)


@pytest.mark.parametrize(("env", "seats"), [(toy_envs.three_players, 3), (toy_envs.WalkEnv, 1)])
def test_rounds_are_of_two_opponents(env, seats):
    with pytest.raises(InvalidSettingError, match=f"need a game of two opponents, not one of {seats}"):
        round_robin(env, AGENTS, pairings="swiss")


def test_a_swiss_tournament_has_two_rounds_more_than_a_knockout():
    assert len(play("swiss").results.rounds) == 6
    assert TournamentSettings(pairings="swiss").pairings == "swiss"


PROGRAM = str(Path(sys.executable).with_name("zermelo"))
TESTS = Path(__file__).resolve().parents[2]


def run_killed_after(out, pairings, seconds):
    """Whether the command ended before it was killed."""
    names = [name for kind in ("First", "Last") for name in [f"doubles.bad_agents:{kind}"] * 4]
    words = ["tournament", "doubles.toy_envs:DiceEnv", "random", *names, "--games", "30", "--pairings", pairings]
    command = [PROGRAM, *words, "--isolate", "none", "--workers", "2", "--quiet", "--out", str(out)]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
    ) as process:  # fmt: skip
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            return False
        assert process.returncode == 0, process.stderr.read()
        return True


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL and process groups")
@pytest.mark.parametrize("pairings", ["swiss:4", "knockout"])
def test_a_run_in_rounds_that_is_killed_again_and_again_ends_as_if_nothing_had_happened(pairings, tmp_path):
    seed = time.time_ns() % 10**6
    chance, kills = random.Random(seed), 0
    assert run_killed_after(tmp_path / "whole", pairings, 300)
    while not run_killed_after(tmp_path / "killed", pairings, chance.uniform(1.0, 2.0 + kills)):
        kills += 1
    folders = [tmp_path / name for name in ("whole", "killed")]
    whole, killed = ([game.without_timings() for game in read_games(folder)] for folder in folders)
    assert killed == whole, f"seed {seed}, {kills} kills"
    assert numbers_of(read_standings(folders[1])) == numbers_of(read_standings(folders[0]))
