"""A policy's rating as it learns."""

import json

import numpy as np
import pytest

from zermelo.envs import InvalidSettingError
from zermelo.evaluation import RatingCurve

GAME = "classic/tictactoe-v3"


def first(observation, action_mask):
    return int(np.flatnonzero(action_mask)[0])


def last(observation, action_mask):
    return int(np.flatnonzero(action_mask)[-1])


def test_it_rates_when_it_is_time(tmp_path):
    told = []
    path = tmp_path / "curve.jsonl"
    curve = RatingCurve(
        GAME, every=100, path=path, on_rating=lambda *given: told.append(given), ladder=["random"], games=4
    )
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
