"""A folder's games belong to the agents and the environment that they were played with, and to no others."""

import functools
import importlib
import json
import sqlite3
from collections import namedtuple

import numpy as np
import pytest
from doubles import toy_envs
from doubles.bad_agents import First, Good, Last

from zermelo.agents import AlphaBetaAgent, RandomAgent
from zermelo.evaluation import read_games, round_robin
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.fingerprint import changes, fingerprint

MODULE = """
from zermelo.agents import RandomAgent
FIRST = {first}

class Agent:
    name = "edited"
    def reset(self, seed=None): pass
    def act(self, env): return FIRST
"""


def play(out, agents, env=toy_envs.DiceEnv, games=4):
    return round_robin(env, agents, games=games, out=out)


def last_game_lost(out):
    db = sqlite3.connect(out / "games.sqlite")
    with db:
        place = db.execute("SELECT MAX(game_index) FROM games").fetchone()[0]
        db.execute("DELETE FROM games WHERE game_index = ?", (place,))
        db.execute("DELETE FROM records WHERE game_index = ?", (place,))
    db.close()


@pytest.mark.parametrize("stopped", [False, True])
@pytest.mark.parametrize(
    ("there", "here", "said"),
    [
        (RandomAgent(seed=1, name="x"), RandomAgent(seed=2, name="x"), "seed was 1 and is 2 now"),
        (functools.partial(First, "a"), functools.partial(First, "b"), "0 was 'a' and is 'b' now"),
        (lambda: RandomAgent(seed=1), lambda: RandomAgent(seed=2), "seed was 1 and is 2 now"),
    ],
)
def test_changed_agents_get_no_old_games(there, here, said, stopped, tmp_path):
    play(tmp_path, {"a": there, "b": First("b")})
    if stopped:
        last_game_lost(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(StoreError, match=f"holds games of another a .*{said}.*choose another folder"):
        play(tmp_path, {"a": here, "b": First("b")})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert play(tmp_path, {"a": there, "b": First("b")}).complete


def test_exchanged_lambdas_are_other_agents(tmp_path):
    agents = {"a": lambda: Good("a"), "b": lambda: First("b")}
    play(tmp_path, agents)
    with pytest.raises(StoreError, match="holds games of another a"):
        play(tmp_path, {"a": agents["b"], "b": agents["a"]})


@pytest.mark.thorough
@pytest.mark.parametrize("isolate", ["own", "none"])
def test_an_edited_module_is_another_agent(isolate, tmp_path, monkeypatch):
    from zermelo.evaluation.workers.settings import AgentLimits

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    agents, limits = {"a": "edited_agents:Agent", "b": First("b")}, AgentLimits(isolate=isolate)
    run = functools.partial(round_robin, toy_envs.DiceEnv, agents, games=2, out=tmp_path / "run", isolation=limits)
    (tmp_path / "edited_agents.py").write_text(MODULE.format(first=1))
    run()
    (tmp_path / "edited_agents.py").write_text("# a comment\n" + MODULE.format(first=1))
    if isolate == "none":
        importlib.reload(importlib.import_module("edited_agents"))
    run()
    (tmp_path / "edited_agents.py").write_text(MODULE.format(first=2))
    if isolate == "none":
        importlib.reload(importlib.import_module("edited_agents"))
    with pytest.raises(StoreError, match=r"the code of edited_agents\.Agent has changed"):
        run()


def test_a_retrained_model_file_is_another_agent(tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(b"1")
    before = fingerprint(f"{path}")
    path.write_bytes(b"2")
    assert "has changed" in changes(before, fingerprint(f"{path}"))
    weights = np.arange(3.0)
    assert fingerprint(functools.partial(First, weights)) == fingerprint(functools.partial(First, weights.copy()))
    assert fingerprint(functools.partial(First, weights)) != fingerprint(functools.partial(First, weights + 1))


def test_an_environment_with_other_settings_is_another(tmp_path):
    agents = {"a": Good("a"), "b": First("b")}
    play(tmp_path, agents, env=functools.partial(env_of, 3))
    with pytest.raises(StoreError, match=r"another environment|not this one \(env"):
        play(tmp_path, agents, env=functools.partial(env_of, 4))


def env_of(size):
    return toy_envs.DiceEnv() if size else None


def test_more_games_extend_a_run(tmp_path):
    agents = {"a": Good("a"), "b": First("b"), "c": Good("c")}
    assert len(play(tmp_path / "grown", agents, games=3).records) == 9
    played = []
    grown = round_robin(toy_envs.DiceEnv, agents, games=6, out=tmp_path / "grown", on_game=played.append)
    whole = play(tmp_path / "whole", agents, games=6)
    assert len(played) == 9
    assert [game.without_timings() for game in grown.records] == [game.without_timings() for game in whole.records]
    assert [row.score for row in grown.rows] == [row.score for row in whole.rows]
    assert json.loads((tmp_path / "grown" / "spec.json").read_text())["games"] == 6
    assert len((tmp_path / "grown" / "games.jsonl").read_text().splitlines()) == 18
    with pytest.raises(StoreError, match="games: 6 there, 3 here"):
        play(tmp_path / "grown", agents, games=3)


@pytest.mark.thorough
def test_agents_are_added_in_any_order_and_only_their_games_are_played(tmp_path):
    agents = {"a": Good("a"), "b": First("b"), "c": Good("c"), "d": Last("d")}
    two, more = {name: agents[name] for name in "ab"}, []
    for folder, order in (("one", "abcd"), ("other", "dbca")):
        out = tmp_path / folder
        play(out, two, games=3)
        for count in range(3, 5):
            names = "ab" + order.replace("a", "").replace("b", "")[: count - 2]
            added = {name: agents[name] for name in order if name in names}
            before = len(read_games(out))
            played = []
            standings = round_robin(toy_envs.DiceEnv, added, games=3, out=out, on_game=played.append)
            assert len(played) == standings.games - before == 3 * (count - 1)
            assert all(set(game.agents) & set(added) - {"a", "b"} for game in played)
        more.append(sorted((game.agents, game.seed, game.actions) for game in standings.records))
    assert more[0] == more[1]
    assert round_robin(toy_envs.DiceEnv, agents, games=5, out=tmp_path / "one").games == 30
    with pytest.raises(StoreError, match=r"agents: .* there, .* here"):
        play(tmp_path / "one", two, games=5)


Point = namedtuple("Point", "x y")


def of_a_point():
    return First(str(Point(1, 2)))


def test_what_has_no_source_of_its_own_is_the_same_again():
    parts = fingerprint(of_a_point)
    assert parts == fingerprint(of_a_point)
    assert f"code of {__name__}.Point" in parts


def agent_of(move):
    class Local(First):
        def act(self, env):
            return move

    return Local


def test_a_lambda_is_the_same_wherever_it_stands():
    here = fingerprint(lambda: First("a"))
    assert here == fingerprint(*[lambda: First("a")])
    assert here != fingerprint(lambda: First("b"))


def test_what_a_class_has_taken_from_around_it_counts():
    assert fingerprint(agent_of(1)) == fingerprint(agent_of(1)) != fingerprint(agent_of(2))


def test_the_code_of_this_package_and_of_installed_ones_is_left_to_versions():
    assert fingerprint("alphabeta(depth=2)") == {"": "'alphabeta(depth=2)'"}
    assert not [label for label in fingerprint(AlphaBetaAgent(depth=2)) if label.startswith("code of")]
