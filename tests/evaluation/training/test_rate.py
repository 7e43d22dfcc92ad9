"""Checkpoints of a training are rated by games that are chosen while they are played."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from zermelo.envs.errors import InvalidSettingError, MissingDependencyError, UnknownNameError, UnsupportedGameError
from zermelo.evaluation import rate_checkpoints, read_games, read_standings
from zermelo.evaluation.cli import main
from zermelo.evaluation.errors import RatingInterrupted, StoreError
from zermelo.evaluation.storage.curves import read_curve
from zermelo.evaluation.training.checkpoints import find_checkpoints

GAME = "zermelo/MNK-v0"
ANCHORS = ("random", "greedy")


def noisy(epsilon):
    return f"noisy(agent=alphabeta(depth=2), epsilon={epsilon})"


TRAINING = {1_000: noisy(0.9), 2_000: noisy(0.6), 3_000: noisy(0.3), 4_000: noisy(0.05)}


def rate(checkpoints=TRAINING, **settings):
    return rate_checkpoints(GAME, checkpoints, **{"ladder": ANCHORS, "within": 200} | settings)


def games_of(rated):
    return [(game.game_id, game.agents, game.actions) for game in rated.standings.records]


def test_every_checkpoint_has_a_rating_as_narrow_as_asked_for_and_the_best_is_named():
    told = []
    rated = rate(on_progress=told.append)
    assert [one.step for one in rated.checkpoints] == [*TRAINING]
    assert all(one.lower < one.rating < one.upper and one.width <= 200 for one in rated.checkpoints)
    assert rated.checkpoints[-1].lower > rated.checkpoints[0].upper
    assert rated.best.step == 4_000
    assert sum(one.likely_best for one in rated.checkpoints) == pytest.approx(1)
    assert (rated.zero, rated.opponents[0].rating) == ("random", 0)
    assert min(one.games for one in rated.opponents) >= 20
    assert rated.games < rated.evenly, "games are chosen where they tell most"
    assert "the widest interval, of step" in told[-1]
    text = str(rated)
    assert f"Best: step 4,000 ({TRAINING[4_000]})" in text
    assert f"A round robin would take about {rated.evenly:,} games" in text


def test_checkpoints_can_be_rated_by_each_other_alone():
    rated = rate(ladder=[])
    assert rated.opponents == ()
    assert (rated.zero, rated.checkpoints[0].rating) == (TRAINING[1_000], 0)
    assert rated.best.step == 4_000


@pytest.mark.thorough
def test_rungs_of_a_ladder_keep_their_ratings_and_their_errors_count():
    rated = rate(ladder=None, within=250)
    rungs = {one.name: one.rating for one in rated.opponents}
    assert len(rungs) > 5
    assert list(rungs.values()) == sorted(rungs.values())
    assert {game.agents[0] in rungs for game in rated.standings.records} == {True, False}
    assert all(len({*game.agents} & rungs.keys()) == 1 for game in rated.standings.records)


def test_games_go_on_until_the_best_is_as_likely_as_asked_for():
    rated = rate({1: "random", 2: noisy(0.6), 3: noisy(0.01)}, ladder=["greedy"], within=None, sure=0.9)
    assert rated.best.step == 3
    assert rated.best.likely_best >= 0.9
    assert rated.games < 400


def test_a_limit_on_games_holds_and_the_shortfall_is_said():
    rated = rate(within=10, games=60)
    assert rated.games <= 60
    assert any("wider than 10 Elo" in note for note in rated.notes)


@pytest.mark.thorough
def test_a_game_of_three_seats():
    rated = rate_checkpoints(
        "zermelo/Pig-v0(players=3)", {1: "random", 2: "greedy"}, ladder=[], within=400, games=60
    )
    assert {len(game.agents) for game in rated.standings.records} == {3}


# -- the store -------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not_been(tmp_path):
    whole = rate(out=tmp_path / "whole")

    def stop(sentence):
        raise KeyboardInterrupt

    with pytest.raises(RatingInterrupted) as stopped:
        rate(out=tmp_path / "parts", on_progress=stop)
    assert 0 < stopped.value.rated.games < whole.games
    again = rate(out=tmp_path / "parts")
    assert games_of(again) == games_of(whole)
    assert again.to_dict() == whole.to_dict()
    played = []
    assert rate(out=tmp_path / "parts", on_progress=played.append).games == whole.games
    assert len(played) == 1, "nothing is played again"
    assert read_standings(tmp_path / "parts").games == whole.games
    (tmp_path / "parts" / "games.sqlite").unlink()
    assert games_of(rate(out=tmp_path / "parts")) == games_of(whole), "it is built again from the text"


@pytest.mark.thorough
def test_further_checkpoints_and_a_narrower_width_extend_a_run(tmp_path):
    first = dict([*TRAINING.items()][:3])
    before = games_of(rate(first, out=tmp_path))
    more = rate(out=tmp_path, within=150)
    assert games_of(more)[: len(before)] == before
    assert [one.step for one in more.checkpoints] == [*TRAINING]
    assert max(one.width for one in more.checkpoints) <= 150
    with pytest.raises(StoreError, match=r"epsilon=0\.05.*not among these"):
        rate(first, out=tmp_path)
    with pytest.raises(StoreError, match="seed"):
        rate(out=tmp_path, seed=1)


def test_a_tournament_in_the_folder_is_left_alone(tmp_path):
    from zermelo.evaluation import round_robin

    round_robin(GAME, ["random", "greedy"], games=2, out=tmp_path)
    with pytest.raises(StoreError, match="already holds a tournament, and not this one"):
        rate(out=tmp_path)


@pytest.mark.thorough
def test_workers_play_the_same_games(tmp_path):
    assert sorted(games_of(rate(workers=2))) == sorted(games_of(rate()))


KILLED = """
import sys
from tests.evaluation.training.test_rate import rate
rate(out=sys.argv[1], within=60)
"""


@pytest.mark.slow
def test_a_kill_loses_nothing(tmp_path):
    folder = tmp_path / "killed"
    for _ in range(2):
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(folder)], cwd=os.getcwd())
        done = len(read_games(folder)) if folder.exists() else 0
        until = time.monotonic() + 60
        while time.monotonic() < until:
            time.sleep(0.05)
            if (folder / "games.sqlite").exists() and _count(folder) > done + 50:
                break
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert games_of(rate(out=folder, within=60)) == games_of(rate(within=60))


def _count(folder):
    try:
        return len(read_games(folder))
    except StoreError:
        return 0


# -- what is written -------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_the_curve_is_written_in_every_form(tmp_path):
    pytest.importorskip("matplotlib", reason="needs scripts/setup notebook")
    rated = rate(out=tmp_path)
    curve = read_curve(tmp_path / "curve.jsonl")
    assert [(point.step, point.rating) for point in curve.points] == [
        (one.step, one.rating) for one in rated.checkpoints
    ]
    assert curve.points[-1].likely_best == rated.checkpoints[-1].likely_best
    assert f"Training of {rated.policy} in {GAME}" in (tmp_path / "curve.html").read_text()
    assert (tmp_path / "curve.png").read_bytes()[1:4] == b"PNG"
    assert "<svg" in (tmp_path / "curve.svg").read_text()
    rows = [*csv.DictReader((tmp_path / "curve.csv").read_text().splitlines())]
    assert [int(row["step"]) for row in rows] == [*TRAINING]
    assert json.loads((tmp_path / "curve.json").read_text())["best"]["step"] == 4_000
    with pytest.raises(InvalidSettingError, match=r"must end in \.html"):
        rated.save(tmp_path / "curve.gif")


def test_pictures_without_matplotlib_are_left_out_with_a_note(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    rated = rate(out=tmp_path, games=40)
    assert any("need matplotlib" in note for note in rated.notes)
    assert not (tmp_path / "curve.png").exists()
    with pytest.raises(MissingDependencyError, match="matplotlib"):
        rated.save(tmp_path / "curve.png")


# -- checkpoints and their steps -------------------------------------------------------------------------------


def saved(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"no model")
    return str(folder)


@pytest.mark.parametrize(
    ("names", "steps"),
    [
        (["rl_model_5000_steps.zip", "rl_model_10000_steps.zip"], [5_000, 10_000]),
        (["a_step_20.pt", "a_step_3.pt"], [3, 20]),
        (["ppo2_100k_seed3.zip", "ppo2_1M_seed3.zip"], [100_000, 1_000_000]),
        (["epoch=1-step=500.pt", "epoch=2-step=900.pt"], [500, 900]),
        (["7.onnx", "11.onnx", "replay_buffer_1_steps.pkl"], [7, 11]),
    ],
)
def test_steps_are_read_from_names(tmp_path, names, steps):
    assert [one.step for one in find_checkpoints(saved(tmp_path, *names))] == steps


def test_other_ways_to_give_steps(tmp_path):
    folder = saved(tmp_path, "b.zip", "a.zip")
    os.utime(tmp_path / "b.zip", (1, 1))
    assert [(one.step, one.name) for one in find_checkpoints(folder, "time")] == [(1, "b"), (2, "a")]
    assert [(one.step, one.name) for one in find_checkpoints(folder, [9, 4])] == [(4, "b"), (9, "a")]
    saved(tmp_path, "runs/step_10/model.zip", "runs/step_9/model.zip")
    found = find_checkpoints(f"{folder}/runs/*/model.zip")
    assert [one.step for one in found] == [9, 10]
    found = find_checkpoints([f"{folder}/runs/step_{step}/model.zip" for step in (9, 10)], agent="my:load({})")
    assert found[0].source == f"my:load('{folder}/runs/step_9/model.zip')"


@pytest.mark.parametrize(
    ("names", "settings", "said"),
    [
        ([], {}, "no checkpoint in"),
        (["a_1.zip"], {}, "only one checkpoint .*a_1.zip"),
        (["a_1.zip", "best.zip"], {}, "no step in the name of .*best.zip"),
        (["a_1_steps.zip", "b_1_steps.zip"], {}, "a_1_steps and b_1_steps have the same step, 1"),
        (["a_1.zip", "a_2.zip"], {"steps": [3]}, "1 steps for 2 checkpoints"),
        (["a_1.zip", "a_2.zip"], {"steps": "size"}, "'time' for the order of the files, not 'size'"),
        (["a_1.zip", "a_2.zip"], {"agent": "my:load"}, "agent has {} where the file is named"),
    ],
)
def test_checkpoints_that_make_no_curve_are_refused(tmp_path, names, settings, said):
    with pytest.raises(InvalidSettingError, match=said):
        find_checkpoints(saved(tmp_path, *names), **settings)


def test_what_is_not_there_or_cannot_play_is_named(tmp_path):
    with pytest.raises(UnknownNameError, match="'runs/none' is neither a folder nor a file"):
        rate("runs/none")
    with pytest.raises(UnsupportedGameError, match="one seat"):
        rate_checkpoints("zermelo/Game2048-v0", {1: "random", 2: "greedy"})
    with pytest.raises(InvalidSettingError, match="sure must be below 1"):
        rate(sure=1)
    with pytest.raises(InvalidSettingError, match="games must be a whole number of at least 2"):
        rate(games=1)


def test_policies_that_are_functions_are_rated_by_their_steps():
    def first(observation, action_mask):
        return action_mask.argmax()

    rated = rate({1: first, 2: "greedy"}, ladder=["random"], games=40)
    assert [one.name for one in rated.checkpoints] == ["step 1", "greedy"]


@pytest.mark.thorough
def test_models_are_rated_from_the_command_line(tmp_path, capsys):
    contrib = pytest.importorskip("sb3_contrib", reason="needs scripts/setup sb3")
    from zermelo.agents.training import OpponentEnv

    def save(game, *names):
        env = OpponentEnv(game, observation="array")
        model = contrib.MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=32, seed=0, device="cpu")
        for name in names:
            model.save(tmp_path / name)

    def run(arguments, code=0):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == code

    save("classic/tictactoe-v3", "ppo_64_steps.zip", "ppo_128_steps.zip")
    asked = ["rate", "classic/tictactoe-v3", str(tmp_path), "-l", "random", "--within", "300", "--json"]
    run(asked)
    rated = json.loads(capsys.readouterr().out)
    assert [one["step"] for one in rated["checkpoints"]] == [64, 128]
    saved(tmp_path, "ppo_256_steps.zip")
    run(asked, 2)
    assert "ppo_256_steps.zip' is no MaskablePPO model" in capsys.readouterr().err
    save("classic/connect_four-v3", "ppo_256_steps.zip")
    run(asked, 2)
    assert "ppo_256_steps cannot play here: the model does not fit" in capsys.readouterr().err
    run([*asked, "--skip-unfit"])
    assert "Left out: ppo_256_steps" in capsys.readouterr().out
