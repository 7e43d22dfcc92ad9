"""One match: rewards, turns, failures, and who is charged with them."""

import gymnasium
import numpy as np
import pytest
from doubles import bad_agents, toy_envs
from doubles.bad_agents import Answers, First, Good, Last, Raises

from zermelo.envs import UnsupportedGameError
from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation import play_match
from zermelo.evaluation.errors import EnvironmentFailureError
from zermelo.evaluation.match.play import agent_seeds
from zermelo.evaluation.match.record import EndReason, FailureKind


class BadTextError(Exception):
    def __str__(self):
        raise RuntimeError("not even that")


def test_rewards_before_the_end_are_summed():
    record = play_match(toy_envs.ToyEnv, [Last(), First()], seed=1)
    assert record.actions == (2, 0, 2, 0)  # the mask forbids 2 on odd turns, which are the second player's
    assert record.rewards == (4.0, 0.0)
    assert record.scores == (1.0, 0.0)
    assert record.end is EndReason.TERMINATED
    assert record.failure is None
    assert [move.seat for move in record.moves] == [0, 1, 0, 1]
    assert all(move.seconds >= 0 for move in record.moves)


def test_rewards_left_standing_in_dead_steps_are_not_counted_again():
    record = play_match(toy_envs.DoublingEnv, [Last(), First()], seed=1)
    assert record.rewards == (4.0, 0.0)


def test_agents_that_die_early_are_stepped_and_the_game_goes_on():
    players = play_match(lambda: toy_envs.EarlyDeathEnv(players=3), [Answers(1), Answers(0), Answers(0)], seed=0)
    assert players.actions == (1, 0, 0)
    assert players.rewards == (1.0, -1.0, -1.0)
    assert players.scores == (1.0, 0.25, 0.25)


def test_truncation_is_an_end_with_its_own_name():
    assert play_match(toy_envs.TruncatedEnv, [First(), Last()], seed=0).end is EndReason.TRUNCATED


def test_a_game_without_end_stops_at_the_limit():
    record = play_match(toy_envs.EndlessEnv, [First(), Last()], seed=0, max_moves=9)
    assert record.end is EndReason.MOVE_LIMIT
    assert len(record.moves) == 9
    assert record.scores == (0.5, 0.5)


def test_the_seed_decides_the_game():
    games = [
        play_match(toy_envs.DiceEnv, [Good("a"), Good("b")], seed=seed).without_timings() for seed in (3, 3, 4)
    ]
    assert games[0] == games[1]
    assert games[0].actions != games[2].actions or games[0].rewards != games[2].rewards


def test_agents_get_different_seeds_that_depend_on_the_game():
    assert len({*agent_seeds(0, 4), *agent_seeds(1, 4)}) == 8
    assert all(0 <= seed < 2**31 for seed in agent_seeds(12345, 10))


def test_a_live_environment_is_reset_with_the_seed():
    env = toy_envs.DiceEnv()
    env.reset(seed=99)
    env.step(0)
    live = play_match(env, [First(), First()], seed=5)
    fresh = play_match(toy_envs.DiceEnv, [First(), First()], seed=5)
    assert live.rewards == fresh.rewards
    assert live.env == "toy_v0"


def test_agents_may_be_named_by_seat():
    record = play_match(toy_envs.ToyEnv, {"player_1": Last("x"), "player_0": First("y")}, seed=0)
    assert record.agents == ("y", "x")


def test_an_agent_without_a_name_is_called_by_its_class():
    record = play_match(toy_envs.ToyEnv, [bad_agents.NoName(), First()], seed=0)
    assert record.agents == ("NoName", "first")


def test_an_opening_is_played_first_and_kept_apart():
    record = play_match(toy_envs.ToyEnv, [First(), First()], seed=0, opening=[2, 1])
    assert record.opening == (2, 1)
    assert record.actions == (2, 1, 0, 0)
    assert record.rewards == (2.0, 1.0)


def test_a_space_that_does_not_start_at_zero():
    record = play_match(lambda: toy_envs.ToyEnv(start=5), [Last(), First()], seed=0)
    assert record.actions == (7, 5, 7, 5)
    lost = play_match(lambda: toy_envs.ToyEnv(start=5), [Answers(2), First()], seed=0)
    assert lost.failure.kind is FailureKind.ILLEGAL_ACTION


@pytest.mark.parametrize("answer", [np.int64(1), np.uint8(1), np.array(1)])
def test_numpy_integers_are_actions(answer):
    record = play_match(toy_envs.ToyEnv, [Answers(answer), First()], seed=0)
    assert record.failure is None
    assert record.actions == (1, 0, 1, 0)
    assert type(record.actions[0]) is int


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "None"),
        ("1", "text"),
        (1.0, "fraction"),
        (float("nan"), "fraction"),
        (True, "True or False"),
        (np.float64(1), "float64"),
        (3, "outside the action space"),
        (-1, "outside the action space"),
        (10**30, "outside the action space"),
        ([1], "list"),
        (np.array([1]), "ndarray"),
        (np.array([0, 1, 0]), "ndarray"),
        (object(), "object"),
    ],
)
@pytest.mark.parametrize("seat", [0, 1])
def test_malformed_actions_lose(answer, said, seat):
    agents = [First(), First()]
    agents[seat] = Answers(answer)
    record = play_match(toy_envs.ToyEnv, agents, seed=0)
    assert record.end is EndReason.FAILURE
    assert record.failure.kind is FailureKind.ILLEGAL_ACTION
    assert record.failure.seat == seat
    assert said in record.failure.message
    assert record.scores[seat] == 0.0
    assert record.scores[1 - seat] == 1.0
    assert len(record.moves) == seat


@pytest.mark.parametrize("mask", ["observation", "infos"])
def test_a_masked_action_loses_and_the_message_says_what_was_legal(mask):
    def env():
        made = toy_envs.ToyEnv(mask=mask)
        if mask == "infos":
            made.observe = lambda agent: made.infos[agent].update(action_mask=[1, 1, made.turns % 2 == 0])
        return made

    record = play_match(env, [First(), Answers(2)], seed=0)
    assert record.failure.kind is FailureKind.ILLEGAL_ACTION
    assert record.failure.message == "played 2, which is not legal here (legal: 0, 1)"


def test_rewards_already_paid_do_not_save_who_fails():
    record = play_match(toy_envs.ToyEnv, [Raises(after=1), Answers(0)], seed=0)
    assert record.failure.seat == 0
    assert record.scores == (0.0, 1.0)


@pytest.mark.parametrize(
    ("agent", "kind", "said"),
    [
        (Raises(ValueError("bad board")), FailureKind.CRASH, "act raised ValueError: bad board"),
        (Raises(MemoryError()), FailureKind.OUT_OF_MEMORY, "act raised MemoryError"),
        (Raises(RecursionError("deep")), FailureKind.CRASH, "RecursionError"),
        (Raises(BadTextError()), FailureKind.CRASH, "act raised BadTextError"),
        (Raises(GeneratorExit()), FailureKind.CRASH, "GeneratorExit"),
        (bad_agents.SysExits(), FailureKind.CRASH, "act raised SystemExit: 3"),
        (
            bad_agents.RefusesToStart(),
            FailureKind.INVALID_START,
            "reset raised OSError: the model file is missing",
        ),
        (bad_agents.Steps(), FailureKind.ENVIRONMENT_CHANGED, "stepped or reset"),
    ],
)
@pytest.mark.parametrize("seat", [0, 1])
def test_failures_have_names_and_are_charged(agent, kind, said, seat):
    agents = [First(), First()]
    agents[seat] = agent
    record = play_match(toy_envs.ToyEnv, agents, seed=0)
    assert record.failure.kind is kind
    assert record.failure.seat == seat
    assert said in record.failure.message
    assert record.outcomes[seat] == "loss"
    assert record.outcomes[1 - seat] == "win"


def test_a_crash_keeps_its_traceback_for_whoever_mends_it():
    record = play_match(toy_envs.ToyEnv, [Raises(ValueError("bad board")), First()], seed=0)
    assert "bad_agents.py" in record.failure.detail
    assert record.failure.detail.rstrip().endswith("ValueError: bad board")


def test_ctrl_c_is_nobodys_failure():
    with pytest.raises(KeyboardInterrupt):
        play_match(toy_envs.ToyEnv, [bad_agents.Interrupted(), First()], seed=0)


@pytest.mark.thorough
def test_a_search_that_does_not_fit_the_game_is_not_a_lost_game():
    with pytest.raises(UnsupportedGameError, match="minimax cannot play here"):
        play_match(toy_envs.three_players, ["minimax", First(), First()], seed=0)


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("step", r"toy_v0 failed in step\(0\): ZeroDivisionError: the board fell over"),
        ("nan", "nan"),
        ("mask", "allows no action"),
    ],
)
def test_a_broken_environment_is_nobodys_fault(at, said):
    with pytest.raises(EnvironmentFailureError, match=said) as caught:
        play_match(lambda: toy_envs.BrokenEnv(at), [Answers(0), Answers(0)], seed=0)
    record = caught.value.record
    assert record.void
    assert record.failure.kind is FailureKind.ENVIRONMENT_ERROR
    assert record.failure.seat is None


def test_an_environment_that_cannot_start():
    with pytest.raises(EnvironmentFailureError, match="failed in reset: RuntimeError: no board"):
        play_match(lambda: toy_envs.BrokenEnv("reset"), [First(), First()], seed=0)

    def explodes():
        raise OSError("no such board")

    with pytest.raises(EnvironmentFailureError, match="cannot be made: OSError: no such board"):
        play_match(explodes, [First(), First()], seed=0)


@pytest.mark.parametrize(
    ("agents", "said"),
    [
        ([First()], r"toy_v0 has 2 seats \(player_0, player_1\): give as many agents, not 1"),
        ([First(), First(), First()], "not 3"),
        ({"player_0": First()}, "name an agent for each of them"),
        (First(), "not 1"),
        ([First(), 7], "an agent is text such as"),
    ],
)
def test_agents_that_do_not_fit_the_seats(agents, said):
    with pytest.raises(InvalidSettingError, match=said):
        play_match(toy_envs.ToyEnv, agents, seed=0)


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True, None])
def test_seeds_are_whole_numbers(seed):
    with pytest.raises(InvalidSettingError, match="seed must be a whole number"):
        play_match(toy_envs.ToyEnv, [First(), First()], seed=seed)


@pytest.mark.parametrize(
    ("opening", "said"), [([9], "outside the action space"), ([0] * 5, "goes on after the end")]
)
def test_openings_must_be_legal(opening, said):
    with pytest.raises(InvalidSettingError, match=said):
        play_match(toy_envs.ToyEnv, [First(), First()], seed=0, opening=opening)


@pytest.mark.parametrize(("env", "error"), [(7, InvalidSettingError), (dict, UnsupportedGameError)])
def test_what_is_no_environment_is_refused(env, error):
    with pytest.raises(error):
        play_match(env, [First(), First()], seed=0)


def test_a_search_leaves_its_figures_in_the_moves():
    record = play_match("classic/tictactoe-v3", ["alphabeta(depth=1)", "mcts(simulations=20)"], seed=0)
    first = record.moves[0]
    assert first.nodes > 1
    assert first.depth == 1
    assert first.value is not None
    second = record.moves[1]
    assert second.nodes >= 1
    assert second.depth is None  # simulations complete no depth


def test_a_single_player_environment():
    record = play_match(toy_envs.WalkEnv, [Last()], seed=3)
    env = toy_envs.WalkEnv()
    env.reset(seed=3)
    assert record.rewards == (10.0 + env.bonus,)
    assert record.seat_names == ("player",)
    assert record.scores == record.rewards
    lost = play_match(toy_envs.WalkEnv, [Answers(8)], seed=3)
    assert lost.failure.kind is FailureKind.ILLEGAL_ACTION


def test_a_gymnasium_environment_that_an_agent_steps():
    class StepsGym(First):
        def act(self, env):
            env.step(0)
            return 0

    def timed():
        return gymnasium.wrappers.TimeLimit(toy_envs.WalkEnv(), 10)

    record = play_match(timed, [StepsGym()], seed=0)
    assert record.failure.kind is FailureKind.ENVIRONMENT_CHANGED


def test_shimmys_doubled_final_reward_is_read_around():
    record = play_match("openspiel/tic_tac_toe", [First(), First()], seed=0)
    assert record.rewards == (1.0, -1.0)


def test_a_gymnasium_environments_own_mask_counts_and_advice_in_infos_does_not():
    class Masked(toy_envs.WalkEnv):
        def action_masks(self):
            return np.array([1, 0, 1], np.int8)

    lost = play_match(Masked, [Answers(1)], seed=0)
    assert lost.failure.kind is FailureKind.ILLEGAL_ACTION
    assert play_match(Masked, [Answers(2)], seed=0).failure is None
    taxi = play_match("Taxi-v4", ["random"], seed=0)
    assert taxi.failure is None
