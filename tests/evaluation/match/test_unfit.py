"""What cannot play is refused before the first game, with the shapes in the sentence."""

import gymnasium
import numpy as np
import pytest
from doubles import toy_envs
from doubles.bad_agents import Good

from zermelo.agents import PolicyAgent, RandomAgent
from zermelo.agents.policies.observation import Observation
from zermelo.agents.training import OpponentEnv
from zermelo.envs import UnsupportedGameError, ZermeloError
from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation import evaluate_policy, play_match, round_robin
from zermelo.evaluation.cli import main
from zermelo.evaluation.workers.settings import AgentLimits

TICTACTOE = "classic/tictactoe-v3"


def five(observation, action_mask):
    """Answers with five numbers, whatever there is to do."""
    return np.zeros(5)


def nothing(observation, action_mask):
    return np.full(9, np.nan)


def text(observation, action_mask):
    return "a1"


def sound(observation, action_mask):
    return np.arange(9.0)


class Counted:
    """Counts how often it is asked and reset."""

    def __init__(self):
        self.asked, self.resets, self.is_ready = 0, 0, False

    def reset(self, seed=None):
        self.resets += 1
        self.is_ready = True

    def __call__(self, observation, action_mask):
        assert self.is_ready
        assert observation.shape == (3, 3, 2)
        assert action_mask.any()
        self.asked += 1
        return np.arange(9.0)


FILES = {
    "alphabeta(depth=1, book='none.bin')": "none.bin",
    "alphabeta(depth=1, book='none.zbook')": "none.zbook",
    "alphabeta(depth=1, tables='none.ztable')": "none.ztable",
    "mcts(simulations=9, book='none.zbook')": "none.zbook",
    "noisy(agent=alphabeta(depth=1, book='none.zbook'))": "none.zbook",
    "noisy(agent=noisy(agent=alphabeta(depth=1, tables='none.ztable')))": "none.ztable",
    "alphabeta(depth=1, book='connect_four')": "connect_four",
}
POLICIES = {"five": five, "nothing": nothing, "text": text}


@pytest.mark.thorough
@pytest.mark.parametrize("spec", FILES)
def test_a_file_that_is_not_there_or_does_not_fit_costs_the_start(spec):
    games = []
    with pytest.raises(InvalidSettingError, match=FILES[spec]):
        round_robin("zermelo/Hexapawn-v0", ["random", spec], games=2, on_game=games.append)
    with pytest.raises(InvalidSettingError, match=FILES[spec]):
        play_match("zermelo/Hexapawn-v0", ["random", spec], seed=0)
    with pytest.raises(InvalidSettingError, match=r"^the opponent .* cannot play here: .*" + FILES[spec]):
        OpponentEnv("zermelo/Hexapawn-v0", spec)
    assert not games


def test_the_command_line_ends_with_exit_status_2(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["tournament", "zermelo/Hexapawn-v0", "random", "alphabeta(depth=1,book='none.zbook')", "--quiet"])
    assert ended.value.code == 2
    assert "cannot play here: there is no opening book 'none.zbook'" in capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.parametrize("isolate", ["own", "all", "none"])
@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_that_answers_wrongly_is_refused_with_the_shapes(name, isolate):
    for source in (POLICIES[name], f"policy(policy='{__name__}:{name}')"):
        agent = PolicyAgent(source) if callable(source) else source
        games, how = [], {"games": 2, "isolation": AgentLimits(isolate=isolate)}
        with pytest.raises(UnsupportedGameError) as caught:
            round_robin(TICTACTOE, {"random": "random", "mine": agent}, on_game=games.append, **how)
        assert "array of shape (3, 3, 2)" in str(caught.value)
        assert "Discrete(9)" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert not games


@pytest.mark.parametrize("name", POLICIES)
def test_every_way_to_play_refuses_it(name):
    for play in (
        lambda: play_match(TICTACTOE, [RandomAgent(), PolicyAgent(POLICIES[name])], seed=0),
        lambda: evaluate_policy(POLICIES[name], TICTACTOE, ladder=["random"], games=2),
        lambda: OpponentEnv(TICTACTOE, POLICIES[name]),
    ):
        with pytest.raises(UnsupportedGameError, match=r"shape \(3, 3, 2\).*Discrete\(9\)"):
            play()


def test_a_policy_is_asked_once_more_in_a_real_position_after_a_reset():
    policy = Counted()
    record = play_match(TICTACTOE, [PolicyAgent(policy), RandomAgent()], seed=0)
    assert record.failure is None
    assert policy.asked == 1 + sum(move.seat == 0 for move in record.moves)


def test_errors_of_its_own_are_left_to_games():
    def raises(observation, action_mask):
        raise RuntimeError("only at tic-tac-toe")

    standings = round_robin(TICTACTOE, {"random": "random", "mine": PolicyAgent(raises)}, games=2)
    assert standings.row("mine").failures == {"CRASH": 2}


def test_agents_of_somebody_else_are_not_asked():
    class Once(Good):
        asked = 0

        def act(self, env):
            Once.asked += 1
            return super().act(env)

    standings = round_robin(toy_envs.ToyEnv, {"once": Once("once"), "good": Good("good")}, games=2)
    assert Once.asked == standings.row("once").moves


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (np.zeros(2), r"shape \(2,\), not one of shape \(1,\)"),
        (np.array([np.nan]), "answered nan"),
        ("up", "which is no numbers"),
        (None, "which is no numbers"),
    ],
)
def test_actions_that_are_arrays_have_the_shape_of_the_space(answer, said):
    env = gymnasium.make("Pendulum-v1")
    view = Observation("player", env.observation_space.sample())
    agent = PolicyAgent(lambda observation: answer)
    with pytest.raises(UnsupportedGameError, match=r"see an array of shape \(3,\).*Box\(.*" + said):
        agent.check_view(view, "Pendulum-v1", env.action_space)
    PolicyAgent(lambda observation: np.zeros(1)).check_view(view, "Pendulum-v1", env.action_space)


def test_unfit_agents_can_be_left_out():
    agents = {"random": "random", "greedy": "greedy", "mine": PolicyAgent(five)}
    standings = round_robin(TICTACTOE, agents, games=2, skip_unfit=True)
    assert [row.agent for row in standings.rows if row.agent == "mine"] == []
    assert [note for note in standings.notes if "Left out: mine cannot play here" in note]


def onnx_model(path, shape, actions):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper

    size = int(np.prod(shape))
    nodes = [
        helper.make_node("Flatten", ["seen"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["logits"]),
    ]
    weights = helper.make_tensor("weights", TensorProto.FLOAT, (size, actions), np.zeros(size * actions))
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("seen", TensorProto.FLOAT, ["batch", *shape])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", actions])],
        [weights],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, path)


@pytest.mark.thorough
@pytest.mark.parametrize("isolate", ["own", "none"])
@pytest.mark.parametrize(("shape", "actions"), [((6, 7, 2), 7), ((3, 3, 2), 7), ((18,), 9), ((3, 3, 2), 9)])
def test_an_onnx_model_of_another_shape_is_refused(shape, actions, isolate, tmp_path):
    path = tmp_path / "net.onnx"
    onnx_model(str(path), shape, actions)
    play = lambda: round_robin(  # noqa: E731
        TICTACTOE, ["random", f"onnx(path={str(path)!r})"], games=2, isolation=AgentLimits(isolate=isolate)
    )
    if np.prod(shape) == 18 and actions == 9:
        assert play().games == 2
        return
    with pytest.raises(UnsupportedGameError, match=r"shape \(3, 3, 2\).*Discrete\(9\)") as caught:
        play()
    assert str(shape) in str(caught.value) or "9 numbers" in str(caught.value)


class Spaces(gymnasium.Env):
    def __init__(self, shape, actions):
        self.observation_space = gymnasium.spaces.Box(0, 1, shape, np.float32)
        self.action_space = gymnasium.spaces.Discrete(actions)

    def reset(self, *, seed=None, options=None):
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.0, True, False, {}


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", ["PPO", "DQN"])
@pytest.mark.parametrize(("shape", "actions"), [((4,), 9), ((18,), 7), ((18,), 9)])
def test_a_model_of_stable_baselines_of_other_spaces_is_refused(shape, actions, algorithm):
    baselines = pytest.importorskip("stable_baselines3")
    from zermelo.agents import Sb3Agent

    settings = {"n_steps": 8, "batch_size": 8} if algorithm == "PPO" else {"buffer_size": 10}
    model = getattr(baselines, algorithm)("MlpPolicy", Spaces(shape, actions), device="cpu", **settings)
    agents = {"random": "random", "mine": Sb3Agent(model=model)}
    if (shape, actions) == ((18,), 9):
        assert round_robin(TICTACTOE, agents, games=2).row("mine").failures == {}
        return
    with pytest.raises(ZermeloError, match=r"mine cannot play here: .*shape \(3, 3, 2\).*Discrete\(9\)") as caught:
        round_robin(TICTACTOE, agents, games=2)
    assert str(shape) in str(caught.value) or "Discrete(7)" in str(caught.value)
