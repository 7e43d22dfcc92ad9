"""A policy's rating as it learns."""

import json

import numpy as np
import pytest

from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation import RatingCurve
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.storage.curves import read_curve
from zermelo.evaluation.training import curve as curve_module

GAME = "classic/tictactoe-v3"


def first(observation, action_mask):
    return int(np.flatnonzero(action_mask)[0])


def last(observation, action_mask):
    return int(np.flatnonzero(action_mask)[-1])


def curve_of(**settings):
    return RatingCurve(GAME, **{"ladder": ["random"], "games": 4, "every": 100} | settings)


@pytest.mark.thorough
def test_it_rates_when_it_is_time(tmp_path):
    told = []
    path = tmp_path / "curve.jsonl"
    curve = curve_of(path=path, on_rating=lambda *given: told.append(given))
    assert curve.update(first, 99) is None
    assert curve.update(first, 100) is not None
    assert curve.update(last, 180) is None
    assert curve.update(last, 230) is not None
    assert [step for step, _ in curve.ratings] == [100, 230]
    improved = curve.ratings[1][1].rating > curve.ratings[0][1].rating
    assert [(step, best) for step, _, best in told] == [(100, True), (230, improved)]
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(row["step"], row["rating"]) for row in rows] == [(at, found.rating) for at, found in curve.ratings]
    assert str(curve).splitlines()[3].split()[0] == "230"


def test_wrong_settings_are_refused():
    with pytest.raises(InvalidSettingError, match="every"):
        RatingCurve(GAME, every=0)


# -- the file --------------------------------------------------------------------------------------------------


def test_a_training_goes_on_where_its_file_ends(tmp_path):
    path = tmp_path / "curve.jsonl"
    curve_of(path=path).update(first, 100)
    with path.open("a") as file:
        file.write('{"step": 200, "torn')  # killed while it wrote
    assert [point.step for point in read_curve(path).points] == [100]
    again = curve_of(path=path, resume_step=120)
    assert again.update(first, 150) is None
    again.update(first, 200)
    assert [point.step for point in read_curve(path).points] == [100, 200]
    with pytest.raises(InvalidSettingError, match="another ladder"):
        curve_of(path=path, resume_step=200, seed=1).update(first, 300)
    curve_of(path=path, resume_step=100).update(first, 250)  # from a checkpoint before the last rating
    assert [point.step for point in read_curve(path).points] == [100, 250]
    curve_of(path=path, resume_step=50).update(first, 100)
    assert [point.step for point in read_curve(path).points] == [100]
    curve_of(path=path).update(first, 100)
    assert [point.step for point in read_curve(path).points] == [100]


def test_a_full_disk_is_warned_of_and_nothing_is_lost(tmp_path, monkeypatch):
    curve = curve_of(path=tmp_path / "curve.jsonl")
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(curve_module, "replace_text", lambda *_: (_ for _ in ()).throw(full))
    with pytest.warns(UserWarning, match="No space left on device; the next one will try again"):
        curve.update(first, 100)
    monkeypatch.undo()
    curve.update(first, 200)
    assert [point.step for point in read_curve(tmp_path / "curve.jsonl").points] == [100, 200]


POINT = {
    "step": 1, "env": "e", "ladder": "l", "games": 4, "rating": 1.0, "lower": None, "upper": 2.0, "score": 0.5,
    "rungs": [{"agent": "random", "elo": 0.0}],
}  # fmt: skip


def test_what_is_unknown_or_without_an_end_is_none(tmp_path):
    path = tmp_path / "ppo.jsonl"
    path.write_text(json.dumps(POINT) + "\n")
    curve = read_curve(path)
    point = curve.points[0]
    assert (curve.name, curve.env, curve.ladder, dict(point.levels)) == ("ppo", "e", "l", {"random": 0.0})
    assert (point.rating, point.lower, point.upper) == (1.0, None, 2.0)
    assert point.mean_reward is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no rating yet"),
        ('{"step": 1}', "holds no rating yet"),
        ("{\n", "line 1: not a rating"),
        ("3\n", "line 1: not a rating"),
        (json.dumps(POINT | {"rating": "high"}) + "\n", "line 1: not a rating"),
        (json.dumps(POINT) + "\n" + json.dumps(POINT | {"rungs": 3}) + "\n", "line 2: not a rating"),
        (json.dumps(POINT | {"step": 1e999}) + "\n", "line 1: not a rating"),
        (json.dumps(POINT | {"step": 10**400}) + "\n", "line 1: not a rating"),
        (json.dumps(POINT | {"upper": 1e300}) + "\n", "line 1: not a rating"),
        ("[" * 100_000 + "\n", "line 1: not a rating"),
    ],
    ids=["empty", "torn", "broken", "number", "text", "rungs", "infinite", "huge", "large", "deep"],
)
def test_files_of_somebody_else_are_refused(tmp_path, text, said):
    path = tmp_path / "curve.jsonl"
    path.write_text(text)
    with pytest.raises(StoreError, match=said):
        read_curve(path)


def test_there_must_be_a_file(tmp_path):
    with pytest.raises(StoreError, match="cannot read the training run"):
        read_curve(tmp_path / "curve.jsonl")


def test_where_games_pay_amounts_the_mean_reward_decides(tmp_path):
    path = tmp_path / "curve.jsonl"
    curve = RatingCurve("zermelo/Kuhn-v0", ladder=["random"], games=8, every=1, path=path)
    rating = curve.update("random", 1)
    assert rating.by_reward
    assert rating.strength == rating.total.mean_reward
    assert "a game, 95 % interval" in str(rating).splitlines()[0]
    point = read_curve(path).points[0]
    assert point.by_reward
    assert (point.mean_reward, point.reward_interval) == (rating.total.mean_reward, rating.total.reward_interval)


# -- training loops --------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_stable_baselines3_calls_it_while_it_learns():
    contrib = pytest.importorskip("sb3_contrib", reason="needs scripts/setup sb3")
    from zermelo.agents.training import OpponentEnv

    env = OpponentEnv(GAME, observation="array")
    model = contrib.MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=32, seed=0, device="cpu")
    curve = RatingCurve(GAME, every=64, ladder=["random"], games=2)
    model.learn(128, callback=curve.callback())
    assert [step for step, _ in curve.ratings] == [64, 128]
    score = curve.ratings[-1][1].total.score
    assert model.logger.name_to_value.get("zermelo/score", score) == score
