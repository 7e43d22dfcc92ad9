"""Networks that learn by self-play: what they learn, and runs that stop and go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from zermelo.agents.evaluators.network import PlaneNetwork, plane_words
from zermelo.agents.evaluators.registry import load_evaluation
from zermelo.agents.training.networks.gradients_kernel import Weights, add_gradients
from zermelo.agents.training.networks.self_play import Lessons, LessonWork, calibrated, random_states
from zermelo.agents.training.networks.training import choose_columns, log_odds, seat_columns, train
from zermelo.envs import UnsupportedGameError
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import MNK, Breakthrough, ConnectFour, Hex
from zermelo.envs.rules import RulesGame
from zermelo.evaluation.cli.app import app
from zermelo.evaluation.training.tune import tune_network


def lessons_of(game: Any, share: Any, count: int = 2_000) -> Lessons:
    """Positions of random games, each worth what a function says of state and seat to move."""
    states = [*random_states(game)] * (1 + count // 400)
    movers = np.array([game.to_move(state) for state in states], np.int8)
    shares = np.array([share(state, game.to_move(state)) for state in states], np.float32)
    return Lessons(plane_words(game, states), movers, shares, np.full(len(states), np.nan, np.float32))


@pytest.mark.thorough
def test_gradients_are_differences_of_the_loss() -> None:
    draw = np.random.default_rng(0)
    shapes = (5, 16), (16,), (2, 32), (2,)
    weights = Weights(*(draw.normal(0.2, 0.3, shape).astype(np.float32) for shape in shapes))
    active = draw.integers(0, 5, (6, 2, 3)).astype(np.int16)
    active[1, 0, 1:] = -1
    active[2, 1] = -1
    phases, targets, rows = np.array([0, 1, 1, 0, 1, 0]), draw.random(6).astype(np.float32), np.arange(6)
    gradients, nothing = weights.zeros(), Weights(*(np.empty((0,) * len(shape), np.float32) for shape in shapes))

    def loss(changed: Weights) -> float:
        exact = Weights(*(part.astype(np.float64) for part in changed))
        odds = log_odds(exact, active, phases)
        return float(
            -(targets * np.log(1 / (1 + np.exp(-odds))) + (1 - targets) * np.log(1 / (1 + np.exp(odds)))).sum()
        )

    assert add_gradients(rows, active, phases, targets, weights, nothing) == pytest.approx(loss(weights), rel=1e-5)
    assert add_gradients(rows, active, phases, targets, weights, gradients) == pytest.approx(
        loss(weights), rel=1e-5
    )
    for field, part in enumerate(weights):
        slopes = np.zeros_like(part)
        for place in np.ndindex(part.shape):
            sides = []
            for step in (1e-4, -1e-4):
                moved = part.astype(np.float64)
                moved[place] += step
                sides.append(loss(weights._replace(**{Weights._fields[field]: moved})))
            slopes[place] = (sides[0] - sides[1]) / 2e-4
        np.testing.assert_allclose(gradients[field], slopes, atol=2e-3)


def test_training_finds_what_decides_and_whole_numbers_say_the_same() -> None:
    game = RulesGame(ConnectFour())
    lessons = lessons_of(
        game, lambda state, seat: game.rules.planes(state, seat)[0] >> 21 & 1
    )  # a square of its own
    ways = seat_columns(game, game.initial_state(), random_states(game), 0)
    assert len(ways) > 1
    columns = choose_columns(ways, lessons[:800], 0)
    assert any(np.array_equal(columns, way) for way in ways)
    trained = train(lessons, columns, hidden=16, seconds=20, seed=1)
    assert trained.loss < 0.1 < trained.average
    assert trained.error < 0.01
    state = game.result(game.result(game.initial_state(), 3), 3)
    assert game.rules.planes(state, 0)[0] >> 21 & 1
    assert trained.evaluator(game, state)[0] > 0.2
    again = train(lessons, columns, hidden=16, seconds=1e-9, seed=1, start=trained.weights)
    assert again.loss < 0.2


def test_seats_share_columns_turned_as_the_game_turns() -> None:
    """Pawns go up for one and down for the other: the loss of the board as it is would be no lower."""
    game = RulesGame(Breakthrough())
    ways = seat_columns(game, game.initial_state(), random_states(game), 0)
    assert ways[0][1].min() > ways[0][0].max()
    assert all(way[1, 0] in (56, 63) for way in ways[1:])
    assert len(ways) == 3
    assert len(seat_columns(RulesGame(MNK()), MNK().initial_state(), random_states(RulesGame(MNK())), 0)) == 1
    hexed = RulesGame(Hex(9, 9))
    for way in seat_columns(hexed, Hex(9, 9).initial_state(), random_states(hexed), 0)[1:]:
        assert sorted(way[1]) == sorted(way[0]), "sets of several words too"


@pytest.mark.thorough
def test_lessons_are_those_of_games() -> None:
    work = LessonWork("zermelo/ConnectFour-v0", "", 50, 2)
    lessons = work.run(1)
    assert len(lessons) > 10
    assert set(lessons.outcomes.tolist()) <= {0.0, 0.5, 1.0}
    assert lessons.values.min() >= 0
    assert lessons.values.max() <= 1
    stones = np.bitwise_count(lessons.planes[:, 0]).sum(axis=1)
    assert np.array_equal(stones % 2, lessons.movers)
    assert len(work.lost(1, None)) == 0
    assert len(Lessons.joined([lessons, work.lost(1, None)])) == len(lessons)


@pytest.mark.thorough
@pytest.mark.parametrize("env", ["zermelo/Hexapawn-v0", "zermelo/MNK-v0"])
def test_compiled_games_are_perfect_where_the_search_sees_the_end(env: str) -> None:
    work = LessonWork(env, "", 100_000, 8)
    lessons = work.run(1)
    assert work._compiled is not None
    assert len(lessons) > 8
    assert np.abs(lessons.values - lessons.outcomes).max() < 0.01, "nobody loses what is won"


@pytest.mark.slow
def test_compiled_games_depend_on_their_seed_alone() -> None:
    work, other = LessonWork("classic/chess-v6", "", 40, 2), LessonWork("classic/chess-v6", "", 40, 2)
    first, second = work.run(1), work.run(2)
    for found, again in ((second, other.run(2)), (first, other.run(1))):
        for name in ("planes", "movers", "outcomes", "values"):
            assert np.array_equal(getattr(found, name), getattr(again, name))
    assert len(first) != len(second) or not np.array_equal(first.planes, second.planes)
    assert first.planes.shape[1:] == (2, 17)


@pytest.mark.slow
def test_networks_see_mirror_images_of_chess() -> None:
    """Without them no king goes three files between one recorded position and the next."""
    planes = LessonWork("classic/chess-v6", "", 40, 4).run(3).planes
    is_free = (planes[:, :, 12] == 0).all(axis=1)  # nobody may castle
    files = np.log2(planes[:, 0, 5].astype(float)).astype(int) & 7
    leaps = np.abs(np.diff(files))[is_free[1:] & is_free[:-1]] >= 3
    assert len(leaps) > 50
    assert 0.1 < leaps.mean() < 0.6


def test_values_become_chances_of_winning() -> None:
    draw = np.random.default_rng(0)
    chances = draw.uniform(0.05, 0.95, 20_000)
    odds = np.log(chances / (1 - chances))
    outcomes = (draw.random(20_000) < chances).astype(np.float32)
    for power in (0.3, 1.0, 2.0):
        values = (1 / (1 + np.exp(-power * odds))).astype(np.float32)
        values[:10] = np.nan
        lessons = Lessons(np.zeros((20_000, 2, 1), np.uint64), np.zeros(20_000, np.int8), outcomes, values)
        found = calibrated(lessons).values
        assert np.isnan(found[:10]).all()
        assert np.abs(found[10:] - chances[10:]).max() < 0.02
    equal = Lessons(lessons.planes, lessons.movers, outcomes, np.full(20_000, 0.5, np.float32))
    assert (calibrated(equal).values == 0.5).all(), "nothing to learn a power from"


@pytest.mark.slow
def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    out = str(tmp_path / "mnk.json")
    settings: dict[str, Any] = {"out": out, "hidden": 16, "hours": 0.001, "nodes": 20, "workers": 1}
    said: list[str] = []
    run = tune_network("zermelo/MNK-v0", **settings, on_progress=lambda name, share: said.append(name))
    first = next(run)
    run.close()
    assert first.number == 1
    assert first.wins + first.draws + first.losses == 60
    assert {"generation 1: playing", "generation 1: training", "generation 1: match"} <= set(said)
    assert isinstance(load_evaluation(out), PlaneNetwork)
    settings["hours"] += first.seconds / 3600
    second = next(tune_network("zermelo/MNK-v0", **settings))
    assert second.number == 2
    assert second.positions > first.positions
    assert second.seconds > first.seconds
    assert not [*tune_network("zermelo/MNK-v0", **{**settings, "hours": 1e-6})], "its hours are over"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mnk.json", "mnk.progress.npz"]
    with pytest.raises(InvalidSettingError, match=r"is the progress of .*'hidden': 16"):
        next(tune_network("zermelo/MNK-v0", **{**settings, "hidden": 32}))
    (tmp_path / "mnk.progress.npz").write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(InvalidSettingError, match="is no progress of zermelo tune"):
        next(tune_network("zermelo/MNK-v0", **settings))


def test_what_cannot_be_learned_is_refused(tmp_path: Path) -> None:
    out = str(tmp_path / "x.json")
    for wrong, told in (
        ({"hidden": 24}, "multiple of 16"),
        ({"hidden": 512}, "multiple of 16"),
        ({"hours": 0.0}, "hours"),
        ({"outcome_share": 1.5}, "outcome_share at most 1"),
        ({"out": "x.txt"}, r"must end in \.json"),
        ({"out": str(tmp_path / "absent" / "x.json")}, "folder"),
    ):
        with pytest.raises(InvalidSettingError, match=told):
            next(tune_network("zermelo/MNK-v0", **{"out": out, **wrong}))  # type: ignore[arg-type]
    with pytest.raises(UnsupportedGameError, match="two opposed players"):
        next(tune_network("zermelo/Pig-v0(players=3)", out=out))
    with pytest.raises(UnsupportedGameError, match="hides part"):
        next(tune_network("zermelo/Kuhn-v0", out=out))
    refused = CliRunner().invoke(app, ["tune", "zermelo/MNK-v0", "--model", "network", "--hours", "-1", "-o", out])
    assert refused.exit_code == 2
    assert "hours" in refused.output
