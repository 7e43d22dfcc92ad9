"""``zermelo attack``, and its section of the report."""

import json
import re

from doubles.html_page import Page


def test_the_command_and_its_report(run, tmp_path):
    folder = tmp_path / "attack"
    words = ("attack", "zermelo/Kuhn-v0", "random", "ismcts(simulations=30)", "-n", 10, "-q", "--out", folder)
    code, out, _ = run(*words)
    assert code == 0, out
    assert re.search(r"exact best response +0\.4583", out), out
    assert "zermelo/Kuhn-v0: how random is beaten (10 games of each)" in out
    code, out, _ = run("report", folder)
    assert code == 0, out
    page = (folder / "report.html").read_text()
    assert "How random is beaten" in page
    assert "sking won more in" in page
    code, out, _ = run("report", folder, "--max-games", 2)
    assert code == 0, out
    page = Page((folder / "report.html").read_text())
    won_more = [game["game_id"] for game in json.loads((folder / "attack.json").read_text())["won_more"]]
    assert [game["id"] for game in page.data["games"]] == won_more[:2]
    assert "2 in which asking the policy won more" in page.words
    (folder / "attack.json").write_text("[]")
    code, _, error = run("report", folder)
    assert code == 2
    assert "run `zermelo attack` again" in error
