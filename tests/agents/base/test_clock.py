"""The clock of a game: the share of it that a move takes, and the searches that keep to it."""

import math

import pytest

from zermelo.agents import AlphaBetaAgent, make_agent
from zermelo.agents.base.clock import RESERVE, GameClock, SupportsClock
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.registration.make import make


@pytest.mark.parametrize("increment", [0.0, 0.1, 5.0])
@pytest.mark.parametrize("left", [0.0, 0.05, 0.2, 1.0, 60.0, 7200.0])
def test_a_share_leaves_a_reserve(left, increment):
    usual, most = GameClock(left=(left, 1.0), seat=0, increment=increment).share()
    assert 0 < usual <= most
    assert most <= max((left - RESERVE) / 2, 0.001)


@pytest.mark.parametrize(("control", "moves"), [((10.0, 0.1), 300), ((60.0, 0.0), 150), ((1.0, 0.0), 80)])
def test_no_game_is_too_long_for_moves_that_take_the_most(control, moves):
    left, increment = control
    for _ in range(moves):
        left -= GameClock(left=(left,), seat=0, increment=increment).share().most
        assert left > 0
        left += increment


def test_shares_grow_with_time_and_increment_and_keep_to_the_limit_of_a_move():
    share = GameClock(left=(10.0, 10.0), seat=1).share()
    assert share.usual < GameClock(left=(10.0, 20.0), seat=1).share().usual
    assert share.usual < GameClock(left=(10.0, 10.0), seat=1, increment=0.1).share().usual
    assert share == GameClock(left=(99.0, 10.0), seat=1).share()
    assert GameClock(left=(10.0, 10.0), seat=1, move_seconds=0.2).share().most < 0.2


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"left": (-1.0,)}, "the time of a clock must be a finite number of at least 0, not -1"),
        ({"left": (math.nan,)}, "the time of a clock must be a finite number"),
        ({"left": ("1",)}, "the time of a clock must be a finite number of at least 0, not '1'"),
        ({"increment": -0.1}, "the time of a clock must be"),
        ({"seat": 1}, "the seat of a clock must be a whole number from 0 to 0, not 1"),
        ({"move_seconds": 0}, "move_seconds must be greater than 0, not 0"),
    ],
)
def test_clocks_that_are_none(wrong, said):
    with pytest.raises(InvalidSettingError, match=said):
        GameClock(**{"left": (1.0,), "seat": 0} | wrong)


# -- searches


def searched(spec, *, left=60.0, env="classic/tictactoe-v3", **settings):
    """The result of a search that was told a clock."""
    agent = make_agent(spec)
    live = make(env)
    live.reset(seed=0)
    agent.prepare(live)
    agent.tell_clock(GameClock(left=(left, 5.0), seat=0, **settings))
    return agent, agent.search(live)


LONG = "zermelo/Chess-v0"
TIMED = ["alphabeta", "auto", "mcts", "alphabeta(compile=never, seconds=30)", "mcts(compile=never)"]


@pytest.mark.alone
@pytest.mark.thorough
@pytest.mark.parametrize("spec", TIMED)
def test_searches_take_their_share(spec):
    usual, most = GameClock(left=(3.0, 5.0), seat=0).share()
    _, result = searched(spec, left=3.0, env=LONG)
    assert usual / 10 < result.seconds < most + RESERVE
    assert result.stopped_by == "seconds"


@pytest.mark.parametrize(
    "spec", ["alphabeta(depth=2)", "alphabeta(nodes=500)", "mcts(simulations=40)", "minimax(depth=full)"]
)
def test_searches_of_a_fixed_size_stay_as_they_are(spec):
    agent, result = searched(spec, left=0.001)
    other = make_agent(spec)
    env = make("classic/tictactoe-v3")
    env.reset(seed=0)
    expected = other.search(env)
    assert agent.limits == other.limits
    for name in ("nodes", "action", "stopped_by"):
        assert getattr(result, name) == getattr(expected, name)


def test_a_limit_in_seconds_stays_an_upper_limit():
    agent, _ = searched("alphabeta(seconds=0.01)", left=60.0)
    assert agent.limits.seconds == 0.01
    for spec in ("alphabeta", "mcts", "auto"):
        agent, _ = searched(spec, left=2.0)
        assert 0.1 < agent.limits.seconds < 2.0
        assert agent.limits.simulations is None
        unlimited = make_agent(spec)
        agent.reset(0)
        assert agent.limits == unlimited.limits


def test_memory_is_kept_from_move_to_move():
    """Limits do not change with every look at the clock, as memory is made for them."""
    agent = AlphaBetaAgent()
    limits = []
    for left in (10.0, 9.8, 9.0, 5.0, 1.0, 0.2):
        agent.tell_clock(GameClock(left=(left, 1.0), seat=0, increment=0.1))
        limits.append(agent.limits)
    assert len(set(limits)) == 1


def test_an_engine_in_another_agent_is_told():
    assert isinstance(make_agent("noisy(agent=alphabeta)"), SupportsClock)
    agent = make_agent("noisy(agent=alphabeta)")
    agent.tell_clock(GameClock(left=(2.0, 2.0), seat=0))
    assert agent.agent.limits.seconds < 1
    make_agent("noisy(agent=random)").tell_clock(GameClock(left=(2.0, 2.0), seat=0))
    assert not isinstance(make_agent("random"), SupportsClock)
