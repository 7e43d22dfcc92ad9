"""Labelled positions: every row is the position that its moves lead to, with what the agent says of it."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from zermelo.agents import make_agent, solve
from zermelo.envs import InvalidSettingError, UnsupportedGameError, as_game, make
from zermelo.evaluation.cli.app import app
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.output.labels import COLUMNS, label_positions

SMALL = "zermelo/MNK-v0"


def rows_of(path):
    return json.loads(path.read_text())


def replayed(env, row):
    """Game and state of a row."""
    made = make(env)
    made.reset(seed=0)
    game = as_game(made)
    state = game.initial_state()
    for move in row["moves"]:
        state = game.result(state, move)
    return game, state


def test_rows_are_what_their_moves_lead_to(tmp_path):
    labels = label_positions(SMALL, tmp_path / "a.json", positions=40, agent="alphabeta(exact=true)", seed=1)
    rows = rows_of(tmp_path / "a.json")
    assert (labels.positions, labels.proven, labels.was_stopped) == (40, 40, False)
    assert [row["position"] for row in rows] == list(range(40))
    assert {tuple(row) for row in rows} == {tuple(COLUMNS)}
    seen = set()
    for row in rows:
        game, state = replayed(SMALL, row)
        seen.add(game.key(state))
        assert row["ply"] == len(row["moves"])
        assert row["seat"] == game.to_move(state)
        assert np.flatnonzero(row["action_mask"]).tolist() == list(game.legal_actions(state))
        shown = np.reshape(row["observation"], row["shape"])
        assert (shown == game.observation(state, row["seat"])).all()
        exact = solve(game, state)
        assert row["value"] == exact.value
        best = [a for a, value in enumerate(row["action_values"]) if value == row["value"]]
        assert row["best"] in best
        assert sum(row["policy"]) == pytest.approx(1)
        assert np.flatnonzero(row["policy"]).tolist() == best
    assert len(seen) == 40


def test_simulations_give_the_policy(tmp_path):
    label_positions(SMALL, tmp_path / "a.json", positions=12, agent="mcts(simulations=60, solver=false)")
    for row in rows_of(tmp_path / "a.json"):
        assert not row["proven"]
        assert sum(row["policy"]) == pytest.approx(1)
        assert max(row["policy"]) == row["policy"][row["best"]]


def test_what_dice_did_is_among_the_moves(tmp_path):
    name = "zermelo/Pig-v0(target=8)"
    label_positions(name, tmp_path / "a.json", positions=12, agent="greedy")
    rows = rows_of(tmp_path / "a.json")
    for row in rows:
        game, state = replayed(name, row)
        assert row["seat"] == game.to_move(state)
        assert row["policy"][row["best"]] > 0
    assert any(row["moves"] for row in rows)


def test_a_seed_decides_them_all(tmp_path):
    files = [tmp_path / f"{name}.json" for name in "abc"]
    for path, seed in zip(files, (1, 1, 2), strict=True):
        label_positions(SMALL, path, positions=10, agent=make_agent("mcts(simulations=30)"), seed=seed)
    first, second, third = (path.read_text() for path in files)
    assert first == second != third


def test_a_small_game_has_no_more(tmp_path):
    name = "zermelo/Nim-v0(heaps=[2, 1])"
    done = CliRunner().invoke(app, ["label", name, "--out", str(tmp_path / "a.csv"), "--agent", "alphabeta"])
    assert done.exit_code == 0, done.output
    assert "positions of" in done.output
    assert "random games found no more than these" in done.output
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines[0].split(",") == list(COLUMNS)
    assert 3 < len(lines) < 20


def test_parquet_has_lists(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason='needs pip install "zermelo[parquet]"')
    label_positions(SMALL, tmp_path / "a.parquet", positions=5, agent="mcts(simulations=30)")
    table = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    assert len(table) == 5
    assert table[0]["shape"] == [3, 3, 2]
    assert all(isinstance(row["action_mask"][0], bool) for row in table)


def test_what_is_labelled_is_kept_at_ctrl_c(tmp_path):
    def stop(count):
        if count == 7:
            raise KeyboardInterrupt

    path = tmp_path / "a.json"
    labels = label_positions(SMALL, path, positions=50, agent="mcts(simulations=20)", on_position=stop)
    assert labels.was_stopped
    assert len(rows_of(path)) == labels.positions == 7


def test_wrong_settings_are_refused(tmp_path):
    with pytest.raises(InvalidSettingError, match=r"the file must end in .csv, .json, .parquet, not 'a.txt'"):
        label_positions(SMALL, tmp_path / "a.txt")
    with pytest.raises(InvalidSettingError, match="random does not search"):
        label_positions(SMALL, tmp_path / "a.json", agent="random")
    with pytest.raises(InvalidSettingError, match="positions"):
        label_positions(SMALL, tmp_path / "a.json", positions=0)
    with pytest.raises(UnsupportedGameError):
        label_positions("zermelo/Leduc-v0", tmp_path / "a.json", agent="mcts")
    with pytest.raises(StoreError, match="cannot write"):
        label_positions(SMALL, "/proc/none/a.json", positions=1)
    assert not list(tmp_path.iterdir())
