"""``zermelo tree`` from the command line: figures of the textbook and positions."""

import pytest


def test_a_figure_of_the_textbook(tmp_path, run):
    target = tmp_path / "figure.svg"
    code, out, err = run("tree", "aima-5.14b", "expectiminimax", "--out", target)
    assert (code, err) == (0, "")
    assert out.startswith("a2 is worth 40.9 to MAX")
    assert f"The tree is in {target} (" in out
    assert target.read_text(encoding="utf-8").startswith("<svg")


def test_a_position_of_an_environment(tmp_path, run):
    target = tmp_path / "tree.html"
    agent = "alphabeta(depth=2)"
    env = "zermelo/MNK-v0"
    code, out, _ = run("tree", env, agent, "--moves", "0,4,1", "-o", target)
    assert code == 0
    assert "to player_1" in out
    page = target.read_text(encoding="utf-8")
    assert f"{agent} on {env}" in page
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\'' in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing", "minimax"], "no environment is called 'nothing'"),
        (["[[1, 2], [3]", "minimax"], "cannot read the tree '[[1, 2], [3]'"),
        (["aima-5.2", "minimax", "-o", "tree.pdf"], "a tree is written as .html or .svg"),
        (["aima-5.2", "minimax", "-o", "x.svg", "--step", "99"], "step must be at most 17"),
        (["aima-5.2", "minimax", "-o", "no/where.html"], "cannot write no/where.html"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_input(arguments, message, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("tree", *arguments)
    assert code == 2
    assert message in err
    assert list(tmp_path.iterdir()) == []
