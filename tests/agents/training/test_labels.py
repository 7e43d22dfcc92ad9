"""Labelled positions: every row is the position that its moves lead to, with what the agent says of it."""

import itertools
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from zermelo.agents import make_agent, solve
from zermelo.agents.training.labels import COLUMNS, LabelWork, label_positions
from zermelo.envs import UnsupportedGameError, ZermeloError, as_game, make
from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation.cli.app import app
from zermelo.evaluation.tournament.run import make_runner
from zermelo.evaluation.workers.work import WorkerExit

SMALL = "zermelo/MNK-v0"


def labelled(path, *arguments, env=SMALL):
    """Runs the command; its result, and the rows that it writes."""
    done = CliRunner().invoke(app, ["label", env, "--out", str(path), *map(str, arguments)])
    return done, json.loads(path.read_text()) if path.exists() and path.suffix == ".json" else []


def replayed(env, row):
    """Game and state of a row."""
    made = make(env)
    made.reset(seed=0)
    game = as_game(made)
    state = game.initial_state()
    for move in row["moves"]:
        state = game.result(state, move)
    return game, state


@pytest.mark.thorough
def test_rows_are_what_their_moves_lead_to(tmp_path):
    done, rows = labelled(tmp_path / "a.json", "--positions", 40, "alphabeta(exact=true)", "--seed", 1)
    assert done.exit_code == 0, done.output
    assert "40 positions (" in done.output
    assert "40 proven" in done.output
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


def test_simulations_give_the_policy():
    for row in label_positions(SMALL, positions=12, agent="mcts(simulations=60, solver=false)"):
        assert not row["proven"]
        assert sum(row["policy"]) == pytest.approx(1)
        assert max(row["policy"]) == row["policy"][row["best"]]


def test_what_dice_did_is_among_the_moves():
    name = "zermelo/Pig-v0(target=8)"
    rows = list(label_positions(name, positions=12, agent="greedy"))
    for row in rows:
        game, state = replayed(name, row)
        assert row["seat"] == game.to_move(state)
        assert row["policy"][row["best"]] > 0
    assert any(row["moves"] for row in rows)


def test_a_seed_decides_them_all():
    agent = make_agent("mcts(simulations=30)")
    first, second, third = (
        list(label_positions(SMALL, positions=10, agent=agent, seed=seed)) for seed in (1, 1, 2)
    )
    assert first == second != third


def test_a_small_game_has_no_more(tmp_path):
    name = "zermelo/Nim-v0(heaps=[2, 1])"
    done, _ = labelled(tmp_path / "a.csv", "alphabeta", env=name)
    assert done.exit_code == 0, done.output
    assert " positions (" in done.output
    assert "random games found no more than these" in done.output
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines[0].split(",") == list(COLUMNS)
    assert 3 < len(lines) < 20


def test_parquet_has_lists(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs scripts/setup parquet")
    labelled(tmp_path / "a.parquet", "--positions", 5, "mcts(simulations=30)")
    table = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    assert len(table) == 5
    assert table[0]["shape"] == [3, 3, 2]
    assert all(isinstance(row["action_mask"][0], bool) for row in table)


def test_what_is_labelled_is_kept_at_ctrl_c(tmp_path, monkeypatch):
    def stopped(*args, **settings):
        yield from itertools.islice(label_positions(*args, **settings), 7)
        raise KeyboardInterrupt

    monkeypatch.setattr("zermelo.agents.training.labels.label_positions", stopped)
    done, rows = labelled(tmp_path / "a.json", "--positions", 50, "mcts(simulations=20)")
    assert done.exit_code == 130
    assert len(rows) == 7


@pytest.mark.parametrize(
    ("out", "arguments", "message"),
    [
        ("a.txt", [], "the file must end in .csv, .json, .parquet, not 'a.txt'"),
        ("a.json", ["random"], "random does not search"),
        ("/proc/none/a.json", ["--positions", "1"], "cannot write"),
    ],
)
def test_wrong_settings_are_refused(tmp_path, out, arguments, message):
    done, _ = labelled(tmp_path / out, *arguments)
    assert done.exit_code != 0
    assert message in " ".join(done.output.split())
    assert not list(tmp_path.iterdir())


def test_wrong_numbers_and_hidden_games_are_refused():
    with pytest.raises(InvalidSettingError, match="positions"):
        label_positions(SMALL, positions=0)
    with pytest.raises(UnsupportedGameError):
        label_positions("zermelo/Leduc-v0", agent="mcts")


@pytest.mark.thorough
@pytest.mark.parametrize("agent", ["mcts(simulations=50)", "alphabeta(depth=3)"])
def test_worker_processes_write_the_same_rows(agent):
    settings = {"positions": 150, "agent": agent, "seed": 2}
    here = list(label_positions(SMALL, **settings))
    assert len(here) == 150
    assert list(label_positions(SMALL, **settings, runner=make_runner(2))) == here


def test_what_ends_a_worker_ends_the_run_in_a_sentence():
    work = LabelWork(SMALL, "auto", 10, 0)
    with pytest.raises(ZermeloError, match=r"a worker ended \(exit code -9\) in the middle of a task"):
        work.lost(3, WorkerExit(-1, -9, hung=False))
