"""README's examples run, its generated parts are current, and its files exist."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


@pytest.fixture(scope="module")
def update_readme():
    spec = importlib.util.spec_from_file_location("update_readme", ROOT / "scripts" / "update_readme.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_python_examples_run_in_order(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # one writes a file
    blocks = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    assert "agent_iter" in blocks[0]
    namespace = {}
    printed = []
    for number, block in enumerate(blocks, start=1):
        exec(compile(block, f"README.md, Python example {number}", "exec"), namespace)
        printed.append(capsys.readouterr().out)
    results = dict(line.split() for line in printed[0].splitlines())
    assert results.keys() == {"player_1", "player_2"}
    assert float(results["player_1"]) >= 0  # alpha-beta does not lose at tic-tac-toe
    assert "95 % interval" in printed[-1]


def test_the_list_of_agents_is_current(update_readme):
    name = "agents"
    assert update_readme.update(README, name, update_readme.PARTS[name]()) == README, (
        "run scripts/update_readme.py agents"
    )


def test_the_tournament_s_table_is_there():
    table = re.search(r"<!-- generated: tournament -->\n\n(.*?)\n\n<!-- end -->", README, re.DOTALL).group(1)
    assert table.startswith("```text\nclassic/connect_four-v3: 120 games")
    for agent in ("random", "greedy", "alphabeta(depth=2)", "alphabeta(depth=4)"):
        assert len(re.findall(rf"^\d  {re.escape(agent)} ", table, re.MULTILINE)) == 3


def test_a_missing_block_is_told(update_readme):
    with pytest.raises(SystemExit, match="needs one block"):
        update_readme.update("no block", "agents", "")


def test_what_readme_names_exists():
    for path in set(re.findall(r"scripts/\w+(?:\.py)?|\.ci/run", README)):
        assert (ROOT / path).exists(), path
