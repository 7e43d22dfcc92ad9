"""What is seen of a run while it goes on: how far it is, how fast, and who leads."""

import contextlib
import fcntl
import io
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from doubles import toy_envs
from doubles.made_games import made_records
from rich.console import Console

from zermelo.evaluation import GameRecord, Standings, round_robin
from zermelo.evaluation.match.record import EndReason, Failure, FailureKind
from zermelo.evaluation.output import progress
from zermelo.evaluation.output.progress import Pace, ProgressDisplay, RunningTable, drawn, duration, line, watcher
from zermelo.evaluation.storage.counting import count_games

TESTS = Path(__file__).parents[2]
SEATS = ("player_1", "player_2")


@pytest.fixture
def clock(monkeypatch):
    """Time that passes when it is told to."""
    now = [100.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def passes(seconds):
        now[0] += seconds

    return passes


def table(records=(), agents=(), seats=SEATS):
    """The table of the records that there are when it is asked for."""
    return RunningTable(agents, "toy", seats, lambda: count_games(records))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "0 s"),
        (59.4, "59 s"),
        (60, "1:00 min"),
        (3599.4, "59:59 min"),
        (7500, "2:05 h"),
        (280_000, "3 days 5 h"),
    ],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_the_time_left_comes_of_the_games_after_the_first(clock):
    pace = Pace(101)
    assert pace.left is None
    clock(60)  # spent on compiling
    pace.step()
    assert str(pace) == "1 of 101 games (0 %), 1:00 min so far"
    for _ in range(20):
        clock(0.5)
        pace.step()
    assert pace.rate == pytest.approx(2.0)
    assert pace.left == pytest.approx(40.0)
    clock(0.2)
    assert pace.left == pytest.approx(39.8)
    clock(30)  # a game that takes longer than others does not bring the end nearer
    assert pace.left == pytest.approx(39.5)
    assert pace.elapsed == pytest.approx(100.2)
    assert str(pace) == "21 of 101 games (20 %), 2 games/s, 40 s left"


def test_all_numbers_of_a_pace_are_of_one_moment(clock):
    pace = Pace(100)
    for _ in range(11):
        clock(1.0)
        pace.step()
    still, text = pace.now(), "11 of 100 games (11 %), 1 games/s, 1:29 min left"
    assert str(still) == text
    for _ in range(50):
        clock(0.1)
        pace.step()
    assert (str(still), still.done, still.elapsed) == (text, 11, pytest.approx(11.0))
    assert pace.done == 61


def test_leaders_of_another_moment_are_said_to_be(clock):
    records = list(made_records(100))
    pace = Pace(1000)
    for _ in records:
        pace.step()
    assert "; after 90 games strong " in line(pace, table(records[:90]).ranking())
    assert "; strong " in line(pace, table(records).ranking())


def test_a_drawing_reads_the_pace_once(clock):
    """Games are done while the drawing counts and writes."""
    records, pace = list(made_records(100)), Pace(1000)

    def counted():
        for _ in records:
            clock(0.1)
            pace.step()
        return count_games(records)

    lines = screen(ProgressDisplay(pace, RunningTable((), "toy", SEATS, counted)))
    assert "100/1,000  10 games/s, 1:30 min left" in lines[0]


def test_slow_games_and_early_ends_are_said(clock):
    pace = Pace(5, at_most=True)
    for _ in range(3):
        clock(90)
        pace.step()
    assert str(pace) == "3 of at most 5 games (60 %), 1:30 min a game, at most 3:00 min left"


def test_games_that_were_there_already_count_but_not_for_the_pace(clock):
    pace = Pace(100, before=40)
    assert str(pace) == "40 of 100 games (40 %), 0 s so far"
    for _ in range(11):
        clock(1.0)
        pace.step()
    assert str(pace) == "51 of 100 games (51 %), 1 games/s, 49 s left"


def test_the_running_table_is_that_of_the_records(clock):
    records = list(made_records(300))
    void = Failure(FailureKind.ENVIRONMENT_ERROR, None, "broke")
    records.append(replace(records[0], end=EndReason.FAILURE, failure=void, game_id="void"))
    found = table(records).ranking().rows
    assert found == Standings.from_records(records).rows
    assert sum(sum(row.failures.values()) for row in found) > 0


def test_a_running_table_of_returns(clock):
    records = [
        GameRecord(
            env="toy", agents=(name,), seat_names=("one",), seed=k, rewards=(k + bonus,), end=EndReason.TERMINATED
        )
        for name, bonus in (("a", 0.0), ("b", 1.0))
        for k in range(3)
    ]
    standings = table(records, seats=("one",)).ranking()
    assert [(row.agent, row.score, row.games) for row in standings.rows] == [("b", 2.0, 3), ("a", 1.0, 3)]
    assert line(Pace(6), standings).endswith("; b 2, a 1")


def test_the_table_is_made_anew_only_where_it_costs_little(clock):
    made, records = [], []

    def slow():
        made.append(1)
        clock(0.1)
        return count_games(records)

    running = RunningTable((), "toy", SEATS, slow)
    for record in made_records(12):
        records.append(record)
        running.ranking()
        clock(0.5)
    assert len(made) == 2  # at 0 s, and 5 s after that
    clock(10)
    for _ in range(3):
        assert running.ranking().games == 12
    assert len(made) == 3


# -- drawn -----------------------------------------------------------------------------------------------------


def screen(drawing, width=90, height=24):
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None)
    console.print(drawing)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) < height
    return lines


def drawing_of(count, names=("strong", "middling", "weak", "broken"), total=1000):
    records = list(made_records(count, names=names))
    pace = Pace(total)
    for _ in records:
        pace.step()
    return ProgressDisplay(pace, table(records, agents=names))


def test_the_bar_the_time_left_and_the_table_are_drawn(clock):
    records = list(made_records(250))
    pace = Pace(1000)
    for _ in records:
        clock(0.1)
        pace.step()
    lines = screen(ProgressDisplay(pace, table(records)))
    assert "250/1,000  10 games/s, 1:15 min left" in lines[0]
    assert " ".join(lines[1].split()) == "# agent games won drawn lost failed score 95 % interval"
    rows = Standings.from_records(made_records(250)).rows
    for number, (row, text) in enumerate(zip(rows, lines[3:], strict=True), start=1):
        cells = [number, row.agent, row.games, row.wins, row.draws, row.losses, sum(row.failures.values())]
        assert text.split()[:8] == [*map(str, cells), f"{100 * row.score:.1f}"]


@pytest.mark.parametrize("width", [40, 63, 64, 80, 100])
def test_names_are_cut_and_numbers_are_not(width):
    name = "sb3(path='/a/very/long/path/to/a/model/of/somebody/who/likes/long/paths.zip', sample=True, seed=4)"
    drawing = drawing_of(2000, ("random", name))
    head, _, *rows = screen(drawing, width)[1:]
    assert head.split()[:3] == ["#", "agent", "games"]
    assert head.split()[-1] == ("score" if width < 80 else "interval")
    assert [row.split()[0] for row in rows] == ["1", "2"]
    assert all(" 2000 " in row for row in rows)
    (cut,) = (row for row in rows if "sb3" in row)
    assert cut.count("\N{HORIZONTAL ELLIPSIS}") == 1


def test_agents_that_have_not_played_are_listed():
    lines = screen(ProgressDisplay(Pace(10), table(agents=("a", "[b]b"))))
    assert lines[3].split() == ["1", "a", "0", "0", "0", "0"]
    assert lines[4].split() == ["2", "[b]b", "0", "0", "0", "0"]


@pytest.mark.parametrize(("width", "height"), [(200, 60), (80, 24), (60, 12), (40, 8), (20, 6), (12, 3), (90, 2)])
def test_it_fits_terminals_of_any_size_and_those_that_change_it(width, height):
    names = [f"an agent with quite a long name, number {k}" for k in range(40)]
    drawing = drawing_of(500, names)
    screen(drawing)
    lines = screen(drawing, width, height)
    assert len(lines) >= (1 if height < 6 else height - 1 if height < 45 else 43)
    assert width < 40 or height < 6 or lines[1].split()[:3] == ["#", "agent", "games"]
    if width >= 60 and 6 <= height < 45:
        assert f"and {40 - (height - 5)} more" in lines[-1]


def test_a_drawing_is_wiped_away_and_the_cursor_comes_back():
    file = io.StringIO()
    console = Console(file=file, width=80, height=24, force_terminal=True)
    with contextlib.suppress(KeyboardInterrupt), drawn(Pace(10), table(), console) as told:
        told(next(made_records(1)))
        raise KeyboardInterrupt
    text = file.getvalue()
    assert text.index("\x1b[?25l") < text.index("1/10") < text.rindex("\x1b[?25h")
    assert "\x1b[2K" in text[text.rindex("1/10") :]  # lines erased at the end


# -- not drawn -------------------------------------------------------------------------------------------------


def test_a_line_now_and_then_where_nothing_can_be_drawn(clock, monkeypatch, capsys):
    records = list(made_records(100))
    kept = []
    with watcher(lambda: table(kept), Pace(100), shown=True) as told:
        for record in records:
            clock(1.0)
            kept.append(record)
            told(record)
    lines = capsys.readouterr().err.splitlines()
    assert [found.split(" of ")[0] for found in lines] == ["zermelo: 10", "zermelo: 40", "zermelo: 70"]
    rows = Standings.from_records(records[:40]).rows
    leaders = ", ".join(f"{row.agent} {100 * row.score:.1f} %" for row in rows[:3])
    assert lines[1] == f"zermelo: 40 of 100 games (40 %), 1 games/s, 1:00 min left; {leaders} and 1 more"


@pytest.mark.parametrize("shown", [None, False])
def test_nothing_is_said_unasked(shown, clock, capsys):
    with watcher(lambda: pytest.fail("no table is needed"), Pace(100), shown=shown) as told:
        for record in made_records(100):
            clock(60)
            told(record)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_that_can_only_type_gets_lines(clock, monkeypatch):
    class Typewriter(io.StringIO):
        def isatty(self):
            return True

    stream = Typewriter()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "dumb")
    with watcher(table, Pace(20)) as told:
        for record in made_records(20):
            clock(6)
            told(record)
    lines = stream.getvalue().splitlines()
    assert [found.split(" of ")[0] for found in lines] == [f"zermelo: {k}" for k in (2, 7, 12, 17)]


def test_a_reader_that_has_gone_does_not_stop_the_games(clock, monkeypatch):
    written = []

    class Gone(io.StringIO):
        def write(self, text):
            written.append(text)
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Gone())
    with watcher(table, Pace(100), shown=True) as told:
        for record in made_records(20):
            clock(60)
            told(record)
    assert [found.split(" of ")[0] for found in written] == [f"zermelo: {k}" for k in range(1, 21)]


def test_a_run_tells_of_every_game_that_it_keeps(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(progress, "FIRST_LINE", 0.0)
    monkeypatch.setattr(progress, "LINES_APART", 0.0)
    settings = {"games": 6, "out": tmp_path, "progress": True}
    standings = round_robin(toy_envs.ToyEnv, ["random", "random"], **settings)
    lines = capsys.readouterr().err.splitlines()
    assert [found.split(" of ")[0] for found in lines] == [f"zermelo: {k}" for k in range(1, 6)]
    assert round_robin(toy_envs.ToyEnv, ["random", "random"], **settings).rows == standings.rows
    assert capsys.readouterr().err == ""  # nothing is left to play


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
def test_in_a_terminal_that_is_resized_and_interrupted(tmp_path):
    program = str(Path(sys.executable).with_name("zermelo"))
    words = ["tournament", "doubles.toy_envs:ToyEnv", "random", "doubles.bad_agents:Slow", "-n", "100000"]
    text = in_terminal([program, *words, "--out", str(tmp_path / "out")])
    drawing, _, after = text.rpartition("\x1b[?25h")
    assert re.search(r"\d+/100,000  .* left", drawing)
    assert "95 % interval" in drawing
    assert "\x1b[?25l" not in after
    assert re.search(r"Stopped after \d+ of 100000 games", after)
    assert "The same command again plays the rest." in after
    assert "games/s" not in after
    assert "Traceback" not in text


def in_terminal(words):
    """What the command writes to a terminal that becomes smaller meanwhile, and in which Ctrl-C is pressed."""
    process, terminal = pty.fork()
    if not process:
        os.environ.update(TERM="xterm-256color", PYTHONPATH=str(TESTS))
        os.execv(words[0], words)
    seen, deadline = b"", time.monotonic() + 120
    steps = [(20, 90), (10, 50), None]
    try:
        while True:
            ready, _, _ = select.select([terminal], [], [], 0.1)
            if ready:
                try:
                    seen += os.read(terminal, 65536)
                except OSError:
                    break
            assert time.monotonic() < deadline, seen.decode(errors="replace")
            if steps and len(re.findall(rb"/100,000 .*? left", seen)) > 2 * (3 - len(steps)):
                size = steps.pop(0)
                if size is None:
                    os.write(terminal, b"\x03")
                else:
                    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        _, status = os.waitpid(process, 0)
        process = 0
    finally:
        if process:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 130
    return seen.decode()
