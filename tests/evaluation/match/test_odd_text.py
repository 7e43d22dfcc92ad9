"""What agents, engines and environments write is data: no text of theirs makes a run unreadable."""

import os

import pytest
from doubles import toy_envs
from doubles.bad_agents import First, Good

from zermelo.evaluation import play_match, read_standings, round_robin
from zermelo.evaluation.cli import main
from zermelo.evaluation.match.record import Failure, FailureKind

ODD = {
    "half a character": os.fsdecode(b"w\xe9.bin"),
    "nul": "a\x00b",
    "escape": "\x1b]0;pwned\x07\x1b[2J",
    "bell": "\x07",
    "right to left": "\u202egnp.exe",
    "line separator": "a\u2028b",
    "lines": "a\r\nb\n\tc",
    "megabyte": "y" * 10**6,
    "escapes": "\x1b[31m" * 200_000,
    "empty": "",
}
FORBIDDEN = ("\x00", "\x1b", "\x07", "\r", "\u202e", "\u2028", "\udce9")


class Says(First):
    """Fails with a text."""

    def __init__(self, text):
        super().__init__("says")
        self.text = text

    def act(self, env):
        raise RuntimeError(self.text)


class OddEnv(toy_envs.ToyEnv):
    """Fails with a text at the second step."""

    def step(self, action):
        if getattr(self, "has_stepped", False):
            raise RuntimeError(ODD["half a character"] + ODD["escape"] + ODD["megabyte"])
        self.has_stepped = True
        super().step(action)


def is_clean(text, most=20_000):
    return len(text) < most and not any(character in text for character in FORBIDDEN)


@pytest.mark.parametrize("name", ODD)
def test_a_run_stays_readable_whatever_its_agents_are_called_and_write(name, tmp_path, capsys):
    text = ODD[name]
    names = {f"first {text}": First("first"), f"says {text}": Says(text)}
    played = round_robin(toy_envs.ToyEnv, names, games=2, out=tmp_path / "run")
    again = read_standings(tmp_path / "run")
    assert again.to_json() == played.to_json()
    assert again.records == played.records
    for record in again.records:
        assert record.failure.kind is FailureKind.CRASH
        assert all(
            map(is_clean, [record.failure.message, record.failure.detail, *record.agents, record.to_json()])
        )
        assert "\n" not in record.failure.message + "".join(record.agents)
    for command in (
        ["standings"],
        ["standings", "--json"],
        ["report"],
        ["export"],
        ["export", "--format", "json"],
    ):
        with pytest.raises(SystemExit) as ended:
            main([command[0], str(tmp_path / "run"), *command[1:]])
        assert ended.value.code == 0
        shown = capsys.readouterr()
        assert is_clean(shown.out + shown.err)
    assert is_clean((tmp_path / "run" / "report.html").read_text().replace("\r", ""), 10**6)
    # The same call goes on with it: names are the same each time.
    assert round_robin(toy_envs.ToyEnv, names, games=4, out=tmp_path / "run").games == 4


def test_what_is_cut_says_how_much_is_left_out():
    message = play_match(toy_envs.ToyEnv, [First(), Says("y" * 10**6)], seed=0).failure.message
    assert message.startswith("act raised RuntimeError: yyy")
    assert " characters left out ...] yyy" in message
    assert len(message) < 2_000


def test_names_that_only_escapes_tell_apart_stay_apart():
    names = {"a\x1b": Good("a"), "a\\x1b": First("b")}
    standings = round_robin(toy_envs.ToyEnv, names, games=2)
    assert sorted(row.agent for row in standings.rows) == ["a\\x1b#1", "a\\x1b#2"]


def test_an_environment_that_fails_with_odd_text_makes_a_void_game(tmp_path):
    standings = round_robin(OddEnv, ["random", "random"], games=2, out=tmp_path)
    assert standings.results.void == 2
    assert all(is_clean(record.failure.message) for record in read_standings(tmp_path).records)


@pytest.mark.parametrize("name", ODD)
def test_failures_hold_clean_text_wherever_it_comes_from(name):
    failure = Failure(FailureKind.CRASH, 0, ODD[name], ODD[name])
    assert is_clean(failure.message)
    assert is_clean(failure.detail)
    assert "\n" not in failure.message
    assert Failure(FailureKind.CRASH, 0, failure.message, failure.detail) == failure
