"""Networks over planes: the same values in plain Python, compiled, and from a file."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles.compared_searches import compiled, plain, random_positions, random_result, searched

from zermelo.agents import ExpectiminimaxAgent, MCTSAgent, make_agent
from zermelo.agents.base.limits import Limits
from zermelo.agents.base.scores import FITTED_UNIT
from zermelo.agents.evaluators.network import NetworkOrigin, PlaneNetwork, plane_words
from zermelo.agents.evaluators.network_kernel import network_value
from zermelo.agents.evaluators.registry import load_evaluation
from zermelo.agents.tree_search.alpha_beta import kernel_scores as scores
from zermelo.agents.tree_search.compiled.record import TwoPlayerRecord, TwoPlayerVariant
from zermelo.agents.tree_search.interface import SearchSetup
from zermelo.agents.tree_search.settings import AlphaBetaConfig
from zermelo.envs import UnsupportedGameError
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import MNK, Amazons, Breakthrough, Chess, ConnectFour, EinStein, Hex, Nim, Othello, Pig
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.contract import DEFAULTS
from zermelo.envs.support.data_files import split_checksum, write_json


def some_network(game: Any, hidden: int = 16, seed: int = 1, path: str = "") -> PlaneNetwork:
    """A network with random weights, two thirds of the bits, and three phases."""
    draw, phases = np.random.default_rng(seed), (5, 9)
    shape = 2, 64 * plane_words(game, [game.initial_state()]).shape[2]
    columns = np.arange(2 * shape[1], dtype=np.int32).reshape(shape)
    columns[:, ::3] = -1
    return PlaneNetwork(
        columns,
        draw.normal(0, 60, (2 * shape[1], hidden)).astype(np.int16),
        draw.normal(60, 60, hidden).astype(np.int16),
        np.clip(draw.normal(0, 20, (3, 2 * hidden)), -127, 127).astype(np.int16),
        draw.integers(-500, 500, 3),
        phases,
        path,
    )


@pytest.mark.parametrize(
    "rules",
    [
        ConnectFour(),
        Breakthrough(),
        Othello(),
        Hex(9, 9),
        Amazons(),
        Chess(),
        Chess("8/8/8/4k3/8/8/8/K6R w - - 0 1"),
    ],
    ids=lambda rules: type(rules).__name__,
)
def test_values_of_jumps_and_of_games_are_those_of_plain_python(
    rules: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the positions before, and at any ply; boards of several words, and known wins, too."""
    if not hasattr(rules, "is_known_win"):
        monkeypatch.setattr(type(rules), "is_known_win", DEFAULTS["is_known_win"], raising=False)
    game, draw = RulesGame(rules), random.Random(1)
    network = some_network(game)
    tables = network.tables(game)
    assert tables is not None
    states = random_positions(game, draw, 3, longest=20)
    state = states[-1]
    for _ in range(3):  # a game, whose positions differ little
        if not game.is_terminal(state) and game.to_move(state) >= 0:
            states.append(state)
            state = random_result(game, state, draw)
    for state in states:
        value = network_value(rules, state, draw.randrange(200), tables.address)
        assert value == FITTED_UNIT * network(game, state)[0]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "rules", [Nim((3, 4)), pytest.param(Breakthrough(rows=4, columns=3), marks=pytest.mark.slow)]
)
def test_alpha_beta_visits_the_same_nodes_compiled_and_plain(rules: Any) -> None:
    """Nim has no planes of its own."""
    game, draw = RulesGame(rules), random.Random(3)
    network = some_network(game)
    for state in random_positions(game, draw, 8, longest=4):
        limits = Limits(depth=draw.choice([1, 2, 3]), nodes=draw.choice([None, 200]))
        config = AlphaBetaConfig(prefer_short_wins=draw.random() < 0.7, quiescence=draw.choice([0, 3]))
        root = SearchSetup(game, state, network)
        expected = searched(plain(root, limits, config), state, limits, exact=True)
        assert searched(compiled(root, limits, config), state, limits, exact=True) == expected


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rules", "make", "limit"),
    [
        (Nim((3, 4)), MCTSAgent, {"simulations": 100}),
        pytest.param(EinStein(), ExpectiminimaxAgent, {"depth": 1}, marks=pytest.mark.slow),
    ],
)
def test_other_searches_take_networks_too(rules: Any, make: Any, limit: dict[str, int]) -> None:
    game = RulesGame(rules)
    network = some_network(game)
    for state in random_positions(game, random.Random(1), 3, longest=4):
        fast, slow = (
            make(evaluator=network, seed=1, compile=when, **limit).search_state(game, state)
            for when in ("wait", "never")
        )
        assert fast.compiled
        assert not slow.compiled
        assert (fast.value, fast.nodes) == (slow.value, slow.nodes)


@pytest.mark.thorough
def test_monte_carlo_asks_the_network_that_comes_with_the_package() -> None:
    fast, slow = (
        MCTSAgent(evaluator="network", simulations=100, seed=1, compile=when).search_state(Breakthrough())
        for when in ("wait", "never")
    )
    assert fast.compiled
    assert (fast.value, fast.action_values, fast.nodes) == (slow.value, slow.action_values, slow.nodes)


def test_a_file_holds_the_network(tmp_path: Path) -> None:
    game, path = RulesGame(MNK()), str(tmp_path / "mnk.json")
    network = some_network(game, path=path)
    network.save(path, NetworkOrigin(env="zermelo/MNK-v0"))
    loaded = load_evaluation(path)
    assert loaded == network
    assert hash(loaded) == hash(network)
    assert loaded != some_network(game, seed=2)
    agent = make_agent(f"alphabeta(depth=1, evaluator={path!r})")
    assert make_agent(agent.name).search_state(MNK()).value == agent.search_state(MNK()).value


def test_damaged_files_and_other_games_are_refused_in_a_sentence(tmp_path: Path) -> None:
    game, file = RulesGame(MNK()), tmp_path / "mnk.json"
    network = some_network(game)
    network.save(str(file))
    text = file.read_text()
    for wrong in (
        text.replace('"arrays":"', '"arrays":"eJ'),
        text.replace('"hidden":16', '"hidden":24'),
        text.replace('"hidden":16', '"hidden":32'),
        text.replace('"words":5', '"words":-5'),
        text.replace('"version":2', '"version":1'),
        text.replace('"phases":[5,9]', '"phases":[9]'),
        text.replace('"arrays":"', '"arrays":"AAAA'),
        text.replace('"arrays":"', '"arrays":"!'),
    ):
        assert wrong != text
        file.write_text(wrong)
        with pytest.raises(InvalidSettingError, match=r"mnk\.json' is no evaluation, .*(checksum|not written)"):
            load_evaluation(str(file))
        write_json(file, split_checksum(wrong.encode())[1].replace(b'"checksum":"",', b""))
        with pytest.raises(InvalidSettingError, match=r"mnk\.json' is no evaluation, or it is damaged"):
            load_evaluation(str(file))
    network.rules = "Hex(rows=3, columns=3)"
    with pytest.raises(UnsupportedGameError, match=r"fitted to Hex\(rows=3, columns=3\), not to MNK\("):
        network(game, game.initial_state())
    assert network.tables(game) is None
    network.rules = ""
    with pytest.raises(UnsupportedGameError, match="planes of 5 words, but Hex has"):
        network(RulesGame(Hex()), Hex().initial_state())
    with pytest.raises(UnsupportedGameError, match="two opposed players"):
        network(RulesGame(Pig(players=3)), Pig(players=3).initial_state())
    assert network.tables(RulesGame(Hex())) is None
    assert network.tables(RulesGame(Pig(players=3))) is None


def test_parts_that_do_not_fit_are_refused() -> None:
    game = RulesGame(MNK())
    good = some_network(game)
    parts = [good.columns, good.first, good.bias, good.outputs, good.output_bias]
    for place, wrong, told in (
        (0, good.columns + 1000, "columns that are not there"),
        (0, good.columns[:, :65], "do not fit"),
        (1, good.first[:, :8], "do not fit"),
        (2, good.bias[:8], "multiple of 16"),
        (3, good.outputs * 0 + 200, "too large"),
        (4, good.output_bias[:2], "do not fit"),
    ):
        with pytest.raises(InvalidSettingError, match=told):
            PlaneNetwork(*[*parts[:place], wrong, *parts[place + 1 :]], phases=(5, 9))


def test_threads_have_room_of_their_own() -> None:
    tables = some_network(RulesGame(MNK())).tables(RulesGame(MNK()))
    assert tables is not None
    one, two = tables.words(), tables.words()
    for block, start in itertools.product((one, two), (8, 9)):
        assert block.ctypes.data < block[start] < block.ctypes.data + block.nbytes
    assert one[:8].tolist() == two[:8].tolist()


def test_margins_of_fitted_values_are_those_of_log_odds(monkeypatch: pytest.MonkeyPatch) -> None:
    search = TwoPlayerRecord()
    search.span = FITTED_UNIT
    monkeypatch.setattr(scores, "WITH", TwoPlayerVariant(network=True))
    for odds in (-6.0, -1.0, 0.0, 0.5, 3.0):
        value = round(FITTED_UNIT * math.tanh(odds / 2))
        assert scores.linear(value, search) == pytest.approx(FITTED_UNIT * odds / 2, rel=0.01)
