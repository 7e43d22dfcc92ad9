"""Searches that do not peek: ISMCTS against the textbook's, and the permutation test."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pettingzoo
import pytest

from zermelo.agents import ISMCTSAgent, make_agent
from zermelo.agents import textbook as algorithms
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.base.playouts import RandomNumbers
from zermelo.agents.monte_carlo.information_sets.plain import InformationSetSearch, Observers
from zermelo.agents.opponents.beliefs import Belief
from zermelo.envs import CHANCE, UnsupportedGameError, as_game, legal_actions, make
from zermelo.envs.errors import UnknownNameError
from zermelo.envs.games import MNK, Kuhn, Leduc, LiarsDice
from zermelo.envs.rules import RulesGame


def dealt(rules: Any, *actions: int) -> tuple[Any, Any]:
    """A game, and its state after some outcomes and actions."""
    game = RulesGame(rules)
    state = game.initial_state()
    for action in actions:
        state = game.result(state, action)
    assert game.to_move(state) != CHANCE
    return game, state


STATES = [(Kuhn(), 0, 1), (Kuhn(3), 2, 0, 1, 0, 1), (Leduc(), 0, 2, 3), (LiarsDice(1, 3), 0, 2, 1)]


@pytest.mark.parametrize("observers", list(Observers))
@pytest.mark.parametrize("played", STATES, ids=repr)
def test_simulations_are_the_textbooks(played: Any, observers: Observers) -> None:
    game, state = dealt(*played)
    sees = (lambda searcher, mover: searcher) if observers is Observers.SINGLE else (lambda searcher, mover: mover)
    expected = algorithms.ismcts(game, state, 300, RandomNumbers(5), np.random.default_rng(5), 0.7, sees)
    search = InformationSetSearch(game, state, Budget(Limits()), observers=observers, exploration=0.7, seed=5)
    search.run(Limits(simulations=300), 1000)
    found = {each.action: (each.visits, each.values[search.seat]) for each in search.root_actions() if each.visits}
    assert {action: visits for action, (visits, _) in found.items()} == {a: n for a, (n, _) in expected.items()}
    for action, (_, value) in found.items():
        assert value == pytest.approx(expected[action][1])


def test_the_best_card_is_bet_and_the_worst_folded() -> None:
    for observers in ("single", "multiple"):
        agent: Any = make_agent(f"ismcts(simulations=400, observers={observers})")
        assert agent.search_state(*dealt(Kuhn(), 2, 0, 1)).action == 0  # a jack folds to a bet
        result = agent.search_state(*dealt(Kuhn(), 0, 2, 1))
        assert result.stopped_by is StoppedBy.SIMULATIONS
        assert result.action == 1  # a king calls, and wins two chips
        assert result.action_values[1] == 2
        assert sum(result.visits.values()) == 400
        assert result.stats["simulations"] == 400


def test_limits_and_interruption() -> None:
    game, state = dealt(Leduc(), 0, 2)
    assert ISMCTSAgent(nodes=500).search_state(game, state).nodes <= 500
    found = ISMCTSAgent(simulations=200, on_iteration=lambda result: False).search_state(game, state)
    assert found.stopped_by is StoppedBy.INTERRUPT
    assert found.stats["simulations"] < 200
    assert ISMCTSAgent(nodes=1, ties="first").search_state(game, state).action == 1
    results = [ISMCTSAgent(simulations=80, seed=3).search_state(game, state) for _ in range(2)]
    assert results[0].visits == results[1].visits


# -- the permutation test: nothing that the seat does not see plays a part ----------------------------------------


def environment(name: str, plies: int, **settings: Any) -> Any:
    env = pettingzoo.make("aec", f"classic/{name}", **settings)
    env.reset(seed=4)
    for _ in range(plies):
        if name.startswith("rps"):
            env.step(1)
            continue
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(np.flatnonzero(mask)[0 if name.startswith("hanabi") else 1 if mask[1] else 0]))
    return env


HANABI = {"colors": 2, "ranks": 2, "players": 2, "hand_size": 2}
CASES: dict[str, Any] = {
    "kuhn": lambda: dealt(Kuhn(), 1, 0),
    "three": lambda: dealt(Kuhn(3), 1, 0, 2, 0),
    "leduc": lambda: dealt(Leduc(), 0, 2, 3),
    "dice": lambda: dealt(LiarsDice(1, 3), 0, 2, 1),
    **{
        name: lambda name=name, settings=settings: snapshot(environment(name, 1, **settings))
        for name, settings in (
            ("leduc_holdem-v4", {}),
            ("texas_holdem-v4", {}),
            ("texas_holdem_no_limit-v6", {}),
            ("hanabi-v5", HANABI),
            ("rps-v2", {}),
        )
    },
}


def snapshot(env: Any) -> tuple[Any, Any]:
    game = as_game(env, backend="environment")
    return game, game.snapshot(env)


AGENTS = [
    "ismcts(simulations=12)",
    "ismcts(simulations=12, observers=single)",
]


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES)
def test_what_the_seat_does_not_see_plays_no_part(name: str) -> None:
    game, state = CASES[name]()
    seat = game.to_move(state)
    others = [game.resample(state, seat, np.random.default_rng(seed)) for seed in range(2)]
    keys = {game.information_state_key(one, 1 - seat) for one in (state, *others)}
    assert len(keys) > 1, "the others hold other cards"
    for spec in AGENTS:
        agent: Any = make_agent(spec)
        found = []
        for one in (state, *others):
            agent.reset(6)
            result = agent.search_state(game, one)
            found.append((result.action, result.action_values, result.visits))
        assert found == [found[0]] * len(found), spec


@pytest.mark.parametrize("name", ["texas_holdem-v4", "texas_holdem_no_limit-v6", "leduc_holdem-v4", "rps-v2"])
def test_pettingzoos_games_are_played(name: str) -> None:
    env = pettingzoo.make("aec", f"classic/{name}")
    env.reset(seed=2)
    agent = ISMCTSAgent(simulations=8)
    while not any([*env.terminations.values(), *env.truncations.values()]):
        action = agent.act(env)
        assert action in legal_actions(env)
        env.step(action)
    assert sum(env.rewards.values()) == pytest.approx(0)


@pytest.mark.parametrize("name", ["euchre", "oh_hell"])
def test_openspiels_games_of_tricks_are_played(name: str) -> None:
    """Of OpenSpiel's games of four hands these can deal again what a player has not seen."""
    pyspiel = pytest.importorskip("pyspiel")
    state, generator = pyspiel.load_game(name).new_initial_state(), np.random.default_rng(1)
    agent = ISMCTSAgent(simulations=3)
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, shares = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(generator.choice(outcomes, p=np.array(shares) / sum(shares))))
            continue
        result = agent.search_state(state.get_game(), state)
        assert result.stats["simulations"] == 3
        state.apply_action(result.action)  # OpenSpiel checks that it is legal
    assert state.is_terminal()


def test_what_openspiel_deals_wrongly_is_refused() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    state = pyspiel.load_game("hearts").new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    with pytest.raises(UnsupportedGameError, match="deals of hearts lead to states in which nobody can move"):
        ISMCTSAgent(simulations=1).search_state(state.get_game(), state)


def test_playouts_are_cut_short() -> None:
    env = environment("hanabi-v5", 2, **HANABI)
    agents = [ISMCTSAgent(simulations=20, nodes=10_000, playout_moves=moves) for moves in (0, 2, None)]
    nodes = [agent.search(env).nodes for agent in agents]
    assert nodes[0] < nodes[1] < nodes[2]


def test_games_that_do_not_say_what_is_known_are_refused() -> None:
    agent: Any = make_agent("ismcts")
    with pytest.raises(UnsupportedGameError, match=r"hides? something from .*: use 'alphabeta'"):
        agent.search_state(RulesGame(MNK()))
    live = make("classic/tictactoe-v3")
    live.reset()
    at_once = dataclasses.replace(agent, name="", traits={"simultaneous": True, "information": "hidden"})
    with pytest.raises(UnsupportedGameError, match="needs players who take turns"):
        at_once.act(live)
    pyspiel = pytest.importorskip("pyspiel")
    with pytest.raises(UnsupportedGameError, match="OpenSpiel cannot deal openspiel/phantom_ttt"):
        agent.search_state(pyspiel.load_game("phantom_ttt"))


# -- beliefs by a model of the others -----------------------------------------------------------------------------


def bets_by_card(game: Any, state: Any) -> dict[int, float]:
    """Bets a jack one time in four, a queen never, a king three times in four; answers bets at random."""
    mover = game.to_move(state)
    if state.moves:
        return {0: 0.5, 1: 0.5}
    share = (0.25, 0.0, 0.75)[game.information_state_key(state, mover)[0] - 1]
    return {0: 1 - share, 1: share}


def never(game: Any, state: Any) -> dict[int, float]:
    return {0: 1.0}


def test_what_is_believed_follows_from_what_was_played() -> None:
    game, state = dealt(Kuhn(), 2, 1, 1)  # a queen, to which the other, as it is, has bet a king
    belief = Belief(bets_by_card, game, state, 1)
    generator = np.random.default_rng(1)
    assert {deal.cards & 15: belief.weight(deal) for deal in (belief.deal(generator) for _ in range(20))} == {
        1: 0.25,
        3: 0.75,
    }
    kings = sum(belief.deal(generator).cards & 15 == 3 for _ in range(4_000))
    assert kings / 4_000 == pytest.approx(0.75, abs=0.04)
    unsuited = Belief(never, game, state, 1)
    assert {unsuited.deal(generator).cards & 15 for _ in range(20)} == {1, 3}


def test_a_queen_calls_who_only_bluffs() -> None:
    for cards in (2, 0):  # whatever the other holds
        game, state = dealt(Kuhn(), cards, 1, 1)
        agent: Any = make_agent("ismcts(simulations=200, belief='doubles.policies:only_bluffs')")
        result = agent.search_state(game, state)
        assert result.action == 1
        assert result.action_values[1] == 2
    assert "doubles.policies:only_bluffs" in agent.name


@pytest.mark.parametrize(
    "played", [*STATES, (Leduc(blinds=True), 1, 0, 2, 0, 3, 1, 1), (LiarsDice(1, 3), 0, 2, 1, 6)]
)
def test_moves_so_far_lead_to_the_state(played: Any) -> None:
    rules, *moves = played
    game = RulesGame(rules)
    state = game.initial_state()
    for move in moves:
        assert replayed(game, game.moves_so_far(state)) == state
        state = game.result(state, move)
    assert game.moves_so_far(state) == moves


def replayed(game: Any, moves: Any) -> Any:
    state = game.initial_state()
    for move in moves:
        state = game.result(state, move)
    return state


def test_beliefs_that_cannot_be() -> None:
    assert make_agent("ismcts(belief=uniform)").name == "ismcts"
    assert make_agent("ismcts(belief=softmax(temperature=2))").name == "ismcts(belief=softmax(temperature=2))"
    with pytest.raises(UnknownNameError, match="clairvoyant"):
        make_agent("ismcts(belief=clairvoyant)")
    agent: Any = make_agent("ismcts(belief=random)")
    with pytest.raises(UnsupportedGameError, match="belief needs to know how texas_holdem_v4 came to where it is"):
        agent.act(environment("texas_holdem-v4", 1))
