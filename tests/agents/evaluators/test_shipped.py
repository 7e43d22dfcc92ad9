"""Networks that come with the package: for their own rules only, and better than what was written."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from zermelo.agents import AlphaBetaAgent, make_agent
from zermelo.agents.evaluators.network import FOLDER, StoredNetwork, shipped_network
from zermelo.envs import UnsupportedGameError, as_game
from zermelo.envs.registration.make import make
from zermelo.evaluation import round_robin

FILES = sorted(FOLDER.glob("*.json"))


def about(path):
    return msgspec.json.decode(path.read_bytes(), type=StoredNetwork).about


def game_of(env):
    live = make(env)
    live.reset(seed=0)
    return as_game(live)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_says_what_it_is_for_and_is_small(path):
    game = game_of(about(path).env)
    assert str(game.rules) == about(path).rules
    assert shipped_network(game).tables(game) is not None
    assert path.stat().st_size < 2_000_000


@pytest.mark.thorough
@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow] * (path.stem == "chess"), id=path.stem) for path in FILES],
)
def test_compiled_and_plain_searches_are_the_same(path):
    game = game_of(about(path).env)
    draw, state = np.random.default_rng(1), game.initial_state()
    for _ in range(8):
        found = [
            AlphaBetaAgent(depth=2, evaluator="network", compile=when, ties="first").search_state(game, state)
            for when in ("wait", "never")
        ]
        assert (found[0].value, found[0].action) == (found[1].value, found[1].action)
        actions = game.legal_actions(state)
        state = game.result(state, actions[int(draw.integers(len(actions)))])


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_search_with_the_network_beats_one_with_the_written_evaluation(path):
    agents = {"network": "alphabeta(depth=3, evaluator=network)", "written": "alphabeta(depth=3)"}
    row = round_robin(about(path).env, agents, games=60, seed=3, openings=6, progress=False).row("network")
    assert row.wins >= 1.5 * row.losses


def test_auto_plays_by_it_and_says_so():
    env = make("zermelo/Othello-v0")
    env.reset(seed=0)
    found = make_agent("auto(nodes=2000)").search(env)
    assert found.method == "alphabeta: there is a network, and two players are opposed"
    assert found.evaluator == "network"


@pytest.mark.thorough
def test_games_that_start_elsewhere_have_the_network_too():
    start = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"
    game, whole = game_of(f"zermelo/Chess-v0(fen='{start}')"), game_of("zermelo/Chess-v0")
    agent = AlphaBetaAgent(depth=3, evaluator="network")
    state = game.initial_state()
    assert agent.search_state(game, state).action_values == agent.search_state(whole, state).action_values


def test_other_games_are_refused_in_a_sentence():
    agent = AlphaBetaAgent(nodes=100, evaluator="network")
    for env in ("zermelo/Hex-v0", "zermelo/Othello-v0(rows=6, columns=6)"):
        with pytest.raises(UnsupportedGameError, match=r"this package has no network for .*zermelo tune ENV"):
            agent.search_state(game_of(env), game_of(env).initial_state())
