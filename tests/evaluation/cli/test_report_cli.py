"""``zermelo report``, ``judge`` and ``export`` from the command line."""

import json

import pytest

from zermelo.evaluation.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("pettingzoo.classic")
    folder = tmp_path_factory.mktemp("run") / "first"
    with pytest.raises(SystemExit) as stop:
        main(["tournament", "classic/tictactoe-v3", "random", "greedy", "--games", "4", "--out", str(folder)])
    assert stop.value.code == 0
    return folder


@pytest.mark.thorough
def test_report_says_where_it_is(folder, tmp_path, run):
    target = tmp_path / "page.html"
    code, out, _ = run("report", folder, "-o", target, "--max-games", "2")
    assert code == 0
    assert out.startswith(f"The report is in {target} (")
    page = target.read_text(encoding="utf-8")
    assert "2 of 4 games are here" in page
    assert 'id="judge"' not in page
    assert run("report", folder)[0] == 0
    assert (folder / "report.html").exists()


def test_a_report_says_that_boards_take_code_of_the_users_own(tmp_path, run, monkeypatch):
    pytest.importorskip("pettingzoo.classic")
    (tmp_path / "own_board.py").write_text(
        "import pettingzoo\ndef env():\n    return pettingzoo.make('aec', 'classic/tictactoe-v3')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    code, _, err = run("tournament", "own_board:env", "random", "greedy", "--games", "2", "--out", "first")
    assert code == 0, err
    assert "add --trust" in run("report", "first")[1]
    assert "add --trust" not in run("report", "first", "--trust")[1]


@pytest.mark.thorough
def test_what_the_judge_found_becomes_part_of_the_report(folder, tmp_path, run):
    code, out, _ = run("judge", folder, "--max-games", "3")
    assert code == 0
    assert out.startswith("classic/tictactoe-v3: compared with perfect play")
    found = json.loads((folder / "judge.json").read_text())
    assert found["games"] == 3
    assert run("report", folder, "-o", tmp_path / "page.html")[0] == 0
    assert 'id="judge"' in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert run("report", folder, "-o", tmp_path / "page.html", "--judge")[0] == 0
    assert json.loads((folder / "judge.json").read_text())["games"] == 4
    (folder / "judge.json").write_text("{")
    code, _, err = run("report", folder)
    assert code == 2
    assert "run `zermelo judge` again" in err
    (folder / "judge.json").unlink()


@pytest.mark.thorough
def test_a_tournament_can_be_judged_at_once(run):
    pytest.importorskip("pettingzoo.classic")
    code, out, _ = run("tournament", "classic/tictactoe-v3", "random", "greedy", "--games", "2", "--judge")
    assert code == 0
    assert "classic/tictactoe-v3: compared with perfect play" in out


def test_export_says_where_the_tables_are(folder, tmp_path, run):
    code, out, _ = run("export", folder, "--format", "json", "-o", tmp_path)
    assert code == 0
    assert out == f"The games are in {tmp_path / 'games.json'}, their moves in {tmp_path / 'moves.json'}\n"
    assert len(json.loads((tmp_path / "games.json").read_text())) == 4


@pytest.mark.thorough
def test_where_cards_are_hidden_agents_are_judged_by_how_much_they_can_be_exploited(tmp_path, run):
    words = ["zermelo/Kuhn-v0", "random", "cfr(iterations=50)", "doubles.bad_agents:Good", "--isolate", "none"]
    code, out, _ = run("tournament", *words, "--games", "4", "--out", tmp_path, "--judge")
    assert code == 0
    assert "zermelo/Kuhn-v0: judged by best answers" in out
    assert "good is not judged: " in out
    found = json.loads((tmp_path / "judge.json").read_text())
    assert [line["agent"] for line in found["exploitability"]] == ["cfr(iterations=50)", "random"]
    code, out, _ = run("judge", tmp_path)
    assert "good is not judged, because that would run code of doubles.bad_agents:Good" in out
    assert run("report", tmp_path, "-o", tmp_path / "page.html")[0] == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Exploitability" in page
    assert 'id="rewards"' in page


@pytest.mark.parametrize("command", ["report", "judge", "export"])
def test_a_folder_without_games_is_one_sentence(command, tmp_path, run):
    code, _, err = run(command, tmp_path)
    assert code == 2
    assert err.startswith("zermelo: ")
    assert len(err.splitlines()) == 1


POINT = {
    "step": 10, "env": "a/game", "ladder": "l", "games": 4, "rating": 120.0, "lower": None, "upper": 300.0,
    "score": 0.5, "rungs": [{"agent": "random", "elo": 0.0}, {"agent": "<b>", "elo": 50.0}],
}  # fmt: skip


@pytest.fixture
def curve(tmp_path):
    path = tmp_path / "ppo.jsonl"
    path.write_text("".join(json.dumps(POINT | {"step": 10 * k, "rating": 10.0 * k}) + "\n" for k in range(1, 5)))
    return path


def test_a_training_run_is_a_report_of_its_own(curve, run):
    code, out, _ = run("report", "--training", curve)
    assert code == 0
    target = curve.with_suffix(".html")
    assert out.startswith(f"The report is in {target} (")
    page = target.read_text(encoding="utf-8")
    for text in ("Training of ppo in ", "a/game", "4 ratings", "&lt;b&gt;", "step 40: 40 ("):
        assert text in page, text
    assert "<b>" not in page
    assert 'id="games"' not in page
    curve.rename(curve.with_name("curve.jsonl"))
    assert run("report", curve.parent)[0] == 0
    assert f"Training of {curve.parent.name} in " in (curve.parent / "report.html").read_text(encoding="utf-8")


def test_a_training_run_stands_beside_a_tournament(folder, curve, tmp_path, run):
    code, _, _ = run("report", folder, "-t", curve, "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert code == 0
    for name in ("ratings", "training-1", "games", "provenance"):
        assert f'<section id="{name}"' in page
    assert "<dt>Seed</dt><dd>0</dd>" in page
    assert "zermelo tournament classic/tictactoe-v3 random greedy --games 4" in page


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "there is nothing to report on"),
        (["ppo.jsonl"], "is a file: name its folder, or give it as --training"),
        (["--training", "none.jsonl"], "cannot read the training run in"),
        (["--training", "."], "is a folder: give the file of a training run, such as curve.jsonl"),
        (["."], "holds no tournament: there is no games.sqlite in it, nor games.jsonl; name one that has: run"),
        (["models"], "; the models in it are rated by `zermelo rate`"),
        (["--training", "/dev/zero"], "is no file of ratings"),
    ],
    ids=["nothing", "file", "missing", "folder", "outside", "models", "device"],
)
def test_what_is_no_report_is_one_sentence(given, said, curve, run, monkeypatch):
    monkeypatch.chdir(curve.parent)
    for name in ("run/games.sqlite", "models/ppo.zip"):
        (curve.parent / name).parent.mkdir(exist_ok=True)
        (curve.parent / name).touch()
    code, _, err = run("report", *given)
    assert code == 2
    assert said in err
    assert len(err.splitlines()) == 1
