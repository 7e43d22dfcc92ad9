"""Games with clocks: what agents are told, and who loses on time."""

import time

import pytest
from doubles.bad_agents import Good

from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation import play_match, round_robin
from zermelo.evaluation.match.clock import SeatClocks, TimeControl
from zermelo.evaluation.match.record import FailureKind
from zermelo.evaluation.workers.settings import AgentLimits

TICTACTOE = "classic/tictactoe-v3"


class Told(Good):
    """Writes down what the clock shows, in a file, and takes some time."""

    def __init__(self, file, seconds=0.0):
        self.name = "told"
        self._file, self._seconds = file, seconds

    def tell_clock(self, clock):
        with open(self._file, "a") as file:
            file.write(f"{clock.seat} {clock.left[0]} {clock.left[1]} {clock.increment} {clock.move_seconds}\n")

    def act(self, env):
        time.sleep(self._seconds)
        return super().act(env)


def rows(file):
    return [[float(word) for word in line.split()] for line in file.read_text().splitlines()]


def test_agents_are_told_before_each_move(tmp_path):
    record = play_match(TICTACTOE, [Told(tmp_path / "log", 0.02), "random"], seed=1, clock="10+0.5")
    shown = rows(tmp_path / "log")
    assert len(shown) == sum(move.seat == 0 for move in record.moves)
    assert shown[0] == [0, 10, 10, 0.5, float("inf")]
    left = 10.0
    for (_, own, *_), move in zip(shown, [move for move in record.moves if move.seat == 0], strict=True):
        assert own == pytest.approx(left, abs=1e-4)
        left += 0.5 - move.seconds


def test_agents_in_processes_of_their_own_are_told(tmp_path):
    agents = {"told": lambda: Told(tmp_path / "log", 0.02), "first": "random"}
    standings = round_robin(
        TICTACTOE, agents, games=2, isolation=AgentLimits(clock="10+0.5", move_seconds=5.0), workers=1
    )
    assert not any(record.failure for record in standings.records)
    shown = rows(tmp_path / "log")
    movers = [record.agents[move.seat] for record in standings.records for move in record.moves]
    assert len(shown) == movers.count("told") > 2
    assert all(move_seconds == 5 and 9 < left[int(seat)] < 13 for seat, *left, _, move_seconds in shown)
    assert {row[0] for row in shown} == {0, 1}


def test_nobody_else_is_told_or_need_know():
    assert play_match(TICTACTOE, ["random", "greedy"], seed=1, clock="60").failure is None


def test_who_runs_out_of_time_has_lost():
    record = play_match(TICTACTOE, ["random", Told("/dev/null", 0.2)], seed=1, clock="0.3")
    assert record.failure.kind is FailureKind.TIMEOUT
    assert record.failure.seat == 1
    assert record.failure.message.startswith("did not answer within 0.")
    assert record.failure.message.endswith(" s, all that its clock had left")


@pytest.mark.parametrize("clock", ["", "x", "0", "1+", "+1", "-1", 60, "1e3", "1+2+3", "inf"])
def test_what_is_no_clock(clock):
    with pytest.raises(InvalidSettingError, match="a clock is seconds for the game and for each move"):
        play_match(TICTACTOE, ["random", "random"], seed=1, clock=clock)


def test_time_controls_and_the_time_of_seats():
    assert TimeControl.read("60+0.6") == (60, 0.6)
    assert TimeControl.read("5") == (5, 0)
    clocks = SeatClocks(TimeControl(5, 1), 2)
    assert clocks.has_time(1, 2.0)
    assert clocks.shown(0).left == (5, 4)
    assert clocks.has_time(1, 4.0)
    assert not clocks.has_time(1, 1.5)


def test_the_way_to_a_process_is_not_on_the_clock():
    """A clock that the ways alone would use up, if they were counted: each takes some milliseconds."""
    agents = {"good": Good, "random": "random"}
    standings = round_robin(TICTACTOE, agents, games=4, isolation=AgentLimits(clock="0.02"), workers=1)
    assert not any(record.failure for record in standings.records)
