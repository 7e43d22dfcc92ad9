"""Levels: opponents whose strength is a number."""

import json

import pytest

from zermelo.agents import make_agent
from zermelo.agents.level import FOLDER, Levels, ladder_key
from zermelo.agents.specs import runs_own_code
from zermelo.agents.training import OpponentEnv, make_vec
from zermelo.agents.training.vectors.opponents import Match
from zermelo.envs import InvalidSettingError, UnsupportedGameError, make_env

GAME = "classic/tictactoe-v3"
RUNGS = [
    {"agent": agent, "elo": elo, "lower": elo, "upper": elo, "ms": 0.0}
    for agent, elo in (("random", 0), ("greedy", 100), ("alphabeta(depth=2)", 250))
]


@pytest.fixture
def ladder(tmp_path):
    path = tmp_path / "ladder.json"
    path.write_text(json.dumps({"game": "MNK(m=3, n=3, k=3, players=2)", "rungs": RUNGS}))
    return str(path)


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
    env = make_env(GAME)
    env.reset(seed=0)
    assert make_agent(f"level(elo={elo}, file={ladder!r})").mix_for(env) == mixed


def test_each_game_is_played_by_one_of_the_two_as_often_as_the_rating_says(ladder):
    env = make_env(GAME)
    env.reset(seed=0)
    agent = make_agent(f"level(elo=25, file={ladder!r})")
    played = []
    for seed in range(300):
        agent.reset(seed)
        assert env.action_space(env.agent_selection).contains(agent.act(env))
        played.append(agent.__dict__["_playing"].name)
    assert set(played) == {"random", "greedy"}
    assert 50 <= played.count("greedy") <= 100  # of 300, a quarter


def test_a_ladder_of_another_game_is_refused(ladder):
    env = make_env("zermelo/Nim-v0")
    env.reset(seed=0)
    with pytest.raises(InvalidSettingError, match=r"is the ladder of MNK\(.*\), not of Nim"):
        make_agent(f"level(elo=100, file={ladder!r})").act(env)


@pytest.mark.parametrize("elo", [-1, 251, 1e9])
def test_a_rating_that_is_not_on_the_ladder_is_told_the_range(ladder, elo):
    with pytest.raises(InvalidSettingError, match=r"goes from 0 \(random\) to 250 \(alphabeta\(depth=2\)\)"):
        make_agent(f"level(elo={elo!r}, file={ladder!r})")


def test_levels_by_reward(tmp_path):
    path = tmp_path / "ladder.json"
    rungs = [{"reward" if key == "elo" else key: value for key, value in row.items()} for row in RUNGS]
    data = {"game": "MNK(m=3, n=3, k=3, players=2)", "unit": "reward", "baseline": "greedy", "rungs": rungs}
    path.write_text(json.dumps(data))
    env = make_env(GAME)
    env.reset(seed=0)
    level = make_agent(f"level(reward=25, file={str(path)!r})")
    assert level.mix_for(env) == ("random", "greedy", 0.25)
    assert make_agent(level.spec()).spec() == level.spec()
    with pytest.raises(InvalidSettingError, match=r"mean rewards of a game with greedy, from 0 to 250: say level"):
        make_agent(f"level(elo=25, file={str(path)!r})")
    with pytest.raises(InvalidSettingError, match=r"level\(reward=300\) is not on the ladder"):
        make_agent(f"level(reward=300, file={str(path)!r})")
    with pytest.raises(InvalidSettingError, match="level needs a rating"):
        make_agent("level(elo=25, reward=0.5)")
    path.write_text(json.dumps(data | {"unit": "chips"}))
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
    env = OpponentEnv("zermelo/Chomp-v0", "level(50)", seat=1)
    with pytest.raises(UnsupportedGameError, match="there is no ladder for Chomp"):
        env.reset(seed=0)


@pytest.mark.parametrize("given", ["level", "level(elo=high)", "level(elo=nan)", "level(elo='1')", "level(true)"])
def test_a_rating_is_a_number(given):
    with pytest.raises(InvalidSettingError, match=r"elo must be|level needs a rating"):
        make_agent(given)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no ladder"),
        ("[]", "is no ladder"),
        ('{"game": "x", "rungs": 3}', "is no ladder"),
        ('{"game": "x", "rungs": [{"agent": "random"}]}', "is no ladder"),
        (json.dumps({"game": "x", "rungs": RUNGS[:1]}), "two rungs or more"),
        (json.dumps({"game": "x", "rungs": RUNGS[::-1]}), "the weakest first"),
        (json.dumps({"game": "x", "rungs": [RUNGS[0], RUNGS[1] | {"elo": 1e999}]}), "two rungs or more"),
        ("[" * 100_000, "is no ladder"),
    ],
)
def test_files_that_are_no_ladder(tmp_path, text, said):
    path = tmp_path / "ladder.json"
    path.write_text(text)
    with pytest.raises(InvalidSettingError, match=said):
        make_agent(f"level(elo=1, file={str(path)!r})")
    with pytest.raises(InvalidSettingError, match="cannot read the ladder"):
        Levels.read(tmp_path / "missing.json")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_shipped_ladders(path):
    levels = Levels.read(path)
    env = make_env(levels.about["env"])
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
