"""A policy's rating as it learns."""

import json

import numpy as np
import pytest

from zermelo.agents.training import OpponentEnv, SelfPlay
from zermelo.envs.errors import InvalidSettingError, UnknownNameError
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


# -- what follows from ratings ---------------------------------------------------------------------------------


class Rated:
    """Stands for ratings that are given, one after another."""

    by_reward = False

    def __init__(self, rating, half):
        self.rating = self.strength = rating
        self.lower, self.upper = self.strength_interval = rating - half, rating + half
        self.ladder, self.total = "one", self
        self.score, self.mean_reward = 0.5, float("nan")

    def to_dict(self):
        point = {name: value for name, value in POINT.items() if name != "step"}
        return point | {"rating": self.rating, "lower": self.lower, "upper": self.upper}


def followed(monkeypatch, ratings, **settings):
    given = iter(ratings)
    monkeypatch.setattr(curve_module, "evaluate_policy", lambda *_, **__: Rated(*next(given)))
    curve = curve_of(every=1, **settings)
    for step in range(1, len(ratings) + 1):
        curve.update(first, step)
        if curve.is_done:
            break
    return curve


def test_the_best_is_the_one_whose_interval_has_the_highest_lower_end(monkeypatch):
    curve = followed(monkeypatch, [(0, 50), (60, 90), (40, 20), (60, 50)])
    assert curve.best_step == 3


def test_a_training_is_done_when_ratings_are_not_surely_above_the_last_gain(monkeypatch, tmp_path):
    climbs = [(0, 50), (60, 50), (80, 50), (90, 50), (100, 50)]
    path = tmp_path / "curve.jsonl"
    curve = followed(monkeypatch, climbs, patience=2, path=path)
    assert len(curve.ratings) == 5, "80 is surely above 0; 90 and 100 are not surely above 80"
    assert not followed(monkeypatch, climbs[:3], patience=2).is_done
    again = curve_of(every=1, patience=2, path=path, resume_step=5)
    assert (again.is_done, again.best_step) == (True, 5)
    with pytest.raises(InvalidSettingError, match="patience"):
        curve_of(patience=0)


def test_numbers_go_to_whatever_logs_them(monkeypatch):
    logged = []
    followed(monkeypatch, [(20, 5), (20, float("inf"))], log=lambda *given: logged.append(given))
    numbers = {"zermelo/rating": 20, "zermelo/lower": 15, "zermelo/upper": 25, "zermelo/score": 0.5}
    assert logged[0] == (numbers, 1)
    assert logged[1] == ({"zermelo/rating": 20, "zermelo/score": 0.5}, 2)


def test_wrong_settings_are_refused():
    with pytest.raises(InvalidSettingError, match="every"):
        RatingCurve(GAME, every=0)
    with pytest.raises(InvalidSettingError, match="log must be a function"):
        RatingCurve(GAME, log=3)
    with pytest.raises(InvalidSettingError, match="pool must be the SelfPlay"):
        RatingCurve(GAME, pool=["random"])
    for ladder in (["randon"], "randon"):
        with pytest.raises(UnknownNameError, match="did you mean 'random'"):
            RatingCurve(GAME, ladder=ladder)
    with pytest.raises(InvalidSettingError, match=r"nofile\.json"):
        RatingCurve(GAME, ladder="nofile.json")
    with pytest.raises(UnknownNameError, match="did you mean"):
        RatingCurve("zermelo.envs.games:Nin")
    with pytest.raises(InvalidSettingError, match=r"write curve\.update\(policy, step\)"):
        curve_of().update(100, first)
    with pytest.raises(InvalidSettingError, match=r"give curve\.callback\(\) to model\.learn"):
        curve_of()({}, {})
    with pytest.raises(InvalidSettingError, match="a copy is made of a model"):
        SelfPlay().add_copy(first, "now")


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
    with pytest.raises(
        InvalidSettingError, match=r"has ratings up to step 100: give resume_step=100 to go on, or"
    ):
        curve_of(path=path)
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
def test_stable_baselines3_calls_it_while_it_learns_against_earlier_selves(tmp_path):
    contrib = pytest.importorskip("sb3_contrib", reason="needs scripts/setup sb3")
    pool = SelfPlay()
    env = OpponentEnv(GAME, pool, observation="array")
    model = contrib.MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=32, seed=0, device="cpu")
    curve = RatingCurve(GAME, every=64, ladder=["random"], games=2, pool=pool, patience=2)
    model.learn(1_000, callback=curve.callback(best=tmp_path / "best.zip"))
    assert [step for step, _ in curve.ratings][:2] == [64, 128]
    assert curve.is_done
    assert model.num_timesteps < 1_000, "it has stopped"
    score = curve.ratings[-1][1].total.score
    assert model.logger.name_to_value.get("zermelo/score", score) == score
    assert [name for name, _ in pool.opponents][:3] == ["random", "step 64", "step 128"]
    copies = [copy.policy.state_dict() for _, copy in pool.opponents[1:3]]
    assert any((copies[0][name] != copies[1][name]).any() for name in copies[0]), "a copy learns no more"
    assert contrib.MaskablePPO.load(tmp_path / "best.zip").num_timesteps == curve.best_step


@pytest.mark.thorough
def test_copies_of_modules_are_opponents_that_learn_no_more():
    torch = pytest.importorskip("torch", reason="needs scripts/setup torch")
    network, pool = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(18, 9)), SelfPlay()
    pool.add_copy(network, "now")
    with torch.no_grad():
        network[1].weight.zero_()
    assert pool.opponents[1][1][1].weight.abs().sum() > 0
