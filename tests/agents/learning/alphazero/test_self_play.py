"""Self-play in compiled code is the same search in plain Python, move for move; and what it refuses."""

import numpy as np
import pytest
from oracles.gumbel_search import GumbelSearch, rounds_of_halving

from zermelo.agents.evaluators.policy_value import NetworkEvaluator
from zermelo.agents.learning.alphazero import AlphaZeroSettings
from zermelo.agents.learning.alphazero.self_play import SelfPlay, opposed_game, visits_due
from zermelo.agents.learning.layout import ROOT
from zermelo.envs import InvalidSettingError, UnsupportedGameError
from zermelo.envs.jit.memory import load_state

SMALL = AlphaZeroSettings(games=3, simulations=12, considered=4, random_plies=2, seed=4)


def stub(shape, actions, seed=1):
    """A network that says something else of every position."""
    generator = np.random.default_rng(seed)
    policy = generator.normal(size=(int(np.prod(shape)), actions))
    value = generator.normal(size=int(np.prod(shape)))

    def answer(observations):
        seen = np.asarray(observations, float).reshape(len(observations), -1)
        return 2 * np.tanh(seen @ policy), 0.8 * np.tanh(seen @ value)

    return answer


def states_of(play):
    """The states of all games, as the rules have them."""
    first, words = play.arrays["states"].ctypes.data, play.arrays["states"].shape[1]
    return [load_state(play.game.initial_state(), first + 8 * words * number) for number in range(len(play._open))]


def next_decision(game, state):
    """The state after all forced moves; None at the end of the game."""
    while not game.is_terminal(state):
        legal = game.legal_actions(state)
        if len(legal) > 1:
            return state
        state = game.result(state, legal[0])
    return None


def compare(env, settings, steps):
    """Follows games in plain Python; how many decisions and ends of games were compared."""
    play = SelfPlay(opposed_game(env), settings, threads=1)
    answer = stub(play.shape, play.choices)
    network, game, arrays = NetworkEvaluator(answer), play.game, play.arrays
    begun, decisions, ends = {}, 0, 0
    for _ in range(steps):
        states, waits = states_of(play), np.flatnonzero(arrays["plies"] == ROOT).tolist()
        begun.update({number: (states[number], int(arrays["random"][number])) for number in waits})
        samples = play.step(*answer(play.observations))
        after = states_of(play)
        for number in np.flatnonzero(arrays["decided"]).tolist():
            state, counter = begun[number]
            plain = GumbelSearch(game, state, settings, network, counter).search()
            policy, value = plain.improved_policy()
            actions = arrays["sample_actions"][number].tolist()
            found = dict(zip(actions, arrays["sample_policies"][number].tolist(), strict=True))
            assert {action: found[action] for action in policy} == pytest.approx(policy, abs=1e-9)
            assert actions.count(-1) == len(actions) - len(policy)
            assert arrays["sample_values"][number] == pytest.approx(value, abs=1e-9)
            assert arrays["sample_movers"][number] == game.to_move(state)
            if not hasattr(game.rules, "chance_outcomes"):
                following = next_decision(game, game.result(state, plain.action()))
                assert bool(arrays["ended"][number]) == (following is None)
                assert following is None or following == after[number]
            decisions += 1
        ended = np.flatnonzero(arrays["ended"]).tolist()
        assert (samples is not None) == bool(ended)
        ends += len(ended)
    return decisions, ends


def test_tic_tac_toe_is_searched_as_in_plain_python():
    decisions, ends = compare("zermelo/MNK-v0", SMALL, 150)
    assert decisions > 40
    assert ends > 6


@pytest.mark.slow
@pytest.mark.parametrize(
    "env",
    [
        "zermelo/DotsAndBoxes-v0(rows=1, columns=3)",  # turns need not alternate
        "zermelo/Othello-v0(rows=4, columns=4, margin=True)",  # passes, and utilities of many points
        "zermelo/EinStein-v0(size=4)",  # chance
    ],
)
def test_other_games_are_searched_as_in_plain_python(env):
    decisions, ends = compare(env, SMALL, 250)
    assert decisions > 40
    assert ends > 1


@pytest.mark.slow
def test_games_that_know_their_past_are_played_by_their_rules():
    play = SelfPlay(opposed_game("zermelo/Go-v0(size=3)"), SMALL, threads=1)
    answer = stub(play.shape, play.choices)
    found = [samples for _ in range(1_500) if (samples := play.step(*answer(play.observations))) is not None]
    assert play.played == len(found) > 3
    assert all(set(np.unique(samples.outcomes)) <= {-1.0, 0.0, 1.0} for samples in found)


@pytest.mark.parametrize(("count", "simulations"), [(1, 5), (2, 9), (4, 12), (7, 32), (16, 16), (5, 3)])
def test_sequential_halving(count, simulations):
    """The place of the ranking that is simulated next has as many visits as the table says."""
    order = rounds_of_halving(count, simulations)
    row = visits_due(count, simulations)[count].tolist()
    assert row == [order[:number].count(order[number]) for number in range(simulations)]


def test_the_number_of_threads_changes_nothing():
    found = []
    for threads in (1, 3):
        play = SelfPlay(opposed_game("zermelo/MNK-v0"), SMALL, threads=threads)
        answer = stub(play.shape, play.choices)
        for _ in range(60):
            play.step(*answer(play.observations))
        found.append((play.arrays["states"].tolist(), play.arrays["random"].tolist(), play.played))
    assert found[0] == found[1]


def test_samples_have_the_outcome_for_who_was_to_move():
    play = SelfPlay(opposed_game("zermelo/MNK-v0"), SMALL, threads=1)
    answer, samples = stub(play.shape, play.choices), None
    while samples is None:
        samples = play.step(*answer(play.observations))
    outcome = play.arrays["outcomes"][np.flatnonzero(play.arrays["ended"])[0]]
    movers = [play.game.to_move(load_state(play.game.initial_state(), row.ctypes.data)) for row in samples.states]
    assert samples.outcomes.tolist()[: len(movers)] == [outcome if mover == 0 else -outcome for mover in movers]
    assert samples.policies.sum(axis=1) == pytest.approx(1, abs=1e-5)


def test_an_answer_that_is_no_number_is_refused():
    play = SelfPlay(opposed_game("zermelo/MNK-v0"), SMALL, threads=1)
    with pytest.raises(InvalidSettingError, match="lower learning_rate"):
        play.step(np.full((3, 9), np.nan), np.zeros(3))


@pytest.mark.parametrize(
    ("env", "reason"),
    [
        ("zermelo/MNK-v0(players=3)", "not one of two opposed players"),
        ("zermelo/Game2048-v0", "not one of two opposed players"),
        ("zermelo/Kuhn-v0", "do not see the whole state"),
    ],
)
def test_games_of_another_kind_are_refused(env, reason):
    with pytest.raises(UnsupportedGameError, match=reason):
        opposed_game(env)


def test_games_that_memory_does_not_hold_are_refused():
    game = opposed_game("zermelo/MNK-v0")
    with pytest.raises(InvalidSettingError, match=r"games=\d+ with simulations=32 need .* GiB of memory"):
        SelfPlay(game, AlphaZeroSettings(games=10**15))
    with pytest.raises(InvalidSettingError, match="threads must be a whole number of at least 1"):
        SelfPlay(game, SMALL, threads=0)


def test_a_game_without_decisions_is_refused():
    with pytest.raises(UnsupportedGameError, match="nothing to decide"):
        SelfPlay(opposed_game("zermelo/MNK-v0(m=1, n=1, k=1)"), SMALL, threads=1)
