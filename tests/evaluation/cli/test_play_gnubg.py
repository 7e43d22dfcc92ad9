"""The script that plays gnubg: positions and moves, a gnubg that misbehaves, and the real one if it is there."""

from __future__ import annotations

import importlib.util
import json
import shutil
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from zermelo.envs import InvalidSettingError, MissingDependencyError, UnknownNameError, as_game, make
from zermelo.envs.games import Backgammon
from zermelo.envs.games.backgammon.rules import BackgammonState
from zermelo.envs.rules import RulesGame
from zermelo.evaluation import play_match

SCRIPT = Path(__file__).parents[3] / "scripts" / "play_gnubg.py"
HAS_GNUBG = bool(shutil.which("gnubg") or shutil.which("/usr/games/gnubg"))


@pytest.fixture(scope="module")
def script() -> Any:
    spec = importlib.util.spec_from_file_location("play_gnubg", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["play_gnubg"] = module  # its dataclasses look there
    spec.loader.exec_module(module)
    return module


def side(counts: dict[int, int]) -> tuple[int, ...]:
    """Checkers on places; all others are off."""
    return tuple({0: 15 - sum(counts.values()), **counts}.get(place, 0) for place in range(26))


START = side({24: 2, 13: 5, 8: 3, 6: 5})


def test_position_ids(script: Any) -> None:
    """The start is gnubg's own example; the others are what its ``show board`` says of positions set by hand."""
    assert script.position_id(START, START) == "4HPwATDgc/ABMA"
    assert script.position_id(side({}), side({})) == "AAAAAAAAAAAAAA"
    assert script.position_id(side({25: 2, 1: 13}), side({6: 15})) != script.position_id(
        side({6: 15}), side({25: 2, 1: 13})
    )


@pytest.mark.parametrize(
    ("own", "other", "move", "mine", "theirs"),
    [
        (
            {24: 2, 13: 5, 8: 3, 6: 5},
            {24: 2, 13: 5, 8: 3, 6: 5},
            "8/5 6/5",
            {24: 2, 13: 5, 8: 2, 6: 4, 5: 2},
            None,
        ),
        ({13: 5, 24: 2}, {24: 1, 20: 1}, "13/7(2) 24/18", {13: 3, 7: 2, 24: 1, 18: 1}, None),
        ({25: 1, 13: 1}, {3: 1, 14: 1}, "bar/22* 13/11*", {22: 1, 11: 1}, {25: 2}),
        ({24: 2}, {7: 1, 11: 1}, "24/18*/14*", {24: 1, 14: 1}, {25: 2}),
        ({6: 3, 5: 1}, {24: 1}, "6/off(2) 5/4", {6: 1, 4: 1}, None),
        ({25: 2}, {24: 2}, "Bar/20(2)", {20: 2}, None),
    ],
)
def test_moves(script: Any, own: Any, other: Any, move: str, mine: Any, theirs: Any) -> None:
    found, hit = script.after_move(side(own), side(other), move)
    off = sum(own.values()) - sum(mine.values())
    assert found == (side(own)[0] + off, *side(mine)[1:])
    assert hit == side(other if theirs is None else theirs)


def test_a_move_that_is_none(script: Any) -> None:
    with pytest.raises(InvalidSettingError, match=r"'13-7' in '8/5 13-7' is no move of a checker"):
        script.after_move(START, START, "8/5 13-7")


def test_whole_plays_are_all_that_a_roll_can_end_in(script: Any) -> None:
    game = RulesGame(Backgammon(3))
    state = game.result(game.initial_state(), 6 * 2)  # 3-1: sixteen different positions
    plays = script.whole_plays(game, state)
    assert len(plays) == 16
    assert script.after_move(START, START, "8/5 6/5") in plays
    double = BackgammonState(state.low, state.high, state.other_low, state.other_high, 1, 8 * 6 + 6)
    doubles = script.whole_plays(game, double)
    assert doubles[script.after_move(START, START, "24/18(2) 13/7(2)")]
    assert all(len(path) == 2 for path in doubles.values())


# -- a gnubg that is none -----------------------------------------------------------------------------------------

FAKE = """#!{python}
import sys
said = {answers!r}
for line in sys.stdin:
    line = line.strip()
    if line == "play":
        answer = said.pop(0) if said else "gnubg cannot move."
        if answer == "die":
            sys.exit(3)
        if answer == "sleep":
            import time
            time.sleep(60)
        print(answer, flush=True)
    elif line == "decline":
        print("root declines the gammon.\\ngnubg moves 13/10 6/5.", flush=True)
    elif line.startswith("zermelo"):
        print("Unknown keyword `" + line + "'.", flush=True)
"""


@pytest.fixture
def fake(tmp_path: Path) -> Any:
    def made(*answers: str) -> str:
        program = tmp_path / "fake-gnubg"
        program.write_text(FAKE.format(python=sys.executable, answers=list(answers)))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return str(program)

    return made


def opening(high: int, low: int) -> Any:
    """An environment in which the player on turn has that roll to play from the start."""
    for seed in range(1000):
        env = make("zermelo/Backgammon-v0", most_points=3)
        env.reset(seed=seed)
        state = as_game(env).snapshot(env)
        if (state.roll >> 3, state.roll & 7) == (high, low):
            return env
    raise AssertionError("no such roll")


def test_what_it_says_becomes_an_action(script: Any, fake: Any) -> None:
    env = opening(3, 1)
    agent = script.GnubgAgent("beginner", fake("noise\ngnubg moves 8/5 6/5.\nboard:root:gnubg:0"))
    game = as_game(env)
    assert game.action_text(game.snapshot(env), agent.act(env)) == "8/5 6/5"
    agent.close()
    resigning = script.GnubgAgent("beginner", fake("gnubg offers to resign a gammon."))
    assert game.action_text(game.snapshot(env), resigning.act(env)) == "13/10 6/5"
    resigning.close()


def test_it_is_started_again_once(script: Any, fake: Any) -> None:
    with pytest.raises(script.GnubgError, match=r"gnubg ended with status 3 after 'play'"):
        script.GnubgAgent("beginner", fake("die")).act(opening(3, 1))


def test_what_is_not_legal(script: Any, fake: Any) -> None:
    agent = script.GnubgAgent("expert", fake("gnubg moves 8/4 6/5."))
    with pytest.raises(script.GnubgError, match=r"gnubg plays '8/4 6/5', which is not legal in BackgammonState"):
        agent.act(opening(3, 1))
    agent.close()


def test_what_is_no_answer(script: Any, fake: Any) -> None:
    with pytest.raises(script.GnubgError, match=r"does not say how it plays 3-1, but 'No game'"):
        script.GnubgAgent("expert", fake("No game")).act(opening(3, 1))
    gnubg = script.Gnubg(script.LEVELS["expert"], 0, fake("sleep"), seconds=2)
    with pytest.raises(script.GnubgError, match=r"gnubg says nothing for 2 s after 'play'"):
        gnubg.move(START, START, 3, 1)
    gnubg.close()


def test_no_gnubg(script: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(MissingDependencyError, match="no-such-gnubg is not installed: apt-get install gnubg"):
        script.Gnubg(script.LEVELS["expert"], command="no-such-gnubg")
    with pytest.raises(UnknownNameError, match="no level 'grandmother' here: there are noise-1, "):
        script.GnubgAgent("grandmother")
    for arguments in ({"games": 4, "gnubg": "no-such-gnubg"}, {"games": 5}):
        with pytest.raises(typer.Exit):
            script.main(["expert"], "random", seed=1, out=None, **{"gnubg": None, **arguments})
    said = capsys.readouterr().err
    assert "no-such-gnubg is not installed" in said
    assert "games must be even, as they come in pairs, not 5" in said


def test_the_table(script: Any) -> None:
    result = script.MatchResult("random", "beginner", (1, -2, -1, 1, 3, -1, 2, -3))
    assert result.average == 0
    assert result.share(2, 3) == 2 / 8
    assert result.share(-3, -2) == 2 / 8
    low, high = result.interval
    assert low == -high
    assert high == pytest.approx(3.182446 * 0.7071068 / 2, abs=1e-3)  # Student's, of pairs: -0.5, 0, 1, -0.5
    assert script.table_of([result]).row_count == 1


# -- gnubg --------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not HAS_GNUBG, reason="gnubg is not installed: apt-get install gnubg")
def test_two_games(script: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script.main(["noise-1"], "random", games=4, seed=3, gnubg=None, out=tmp_path / "points.json")
    (found,) = json.loads((tmp_path / "points.json").read_text())
    assert len(found["points"]) == 4
    assert set(found["points"]) <= {-3, -2, -1, 1, 2, 3}
    assert "random against gnubg" in capsys.readouterr().out


@pytest.mark.skipif(not HAS_GNUBG, reason="gnubg is not installed: apt-get install gnubg")
def test_two_of_them(script: Any) -> None:
    """Every move of both is legal in our rules, to the end of the game."""
    two = [script.GnubgAgent("expert"), script.GnubgAgent("noise-0.2")]
    record = play_match(script.ENV, two, seed=4)
    for agent in two:
        agent.close()
    assert record.failure is None
    assert sum(record.rewards) == 0
