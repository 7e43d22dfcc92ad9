"""Models that were trained for a moment, saved, named in a spec, and play whole games."""

import sys

import gymnasium
import numpy as np
import pytest

from zermelo.agents import OnnxAgent, Sb3Agent, TorchAgent, make_agent
from zermelo.agents.policies.observation import Observation
from zermelo.agents.training import OpponentEnv
from zermelo.envs.errors import InvalidSettingError, MissingDependencyError
from zermelo.envs.registration.make import make
from zermelo.envs.support.installing import install_command
from zermelo.evaluation import play_match, round_robin
from zermelo.evaluation.workers.settings import AgentLimits

TICTACTOE = "classic/tictactoe-v3"
HERE = AgentLimits(isolate="none")
CENTRE, CORNER = 4, 8


def games_of(spec, env=TICTACTOE, games=2, isolation=HERE):
    """The games of a model against a random player, which must be the same when played again in this process."""
    agents = ["random", spec]
    records = round_robin(env, agents, games=games, seed=2, isolation=isolation).records
    assert [record.failure for record in records] == [None] * len(records)
    again = round_robin(env, agents, games=games, seed=2, isolation=HERE).records
    assert [r.without_timings() for r in records] == [r.without_timings() for r in again]
    return records


def first_moves(records, spec):
    """What the model plays in an empty board: the games in which it moves first."""
    return {record.moves[0].action for record in records if record.agents[0] == spec}


def positions():
    """Observations and masks of the first player's, in many positions of random games."""
    seen = []
    env = make(TICTACTOE)
    rng = np.random.default_rng(1)
    for seed in range(40):
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            view = env.observe(env.agent_selection)
            seen.append((view["observation"].astype(np.float32), view["action_mask"].astype(bool)))
            env.step(int(rng.choice(np.flatnonzero(view["action_mask"]))))
    return seen


def wanted(mask):
    """What the pupils are taught: the centre, else the last legal cell."""
    return CENTRE if mask[CENTRE] else int(np.flatnonzero(mask)[-1])


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
class TestStableBaselines3:
    @pytest.fixture(scope="class")
    def masked(self, tmp_path_factory):
        contrib = pytest.importorskip("sb3_contrib", reason="needs scripts/setup sb3")
        env, network = OpponentEnv(TICTACTOE, seat=0, observation="array"), {"net_arch": [8]}
        model = contrib.MaskablePPO(
            "MlpPolicy", env, n_steps=32, batch_size=16, n_epochs=1, seed=1, policy_kwargs=network
        )
        model.learn(64)
        path = tmp_path_factory.mktemp("sb3") / "masked"
        model.save(path)
        return model, str(path)

    @pytest.fixture(scope="class")
    def plain(self, tmp_path_factory):
        baselines = pytest.importorskip("stable_baselines3", reason="needs scripts/setup sb3")
        model = baselines.PPO(
            "MlpPolicy", gymnasium.make("CartPole-v1"), n_steps=32, batch_size=16, n_epochs=1, seed=1, device="cpu"
        )
        model.learn(64)
        path = tmp_path_factory.mktemp("sb3") / "plain.zip"
        model.save(path)
        return model, str(path)

    @pytest.mark.thorough
    def test_a_masked_model_plays_whole_games_in_a_process_of_its_own(self, masked):
        model, path = masked
        spec = f"sb3(path='{path}')"
        records = games_of(spec, isolation=AgentLimits())
        assert AgentLimits().applies_to(spec)
        env = make(TICTACTOE)
        env.reset(seed=0)
        view = env.observe("player_1")
        expected, _ = model.predict(view["observation"], action_masks=view["action_mask"], deterministic=True)
        assert {record.moves[0].action for record in records if record.agents[0] != "random"} == {int(expected)}

    @pytest.mark.thorough
    def test_the_spec_makes_the_same_agent_again(self, masked):
        agent = make_agent(f"sb3(path='{masked[1]}', sample=True, seed=4)")
        assert isinstance(agent, Sb3Agent)
        assert make_agent(agent.name).name == agent.name
        view = Observation("player_1", np.zeros((3, 3, 2), np.int8), np.arange(9) % 2 == 1, 0, 9)
        drawn = {agent.act_on(view) for _ in range(40)}
        assert drawn <= {1, 3, 5, 7}
        assert len(drawn) > 1
        runs = []
        for _ in range(2):
            agent.reset(9)
            runs.append([agent.act_on(view) for _ in range(10)])
        assert runs[0] == runs[1]

    def test_a_model_for_a_single_player(self, plain):
        model, path = plain
        agent = make_agent(f"sb3(path='{path}', algorithm='PPO')")
        record = play_match("CartPole-v1", [agent], seed=3, max_moves=30)
        assert record.failure is None
        env = gymnasium.make("CartPole-v1")
        observation, _ = env.reset(seed=3)
        for move in record.moves:
            expected, _ = model.predict(observation, deterministic=True)
            assert move.action == int(expected)
            observation = env.step(int(expected))[0]

    def test_flat_observations_are_given_flat(self):
        baselines = pytest.importorskip("stable_baselines3", reason="needs scripts/setup sb3")
        from zermelo.agents.policies.models import _as_array

        space = gymnasium.spaces.Box(0, 1, (18,), np.float32)
        assert baselines is not None
        assert _as_array(np.zeros((3, 3, 2), np.int8), space).shape == (18,)
        assert _as_array(np.zeros((3, 3, 2), np.int8), space).dtype == np.float32

    def test_what_is_wrong_is_said(self, masked, tmp_path):
        with pytest.raises(InvalidSettingError, match="has an algorithm called 'Nobody'"):
            Sb3Agent(path=masked[1], algorithm="Nobody")
        with pytest.raises(InvalidSettingError, match=r"there is no file 'nothing\.zip'"):
            Sb3Agent(path="nothing.zip")
        rubbish = tmp_path / "rubbish.zip"
        rubbish.write_bytes(b"PK rubbish")
        with pytest.raises(InvalidSettingError, match="is no PPO model"):
            Sb3Agent(path=str(rubbish), algorithm="PPO")


def net():
    """A small network; named in specs as ``test_policy_learned:net`` would be in a module of one's own."""
    import torch

    return torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(18, 32), torch.nn.Tanh(), torch.nn.Linear(32, 9)
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
class TestTorch:
    @pytest.fixture(scope="class")
    def trained(self):
        torch = pytest.importorskip("torch", reason="needs scripts/setup torch")
        torch.manual_seed(0)
        network = net()
        seen = positions()
        inputs = torch.tensor(np.stack([observation for observation, _ in seen]))
        targets = torch.tensor([wanted(mask) for _, mask in seen])
        optimizer = torch.optim.Adam(network.parameters(), lr=0.05)
        for _ in range(60):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(network(inputs), targets).backward()
            optimizer.step()
        return network.eval()

    @pytest.mark.thorough
    @pytest.mark.parametrize("name", ["net.pt", "net.pt2"], ids=["TorchScript", "exported program"])
    def test_a_file(self, trained, tmp_path, name):
        import torch

        path = str(tmp_path / name)
        if name == "net.pt":
            torch.jit.save(torch.jit.script(trained), path)
        else:
            torch.export.save(torch.export.export(trained, (torch.zeros(1, 3, 3, 2),)), path)
        spec = f"torch(path='{path}')"
        assert first_moves(games_of(spec), spec) == {CENTRE}

    def test_a_state_dict_and_what_makes_its_module(self, trained, tmp_path):
        import torch

        path = str(tmp_path / "weights.pt")
        torch.save(trained.state_dict(), path)
        agent = TorchAgent(path=path, module=net, name="pupil")
        for observation, mask in positions()[:20]:
            view = Observation("player_1", observation, mask, 0, 9)
            with torch.inference_mode():
                logits = trained(torch.tensor(observation[None]))[0].numpy()
            assert agent.act_on(view) == int(np.flatnonzero(mask)[np.argmax(logits[mask])])

    def test_a_module_that_is_being_trained(self, trained):
        record = play_match(TICTACTOE, [TorchAgent(module=trained, name="pupil"), "random"], seed=1)
        assert record.failure is None
        assert record.moves[0].action == CENTRE

    def test_the_mask_as_an_input(self):
        torch = pytest.importorskip("torch", reason="needs scripts/setup torch")

        class Masked(torch.nn.Module):
            def forward(self, observation, mask):
                return torch.arange(9.0) * mask

        agent = TorchAgent(module=Masked(), mask_input=True)
        mask = np.arange(9) < 6
        assert agent.act_on(Observation("player_1", np.zeros((3, 3, 2)), mask, 0, 9)) == 5

    def test_what_is_wrong_is_said(self, trained, tmp_path):
        import torch

        pickled = str(tmp_path / "pickled.pt")
        torch.save(trained, pickled)
        with pytest.raises(InvalidSettingError, match="cannot be read"):
            TorchAgent(path=pickled)
        with pytest.raises(InvalidSettingError, match=r"there is no file 'nothing\.pt'"):
            TorchAgent(path="nothing.pt")
        with pytest.raises(InvalidSettingError, match=r"which is no torch\.nn\.Module"):
            TorchAgent(module=dict)
        with pytest.raises(InvalidSettingError, match="mask_input must be True or False"):
            TorchAgent(module=trained, mask_input=1)


class TestOnnx:
    @pytest.fixture
    def model(self, tmp_path):
        """Writes a linear model that least squares has taught, with or without the mask as an input."""
        onnx = pytest.importorskip("onnx", reason="needs scripts/setup onnx")
        pytest.importorskip("onnxruntime", reason="needs scripts/setup onnx")
        seen = positions()
        inputs = np.stack([np.append(observation.ravel(), 1.0) for observation, _ in seen])
        targets = np.stack([np.eye(9)[wanted(mask)] for _, mask in seen])
        found = np.linalg.lstsq(inputs, targets, rcond=None)[0].astype(np.float32)

        def write(masked=False):
            helper = onnx.helper
            nodes = [
                helper.make_node("Flatten", ["observation"], ["flat"]),
                helper.make_node("Gemm", ["flat", "weights", "bias"], ["logits"]),
            ]
            ins = [helper.make_tensor_value_info("observation", onnx.TensorProto.FLOAT, ["batch", 3, 3, 2])]
            if masked:
                ins.append(helper.make_tensor_value_info("mask", onnx.TensorProto.BOOL, ["batch", 9]))
                nodes[1] = helper.make_node("Gemm", ["flat", "weights", "bias"], ["unmasked"])
                nodes.append(helper.make_node("Where", ["mask", "unmasked", "never"], ["logits"]))
            constants = [("weights", found[:-1]), ("bias", found[-1]), ("never", np.float32([-9e9]))]
            graph = helper.make_graph(
                nodes,
                "pupil",
                ins,
                [helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, ["batch", 9])],
                [onnx.numpy_helper.from_array(value, name) for name, value in constants],
            )
            made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
            path = tmp_path / "pupil.onnx"
            onnx.save(made, path)
            return str(path)

        return write

    @pytest.mark.thorough
    @pytest.mark.parametrize("masked", [False, True])
    def test_a_model_plays_whole_games(self, model, masked):
        spec = f"onnx(path='{model(masked)}')"
        assert first_moves(games_of(spec, games=4, isolation=AgentLimits()), spec) == {CENTRE}

    def test_what_is_wrong_is_said(self, tmp_path):
        pytest.importorskip("onnxruntime", reason="needs scripts/setup onnx")
        rubbish = tmp_path / "rubbish.onnx"
        rubbish.write_bytes(b"rubbish")
        with pytest.raises(InvalidSettingError, match="is no ONNX model that can be run"):
            OnnxAgent(path=str(rubbish))
        with pytest.raises(InvalidSettingError, match=r"there is no file 'nothing\.onnx'"):
            OnnxAgent(path="nothing.onnx")
        with pytest.raises(InvalidSettingError, match="path must name an ONNX model, not ''"):
            OnnxAgent()


@pytest.mark.parametrize(
    ("module", "spec", "said"),
    [
        (
            "stable_baselines3",
            "sb3(path='m')",
            f"Stable-Baselines3 is not installed: {install_command('sb3')}",
        ),
        ("torch", "torch(path='m')", f"PyTorch is not installed: {install_command('torch')}"),
        ("onnxruntime", "onnx(path='m')", f"ONNX Runtime is not installed: {install_command('onnx')}"),
    ],
)
def test_a_missing_library_is_said_with_the_line_that_installs_it(monkeypatch, tmp_path, module, spec, said):
    path = tmp_path / "m"
    path.write_bytes(b"")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError) as caught:
        make_agent(spec.replace("'m'", repr(str(path))))
    assert said in str(caught.value)


def test_sb3_contrib_is_asked_for_where_stable_baselines3_has_no_such_algorithm(monkeypatch, tmp_path):
    pytest.importorskip("stable_baselines3", reason="needs scripts/setup sb3")
    monkeypatch.setitem(sys.modules, "sb3_contrib", None)
    (tmp_path / "m.zip").write_bytes(b"")
    with pytest.raises(MissingDependencyError, match="sb3-contrib is not installed"):
        make_agent(f"sb3(path='{tmp_path}/m.zip', algorithm='MaskablePPO')")
