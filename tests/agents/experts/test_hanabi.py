"""Hanabi by conventions, and searches on top of them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from zermelo.agents import make_agent
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits, StoppedBy
from zermelo.agents.experts.hanabi.agent import Convention, HanabiPolicy, require_hanabi
from zermelo.agents.experts.hanabi.kernel import advance
from zermelo.agents.experts.hanabi.layout import LIVES, SCORE, WORDS
from zermelo.agents.experts.hanabi.table import needs_deal
from zermelo.agents.specs import runs_own_code
from zermelo.envs import UnsupportedGameError, as_game, make
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import Kuhn
from zermelo.envs.rules import RulesGame

pyspiel = pytest.importorskip("pyspiel")
CONVENTIONS = ("smart", "hats")
RULES = [f"hanabi(convention={each})" for each in CONVENTIONS]
SETTINGS = [
    "players=2",
    "players=3",
    "players=4",
    "players=5",
    "players=2,colors=2,ranks=2,hand_size=2",
    "players=3,colors=3,ranks=4,hand_size=3,max_information_tokens=3,max_life_tokens=1",
    "players=2,max_information_tokens=0",
]


def hanabi(settings: str) -> tuple[Any, Any]:
    """A game, and the state before the first deal."""
    game = as_game(pyspiel.load_game(f"hanabi({settings})"))
    return game, game.initial_state()


def dealt(*cards: str, moves: tuple[str, ...] = (), players: int = 2) -> tuple[Any, Any]:
    """A position in which these hands, then these cards, were dealt as far as moves made it necessary."""
    game, state = hanabi(f"players={players}")
    left = [card for hand in cards for card in hand.split()]
    todo = list(moves)
    while state.is_chance_node() or todo:
        wanted = left.pop(0) if state.is_chance_node() else todo.pop(0)
        act(state, wanted)
    return game, state


def act(state: Any, wanted: str) -> None:
    """Takes the action whose text ends so."""
    texts = {state.action_to_string(state.current_player(), action): action for action in state.legal_actions()}
    (found,) = (action for text, action in texts.items() if text.endswith(f"{wanted})"))
    state.apply_action(found)


def chosen(game: Any, state: Any, spec: str = "hanabi") -> str:
    """What an agent does, in OpenSpiel's words."""
    agent: Any = make_agent(spec)
    return str(state.action_to_string(state.current_player(), agent.search_state(game, state).action))


def policy_of(game: Any, convention: str) -> HanabiPolicy:
    return HanabiPolicy(game, Convention(convention), Budget(Limits()))


def play_randomly(settings: str, seed: int, *, moves: int) -> tuple[Any, Any]:
    """A position after some moves of the convention and some discards at random."""
    game, state = hanabi(settings)
    source, agent = random.Random(seed), make_agent("hanabi")
    made: Any = agent
    while moves and not state.is_terminal():
        if state.is_chance_node():
            outcomes, shares = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(source.choices(outcomes, shares)[0])
            continue
        discards = [action for action in state.legal_actions() if "Discard" in state.action_to_string(0, action)]
        is_random = discards and source.random() < 0.2
        state.apply_action(source.choice(discards) if is_random else made.search_state(game, state).action)
        moves -= 1
    while not state.is_terminal() and state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    return game, state


# -- conventions


def test_a_hint_of_ones_is_given_and_played() -> None:
    hands = "R3 Y3 G4 W4 B2", "R1 Y1 G3 W2 B4"
    assert chosen(*dealt(*hands)) == "(Reveal player +1 rank 1)"
    assert chosen(*dealt(*hands, moves=("rank 1",))).startswith("(Play")


def test_the_newest_card_pointed_at_is_the_one_to_play() -> None:
    hands = "R3 Y3 G4 W4 B2", "R3 Y4 R4 W2 R1"
    assert chosen(*dealt(*hands, moves=("color R",))) != "(Play 4)"
    hands = "R3 Y3 G4 W4 B2", "Y4 R3 R4 W2 R1"
    assert chosen(*dealt(*hands, moves=("color R",))) == "(Play 4)"


def test_a_card_that_is_needed_is_saved_before_it_is_discarded() -> None:
    hands = "R3 Y3 G4 W4 B2", "R5 Y4 G3 W3 B3"
    game, state = dealt(*hands)
    assert chosen(game, state) == "(Reveal player +1 rank 5)"
    act(state, "rank 5")
    assert chosen(game, state) not in ("(Discard 0)", "(Play 0)")


def test_what_is_playable_twice_is_pointed_at_once() -> None:
    game, state = dealt("R3 Y3 G4 W4 B2", "R3 Y2 R1 W3 B4", "R1 Y2 G4 W3 B4", players=3)
    act(state, "player +2 rank 1")
    assert chosen(game, state, "hanabi") not in ("(Reveal player +2 color R)", "(Reveal player +2 rank 1)")


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_table_is_openspiels(settings: str) -> None:
    """Legal actions, ends and points are OpenSpiel's in random games."""
    game, _ = hanabi(settings)
    rules, source, table = require_hanabi(game), random.Random(settings), np.zeros(WORDS, np.int64)
    for _ in range(3):
        state = game.initial_state()
        rules.begin(table, -1)
        while not state.is_terminal():
            assert not rules.is_over(table)
            assert state.is_chance_node() == needs_deal(table)
            if state.is_chance_node():
                actions = [card for card, _ in state.chance_outcomes()]
            else:
                actions = [action for action in range(game.traits.num_actions) if rules.is_legal(table, action)]
                assert actions == state.legal_actions()
            state.apply_action(action := source.choice(actions))
            advance(rules, table, action)
        assert rules.is_over(table)
        assert (table[SCORE] if table[LIVES] else 0) == state.returns()[0]


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("settings", SETTINGS)
def test_actions_are_legal_and_plain_as_compiled(settings: str, convention: str) -> None:
    for seed in range(6):
        game, state = play_randomly(settings, seed, moves=8 * seed)
        if state.is_terminal():
            continue
        found = [
            make_agent(f"hanabi(convention={convention}, compile={when})").search_state(game, state)  # type: ignore[attr-defined]
            for when in ("wait", "never")
        ]
        assert found[0].action == found[1].action
        assert found[0].action in state.legal_actions()
        assert not found[1].compiled


@pytest.mark.parametrize("spec", [*RULES, "sparta(samples=4)", "ismcts(blueprint=hanabi, simulations=4)"])
@pytest.mark.parametrize("players", [2, 4])
def test_cards_in_its_own_hand_play_no_part(spec: str, players: int) -> None:
    for moves in (0, 9, 23, 41):
        game, state = play_randomly(f"players={players}", seed=moves, moves=moves)
        seat = state.current_player()
        others = [game.resample(state, seat, np.random.default_rng(seed)) for seed in range(3)]
        assert len({str(one) for one in (state, *others)}) > 1
        answers = []
        for one in (state, *others):
            result = make_agent(spec).search_state(game, one)  # type: ignore[attr-defined]
            answers.append((result.action, result.action_values))
        assert answers == answers[:1] * 4


@pytest.mark.parametrize(
    ("convention", "players", "least"),
    [
        ("smart", 2, 21.5),
        ("smart", 3, 22),
        ("smart", 4, 22),
        ("smart", 5, 20.7),
        ("hats", 4, 24.5),
        ("hats", 5, 24.4),
    ],
)
def test_points_of_a_team(convention: str, players: int, least: float) -> None:
    """Points lost with the last life do not count."""
    game, state = hanabi(f"players={players}")
    points, lives = policy_of(game, convention).play_on(state, samples=400, seed=5)
    assert np.where(lives > 0, points, 0).mean() > least


# -- teams and environments


@pytest.mark.parametrize("ours", ["hanabi", "sparta(samples=20)"])
@pytest.mark.parametrize("partner", ["random", "ismcts(simulations=2)"])
def test_it_plays_with_strangers(ours: str, partner: str) -> None:
    env = make("classic/hanabi-v5", players=3)
    env.reset(seed=2)
    team = [make_agent(spec) for spec in (ours, partner, ours)]
    while env.agents:
        seat = env.possible_agents.index(env.agent_selection)
        action = team[seat].act(env)
        assert action is None or env.observe(env.agent_selection)["action_mask"][action]
        env.step(action)
    assert env.unwrapped.hanabi_env.game_state.is_terminal()


def test_auto_takes_it_and_says_so() -> None:
    """The first player searches, for whom the others' moves are those of the rules."""
    env = make("classic/hanabi-v5")
    env.reset(seed=1)
    result: Any = make_agent("auto(seconds=0.5)").search(env)  # type: ignore[attr-defined]
    assert result.method == "sparta: it knows the conventions of this game, and the first player searches"
    never: Any = make_agent("auto(seconds=0.5, compile=never)")
    assert never.search(env).method == "hanabi: it knows the conventions of this game"
    env.step(result.env_action)
    second: Any = make_agent("auto(seconds=0.5)").search(env)  # type: ignore[attr-defined]
    assert second.method == "hanabi: it knows the conventions of this game"
    assert second.action == make_agent("hanabi").act(env)


def test_other_games_are_refused() -> None:
    with pytest.raises(UnsupportedGameError, match="hanabi plays Hanabi in which player 0 begins"):
        make_agent("hanabi").search_state(RulesGame(Kuhn()), None)  # type: ignore[attr-defined]
    with pytest.raises(UnsupportedGameError, match="player 0 begins"):
        make_agent("hanabi").search_state(*hanabi("random_start_player=true"))  # type: ignore[attr-defined]


# -- blueprints


def kuhn(*events: int) -> tuple[Any, Any]:
    game = RulesGame(Kuhn())
    state = game.initial_state()
    for event in events:
        state = game.result(state, event)
    return game, state


def test_sparta_plays_its_blueprint_unless_another_action_is_surely_better() -> None:
    blueprint = "ismcts(simulations=1, ties=first)"  # which folds
    king = kuhn(0, 2, 1)  # it holds the king, and the other has bet
    result: Any = make_agent(f"sparta(blueprint={blueprint}, samples=20)").search_state(*king)  # type: ignore[attr-defined]
    assert result.action == 1
    assert result.value == 2
    assert result.stats["deviates"] == 1
    careful: Any = make_agent(f"sparta(blueprint={blueprint}, samples=20, margin=5)")
    assert careful.search_state(*king).action == 0


def test_sparta_is_better_than_its_blueprint() -> None:
    game, _ = hanabi("players=2")
    policy = policy_of(game, "smart")
    agent: Any = make_agent("sparta(samples=40)")
    gained = []
    for seed in range(4):
        _, state = play_randomly("players=2", seed, moves=14)
        result = agent.search_state(game, state)
        assert result.action in state.legal_actions()
        gained.append(result.value - policy.returns(state, [policy.action(state)], 400, 1).mean())
    assert np.mean(gained) > -0.5


def test_limits_and_settings_of_sparta() -> None:
    game, state = play_randomly("players=2", 1, moves=10)
    result: Any = make_agent("sparta(seconds=1e-6)").search_state(game, state)  # type: ignore[attr-defined]
    assert result.stopped_by is StoppedBy.SECONDS
    assert result.stats["samples"] <= 20
    assert make_agent("sparta(blueprint=hanabi(convention=hats), samples=30)").name == (
        "sparta(blueprint=hanabi(convention='hats'), samples=30)"
    )
    assert not runs_own_code("sparta(blueprint=hanabi(convention=hats))")
    with pytest.raises(InvalidSettingError, match="blueprint must be an agent that searches"):
        make_agent("sparta(blueprint=random)")
