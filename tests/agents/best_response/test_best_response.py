"""A search that asks a policy what it plays is a best response, and sees no more than its player may."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from zermelo.agents import PolicyAgent, make_agent
from zermelo.agents.best_response.agent import BestResponseAgent
from zermelo.agents.best_response.asking import AskedPolicy, own_agent
from zermelo.agents.best_response.exact import best_response_values
from zermelo.agents.best_response.game import ResponseGame
from zermelo.agents.equilibrium.equilibrium import behaviours_of, best_responses
from zermelo.agents.equilibrium.sequence_form import sequence_form
from zermelo.agents.policies.policy import agent_policy
from zermelo.envs import UnsupportedGameError
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import Kuhn, Leduc
from zermelo.envs.position import search_game
from zermelo.envs.registration.make import make
from zermelo.envs.rules.rules_game import RulesGame

TICTACTOE = "classic/tictactoe-v3"


def live(name: str, *moves: int) -> Any:
    env = make(name)
    env.reset(seed=1)
    for move in moves:
        env.step(move)
    return env


def first_legal(observation: Any, action_mask: Any) -> int:
    return int(np.flatnonzero(action_mask)[0])


def half_bets(observation: Any, action_mask: Any) -> Any:
    return np.array([0.5, 0.5])


def values_of_random_play(game: Any, state: Any, seat: int) -> float:
    """The best response to random play by plain recursion, as an oracle."""
    if game.is_terminal(state):
        return float(game.utility(state)[seat])
    values = [
        values_of_random_play(game, game.result(state, action), seat) for action in game.legal_actions(state)
    ]
    return max(values) if game.to_move(state) == seat else sum(values) / len(values)


def test_random_play_of_tictactoe_is_answered_exactly() -> None:
    game = search_game(TICTACTOE)
    after = game.result(game.result(game.initial_state(), 4), 0)
    expected = values_of_random_play(game, after, 0)
    for search in ("expectiminimax(depth=9)", "value_iteration", "mcts(simulations=4000)"):
        found = make_agent(f"best_response(agent={search}, opponent=random)").search(live(TICTACTOE, 4, 0))
        assert found.value == pytest.approx(expected, abs=0.03 if "mcts" in search else 1e-9), search
        assert found.values_by_seat == (found.value, -found.value)


def test_exact_values() -> None:
    """The value of perfect play against random play, over the whole game."""
    assert best_response_values("random", TICTACTOE) == pytest.approx((191 / 192, 0.9248677248677248))
    assert best_response_values("alphabeta(ties=first)", TICTACTOE) == pytest.approx((0, 0))


@pytest.mark.parametrize("opponent", ["random", "cfr(iterations=20)", PolicyAgent(half_bets, sample=True)])
def test_exact_values_of_hidden_cards_are_those_of_the_sequence_form(opponent: Any) -> None:
    for rules in (Kuhn(), Kuhn(players=3), Leduc(ranks=2)):
        if isinstance(opponent, PolicyAgent) and not isinstance(rules, Kuhn):
            continue
        expected = best_responses(agent_policy(opponent), RulesGame(rules)).best_responses
        assert best_response_values(opponent, RulesGame(rules)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("rules", [Kuhn(), Leduc(ranks=2)])
def test_the_game_against_a_policy_is_a_game_for_one(rules: Any) -> None:
    """Its own sequence form has the value of the best response, for each seat."""
    game, agent = RulesGame(rules), own_agent("cfr(iterations=30)")
    expected = best_responses(agent_policy("cfr(iterations=30)"), game).best_responses
    for seat in (0, 1):
        view = ResponseGame(game, seat, AskedPolicy(game, agent, 1))
        found = best_responses(lambda own, state: {own.legal_actions(state)[0]: 1.0}, view).best_responses
        assert found == pytest.approx((expected[seat],), abs=1e-9)


def value_of_play(spec: str, opponent: str, name: str) -> tuple[list[float], tuple[float, ...]]:
    """What the actions of a best response win on average from each seat; and the exact values."""
    game = search_game(name)
    form, agent = sequence_form(game), make_agent(spec)

    def plays(_: Any, state: Any) -> Mapping[int, float]:
        agent.reset(0)
        found = agent.search_state(game, state)  # type: ignore[attr-defined]
        return found.policy or {found.action: 1.0}

    own, others = behaviours_of(plays, form), behaviours_of(agent_policy(opponent), form)
    won = []
    for seat in range(len(form.seats)):
        mixed = [own[each] if each == seat else others[each] for each in range(len(form.seats))]
        won.append(form.expected([one.plan(part) for one, part in zip(form.seats, mixed, strict=True)])[seat])
    return won, best_response_values(opponent, game)


@pytest.mark.parametrize(
    ("search", "opponent", "name"),
    [
        ("ismcts(simulations=500)", "random", "zermelo/Kuhn-v0"),
        pytest.param("cfr(iterations=60)", "random", "zermelo/Leduc-v0(ranks=2)", marks=pytest.mark.thorough),
    ],
)
def test_what_it_plays_wins_what_can_be_won(search: str, opponent: str, name: str) -> None:
    won, exact = value_of_play(f"best_response(agent={search}, opponent={opponent})", opponent, name)
    assert won == pytest.approx(exact, abs=0.02)


@pytest.mark.thorough
def test_simulations_come_to_the_exact_value() -> None:
    """With the lower of two ranks, checking is worth 2.1875 against random play, and raising 1.8889."""
    game: Any = RulesGame(Leduc(ranks=2))
    state = game.initial_state()
    for card in (0, 1):
        state = game.result(state, card)
    search = "ismcts(simulations=20000, exploration=0.2)"
    found: Any = make_agent(f"best_response(agent={search}, opponent=random)")
    result = found.search_state(game, state)
    assert result.action == 3
    assert result.value == pytest.approx(2.1875, abs=0.25)


def passes_with_a_queen(observation: Any, action_mask: Any) -> int:
    """Bets with a jack, as a bluff, and with a king; passes with a queen."""
    return int(observation[1] == 0)


def test_what_the_policy_has_done_tells_its_cards() -> None:
    """Who bets never has the queen: with a jack or king of one's own the other card is known."""
    game: Any = RulesGame(Kuhn())
    opponent = PolicyAgent(passes_with_a_queen, sample=True, outputs="auto")
    view = ResponseGame(game, 1, AskedPolicy(game, own_agent(opponent), 1))
    for mine, theirs in ((0, 2), (2, 0)):
        state = game.initial_state()
        for move in (theirs, mine, 1):
            state = game.result(state, move)
        generator = np.random.default_rng(0)
        dealt = {game.moves_so_far(view.resample(state, 0, generator))[0] for _ in range(50)}
        assert dealt == {theirs}


def test_the_live_game_tells_nothing() -> None:
    """The same search, whatever card the opponent really has."""
    game: Any = RulesGame(Kuhn())
    found = []
    for theirs in (0, 2):
        state = game.initial_state()
        for move in (theirs, 1, 1):
            state = game.result(state, move)
        agent = BestResponseAgent(agent="ismcts(simulations=200)", opponent="random")
        found.append(agent.search_state(game, state).visits)
    assert found[0] == found[1]


class Acts:
    """Acts in environments only."""

    name = "acts"

    def reset(self, seed: int | None = None) -> None: ...

    def act(self, env: Any) -> int:
        return int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0])


def test_agents_that_act_in_environments_are_asked_in_copies() -> None:
    agent = BestResponseAgent(agent="mcts(simulations=200)", opponent=Acts(), backend="clone")
    same = BestResponseAgent(agent="mcts(simulations=200)", opponent=PolicyAgent(first_legal))
    for moves in ((), (4, 0), (4, 0, 8, 1)):
        assert agent.search(live(TICTACTOE, *moves)).value == 1 == same.search(live(TICTACTOE, *moves)).value


def test_policies_that_draw_are_estimates() -> None:
    draws = np.random.default_rng(0)
    policy = PolicyAgent(lambda observation, mask: int(draws.choice(np.flatnonzero(mask))))
    found = BestResponseAgent(agent="mcts(simulations=50)", opponent=policy).search(live(TICTACTOE))
    assert "estimates from 4 answers" in found.note
    assert found.is_estimate
    assert not found.proven
    with pytest.raises(InvalidSettingError, match="the policy draws its moves"):
        best_response_values(policy, TICTACTOE)


def fails_later(observation: Any, action_mask: Any) -> int:
    if observation.sum() > 2:
        raise ValueError("no idea")
    return int(np.flatnonzero(action_mask)[0])


def test_a_policy_that_fails_counts_as_random_there() -> None:
    policy = PolicyAgent(fails_later)
    found = BestResponseAgent(agent="mcts(simulations=50)", opponent=policy).search(live(TICTACTOE))
    assert "the policy failed in" in found.note
    assert "ValueError: no idea" in found.note
    with pytest.raises(InvalidSettingError, match="the policy failed in"):
        best_response_values(policy, TICTACTOE)


def test_refusals() -> None:
    with pytest.raises(InvalidSettingError, match="needs the policy that it answers, as in opponent=greedy"):
        make_agent("best_response")
    with pytest.raises(InvalidSettingError, match="agent must be one that searches"):
        make_agent("best_response(agent=random, opponent=greedy)")
    with pytest.raises(UnsupportedGameError, match="has one seat"):
        make_agent("best_response(opponent=random)").search(live("zermelo/Game2048-v0"))  # type: ignore[attr-defined]
    with pytest.raises(UnsupportedGameError, match="needs players who take turns"):
        make_agent("best_response(opponent=random)").search(live("classic/rps-v2"))  # type: ignore[attr-defined]
    with pytest.raises(UnsupportedGameError, match="more than"):
        best_response_values("random", "classic/connect_four-v3", most_states=100)


def test_its_spec_is_read_back() -> None:
    spec = "best_response(agent=mcts(simulations=20), opponent=noisy(agent=greedy, epsilon=0.2))"
    assert make_agent(make_agent(spec).name).name == make_agent(spec).name
