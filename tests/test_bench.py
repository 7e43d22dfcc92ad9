"""``scripts/bench.py``: every name has a table, pages show known commands, and tables are written there."""

import importlib
import shlex
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module("bench")


@pytest.fixture
def common(bench):
    return sys.modules["benchmarks.common"]


@pytest.fixture
def versions(bench):
    return importlib.import_module("benchmarks.versions")


class Chooser:
    """A version that plays the lowest or highest action that tic-tac-toe has left, and finds nothing good."""

    def __init__(self, choose, value=0.0):
        self._choose, self._value = choose, value

    def new_game(self):
        pass

    def choose(self, actions):
        return self._choose(set(range(9)) - set(actions)), self._value


def test_every_benchmark_has_options_with_defaults_and_says_what_it_measures(bench):
    for name in sum(bench.BENCHMARKS.values(), ()):
        assert not bench.parsed(name, []).write
        assert bench.found(name).__doc__


def test_pages_show_what_benchmarks_print(bench):
    shown = [
        found[1] for page in (ROOT / "docs").rglob("*.md") for found in bench.OUTPUT.findall(page.read_text())
    ]
    assert len(shown) >= 11
    for command in shown:
        name, *options = shlex.split(command)
        assert bench.parsed(name, options)
        assert bench.pages_with(command)


def test_options_are_given_by_name(bench):
    given = bench.parsed("pruning", ["--positions", "4", "--depth", "2", "--write"])
    assert vars(given) == {"positions": 4, "depth": 2, "write": True}
    assert bench.parsed("opponents", ["--only", "random", "greedy"]).only == ["random", "greedy"]


def test_unknown_names_are_refused(bench, capsys):
    with pytest.raises(SystemExit, match="no benchmark 'chance': there are alphabeta"):
        bench.main(["chance"])
    with pytest.raises(SystemExit, match="no page shows"):
        bench.main(["opponents", "--games", "3", "--write"])
    with pytest.raises(SystemExit):
        bench.main(["opponents", "--only", "stockfish"])
    assert "invalid choice: 'stockfish'" in capsys.readouterr().err


def test_an_engine_that_is_missing_is_named(bench):
    with pytest.raises(SystemExit, match="there is no program '/nowhere'"):
        bench.main(["backgammon", "--second", "gnubg(path='/nowhere')", "--games", "2", "--workers", "1"])


def test_a_table_is_printed_line_by_line_and_returned_aligned(common, capsys):
    rows = [{"game": "go", "nodes": 7, "s": 0.12345}, {"game": "connect four", "nodes": 1_234_567, "s": 1234.5}]
    shown = common.show(iter(rows))
    assert shown == (
        "| game         |     nodes |     s |\n"
        "| ------------ | --------: | ----: |\n"
        "| go           |         7 | 0.123 |\n"
        "| connect four | 1,234,567 | 1,234 |"
    )
    assert capsys.readouterr().out.splitlines()[:3] == [
        "| game | nodes |     s |",
        "| ---- | ----: | ----: |",
        "| go   |     7 | 0.123 |",
    ]


def test_a_table_goes_where_its_command_stands_and_nowhere_else(bench, monkeypatch, tmp_path):
    def block(command, content):
        return f"<!-- output: python scripts/bench.py {command} -->\n\n{content}\n\n<!-- end -->\n"

    def mcts(rounds: int = 5):
        yield {"game": "hex", "rounds": rounds}

    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "benchmarks.md"
    page.write_text(block("mcts", "old") + block("mcts --rounds 2", "old"))
    (tmp_path / "README.md").touch()
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    monkeypatch.setattr(bench, "found", lambda name: mcts)
    bench.main(["mcts", "--rounds", "2", "--write"])
    table = "| game | rounds |\n| ---- | -----: |\n| hex  |      2 |"
    assert page.read_text() == block("mcts", "old") + block("mcts --rounds 2", table)


def test_the_best_of_some_rounds_counts_and_calls_take_turns(common):
    calls, clock = [], iter([0, 5, 5, 6, 10, 12, 12, 15])
    seconds = common.taken(2, lambda: calls.append("a"), lambda: calls.append("b"), clock=lambda: next(clock))
    assert (seconds, calls) == ([[5, 2], [1, 3]], ["a", "b", "a", "b"])


def test_a_match_is_a_tournament_s_with_openings_from_both_seats(common):
    cells = common.match("zermelo/MNK-v0", "alphabeta", "alphabeta", games=4)
    assert cells["won"] + cells["drawn"] + cells["lost"] == 4
    assert cells["won"] == cells["lost"]
    assert cells["points"] == "50.0 %"


def test_each_feature_is_one_line_of_the_search_or_one_setting(versions, tmp_path):
    for name, feature in versions.FEATURES.items():
        assert bool(feature.settings) != bool(feature.file), name
        if feature.file:
            assert (ROOT / feature.file).read_text().count(feature.line) == 1, name
            assert feature.instead != feature.line
    feature = versions.FEATURES["late_moves"]
    tree = versions.changed(feature, tmp_path) / "zermelo"
    assert feature.instead in (tree / feature.file).read_text()
    assert (tree / "envs").resolve() == ROOT / "envs"
    (tmp_path / "other").mkdir()
    with pytest.raises(SystemExit, match="has 'no such line' 0 times, not once"):
        versions.changed(feature._replace(line="no such line"), tmp_path / "other")


def test_versions_play_each_opening_from_both_seats(versions):
    match = versions.Match("zermelo/MNK-v0", plies=0, seed=1)
    low, high = Chooser(min), Chooser(max)
    assert match.play([], [low, high]) == 1.0  # 0, 8, 1, 7, 2
    assert match.play([4, 8], [low, high]) == 0.0  # 4, 8, 0, 7, 1, 6
    assert match.pair([low, high]) == (1.0, 0.0)


def test_openings_of_versions_are_those_that_the_judge_finds_balanced(versions):
    match = versions.Match("zermelo/MNK-v0", plies=3, seed=1)
    values = iter([1.0, -0.5, 0.25])
    judge = Chooser(min)
    judge.choose = lambda actions: (0, next(values))
    assert len(set(match.opening(judge))) == 3
    assert next(values, None) is None


def test_a_version_that_ends_is_reported(versions, tmp_path):
    with pytest.raises(SystemExit, match="a version has ended"):
        versions.Player(versions.changed(versions.Feature(), tmp_path), "zermelo/MNK-v0", {"no_such": 1})
