"""GNU Backgammon: positions and moves, a gnubg that misbehaves, and Debian's if it is there."""

import shutil
import sys

import pytest

from zermelo.agents.experts.backgammon.gnubg import GnubgAgent, after_move, position_id, whole_plays
from zermelo.agents.policies import engines as protocols
from zermelo.agents.policies.engines import EngineError
from zermelo.envs import UnsupportedGameError, as_game, make
from zermelo.envs.errors import MissingDependencyError, UnknownNameError
from zermelo.envs.games import Backgammon
from zermelo.envs.games.backgammon.rules import BackgammonState
from zermelo.envs.rules import RulesGame

ENV = "zermelo/Backgammon-v0(most_points=3)"


def side(counts):
    """Checkers on places; all others are off."""
    return tuple({0: 15 - sum(counts.values()), **counts}.get(place, 0) for place in range(26))


START = side({24: 2, 13: 5, 8: 3, 6: 5})


def test_position_ids():
    """The start is gnubg's own example; the others are what its ``show board`` says of positions set by hand."""
    assert position_id(START, START) == "4HPwATDgc/ABMA"
    assert position_id(side({}), side({})) == "AAAAAAAAAAAAAA"
    assert position_id(side({25: 2, 1: 13}), side({6: 15})) != position_id(side({6: 15}), side({25: 2, 1: 13}))


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
def test_moves(own, other, move, mine, theirs):
    found, hit = after_move(side(own), side(other), move)
    off = sum(own.values()) - sum(mine.values())
    assert found == (side(own)[0] + off, *side(mine)[1:])
    assert hit == side(other if theirs is None else theirs)


def test_a_move_that_is_none():
    with pytest.raises(EngineError, match=r"'13-7' in '8/5 13-7' is no move of a checker"):
        after_move(START, START, "8/5 13-7")


def test_whole_plays_are_all_that_a_roll_can_end_in():
    game = RulesGame(Backgammon(3))
    state = game.result(game.initial_state(), 6 * 2)  # 3-1: sixteen different positions
    plays = whole_plays(game, state)
    assert len(plays) == 16
    assert after_move(START, START, "8/5 6/5") in plays
    double = BackgammonState(state.low, state.high, state.other_low, state.other_high, 1, 8 * 6 + 6)
    doubles = whole_plays(game, double)
    assert doubles[after_move(START, START, "24/18(2) 13/7(2)")]
    assert all(len(path) == 2 for path in doubles.values())


# -- a gnubg that is none -----------------------------------------------------------------------------------------

FAKE = """
import sys, time
for line in sys.stdin:
    line = line.strip()
    if line == "play":
        answer = " ".join(sys.argv[1:sys.argv.index("-t")]).replace("|", "\\n")
        if answer == "die":
            sys.exit(3)
        if answer == "sleep":
            time.sleep(60)
        print(answer, flush=True)
    elif line == "decline":
        print("root declines the gammon.\\ngnubg moves 13/10 6/5.", flush=True)
    elif line.startswith("zermelo"):
        print("Unknown keyword `" + line + "'.", file=sys.stderr, flush=True)
"""


@pytest.fixture
def agent(tmp_path, monkeypatch):
    monkeypatch.setattr(protocols, "PATIENCE", 5.0)
    script = tmp_path / "fake.py"
    script.write_text(FAKE)
    return lambda answer, **settings: GnubgAgent(path=f"{sys.executable} {script} '{answer}'", **settings)


@pytest.fixture(scope="module")
def opening():
    """An environment in which the player on turn has 3-1 to play from the start."""
    for seed in range(1000):
        env = make("zermelo/Backgammon-v0", most_points=3)
        env.reset(seed=seed)
        state = as_game(env).snapshot(env)
        if (state.roll >> 3, state.roll & 7) == (3, 1):
            return env
    raise AssertionError("no such roll")


@pytest.mark.parametrize(
    ("said", "played"),
    [
        ("noise|gnubg moves 8/5 6/5.|board:root:gnubg:0", "8/5 6/5"),
        ("gnubg offers to resign a gammon.", "13/10 6/5"),
    ],
)
def test_what_it_says_becomes_an_action(agent, opening, said, played):
    game = as_game(opening)
    assert game.action_text(game.snapshot(opening), agent(said).act(opening)) == played


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("die", "ended, with exit code 3"),
        ("gnubg moves 8/4 6/5.", "plays '8/4 6/5', which is not legal in BackgammonState"),
        ("No game", "does not say how it plays 3-1, but 'No game'"),
    ],
)
def test_what_is_no_move(agent, opening, said, error):
    with pytest.raises(EngineError, match=error):
        agent(said).act(opening)


def test_a_gnubg_that_stalls(agent, opening, monkeypatch):
    stalled = agent("sleep", seconds=0.1)
    monkeypatch.setattr(protocols, "PATIENCE", 0.1)
    with pytest.raises(EngineError, match="did not answer in time"):
        stalled.act(opening)


def test_other_games_levels_and_programs(agent):
    env = make("classic/tictactoe-v3")
    env.reset(seed=0)
    with pytest.raises(UnsupportedGameError, match="gnubg plays backgammon"):
        agent("No game").act(env)
    with pytest.raises(MissingDependencyError, match="there is no program 'no-such-gnubg'"):
        GnubgAgent(path="no-such-gnubg")
    with pytest.raises(UnknownNameError, match="no level 'grandmother' here: there are noise-1, "):
        GnubgAgent(level="grandmother")


# -- gnubg --------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.skipif(
    not (shutil.which("gnubg") or shutil.which("/usr/games/gnubg")),
    reason="gnubg is not installed: apt-get install gnubg",
)
def test_two_of_them():
    """Every move of both is legal in our rules, to the end of the game, and the same seed is the same game."""

    def game():
        agents = [GnubgAgent(level="expert"), GnubgAgent(level="noise-0.2")]
        env = make(ENV)
        env.reset(seed=4)
        for seat, agent in enumerate(agents):
            agent.reset(seat)
        actions = []
        while env.agents:
            observation, _, terminated, truncated, _ = env.last()
            action = None
            if not (terminated or truncated):
                action = agents[env.possible_agents.index(env.agent_selection)].act(env)
                assert observation["action_mask"][action]
                actions.append(action)
            env.step(action)
        return actions

    first = game()
    assert len(first) > 30
    assert game() == first
