"""Policy-value networks: what they are given and give back, and the search that asks about leaves in batches."""

from __future__ import annotations

import importlib
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doubles.small_games import ConnectK

from zermelo.agents import MCTSAgent, make_agent
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.evaluators.policy_value import NetworkEvaluator, PolicyValue
from zermelo.agents.evaluators.registry import make_evaluator
from zermelo.agents.monte_carlo.batches import BatchedMonteCarlo
from zermelo.agents.monte_carlo.interface import RootSetup
from zermelo.agents.specs import runs_own_code
from zermelo.envs import UnsupportedGameError, as_game, make
from zermelo.envs.errors import InvalidSettingError, MissingDependencyError
from zermelo.envs.games import MNK, Kalah
from zermelo.envs.rules import RulesGame
from zermelo.envs.support.installing import install_command

GAME = RulesGame(MNK(m=3, n=3, k=3))


class Lines:
    """A network of NumPy's: it likes the middle, and whoever has more stones on diagonals."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def __call__(self, observations: Any) -> Any:
        assert observations.dtype == np.float32
        assert observations.shape[1:] == (3, 3, 2)
        self.batches.append(len(observations))
        weights = np.array([1, 0, 1, 0, 2, 0, 1, 0, 1.0])
        own, other = (observations[..., side].reshape(-1, 9) @ weights for side in (0, 1))
        return np.tile(weights, (len(observations), 1)), (own - other) / 10


def searched(network: Any, game: Any = GAME, **settings: Any) -> Any:
    about = {"simulations": 100, "selection": "puct", "solver": False} | settings
    return MCTSAgent(evaluator=NetworkEvaluator(network), **about).search_state(game)


def test_it_says_what_the_network_says() -> None:
    evaluator = NetworkEvaluator(Lines())
    assert isinstance(evaluator, PolicyValue)
    first = GAME.initial_state()
    after = GAME.result(first, 4)
    at_start, rated = evaluator.evaluate_batch(GAME, [first, after])
    assert at_start.values == (0, 0)
    assert rated.values == pytest.approx((0.2, -0.2)), "for the player to move, who has no stone yet"
    weights = np.exp([1, 0, 1, 0, 0, 1, 0, 1])
    assert rated.priors == pytest.approx(weights / weights.sum()), "of legal actions only"
    assert evaluator(GAME, after) == pytest.approx(rated.values)


def test_values_for_all_players_begin_with_the_one_to_move() -> None:
    game = RulesGame(MNK(m=3, n=3, k=3, players=3))
    state = game.result(game.initial_state(), 0)
    answers = np.zeros((1, 9)), np.array([[0.0, 0.5, -0.5]])
    rated = NetworkEvaluator(lambda seen: answers).evaluate_batch(game, [state])[0]
    assert rated.values == pytest.approx((-0.25, 0.5, 1.25)), "from -1 to 1, stretched to utilities of -1 to 2"
    with pytest.raises(InvalidSettingError, match="a network gives a value for each"):
        NetworkEvaluator(lambda seen: (answers[0], np.zeros(1))).evaluate_batch(game, [state])


def test_a_batch_of_one_is_the_search_one_by_one() -> None:
    """Visits are those of the search that asks an evaluator with ``prior`` for one state at a time."""

    class OneByOne:
        def __init__(self) -> None:
            self.network = NetworkEvaluator(Lines())

        def __call__(self, game: Any, state: Any) -> Any:
            return self.network(game, state)

        def prior(self, game: Any, state: Any, actions: Any) -> Any:
            said = dict(
                zip(game.legal_actions(state), self.network.evaluate_batch(game, [state])[0].priors, strict=True)
            )
            return [said[action] for action in actions]

    expected = MCTSAgent(simulations=100, selection="puct", solver=False, evaluator=OneByOne()).search_state(GAME)
    assert searched(Lines()).visits == expected.visits


@pytest.mark.parametrize("batch_size", [2, 8, 500])
def test_batches(batch_size: int) -> None:
    network = Lines()
    result = searched(network, batch_size=batch_size)
    assert result.stats["simulations"] == sum(result.visits.values()) == 100
    assert max(network.batches) <= batch_size
    assert len(network.batches) < 60, "many leaves at a time"
    assert result.action == 4
    assert result.evaluator.endswith(":NetworkEvaluator")
    again = searched(Lines(), batch_size=batch_size)
    assert again.visits == result.visits
    assert again == result or again.seconds != result.seconds


def test_virtual_losses_are_taken_back() -> None:
    """After a search, and after one that is stopped half way, visits and outcomes are those of its simulations."""
    network = NetworkEvaluator(Lines())
    policy = MCTSAgent(selection="puct", solver=False).config
    for nodes in (None, 20, 33):
        limits = Limits(nodes=nodes)
        search = BatchedMonteCarlo(
            RootSetup(GAME, GAME.initial_state(), policy, 3), Budget(limits), network=network,
            evaluation=lambda state: (0.0, 0.0),
        )  # fmt: skip
        stopped_by = search.run(limits, 60)
        assert stopped_by is (None if nodes is None else StoppedBy.NODES)
        assert search.root.visits == sum(search.root.counts) == search.simulations
        assert all(
            abs(total[0]) <= count for total, count in zip(search.root.totals, search.root.counts, strict=True)
        )
        assert not search.waiting


def test_chance_memory_and_the_next_move() -> None:
    """Proofs come through, trees are kept, and where memory is out leaves are asked about again."""
    state = GAME.initial_state()
    for action in (0, 4, 8):
        state = GAME.result(state, action)
    about: dict[str, Any] = {"selection": "puct", "evaluator": NetworkEvaluator(Lines()), "batch_size": 16}
    result = MCTSAgent(simulations=5_000, **about).search_state(GAME, state)
    assert result.proven
    assert result.value == 0
    small = searched(Lines(), memory_mb=0.01, batch_size=4, simulations=500)
    assert small.stats["simulations"] == 500
    agent = MCTSAgent(
        simulations=50, selection="puct", solver=False, evaluator=NetworkEvaluator(Lines()), batch_size=4
    )
    state = GAME.initial_state()
    for action in agent.search_state(GAME).principal_variation[:2]:
        state = GAME.result(state, action)
    assert sum(agent.search_state(GAME, state).visits.values()) >= 50


def test_what_an_environment_shows() -> None:
    """The clone of an environment asks its ``observe``, and shows what the twin of it in rules shows."""
    env = make("zermelo/MNK-v0")
    env.reset(seed=0)
    game: Any = as_game(env, backend="clone", traits={"information": "perfect"})
    state = game.result(game.snapshot(env), 4)
    twin = GAME.result(GAME.initial_state(), 4)
    assert (game.observation(state, 1) == GAME.observation(twin, 1)).all()
    assert game.observation(state, 1).shape == (3, 3, 2)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros((1, 9)), "returns the policy and the value, two arrays"),
        ((np.zeros((1, 8)), np.zeros(1)), r"a policy of shape \(1, 9\) and a value of shape \(1,\)"),
        ((np.zeros((1, 9)), np.zeros(3)), r"not \(1, 9\) and \(3,\)"),
        ((np.zeros((1, 9)), np.array([np.nan])), "a number that is not finite"),
        ((np.full((1, 9), np.nan), np.zeros(1)), "a number that is not finite"),
    ],
)
def test_answers_that_are_none(answer: Any, message: str) -> None:
    with pytest.raises(InvalidSettingError, match=message):
        searched(lambda seen: answer)


def test_games_that_show_nothing() -> None:
    with pytest.raises(UnsupportedGameError, match="does not say what its players observe"):
        searched(Lines(), ConnectK())


def net() -> Any:
    """A small module of PyTorch's for Kalah(2 houses): its policy and value are known numbers."""
    import torch

    class Net(torch.nn.Module):
        def forward(self, seen: Any) -> Any:
            flat = seen.flatten(1)
            return flat[:, :2] * 0.5, (flat[:, 2] - flat[:, 5]) / 10

    return Net()


KALAH = RulesGame(Kalah(houses=2, seeds=2))


def check_kalah(evaluator: Any) -> None:
    state = KALAH.result(KALAH.initial_state(), 0)  # the last seed falls into the store
    seen = KALAH.observation(state, KALAH.to_move(state)).ravel().astype(float)
    rated = evaluator.evaluate_batch(KALAH, [state, state])[1]
    assert rated.values[KALAH.to_move(state)] == pytest.approx((seen[2] - seen[5]) / 10)
    legal = KALAH.legal_actions(state)
    weights = np.exp(seen[:2][list(legal)] * 0.5)
    assert rated.priors == pytest.approx(weights / weights.sum())
    agent = MCTSAgent(simulations=40, selection="puct", evaluator=evaluator, batch_size=4)
    assert sum(agent.search_state(KALAH).visits.values()) == 40 or agent.search_state(KALAH).proven


class TestFiles:
    @pytest.mark.thorough
    def test_torch(self, tmp_path: Any) -> None:
        torch = pytest.importorskip("torch", reason="needs scripts/setup torch")
        path = str(tmp_path / "net.pt")
        torch.save(net().state_dict(), path)
        evaluator = make_evaluator(f"torch(path='{path}', module='{__name__}:net')")
        check_kalah(evaluator)
        again = pickle.loads(pickle.dumps(evaluator))
        assert again.spec() == evaluator.spec() == f"torch(path='{path}', module='{__name__}:net')"

    def test_onnx(self, tmp_path: Any) -> None:
        onnx = pytest.importorskip("onnx", reason="needs onnx and scripts/setup onnx")
        pytest.importorskip("onnxruntime", reason="needs scripts/setup onnx")
        helper, kinds = onnx.helper, onnx.TensorProto
        policy, value = np.zeros((6, 2), np.float32), np.zeros((6, 1), np.float32)
        policy[0, 0] = policy[1, 1] = 0.5
        value[2], value[5] = 0.1, -0.1
        graph = helper.make_graph(
            [
                helper.make_node("Flatten", ["seen"], ["flat"]),
                helper.make_node("MatMul", ["flat", "first"], ["policy"]),
                helper.make_node("MatMul", ["flat", "second"], ["value"]),
            ],
            "net",
            [helper.make_tensor_value_info("seen", kinds.FLOAT, ["batch", 2, 3])],
            [
                helper.make_tensor_value_info("policy", kinds.FLOAT, ["batch", 2]),
                helper.make_tensor_value_info("value", kinds.FLOAT, ["batch", 1]),
            ],
            [onnx.numpy_helper.from_array(policy, "first"), onnx.numpy_helper.from_array(value, "second")],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        path = str(tmp_path / "net.onnx")
        onnx.save(model, path)
        evaluator = make_evaluator(f"onnx(path='{path}')")
        check_kalah(evaluator)
        agent: Any = make_agent(f"mcts(simulations=9, selection=puct, evaluator=onnx(path='{path}'))")
        assert agent.search_state(KALAH).evaluator == evaluator.spec()
        assert pickle.loads(pickle.dumps(evaluator)).spec() == evaluator.spec()

    @pytest.mark.parametrize(("name", "module"), [("torch", "torch"), ("onnx", "onnxruntime")])
    def test_what_to_install(self, name: str, module: str, monkeypatch: Any, tmp_path: Path) -> None:
        load = importlib.import_module

        def missing(wanted: str) -> Any:
            if wanted == module:
                raise ImportError(wanted)
            return load(wanted)

        monkeypatch.setattr(importlib, "import_module", missing)
        path = tmp_path / "net.file"
        path.write_bytes(b"")
        with pytest.raises(MissingDependencyError, match=re.escape(install_command(name))):
            make_evaluator(f"{name}(path='{path}')")

    def test_specs_with_networks_run_code_from_outside(self) -> None:
        assert runs_own_code("mcts(evaluator=onnx(path='net.onnx'))")
        assert runs_own_code("mcts(evaluator=torch(path='net.pt'))")
        assert not runs_own_code("mcts(evaluator=game)")
