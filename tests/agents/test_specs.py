"""Agents by name: reading, writing back, and what a mistake is told."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from zermelo.agents import Agent, AlphaBetaAgent, RandomAgent, list_agents, make_agent, specs
from zermelo.agents.base.experts import by_name
from zermelo.agents.evaluators.playout import PlayoutEvaluator
from zermelo.agents.policies.engines import EngineAgent
from zermelo.agents.policies.policy import ViewAgent
from zermelo.agents.specs import describe_settings
from zermelo.envs import ZermeloError
from zermelo.envs.errors import InvalidSettingError, UnknownNameError

Setting, Name = InvalidSettingError, UnknownNameError

SPECS = [
    "random",
    "random(seed=3)",
    "greedy",
    "greedy(evaluator=rewards, ties='first')",
    "minimax(depth=3)",
    "alphabeta",
    "alphabeta(depth=6)",
    "alphabeta(nodes=1000, memory_mb=0, ordering='fixed')",
    "alphabeta(seconds=0.5, evaluator=playout(games=3))",
    "alphabeta(depth=2, evaluator=game, exact=True, window='full')",
    "alphabeta(depth=2, backend='clone', traits={'reward_sum': 'zero_sum'})",
    "alphabeta(depth=2, stop_test='builtins:callable')",
    "alphabeta(depth=2, evaluator='builtins:len')",
    "expectiminimax(depth=2, samples=4)",
    "expectimax(depth=2, opponent=random)",
    "expectimax(depth=2, opponent=softmax(evaluator=playout(games=2), temperature=0.5))",
    "expectimax(depth=2, opponent='softmax')",
    "expectimax(depth=2, opponent=alphabeta(depth=2, evaluator=rewards))",
    "expectimax(depth=2, opponent=noisy(agent=greedy(ties=first), epsilon=0.25))",
    "expectimax(depth=2, opponent='builtins:len')",
    "maxn(depth=2, tie_rule='paranoid', shallow=False)",
    "paranoid(depth=2, exact=True)",
    "bestreply(nodes=100)",
]


@pytest.mark.parametrize("text", SPECS)
def test_round_trip(text):
    agent = make_agent(text)
    assert isinstance(agent, Agent)
    again = make_agent(agent.name)
    assert again.name == agent.name
    assert type(again) is type(agent)
    assert again.spec() == agent.spec()
    assert {part.strip() for part in text.split(",")} >= {"alphabeta"} or agent.name.startswith(text.split("(")[0])
    copy = pickle.loads(pickle.dumps(agent))
    assert copy.name == agent.name


def test_only_what_differs_from_the_default_is_shown():
    assert make_agent("alphabeta(memory_mb=64, depth=6, prefer_short_wins=True)").name == "alphabeta(depth=6)"
    assert AlphaBetaAgent(depth=6).name == "alphabeta(depth=6)"
    assert repr(AlphaBetaAgent(depth=6)) == "<AlphaBetaAgent alphabeta(depth=6)>"


def test_settings_arrive():
    agent = make_agent("alphabeta(depth=4, ties=first, evaluator=playout(games=2, seed=5))")
    assert (agent.depth, agent.ties, agent.evaluator) == (4, "first", PlayoutEvaluator(games=2, seed=5))


def test_agents_are_returned_as_they_are():
    agent = RandomAgent(name="me")
    assert make_agent(agent) is agent
    assert agent.name == "me"


def test_settings_cannot_be_changed_afterwards():
    with pytest.raises(AttributeError):
        AlphaBetaAgent(depth=6).depth = 7


class TestForeign:
    @pytest.fixture(autouse=True)
    def module(self, tmp_path, monkeypatch):
        (tmp_path / "somebodys_agents.py").write_text(
            "class Mine:\n"
            "    def __init__(self, x=1, word='a'):\n"
            "        self.x, self.word = x, word\n"
            "    def act(self, env):\n"
            "        return self.x\n"
            "    def reset(self, seed=None):\n"
            "        pass\n"
            "def factory(**settings):\n"
            "    agent = Mine(**settings)\n"
            "    agent.name = 'made'\n"
            "    return agent\n"
            "def broken():\n"
            "    raise RuntimeError('no model here')\n"
            "def nothing():\n"
            "    return None\n"
            "number = 3\n"
            "import gymnasium\n"
            "class Env(gymnasium.Env):\n"
            "    pass\n"
        )
        (tmp_path / "half_written.py").write_text("import no_such_thing_anywhere\n")
        (tmp_path / "syntax_wrong.py").write_text("def\n")
        monkeypatch.chdir(tmp_path)
        yield
        for name in ("somebodys_agents", "half_written", "syntax_wrong"):
            sys.modules.pop(name, None)

    def test_class(self):
        agent = make_agent("somebodys_agents:Mine(x=5, word=b)")
        assert (agent.act(None), agent.word, agent.name) == (5, "b", "somebodys_agents:Mine(x=5, word=b)")
        assert make_agent(agent.name).act(None) == 5

    def test_function(self):
        agent = make_agent("somebodys_agents:factory(x=2)")
        assert (agent.act(None), agent.name) == (2, "made")

    def test_ours_by_its_module(self):
        assert make_agent("zermelo.agents:AlphaBetaAgent(depth=2)").name == "alphabeta(depth=2)"

    @pytest.mark.parametrize(
        ("text", "kind", "message"),
        [
            ("somebodys_agents:Mein", Name, "somebodys_agents has nothing called 'Mein'"),
            ("somebodys_agent:Mine", Name, "there is no module called 'somebodys_agent'"),
            ("somebodys_agents:Mine(y=1)", Setting, "has no setting 'y': its settings are x, word"),
            ("somebodys_agents:broken", Setting, "cannot make .*: RuntimeError: no model here"),
            ("somebodys_agents:nothing", Setting, "made None, which is no agent: it needs the methods"),
            ("somebodys_agents:Env", Setting, "made an environment where an agent belongs"),
            ("somebodys_agents:number", Setting, "is not a class or function that makes an agent, but 3"),
            ("half_written:Mine", Setting, "cannot import 'half_written:Mine': No module named 'no_such"),
            ("syntax_wrong:Mine", Setting, "cannot import 'syntax_wrong:Mine': SyntaxError"),
        ],
    )
    def test_mistakes(self, text, kind, message):
        with pytest.raises(kind, match=message):
            make_agent(text)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("alphabet", Name, "no agent is called 'alphabet': did you mean 'alphabeta'"),
        ("alphabeta(dept=6)", Setting, "alphabeta has no setting 'dept': did you mean 'depth'"),
        ("alphabeta(depth=0)", Setting, "depth must be a whole number of at least 1, not 0"),
        ("alphabeta(depth=x)", Setting, "depth must be a whole number of at least 1, not 'x'"),
        ("alphabeta(depth=x(y=1))", Setting, r"depth cannot be x\(y=1\): write a plain value"),
        ("alphabeta(seconds=-1)", Setting, "seconds must be greater than 0"),
        ("alphabeta(memory_mb=-1)", Setting, "memory_mb must be a finite number of at least 0, not -1"),
        ("alphabeta(ordering='best')", Setting, "ordering must be one of 'auto', 'fixed', not 'best'"),
        ("alphabeta(exact=1)", Setting, "exact must be True or False, not 1"),
        ("alphabeta(null_move=1.5)", Setting, "null_move must be a whole number of at least 0, not 1.5"),
        ("alphabeta(late_move_reductions=true)", Setting, "must be a whole number of at least 0, not True"),
        ("alphabeta(stop_test=3)", Setting, "stop_test must be a function of game, state and ply, not 3"),
        ("alphabeta(on_iteration=3)", Setting, "on_iteration must be a function of a SearchResult, not 3"),
        ("alphabeta(evaluator=best)", Name, "no evaluator is called 'best'"),
        ("alphabeta(backend='gpu')", Setting, "backend must be one of .*, not 'gpu'"),
        ("expectiminimax(pruning=star3)", Setting, "pruning must be one of 'none', 'star1', 'star2', not 'star3'"),
        ("expectiminimax(samples=0)", Setting, "samples must be a whole number of at least 1, not 0"),
        ("random(seed=-1)", Setting, "seed must be a whole number of at least 0, not -1"),
        ("random(name=3)", Setting, "name must be text, not 3"),
        ("alphabeta(6)", Setting, "every argument needs its name"),
        ("alphabeta(", Setting, "cannot read"),
        (3, Setting, "an agent is the text of one"),
        (RandomAgent, Setting, "an agent is the text of one"),
    ],
)
def test_mistakes(text, kind, message):
    with pytest.raises(kind, match=message) as caught:
        make_agent(text)
    assert isinstance(caught.value, ZermeloError)
    assert "\n" not in str(caught.value)


def test_every_agent_is_listed_with_its_settings():
    entries = {entry.name: entry for entry in list_agents()}
    assert set(entries) >= {"random", "greedy", "minimax", "alphabeta", "expectiminimax"}
    assert entries["alphabeta"].settings["memory_mb"] == 64
    for entry in entries.values():
        assert entry.summary
        assert "\n" not in entry.summary
        shown = {name: value for name, value in entry.settings.items() if name != "name"}
        assert make_agent(entry.name).name == type(make_agent(entry.name))(**shown).name


@pytest.mark.parametrize("name", [entry.name for entry in list_agents(learned=True)])
def test_every_setting_has_a_sentence_its_values_and_its_unit(name: str) -> None:
    described = describe_settings(name)
    entry = next(entry for entry in list_agents(learned=True) if entry.name == name)
    assert {setting.name: setting.default for setting in described} == entry.settings
    for setting in described:
        assert setting.text.endswith("."), setting
        assert 10 < len(setting.text) < 330, setting
        is_number = setting.allowed.startswith(("a number", "a whole number")) and setting.name != "seed"
        assert setting.allowed, setting
        assert bool(setting.unit) == is_number, setting


def test_a_setting_is_described_where_it_is_declared() -> None:
    described = {setting.name: setting for setting in describe_settings("alphabeta")}
    assert described["memory_mb"].default == 64
    assert described["memory_mb"].text == (
        "The memory that the transposition table may use, in MiB; 0 does without, and the machine's is the most."
    )
    assert described["ordering"].default == "auto"


def test_limits_are_described_first_with_what_they_may_be() -> None:
    described = describe_settings("alphabeta")
    assert {setting.name for setting in described[:3]} == {"depth", "nodes", "seconds"}
    assert [setting.name for setting in described if setting.is_common][-1] == described[-1].name
    assert {setting.name: setting.allowed for setting in describe_settings("mcts")}["selection"] == "uct or puct"


def test_an_unknown_agent_is_not_described() -> None:
    with pytest.raises(UnknownNameError, match="alphabeta"):
        describe_settings("alphabet")


def test_each_name_is_its_agents_kind() -> None:
    names = {entry.name for entry in list_agents(learned=True)}
    assert {"random", "alphabeta", "mcts", "sb3", "uci", *by_name("agents"), *by_name("programs")} <= names
    for name in names:
        assert specs.agent_class(name).kind == name
    for name in ("policy", "sb3", "torch", "onnx"):
        assert issubclass(specs.agent_class(name), ViewAgent)
    for name in ("uci", "gtp"):
        assert issubclass(specs.agent_class(name), EngineAgent)


@pytest.mark.thorough
def test_only_the_agent_that_is_named_is_imported() -> None:
    code = "import sys; from zermelo.agents import make_agent; make_agent('random'); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ran.stdout.split()
    assert "zermelo.agents.baselines" in loaded
    assert "zermelo.agents.tree_search.alpha_beta.agents" not in loaded


def test_truth_may_be_written_as_in_other_languages():
    assert make_agent("alphabeta(depth=2, exact=true)").spec() == "alphabeta(depth=2, exact=True)"
    assert make_agent("mcts(solver=false)").spec() == "mcts(solver=False)"
