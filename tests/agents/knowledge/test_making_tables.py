"""Making endgame tables, part by part, and files that are refused."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from zermelo.agents import AlphaBetaAgent, solve
from zermelo.agents.knowledge import endgame_tables
from zermelo.agents.knowledge.endgame_kernel import ABSENT
from zermelo.agents.knowledge.endgame_tables import read_table
from zermelo.agents.knowledge_building.build_table import build_table
from zermelo.agents.knowledge_building.solve_parts import GroupWork
from zermelo.envs import UnsupportedGameError
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import MNK, Chess, Go, Kalah, Oware, Pig
from zermelo.envs.rules import RulesGame
from zermelo.evaluation.tournament.run import make_runner

TICTACTOE = MNK(3, 3, 3)
KALAH = Kalah(3, 3)


def test_another_game_s_table_is_refused(kalah, tictactoe):
    with pytest.raises(InvalidSettingError, match=r"is for Kalah\(houses=3, seeds=1\), not for MNK"):
        solve(TICTACTOE, tables=kalah)
    with pytest.raises(InvalidSettingError, match="not for"):
        AlphaBetaAgent(depth=1, tables=tictactoe).search(MNK(4, 3, 3))
    with pytest.raises(InvalidSettingError, match="there is no endgame table"):
        solve(TICTACTOE, tables="nothing.ztable")


def test_a_damaged_file_is_found_by_its_checksum(tictactoe, tmp_path):
    content = Path(tictactoe).read_bytes()
    for place in range(200, len(content) - 400, 997):
        damaged = tmp_path / f"{place}.ztable"
        damaged.write_bytes(content[:place] + bytes([content[place] ^ 64]) + content[place + 1 :])
        with pytest.raises(InvalidSettingError, match="damaged"):
            read_table(damaged)
    (tmp_path / "short.ztable").write_bytes(content[: len(content) // 2])
    with pytest.raises(InvalidSettingError, match="damaged"):
        read_table(tmp_path / "short.ztable")


@pytest.mark.parametrize(
    ("game", "asked", "error", "message"),
    [
        (Chess(), {"stones": 3}, InvalidSettingError, "by pieces or by states"),
        (Chess(), {"pieces": "KXK"}, InvalidSettingError, "an ending such as KBNK"),
        (Chess(), {"pieces": "KPPPKPP"}, InvalidSettingError, "an ending such as KBNK"),
        (Chess(), {"states": 99}, UnsupportedGameError, "by pieces alone"),
        (Kalah(), {"stones": 8, "states": 9}, InvalidSettingError, "one of them"),
        (Kalah(), {"stones": 99}, InvalidSettingError, "--stones is a number from 2 to 40"),
        (TICTACTOE, {"states": 100}, InvalidSettingError, "more than 100 states"),
        (Oware(), {"states": 9}, UnsupportedGameError, "by stones alone"),
        (Oware(), {"stones": 25}, InvalidSettingError, "at most 24"),
        (Go(), {"states": 9}, UnsupportedGameError, "by the way to them"),
        (Pig(20), {"states": 9}, UnsupportedGameError, "chance"),
    ],
)
def test_what_has_no_table_is_refused(tmp_path, game, asked, error, message):
    with pytest.raises(error, match=message):
        build_table(game, tmp_path / "table.ztable", **asked)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("game", "asked"), [(Chess(), {"pieces": "5"}), (TICTACTOE, {"states": 5000})])
def test_what_does_not_fit_in_memory_is_refused_before_it_begins(tmp_path, game, asked):
    with pytest.raises(InvalidSettingError, match="MiB of memory"):
        build_table(game, tmp_path / "table.ztable", memory_mb=0.01, **asked)


def test_what_does_not_fit_on_the_disk_is_refused_before_it_begins(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1 << 16))
    with pytest.raises(InvalidSettingError, match=r"MiB on the disk of .*, where 0 are free: write it somewhere"):
        build_table(Chess(), tmp_path / "table.ztable", pieces="KQK")
    assert not list(tmp_path.iterdir())


def test_reading_and_checking_a_table_takes_no_time_of_the_move(kqk, monkeypatch):
    read = list[str]()  # once, whoever asks for it later

    def slow(path, game, check=endgame_tables.table_for):
        time.sleep(0.0 if path in read else 0.5)
        read.append(path)
        return check(path, game)

    monkeypatch.setattr(endgame_tables, "table_for", slow)
    game = RulesGame(Chess(fen="8/8/8/8/8/2k5/8/KQ6 w - - 0 1"))
    found = AlphaBetaAgent(seconds=0.2, tables=kqk.table.path).search_state(game)
    assert found.compiling >= 0.5
    assert found.proven


class Unnumbered(Kalah):
    """Says nothing of the positions with few seeds, which all others lead to."""

    def table_parts(self, what):
        return super().table_parts(what)[3:]


def test_parts_that_lead_to_a_part_that_is_missing_are_refused(tmp_path):
    with pytest.raises(UnsupportedGameError, match="leads to a position that its tables do not number"):
        build_table(Unnumbered(3, 3), tmp_path / "table.ztable", stones=8)


def test_parts_that_wait_for_one_another_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(GroupWork, "sampled", lambda self, sizes: (0, set(range(9)) - sizes.keys()))
    with pytest.raises(UnsupportedGameError, match="do not number"):
        build_table(KALAH, tmp_path / "table.ztable", stones=8)


class StoppedError(Exception):
    pass


def test_finished_parts_are_not_made_again(tmp_path, kalah):
    path = tmp_path / "kalah.ztable"
    parts: list[str] = []

    def stop(progress):
        parts.append(progress.part)
        if progress.part == "6":
            raise StoppedError

    with pytest.raises(StoppedError):
        build_table(KALAH, path, stones=8, on_progress=stop)
    assert not path.exists()
    parts.clear()
    made = build_table(KALAH, path, stones=8, on_progress=lambda progress: parts.append(progress.part))
    assert sorted(set(parts)) == ["6", "7", "8"]
    assert np.array_equal(made.table.scores, read_table(kalah).scores)
    assert np.count_nonzero(made.table.scores != ABSENT) == len(made.table)
    assert [each.name for each in tmp_path.iterdir()] == ["kalah.ztable"]


def test_the_undecided_of_finished_parts_are_counted_after_an_interruption(tmp_path):
    path, whole = tmp_path / "oware.ztable", build_table(Oware(), tmp_path / "whole.ztable", stones=5)

    def stop(progress):
        if progress.part == "5":
            raise StoppedError

    with pytest.raises(StoppedError):
        build_table(Oware(), path, stones=5, on_progress=stop)
    assert build_table(Oware(), path, stones=5).undecided == whole.undecided > 0


@pytest.mark.thorough
def test_parts_solved_in_processes_make_the_same_table(tmp_path):
    here = build_table(Chess(), tmp_path / "here.ztable", pieces="3")
    there = build_table(Chess(), tmp_path / "there.ztable", pieces="3", runner=make_runner(2))
    assert np.array_equal(there.table.scores, here.table.scores)
    assert there.figures == here.figures


def test_a_part_that_no_sample_has_shown_is_solved_first(tmp_path, monkeypatch, kalah):
    """What a group leads to is seen in samples; what they left out comes to light when all moves are listed."""
    sampled = GroupWork.sampled
    monkeypatch.setattr(GroupWork, "sampled", lambda self, sizes: (sampled(self, sizes)[0], set()))
    made = build_table(KALAH, tmp_path / "kalah.ztable", stones=8)
    assert np.array_equal(made.table.scores, read_table(kalah).scores)
