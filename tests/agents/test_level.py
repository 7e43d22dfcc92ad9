"""Levels: opponents whose strength is a number."""

import json
import math
import sys
from pathlib import Path

import pytest

from zermelo.agents import make_agent
from zermelo.agents.level import FOLDER, Levels, ladder_key
from zermelo.agents.specs import runs_own_code
from zermelo.agents.training import OpponentEnv, make_vec
from zermelo.agents.training.vectors.opponents import Match
from zermelo.envs import UnsupportedGameError, ZermeloError
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.registration.make import make
from zermelo.envs.support.data_files import write_json

GAME = "classic/tictactoe-v3"
RUNGS = [
    {"agent": agent, "elo": elo, "lower": elo, "upper": elo, "ms": 0.0}
    for agent, elo in (("random", 0), ("greedy", 100), ("alphabeta(depth=2)", 250))
]


@pytest.fixture
def ladder(tmp_path):
    return written(tmp_path, {"game": "MNK(m=3, n=3, k=3, players=2)", "rungs": RUNGS})


def written(folder, ladder):
    """A file with a ladder and the checksum that belongs to it."""
    write_json(folder / "ladder.json", json.dumps(ladder).encode())
    return str(folder / "ladder.json")


def test_a_level_needs_no_name_for_its_rating():
    assert make_agent("level(80)").spec() == make_agent("level(elo=80)").spec() == "level(elo=80)"
    assert make_agent("noisy(agent=level(80), epsilon=0.5)").agent.spec() == "level(elo=80)"
    assert not runs_own_code("noisy(agent=alphabeta(depth=2), epsilon=0.5)")
    with pytest.raises(InvalidSettingError, match="every argument needs its name"):
        make_agent("alphabeta(6)")
    with pytest.raises(InvalidSettingError, match="every argument needs its name"):
        make_agent("level(80, 90)")
    with pytest.raises(InvalidSettingError, match="given twice"):
        make_agent("level(80, elo=90)")


@pytest.mark.parametrize(
    ("elo", "mixed"),
    [
        (0, ("random", "greedy", 0.0)),
        (25, ("random", "greedy", 0.25)),
        (100, ("random", "greedy", 1.0)),
        (130, ("greedy", "alphabeta(depth=2)", 0.2)),
        (250, ("greedy", "alphabeta(depth=2)", 1.0)),
    ],
)
def test_a_level_mixes_the_rungs_next_to_it(ladder, elo, mixed):
    env = make(GAME)
    env.reset(seed=0)
    assert make_agent(f"level(elo={elo}, file={ladder!r})").mix_for(env) == mixed


def test_each_game_is_played_by_one_of_the_two_as_often_as_the_rating_says(ladder):
    env = make(GAME)
    env.reset(seed=0)
    agent = make_agent(f"level(elo=25, file={ladder!r})")
    played = []
    for seed in range(300):
        agent.reset(seed)
        assert env.action_space(env.agent_selection).contains(agent.act(env))
        played.append(agent._rungs.playing.name)
    assert set(played) == {"random", "greedy"}
    assert 50 <= played.count("greedy") <= 100  # of 300, a quarter


def test_a_ladder_of_another_game_is_refused(ladder):
    env = make("zermelo/Nim-v0")
    env.reset(seed=0)
    with pytest.raises(InvalidSettingError, match=r"is the ladder of MNK\(.*\), not of Nim"):
        make_agent(f"level(elo=100, file={ladder!r})").act(env)


@pytest.mark.parametrize("elo", [-1, 251, 1e9])
def test_a_rating_that_is_not_on_the_ladder_is_told_the_range(ladder, elo):
    with pytest.raises(InvalidSettingError, match=r"goes from 0 \(random\) to 250 \(alphabeta\(depth=2\)\)"):
        make_agent(f"level(elo={elo!r}, file={ladder!r})")


def test_levels_by_reward(tmp_path):
    rungs = [{"reward" if key == "elo" else key: value for key, value in row.items()} for row in RUNGS]
    data = {"game": "MNK(m=3, n=3, k=3, players=2)", "unit": "reward", "baseline": "greedy", "rungs": rungs}
    path = written(tmp_path, data)
    env = make(GAME)
    env.reset(seed=0)
    level = make_agent(f"level(reward=25, file={path!r})")
    assert level.mix_for(env) == ("random", "greedy", 0.25)
    assert make_agent(level.spec()).spec() == level.spec()
    with pytest.raises(InvalidSettingError, match=r"mean rewards of a game with greedy, from 0 to 250: say level"):
        make_agent(f"level(elo=25, file={path!r})")
    with pytest.raises(InvalidSettingError, match=r"level\(reward=300\) is not on the ladder"):
        make_agent(f"level(reward=300, file={path!r})")
    with pytest.raises(InvalidSettingError, match="level needs a rating"):
        make_agent("level(elo=25, reward=0.5)")
    written(tmp_path, data | {"unit": "chips"})
    with pytest.raises(InvalidSettingError, match="is no ladder"):
        Levels.read(path)


def test_a_ladder_of_elo_is_not_asked_for_rewards(ladder):
    with pytest.raises(
        InvalidSettingError, match=r"are Elo, from 0 to 250: say level\(elo=...\), not level\(reward"
    ):
        make_agent(f"level(reward=0.5, file={ladder!r})")


def test_without_a_ladder_the_command_is_told():
    with pytest.raises(UnsupportedGameError, match="`zermelo ladder ENV --out FILE` makes one"):
        make_vec("zermelo/Chomp-v0", 4, opponent="level(50)")
    with pytest.raises(UnsupportedGameError, match="there is no ladder for Chomp"):
        OpponentEnv("zermelo/Chomp-v0", "level(50)", seat=1)


@pytest.mark.parametrize("given", ["level", "level(elo=high)", "level(elo=nan)", "level(elo='1')", "level(true)"])
def test_a_rating_is_a_number(given):
    with pytest.raises(InvalidSettingError, match=r"elo must be|level needs a rating"):
        make_agent(given)


def with_rung(agent):
    return {"game": "MNK(m=3, n=3, k=3, players=2)", "rungs": [RUNGS[0], RUNGS[1] | {"agent": agent}]}


@pytest.mark.parametrize(
    ("ladder", "said"),
    [
        ({"game": "x", "rungs": 3}, "Expected `array`"),
        ({"game": "x", "rungs": [{"agent": "random"}] * 2}, "missing required field"),
        ({"game": "x", "rungs": RUNGS[:1]}, "length >= 2"),
        ({"game": "x", "rungs": RUNGS[::-1]}, "the weakest first"),
        ({"game": "x", "rungs": RUNGS, "unit": "reward"}, "must have reward"),
        ({"game": "x", "rungs": RUNGS, "unit": "chips"}, "Invalid enum value 'chips'"),
        ({"game": "x\x1b[2J", "rungs": RUNGS}, "matching regex"),
        ({"game": "x", "rungs": RUNGS, "perfect": {"elo": "1"}}, "Expected `float`"),
        ({"game": "x", "rungs": RUNGS, "perfect": [[[[]]]]}, "Expected `object"),
        ({"game": "x", "rungs": [RUNGS[0], RUNGS[1] | {"elo": math.inf}]}, "JSON is malformed"),
        ({"game": "x", "rungs": [RUNGS[0], RUNGS[1] | {"elo": math.nan}]}, "JSON is malformed"),
        (with_rung("alphabeta(dpeth=3)"), "has no setting 'dpeth'"),
        (with_rung("nobody"), "names the agent 'nobody'"),
        (with_rung(3), "Expected `str`"),
    ],
)
def test_ladders_that_are_none_are_refused_though_their_checksum_is_right(tmp_path, ladder, said):
    with pytest.raises(InvalidSettingError, match=f"is no ladder, or it is damaged .*{said}"):
        Levels.read(written(tmp_path, ladder))


OUTSIDE = [
    *("uci(path='./program')", "gtp(path='./program')", "gnubg", "gnubg(path='./program')"),
    *(
        "beside:Agent",
        "beside:Agent()",
        "policy(policy='beside:play')",
        "torch(path='net.pt')",
        "sb3(path='m.zip')",
    ),
    *(
        "onnx(path='net.onnx')",
        "policytable(path='table.jsonl')",
        "level(1, file='ladder.json')",
        "level(file='x')",
    ),
    *("alphabeta(book='book.zbook')", "alphabeta(tables='t.ztable')", "mcts(book='connect_four')"),
    *(
        "alphabeta(evaluator='beside:value')",
        "alphabeta(evaluator='values.json')",
        "alphabeta(evaluator=beside:v)",
    ),
    *("greedy(evaluator=linear(path='v.json', features='beside:F'))", "greedy(evaluator=torch(path='n.pt'))"),
    *("alphabeta(on_node='beside:f')", "alphabeta(stop_test='beside:f')", "mcts(on_simulation='beside:f')"),
    *("expectimax(opponent='beside:f')", "ismcts(belief='beside:f')", "ismcts(blueprint=uci(path='p'))"),
    *("holdem(policy='p.npz')", "sparta(blueprint=gtp(path='p'))", "alphabeta(window=uci(path='p'))"),
    *("mcts(workers=8)", "ismcts(workers=2)", "mcts(threads=64)", "alphabeta(memory_mb=100000)"),
    *("\uff55\uff43\uff49(path='./program')", "uci\u200b(path='p')", "\u0443ci(path='p')", "UCI(path='p')"),
    *(" uci (path='./program')", "random:uci(path='p')", "os:system", "random(name=uci(path='p'))"),
]
AROUND = [
    "{}",
    "noisy(agent={})",
    "noisy(agent={!r})",
    "noisy(agent=noisy(agent={}, epsilon=0.5))",
    "noisy(agent='noisy(agent={})')",
    "expectimax(opponent=noisy(agent={!r}))",
    "ismcts(belief=noisy(agent={}))",
    "no\uff49sy(\uff41gent={})",
]


@pytest.mark.parametrize("unit", ["elo", "reward"])
@pytest.mark.parametrize("around", AROUND)
def test_nothing_that_a_ladder_names_is_started_or_imported(tmp_path, monkeypatch, around, unit):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program").write_text("#!/bin/sh\ntouch ran\n")
    (tmp_path / "program").chmod(0o755)
    (tmp_path / "beside.py").write_text("open('ran', 'w').close()\nclass Agent: ...\n")
    for outside in OUTSIDE:
        ladder = with_rung(around.format(outside))
        if unit == "reward":
            rungs = [row | {"reward": row["elo"]} for row in RUNGS]
            ladder |= {"rungs": rungs, "unit": "reward", "baseline": around.format(outside)}
        file = written(tmp_path, ladder)
        with pytest.raises(ZermeloError, match=r"it names the agent|cannot"):
            make_agent(f"level({'elo' if unit == 'elo' else 'reward'}=50, file={file!r})")
    assert not (tmp_path / "ran").exists()
    assert "beside" not in sys.modules


def test_a_ladder_that_was_changed_is_refused(ladder):
    text = Path(ladder).read_text()
    Path(ladder).write_text(text.replace('"elo": 100', '"elo": 101'))
    with pytest.raises(InvalidSettingError, match="its checksum is not that of what it holds"):
        make_agent(f"level(elo=1, file={ladder!r})")
    Path(ladder).write_bytes(text.replace("\n", "\r\n").encode())  # as version control writes it on Windows
    assert make_agent(f"level(elo=1, file={ladder!r})")


@pytest.mark.parametrize("text", ["", "[]", json.dumps(with_rung("greedy")), "[" * 100_000, "\0" * 99, "\ud800"])
def test_files_that_are_no_ladder(tmp_path, text):
    path = tmp_path / "ladder.json"
    path.write_text(text, errors="surrogatepass")
    with pytest.raises(InvalidSettingError, match="it has no checksum"):
        make_agent(f"level(elo=1, file={str(path)!r})")
    with pytest.raises(InvalidSettingError, match=r"there is no ladder .*missing"):
        Levels.read(tmp_path / "missing.json")
    with pytest.raises(InvalidSettingError, match="it is no regular file"):
        Levels.read(tmp_path)
    with pytest.raises(InvalidSettingError, match="it is no regular file"):
        Levels.read("/dev/zero")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_shipped_ladders(path):
    levels = Levels.read(path)
    env = make(levels.about["env"])
    env.reset(seed=0)
    assert ladder_key(env) == levels.game
    assert levels.rungs[0].agent == "random"
    if levels.unit == "elo":
        assert levels.rungs[0][1:4] == (0, 0, 0)
    else:
        assert not runs_own_code(levels.baseline)
    assert all(rung.lower <= rung.rating <= rung.upper for rung in levels.rungs)
    for rung in levels.rungs:
        assert not runs_own_code(rung.agent)
        assert make_agent(rung.agent).spec() == rung.agent
        assert "seconds" not in rung.agent


@pytest.mark.thorough
def test_many_games_are_shared_between_the_rungs(ladder):
    envs = make_vec(GAME, 8, opponent=f"level(elo=25, file={ladder!r})")
    assert [(block.first, block.last) for block in envs._blocks] == [(0, 6), (6, 8)]
    assert len(make_vec(GAME, 8, opponent=f"level(elo=100, file={ladder!r})")._blocks) == 1
    with pytest.raises(InvalidSettingError, match="goes from 0"):
        make_vec(GAME, 8, opponent=f"level(elo=300, file={ladder!r})")


@pytest.mark.thorough
def test_matches_have_known_results():
    perfect, pairs = "alphabeta(depth=9)", 20
    assert Match(GAME, perfect, perfect, pairs).play(0)[:3] == (0, 40, 0)
    wins, draws, losses, moves = Match(GAME, perfect, "random", 200).play(0)
    assert wins + draws + losses == 400
    assert losses == 0
    assert wins > 340
    assert 400 * 5 <= moves <= 400 * 9
    noisy = f"noisy(agent={perfect}, epsilon=1.0)"
    wins, draws, losses, _ = Match(GAME, noisy, "random", 500).play(0)
    assert abs(wins - losses) < 4 * 1000**0.5
    parts = [Match(GAME, noisy, "random", 200, opening=2, threads=threads).play(7) for threads in (1, 3)]
    assert parts[0] == parts[1]


@pytest.mark.thorough
def test_a_match_needs_two_seats():
    with pytest.raises(UnsupportedGameError, match="has 3 seats, and a match needs two"):
        Match("zermelo/Pig-v0(players=3)", "random", "random", 2)
