"""A folder from somebody else is data: to look at it runs none of its code and sends nothing to the terminal."""

import json
import sqlite3
from dataclasses import replace

import pytest
from doubles import toy_envs
from doubles.bad_agents import First, Good

from zermelo.evaluation import GameRecord, Standings, read_standings, round_robin
from zermelo.evaluation.analysis.judge import judge
from zermelo.evaluation.cli import main
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import EndReason
from zermelo.evaluation.match.replay import Replayer, ReplayError
from zermelo.evaluation.report.page import report_page
from zermelo.evaluation.storage.games import read_games

TRAP = "open('ran', 'w').close()\ndef env(): ...\n"


def strange(folder, change, *, spec=lambda spec: spec):
    """A folder whose records somebody has changed."""
    standings = round_robin(toy_envs.ToyEnv, [Good("a"), First("b")], games=2, out=folder)
    db = sqlite3.connect(folder / "games.sqlite")
    with db:
        for index, record in enumerate(standings.records):
            db.execute("UPDATE records SET record = ? WHERE game_index = ?", (change(record).to_json(), index))
        db.execute("UPDATE run SET spec = ?", (json.dumps(spec(json.loads(text_of(db)))),))
    db.close()


def text_of(db):
    return db.execute("SELECT spec FROM run").fetchone()[0]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    (tmp_path / "beside.py").write_text(TRAP)
    return tmp_path


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["os:system(command='touch ran')", "beside:env"])
def test_no_command_runs_the_code_that_a_record_names(name, here, capsys):
    strange(here, lambda record: replace(record, env=name))
    main_ends(["report", "."], 0)
    assert "is not played again, because that would run the code of" in (here / "report.html").read_text()
    main_ends(["judge", "."], 2)
    assert "give --trust" in capsys.readouterr().err
    main_ends(["standings", "."], 0)
    main_ends(["export", "."], 0)
    assert not (here / "ran").exists()
    with pytest.raises(ReplayError, match="run the code of"):
        judge(read_games(here))


def test_code_that_is_trusted_runs(here):
    strange(here, lambda record: replace(record, env="doubles.toy_envs:ToyEnv"))
    record = read_games(here)[0]
    assert Replayer(trust=True).start(record).turn() == 0
    assert Replayer(toy_envs.ToyEnv).start(record).turn() == 0


def main_ends(arguments, code):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == code


@pytest.mark.thorough
def test_escape_sequences_in_names_are_spelt_out(here, capsys):
    wild = "\x1b]0;pwned\x07\x1b[2Jx"
    agents = {wild: Good("a"), "b": First("b")}
    standings = round_robin(toy_envs.ToyEnv, agents, games=2, out=here / "run")
    assert "\x1b" not in str(standings)
    main_ends(["standings", "run"], 0)
    main_ends(["standings", wild], 2)
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err
    assert "pwned" in shown.out


@pytest.mark.parametrize("text", ["[]", '{"agents": 3}', '{"agents": [{}], "notes": 1}', "nonsense", '"text"'])
def test_an_odd_judge_json_is_one_sentence(text, here, capsys):
    round_robin(toy_envs.ToyEnv, [Good("a"), First("b")], games=2, out=here)
    (here / "judge.json").write_text(text)
    main_ends(["report", "."], 2)
    assert "judge" in capsys.readouterr().err


def test_records_of_another_shape_are_one_sentence(here):
    strange(here, lambda record: record, spec=lambda spec: {"env": "x"})
    with pytest.raises(StoreError, match="is no specification of a run"):
        read_standings(here)


def test_an_infinite_reward_is_a_reward():
    rich, poor = (
        GameRecord(env="x", agents=("a",), seat_names=("p",), seed=0, rewards=(reward,), end=EndReason.TERMINATED)
        for reward in (float("inf"), float("-inf"))
    )
    assert Standings.from_records([rich, rich]).row("a").score == float("inf")
    assert str(Standings.from_records([rich, poor]))
    assert "<html" in report_page([rich, poor, rich])


@pytest.mark.thorough
@pytest.mark.parametrize(
    "agent",
    [
        "noisy(agent=uci(path='./trap'))",
        "noisy(agent='gtp(path=\"./trap\")')",
        "expectimax(opponent=uci(path='./trap'), depth=1)",
        "noisy(agent=noisy(agent=gnubg(path='./trap')))",
        "greedy(evaluator='beside:env')",
        "alphabeta(depth=1, on_node='beside:env')",
        "policy(policy='beside:env')",
    ],
)
@pytest.mark.parametrize("command", [["judge", "."], ["report", ".", "--judge"], ["standings", "."]])
def test_no_command_starts_what_an_agent_is_made_of(command, agent, here, capsys):
    (here / "trap").write_text("#!/bin/sh\ntouch ran\n")
    (here / "trap").chmod(0o755)
    kuhn = "zermelo/Kuhn-v0"
    with_agents(here, kuhn, ["random", agent])
    with pytest.raises(SystemExit):
        main(command)
    assert not (here / "ran").exists()
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    if command[0] == "judge":
        assert "is not judged, because that would run code of" in said.out + said.err


def with_agents(folder, env, agents):
    """A folder of a run whose specification says that these agents played it."""
    round_robin(env, ["random", "random"], games=2, out=folder)
    db = sqlite3.connect(folder / "games.sqlite")
    with db:
        spec = json.loads(text_of(db))
        for known, agent in zip(spec["agents"], agents, strict=True):
            known["source"] = agent
        db.execute("UPDATE run SET spec = ?", (json.dumps(spec),))
    db.close()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "env",
    [
        "zermelo/Opponent-v0(env='zermelo/Nim-v0', opponent=\"uci(path='./trap')\")",
        "Opponent(env='beside:env', opponent='random')",
        "zermelo/Opponent-v0(env='zermelo/Nim-v0', opponent='beside:env')",
        "Opponent-v0(env='beside:env')",
        "GymV26Environment-v0(env_id='beside:env')",
        "openspiel/efg_game(filename='/dev/zero')",
        "Ant-v5(xml_file='/dev/zero')",
    ],
)
def test_environments_that_name_others_are_not_made(env, here, capsys):
    import zermelo.agents.training  # noqa: F401  # where Opponent-v0 is known

    (here / "trap").write_text("#!/bin/sh\ntouch ran\n")
    (here / "trap").chmod(0o755)
    strange(here, lambda record: replace(record, env=env), spec=lambda spec: spec | {"env": env})
    main_ends(["report", "."], 0)
    assert "is not played again, because that would run the code of" in (here / "report.html").read_text()
    main_ends(["judge", "."], 2)
    assert "give --trust" in capsys.readouterr().err
    assert not (here / "ran").exists()


def test_environments_of_this_package_are_played_again(here):
    for env in ("zermelo/Chess-v0(fen='8/8/8/8/8/4k3/8/4K2R w - - 0 1')", "FrozenLake-v1(map_name='4x4')"):
        record = GameRecord(
            env=env, agents=("a",), seat_names=("p",), seed=0, rewards=(0.0,), end=EndReason.TERMINATED
        )
        assert Replayer().start(record).turn() == 0
