"""Policies as agents: what they are given, and how their answers are read."""

import gc

import numpy as np
import pytest
from doubles import policies, toy_envs

from zermelo.agents import PolicyAgent, list_agents, make_agent
from zermelo.agents.base.experts import by_name
from zermelo.agents.policies.observation import Observation
from zermelo.agents.policies.policy import Outputs
from zermelo.envs import UnsupportedGameError
from zermelo.envs.errors import GameOverError, InvalidSettingError, UnknownNameError
from zermelo.envs.registration.make import make
from zermelo.evaluation import play_match, round_robin
from zermelo.evaluation.match.record import FailureKind
from zermelo.evaluation.workers.settings import AgentLimits

TICTACTOE = "classic/tictactoe-v3"
MASK = np.array([False, True, True, False, True])


def seen(mask=MASK, first_action=0):
    return Observation("player_1", np.zeros(3), mask, first_action, None if mask is None else len(mask))


def answering(answer, **settings):
    return PolicyAgent(lambda observation, mask: answer, **settings)


@pytest.mark.parametrize("answer", [2, np.int64(2), np.array(2), np.array([2], dtype=np.int8), [2]])
def test_one_integer_is_an_action(answer):
    action = answering(answer).act_on(seen())
    assert action == 2
    assert type(action) is int


@pytest.mark.parametrize(
    ("answer", "given", "expected"),
    [
        ([9, 1, 3, 9, 2], (np.zeros(3), MASK), 2),
        ([9, 1, 3, 9, 2], (np.zeros(3), MASK.astype(np.int8)), 2),
        ([9, 1, 3, 9, 2], ({"observation": np.zeros(3), "action_mask": MASK},), 2),
        ([1, 9, 3, 2, 2], (np.zeros(3),), 1),
        (np.array([4]), (np.zeros(3),), 4),
        (4, (np.zeros(3), MASK), 4),
    ],
)
def test_predict_needs_only_an_observation(answer, given, expected):
    assert answering(answer).predict(*given) == expected


def test_predict_refuses_what_it_cannot_play():
    with pytest.raises(GameOverError):
        answering(2).predict(np.zeros(3), np.zeros(5))
    with pytest.raises(InvalidSettingError, match="neither an action nor 5 numbers"):
        answering([1.0, 2.0]).predict(np.zeros(3), MASK)


def test_an_illegal_action_is_the_policys_own_mistake():
    assert answering(0).act_on(seen()) == 0


@pytest.mark.parametrize(
    "answer", [[9, 1, 3, 9, 2], np.array([[9.0, 1, 3, 9, 2]]), np.log([0.4, 0.1, 0.3, 0.1, 0.1])]
)
def test_of_numbers_for_all_actions_the_best_legal_one_is_played(answer):
    assert answering(answer).act_on(seen()) == 2


def test_numbers_count_from_the_spaces_first_action():
    assert answering([9.0, 1, 3, 9, 2]).act_on(seen(first_action=10)) == 12
    assert answering(12).act_on(seen(first_action=10)) == 12


def test_the_first_of_equal_numbers_is_played_and_minus_infinity_is_a_number():
    assert answering([0.0, -np.inf, 5, 0, 5]).act_on(seen()) == 2
    assert answering([0.0, -np.inf, -np.inf, 0, -np.inf]).act_on(seen()) == 1


def frequencies(answer, mask=MASK, **settings):
    agent = answering(answer, sample=True, seed=3, **settings)
    drawn = [agent.act_on(seen(mask)) for _ in range(4000)]
    return np.bincount(drawn, minlength=len(mask)) / len(drawn)


@pytest.mark.thorough
def test_sampling_draws_legal_actions_by_their_probabilities():
    found = frequencies([0.5, 0.1, 0.3, 0.0, 0.1])
    assert found == pytest.approx([0, 0.2, 0.6, 0, 0.2], abs=0.03)
    found = frequencies([7.0, 0.0, np.log(3), 9.0, 0.0])  # do not add up to 1: logits
    assert found == pytest.approx([0, 0.2, 0.6, 0, 0.2], abs=0.03)
    found = frequencies([0.2] * 5, outputs="logits")
    assert found == pytest.approx([0, 1 / 3, 1 / 3, 0, 1 / 3], abs=0.03)
    found = frequencies([3.0, 1, 3, 0, 1], outputs="probabilities")  # said to be: made to add up to 1
    assert found == pytest.approx([0, 0.2, 0.6, 0, 0.2], abs=0.03)


@pytest.mark.thorough
def test_sampling_without_any_legal_probability_draws_evenly():
    assert frequencies([1.0, 0, 0, 0, 0]) == pytest.approx([0, 1 / 3, 1 / 3, 0, 1 / 3], abs=0.03)
    minus = frequencies([0.0, -np.inf, -np.inf, 0, -np.inf])
    assert minus == pytest.approx([0, 1 / 3, 1 / 3, 0, 1 / 3], abs=0.03)


def test_the_seed_decides_what_is_drawn():
    agent = answering([0.2] * 5, sample=True)
    games = []
    for seed in (5, 5, 6):
        agent.reset(seed)
        games.append([agent.act_on(seen()) for _ in range(20)])
    assert games[0] == games[1] != games[2]


@pytest.mark.parametrize(
    ("answer", "settings", "said"),
    [
        (np.zeros(3), {}, "which is neither an action nor 5 numbers"),
        (None, {}, "answered None, which is neither"),
        ("e4", {}, "answered 'e4', which is neither"),
        (2.5, {}, "answered 2.5, which is neither"),
        ([0, np.nan, 0, 0, 0.0], {}, "answered nan for a legal action"),
        ([0, -0.5, 1, 0, 0.5], {"outputs": "probabilities", "sample": True}, "answered a probability below 0"),
        (np.zeros((5, 5)), {}, "which is neither"),
    ],
)
def test_answers_that_cannot_be_read_are_said(answer, settings, said):
    with pytest.raises(InvalidSettingError, match=said):
        answering(answer, **settings).act_on(seen())


def test_a_position_without_a_legal_action():
    with pytest.raises(GameOverError, match="player_1 has no legal action"):
        answering(0).act_on(seen(np.zeros(4, dtype=bool)))


def test_actions_that_are_no_integers_are_passed_on():
    view = Observation("player", np.zeros(3))
    action = answering(np.array([0.5, 1.0])).act_on(view)
    assert action.tolist() == [0.5, 1.0]


def test_settings_are_checked():
    with pytest.raises(InvalidSettingError, match="outputs must be one of 'auto'"):
        answering(0, outputs="moves")
    with pytest.raises(InvalidSettingError, match="sample must be True or False, not 3"):
        answering(0, sample=3)
    with pytest.raises(InvalidSettingError, match="needs its policy"):
        PolicyAgent()
    with pytest.raises(
        InvalidSettingError, match=r"policy must be a function of \(observation, action_mask\), not 7"
    ):
        PolicyAgent(7)
    with pytest.raises(InvalidSettingError, match="policy must take"):
        PolicyAgent(lambda a, b, c, d: 0)
    assert answering(0, outputs="logits").outputs is Outputs.LOGITS


@pytest.mark.parametrize("name", ["first_legal", "legal_logits", "last_is_best", "nosy"])
def test_policies_by_name_play_whole_games(name):
    spec = f"policy(policy='doubles.policies:{name}')"
    agent = make_agent(spec)
    assert make_agent(agent.name).policy is agent.policy
    standings = round_robin(TICTACTOE, ["random", spec], games=4, isolation=AgentLimits(isolate="none"))
    assert [record.failure for record in standings.records] == [None] * 4


@pytest.mark.thorough
def test_a_policy_of_ones_own_gets_a_process_of_its_own_by_default():
    assert AgentLimits().applies_to("policy(policy='doubles.policies:first_legal')")
    here, there = (
        round_robin(
            TICTACTOE, ["random", "policy(policy='doubles.policies:first_legal')"], games=2, isolation=limits
        )
        for limits in (AgentLimits(isolate="none"), AgentLimits())
    )
    assert [r.without_timings() for r in here.records] == [r.without_timings() for r in there.records]


def test_a_name_that_leads_nowhere():
    with pytest.raises(UnknownNameError, match=r"doubles\.policies has nothing called 'nobody'"):
        make_agent("policy(policy='doubles.policies:nobody')")


def test_the_environment_is_out_of_reach():
    """Nothing that the policy is given leads to the environment, or to anything that can still be written to."""
    env = make(TICTACTOE)
    recorder = policies.Recorder()
    record = play_match(env, [PolicyAgent(recorder), "random"], seed=3)
    assert record.failure is None
    board = [np.array(env.unwrapped.board.squares), list(env.agents)]
    for observation, mask, agent in recorder.given:
        assert agent == "player_1"
        assert mask.dtype == bool
        assert observation.shape == (3, 3, 2)
        reached, waiting = set(), [observation, mask]
        while waiting:
            thing = waiting.pop()
            if id(thing) not in reached and not isinstance(thing, type):
                reached.add(id(thing))
                waiting += gc.get_referents(thing)
        assert id(env) not in reached
        assert id(env.unwrapped) not in reached
        observation[:] = 7
        mask[:] = False
    assert np.array_equal(board[0], env.unwrapped.board.squares)
    assert len(recorder.seeds) == 3  # when it was made, once it was tried, and before the game


@pytest.mark.thorough
def test_the_agent_is_never_asked_to_act_on_the_environment():
    class Strict(PolicyAgent):
        def act(self, env):
            raise AssertionError("it was shown the environment")

    for isolation in (AgentLimits(isolate="none"), AgentLimits(isolate="all")):
        strict = {"strict": Strict(policies.first_legal), "random": "random"}
        standings = round_robin(TICTACTOE, strict, games=2, isolation=isolation)
        assert [record.failure for record in standings.records] == [None, None]


def test_a_live_environment_can_be_played_directly():
    env = make(TICTACTOE)
    env.reset(seed=0)
    agent = PolicyAgent(policies.first_legal)
    assert agent.act(env) == 0
    env.step(0)
    assert agent.act(env) == 1


def test_masks_in_infos_are_found():
    env = toy_envs.ToyEnv(mask="infos", start=5)
    env.observe = lambda agent: env.infos[agent].update(action_mask=[1, 1, env.turns % 2 == 0]) or env.turns
    record = play_match(env, [PolicyAgent(policies.last_is_best)] * 2, seed=0)
    assert record.failure is None
    assert record.actions == (7, 6, 7, 6)


def test_a_single_players_last_observation_is_passed_on():
    recorder = []

    def policy(observation):
        recorder.append(np.array(observation))
        return int(observation[2] > 0)

    record = play_match("CartPole-v1", [PolicyAgent(policy)], seed=1, max_moves=20)
    assert record.failure is None
    assert len(recorder) == 1 + 20, "it is tried once, in another game"
    tried = recorder.pop(0)
    assert not np.array_equal(tried, recorder[0])
    assert not np.array_equal(recorder[0], recorder[1])
    env = make("CartPole-v1")
    assert np.array_equal(env.reset(seed=1)[0], recorder[0])
    with pytest.raises(UnsupportedGameError, match="does not keep its last observation"):
        PolicyAgent(policy).act(env)


def test_a_policys_mistakes_are_failures_with_names():
    blind = play_match(TICTACTOE, [PolicyAgent(policies.blind), PolicyAgent(policies.blind)], seed=0)
    assert (blind.failure.kind, blind.failure.seat) == (FailureKind.ILLEGAL_ACTION, 1)
    with pytest.raises(UnsupportedGameError, match="which is neither an action nor 9 numbers"):
        play_match(TICTACTOE, [PolicyAgent(policies.out_of_shape), "random"], seed=0)


def test_agents_that_need_something_are_listed_when_asked_for():
    usual = {entry.name for entry in list_agents()}
    named = {entry.name for entry in list_agents(learned=True)} - usual
    engines = {"uci", "gtp", "openspiel_mcts", *by_name("programs")}
    needy = {"best_response", "level", "noisy", "policy", "policytable", "sb3", "torch", "onnx"}
    assert named == needy | engines
