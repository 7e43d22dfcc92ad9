"""A policy's rating as it learns."""

import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from zermelo.envs import InvalidSettingError, UnsupportedGameError
from zermelo.evaluation import RatingCurve, StoreError
from zermelo.evaluation.storage.curves import append_lines, read_curve
from zermelo.evaluation.training import curve as curve_module

GAME = "classic/tictactoe-v3"


def first(observation, action_mask):
    return int(np.flatnonzero(action_mask)[0])


def last(observation, action_mask):
    return int(np.flatnonzero(action_mask)[-1])


def curve_of(**settings):
    return RatingCurve(GAME, **{"ladder": ["random"], "games": 4, "every": 100} | settings)


def test_it_rates_when_it_is_time(tmp_path):
    told = []
    path = tmp_path / "curve.jsonl"
    curve = curve_of(path=path, on_rating=lambda *given: told.append(given))
    assert curve.update(first, 99) is None
    assert curve.update(first, 100) is not None
    assert curve.update(last, 180) is None
    assert curve.update(last, 230) is not None
    assert [step for step, _ in curve.ratings] == [100, 230]
    assert curve.ratings[1][1].gain == curve.ratings[1][1].rating - curve.ratings[0][1].rating
    assert [(step, best) for step, _, best in told] == [(100, True), (230, curve.ratings[1][1].gain > 0)]
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(row["step"], row["rating"]) for row in rows] == [(at, found.rating) for at, found in curve.ratings]
    assert str(curve).splitlines()[2].split()[0] == "230"


def test_wrong_settings_are_refused():
    with pytest.raises(InvalidSettingError, match="every"):
        RatingCurve(GAME, every=0)
    with pytest.raises(InvalidSettingError, match="step follows from the training"):
        RatingCurve(GAME, step=3)


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
    monkeypatch.setattr(curve_module, "append_lines", lambda *_, **__: (_ for _ in ()).throw(full))
    with pytest.warns(UserWarning, match="No space left on device; the next one will try again"):
        curve.update(first, 100)
    monkeypatch.undo()
    curve.update(first, 200)
    assert [point.step for point in read_curve(tmp_path / "curve.jsonl").points] == [100, 200]


def test_a_write_that_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "curve.jsonl"
    append_lines(path, [{"a": 1}], is_new=True)
    with pytest.raises(ValueError, match="JSON"):
        append_lines(path, [{"a": 2}, {"a": float("nan")}], is_new=False)
    append_lines(path, [{"a": 3}], is_new=False)
    assert path.read_text() == '{"a": 1}\n{"a": 3}\n'
    with pytest.raises(OSError, match="No space left"):
        append_lines(type(path)("/dev/full"), [{"a": 1}], is_new=False)


POINT = {
    "step": 1, "env": "e", "ladder": "l", "games": 4, "rating": 1.0, "lower": None, "upper": 2.0, "score": 0.5,
    "rungs": [{"agent": "random", "elo": 0.0}],
}  # fmt: skip


def test_what_is_not_known_is_nan_or_without_an_end(tmp_path):
    path = tmp_path / "ppo.jsonl"
    path.write_text(json.dumps(POINT) + "\n")
    curve = read_curve(path)
    point = curve.points[0]
    assert (curve.name, curve.env, curve.ladder, dict(point.levels)) == ("ppo", "e", "l", {"random": 0.0})
    assert point.rating == (1.0, -np.inf, 2.0)
    assert np.isnan(point.exploitability)
    assert np.isnan(point.accuracy[0])


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


# -- more than wins and losses ---------------------------------------------------------------------------------


def test_accuracy_is_that_of_the_judge(tmp_path):
    path = tmp_path / "curve.jsonl"
    curve = curve_of(path=path, judge_nodes=1000)
    rating = curve.update(first, 100)
    low, high = rating.accuracy_interval
    assert 0 < low < rating.accuracy < high < 1
    assert rating.judged > 4
    assert f"of {rating.judged} moves that mattered were optimal" in str(rating)
    assert "optimal" in str(curve)
    assert read_curve(path).points[0].accuracy == (rating.accuracy, low, high)
    perfect = curve_of(judge_nodes=1000).update("alphabeta(depth=9)", 100)
    assert perfect.accuracy == 1.0


def test_exploitability_and_rewards_are_those_of_the_cards(tmp_path):
    """Who plays Kuhn poker at random can be exploited by 0.458 chips (see ``tests/agents/solving``)."""
    path = tmp_path / "curve.jsonl"
    settings = {"ladder": ["random"], "games": 8, "every": 1, "exploitability": True, "path": path}
    curve = RatingCurve("zermelo/Kuhn-v0", **settings)
    rating = curve.update("random", 1)
    assert rating.exploitability == pytest.approx(0.458, abs=1e-3)
    assert rating.scoring == "rewards"
    assert rating.strength == rating.mean_reward
    assert "a game, 95 % interval" in str(rating).splitlines()[0]
    assert "exploitability" in str(curve)
    point = read_curve(path).points[0]
    assert point.by_reward
    assert point.reward == (rating.mean_reward, *rating.reward_interval)
    assert curve.update("random", 2).gain == 0.0


@pytest.mark.parametrize(
    ("game", "settings", "error", "said"),
    [
        ("zermelo/Kuhn-v0", {"judge_nodes": 10}, UnsupportedGameError, "cannot be judged"),
        (GAME, {"judge_nodes": 0}, InvalidSettingError, "judge_nodes"),
        (GAME, {"exploitability": True}, UnsupportedGameError, "what its players"),
    ],
    ids=["hidden", "zero", "open"],
)
def test_what_cannot_be_measured_is_refused_before_any_game(game, settings, error, said):
    with pytest.raises(error, match=said):
        RatingCurve(game, every=1, ladder=["random"], **settings).update("random", 1)


# -- training loops --------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_stable_baselines3_calls_it_while_it_learns():
    contrib = pytest.importorskip("sb3_contrib", reason='needs pip install "zermelo[sb3]"')
    from zermelo.agents.learning import OpponentEnv

    env = OpponentEnv(GAME, observation="array")
    model = contrib.MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=32, seed=0, device="cpu")
    curve = RatingCurve(GAME, every=64, ladder=["random"], games=2)
    model.learn(128, callback=curve.callback())
    assert [step for step, _ in curve.ratings] == [64, 128]
    assert (
        model.logger.name_to_value.get("zermelo/score", curve.ratings[-1][1].score) == curve.ratings[-1][1].score
    )


class Module:
    """What a trainer like Lightning's trains."""

    def __init__(self):
        self.logged = {}
        self.actor = first

    def log(self, name, value):
        self.logged[name] = value


def test_a_trainer_that_calls_hooks_as_lightning_does_has_ratings_logged():
    curve, module = curve_of(), Module()
    hooks = curve.hooks(lambda module: module.actor)
    for step in (50, 100, 120):
        hooks.on_train_batch_end(SimpleNamespace(global_step=step), module, None, None, 0)
    hooks.on_train_epoch_end(SimpleNamespace(global_step=200), module)
    assert [step for step, _ in curve.ratings] == [100, 200]
    assert module.logged["zermelo/rating"] == curve.ratings[-1][1].rating
    with pytest.raises(InvalidSettingError, match="SimpleNamespace has no global_step"):
        hooks.on_train_epoch_end(SimpleNamespace(), module)


def test_lightnings_own_class_is_used_where_it_is_imported(monkeypatch):
    lightning = ModuleType("pytorch_lightning")
    lightning.Callback = type("Callback", (), {"state_key": "one"})
    monkeypatch.setitem(sys.modules, "pytorch_lightning", lightning)
    monkeypatch.delitem(sys.modules, "lightning.pytorch", raising=False)
    assert curve_of().hooks().state_key == "one"
