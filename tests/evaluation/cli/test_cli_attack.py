"""``zermelo attack``, and its section of the report."""

import re


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
    (folder / "attack.json").write_text("[]")
    code, _, error = run("report", folder)
    assert code == 2
    assert "run `zermelo attack` again" in error
