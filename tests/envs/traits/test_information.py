"""What each seat has seen, and dealing again what it has not."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pettingzoo
import pytest
from doubles.clone_envs import DiceEnv
from doubles.game_envs import started

from zermelo.agents import ISMCTSAgent
from zermelo.envs import IllegalActionError, UnsupportedGameError, as_game, register_information
from zermelo.envs.adapters.openspiel import HanabiGame
from zermelo.envs.capabilities import SupportsInformationStates, SupportsSimultaneousMoves, offers
from zermelo.envs.errors import EnvFailedError
from zermelo.envs.game import Information
from zermelo.envs.traits.hanabi import redealt_hanabi
from zermelo.envs.traits.merging import checked_traits

ENDING = {"leduc_holdem-v4": {2}, "texas_holdem-v4": {2}, "texas_holdem_no_limit-v6": {0, 4}}
"""To fold, and to bet everything."""
POKER = list(ENDING)


def played(name: str, plies: int, seed: int, **settings: Any) -> Any:
    env = started(pettingzoo.make("aec", f"classic/{name}", **settings), seed=seed)
    chance = np.random.default_rng(seed)
    for _ in range(plies):
        mask = env.observe(env.agent_selection)["action_mask"]
        choices = [action for action in np.flatnonzero(mask) if action not in ENDING.get(name, ())]
        env.step(int(chance.choice(choices)))
        if all(env.terminations.values()):
            break
    return env


def misfit(counts: Mapping[Any, int], expected: Mapping[Any, float]) -> float:
    """Pearson's chi-squared statistic; what is not expected must not be there."""
    assert set(counts) == set(expected)
    return sum((counts[one] - often) ** 2 / often for one, often in expected.items())


def cards(env: Any) -> Any:
    """All cards of one of RLCard's games: hands, open cards and the deck."""
    game = env.env.game
    hands = [player.hand if isinstance(player.hand, list) else [player.hand] for player in game.players]
    shown = game.public_cards if hasattr(game, "public_cards") else [game.public_card] if game.public_card else []
    return [[card.get_index() for card in place] for place in (*hands, shown, game.dealer.deck)]


@pytest.mark.parametrize(("name", "plies"), [*itertools.product(POKER, (0, 3)), ("hanabi-v5", 9)])
def test_dealing_again_changes_nothing_that_the_seat_saw(name: str, plies: int) -> None:
    env = played(name, plies, seed=plies + 4)
    game = as_game(env, backend="clone")
    assert offers(game, SupportsInformationStates)
    state = game.snapshot(env)
    assert not game.is_terminal(state)
    generator = np.random.default_rng(1)
    for seat, agent in enumerate(env.possible_agents[:2]):
        seen, key = state.env.observe(agent)["observation"], game.information_state_key(state, seat)
        others = set()
        for _ in range(8):
            dealt = game.resample(state, seat, generator)
            again = [game.resample(one, seat, np.random.default_rng(7)) for one in (state, dealt)]
            assert game.information_state_key(again[0], 1 - seat) == game.information_state_key(again[1], 1 - seat)
            assert np.array_equal(dealt.env.observe(agent)["observation"], seen)
            assert game.information_state_key(dealt, seat) == key
            assert game.to_move(dealt) == game.to_move(state)
            if game.to_move(state) == seat:
                assert game.legal_actions(dealt) == game.legal_actions(state)
            others.add(game.information_state_key(dealt, 1 - seat))
            if name != "hanabi-v5":
                assert sorted(itertools.chain(*cards(dealt.env))) == sorted(itertools.chain(*cards(state.env)))
                assert cards(dealt.env)[seat] == cards(state.env)[seat]
            game.result(dealt, game.legal_actions(dealt)[0])
        assert len(others) > 1
    other = played(name, plies, seed=plies + 90)
    assert game.information_state_key(game.snapshot(other), 0) != game.information_state_key(state, 0)


@pytest.mark.thorough
@pytest.mark.parametrize("plies", [0, 2])
def test_leduc_is_dealt_as_chance_would(plies: int) -> None:
    env = played("leduc_holdem-v4", plies, seed=8)
    game = as_game(env, backend="environment")
    state = game.snapshot(env)
    generator = np.random.default_rng(5)
    _, theirs, shown, deck = cards(state.env)
    assert len(shown) == (1 if plies else 0)
    pairs = [*itertools.permutations([*theirs, *deck], 2)]  # the other hand and the next card
    draws = 800
    counts: Counter[Any] = Counter()
    for _ in range(draws):
        _, hand, _, rest = cards(game.resample(state, 0, generator).env)
        counts[hand[0], rest[-1]] += 1
    assert len(pairs) == (20 if not plies else 12)
    assert misfit(counts, dict.fromkeys(pairs, draws / len(pairs))) < 43.8  # 0.1 % of 19 degrees of freedom


def test_hanabi_says_what_is_known_before_anybody_has_acted() -> None:
    env = played("hanabi-v5", 0, seed=4)
    game = as_game(env)
    state = game.snapshot(env)
    dealt = game.resample(state, 0, np.random.default_rng(1))
    assert game.information_state_key(dealt, 0) == game.information_state_key(state, 0)
    assert game.information_state_key(dealt, 1) != game.information_state_key(state, 1)


def test_hanabis_hands_fit_all_hints_and_come_as_often_as_they_are_dealt() -> None:
    """All orders of the unseen cards whose state OpenSpiel shows to the player in the same words."""
    env = played("hanabi-v5", 7, seed=4, colors=2, ranks=3, players=2, hand_size=2)
    state = env.unwrapped.hanabi_env.game_state
    texts = [state.action_to_string(item.player, item.action) for item in state.full_history()]
    assert any("Reveal" in text for text in texts)
    for seat in range(2):
        view = state.observation_string(seat)
        generator = np.random.default_rng(2)
        draws = 400
        counts = Counter(hands(redealt_hanabi(state, seat, generator), seat, view) for _ in range(draws))
        assert misfit(counts, {hand: share * draws for hand, share in deals(state, seat).items()}) < 30


@pytest.mark.parametrize(
    "settings", [{}, {"players": 3, "hand_size": 4, "colors": 3}, {"observation_type": "seer"}]
)
def test_hanabi_is_searched_by_openspiels_states(settings: Any) -> None:
    """The same game, step by step, as that of copies of the environment."""
    env = played("hanabi-v5", 0, seed=6, **settings)
    fast, slow = as_game(env), as_game(env, backend="clone")
    assert type(fast) is HanabiGame
    assert fast.traits.information is Information.HIDDEN
    assert fast.traits.name == slow.traits.name
    generator, paid = np.random.default_rng(1), np.zeros(fast.traits.seats)
    for number in range(200):
        state, other = fast.snapshot(env), slow.snapshot(env)
        assert fast.is_terminal(state) == slow.is_terminal(other), number
        if fast.is_terminal(state):
            break
        assert fast.to_move(state) == slow.to_move(other), number
        assert [*fast.legal_actions(state)] == [*slow.legal_actions(other)], number
        for seat in range(fast.traits.seats):
            key = fast.information_state_key(state, seat)
            assert key == slow.information_state_key(other, seat)[-1], number
            assert fast.information_state_key(fast.resample(state, seat, generator), seat) == key
        assert fast.utility(state) == pytest.approx(paid), number
        actions = [action for action in fast.legal_actions(state) if number > 25 or generator.random() < 0.7]
        env.step(int(generator.choice(actions or fast.legal_actions(state))))
        paid += [env.rewards[agent] for agent in env.possible_agents]
    assert number > 5
    assert fast.utility(state) == pytest.approx(paid)


def hands(state: Any, seat: int, view: str) -> Any:
    assert state.observation_string(seat) == view
    return tuple(state.observation_string(1 - seat).split("-----")[1].split("\n")[1:3])


def deals(state: Any, seat: int) -> dict[Any, float]:
    """How likely each hand is, found by trying all cards that could have been dealt in place of the player's."""
    start = state.get_game().new_initial_state()
    deck = Counter({card: round(p * 12) for card, p in start.chance_outcomes()})
    history = state.full_history()
    dealt = [place for place, item in enumerate(history) if item.player < 0]
    view = state.observation_string(seat)
    mine = own_places(history, state, seat)
    deck.subtract(history[place].action for place in dealt if place not in mine)
    found: Counter[Any] = Counter()
    for pick in itertools.permutations(deck.elements(), len(mine)):
        actions = [item.action for item in history]
        for place, card in zip(mine, pick, strict=True):
            actions[place] = card
        other = state.get_game().new_initial_state()
        try:
            for action in actions:
                other.apply_action(action)
        except RuntimeError:  # a hint that such a hand does not allow
            continue
        if other.observation_string(seat) == view:
            found[hands(other, seat, view)] += 1
    return {hand: count / found.total() for hand, count in found.items()}


def own_places(history: Any, state: Any, seat: int) -> list[int]:
    """Where in the history the cards of a player's hand were dealt, found by dealing other cards there."""
    names = [item.player for item in history]
    held: list[list[int]] = [[], []]
    for place, player in enumerate(names):
        if player < 0:
            held[0 if len(held[0]) < 2 else 1].append(place)
        elif "Reveal" not in (text := state.action_to_string(player, history[place].action)):
            held[player].pop(int(text[-2]))
    return held[seat]


class HighCard(DiceEnv):
    """Each of two players gets one of four cards; two are left over, and the next player draws from these."""

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        super().reset(seed)
        deck = [int(card) for card in self.rng.permutation(4)]
        self.hands, self.deck, self.bids = {"a": deck[0], "b": deck[1]}, deck[2:], []

    def observe(self, agent: str) -> Any:
        return {"observation": self.hands[agent], "action_mask": np.array([1, 1], np.int8)}

    def step(self, action: int) -> None:
        if not self.terminations[self.agent_selection]:
            self.bids.append(action)
        super().step(action)

    def information_state_key(self, agent: str) -> Any:
        return self.hands[agent], tuple(self.bids)

    def resample(self, agent: str, generator: np.random.Generator) -> None:
        other = "b" if agent == "a" else "a"
        unseen = [int(card) for card in generator.permutation([self.hands[other], *self.deck])]
        self.hands[other], self.deck = unseen[0], unseen[1:]


class Careless(HighCard):
    """Shows another card than it did."""

    def resample(self, agent: str, generator: np.random.Generator) -> None:
        self.hands[agent] = (self.hands[agent] + 1) % 4


HIDDEN = checked_traits({"information": "hidden"})


def test_a_small_deck_that_an_environment_deals_again_itself() -> None:
    env = started(HighCard(), seed=3)
    env.step(1)
    game = as_game(env)
    assert offers(game, SupportsInformationStates)
    assert game.traits.information is Information.HIDDEN
    state = game.snapshot(env)
    unseen = [env.hands["a"], *env.deck]
    draws = 300
    generator = np.random.default_rng(2)
    counts: Counter[Any] = Counter()
    for _ in range(draws):
        dealt = game.resample(state, 1, generator).env
        assert dealt.hands["b"] == env.hands["b"]
        counts[dealt.hands["a"], *dealt.deck] += 1
    orders = [*itertools.permutations(unseen)]
    assert misfit(counts, dict.fromkeys(orders, draws / len(orders))) < 20.5  # 0.1 % of 5 degrees of freedom
    assert env.hands["a"] == unseen[0]
    rolls = [game.resample(state, 1, np.random.default_rng(n)).env.rng.random() for n in range(4)]
    assert len({*rolls, env.rng.random()}) == 5  # the environment's own dice are not there


def test_dealing_again_what_was_seen_is_an_error_and_an_end_stays_as_it_is() -> None:
    env = started(Careless(), seed=3)
    game = as_game(env)
    with pytest.raises(EnvFailedError, match=r"resample\(\) of dice_v0 changed what 'a' has seen"):
        game.resample(game.snapshot(env), 0, np.random.default_rng(1))
    over = played("leduc_holdem-v4", 20, seed=1)
    game = as_game(over, backend="environment")
    state = game.snapshot(over)
    assert game.is_terminal(state)
    assert game.resample(state, 0, np.random.default_rng(1)) is state


def test_games_without_hidden_cards_say_nothing_of_them() -> None:
    env = started(pettingzoo.make("aec", "classic/tictactoe-v3"))
    assert not offers(as_game(env, backend="clone"), SupportsInformationStates)


def test_open_spiel_deals_again_where_the_game_has_it() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    game = as_game(pyspiel.load_game("kuhn_poker"), backend="environment")
    assert offers(game, SupportsInformationStates)
    state = game.result(game.result(game.initial_state(), 0), 2)
    key = game.information_state_key(state, 0)
    generator = np.random.default_rng(3)
    dealt = [game.resample(state, 0, generator) for _ in range(300)]
    assert {game.information_state_key(one, 0) for one in dealt} == {key}
    counts = Counter(one.history()[1] for one in dealt)
    assert misfit(counts, {1: 150.0, 2: 150.0}) < 10.8  # 0.1 % of one degree of freedom
    other = as_game(pyspiel.load_game("phantom_ttt"))
    with pytest.raises(UnsupportedGameError, match=r"cannot deal openspiel/phantom_ttt.* again: .*implemented"):
        other.resample(other.initial_state(), 0, generator)


def test_moves_at_the_same_time() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    game = as_game(pyspiel.load_game("matrix_rps"))
    assert offers(game, SupportsSimultaneousMoves)
    assert game.traits.simultaneous
    state = game.initial_state()
    assert [*game.movers(state)] == [0, 1]
    assert game.actions_of(state, 1) == [0, 1, 2]
    after = game.joint_result(state, {0: 1, 1: 0})
    assert game.utility(after) == (1.0, -1.0)
    assert [*game.movers(after)] == []
    for actions in ({0: 1}, {0: 1, 1: 3}):
        with pytest.raises(IllegalActionError, match="is not legal for player 1"):
            game.joint_result(state, actions)
    in_turn = as_game(pyspiel.load_game("tic_tac_toe"), backend="environment")
    assert not in_turn.traits.simultaneous
    state = in_turn.initial_state()
    assert in_turn.movers(state) == (0,)
    assert in_turn.key(in_turn.joint_result(state, {0: 4})) == in_turn.key(in_turn.result(state, 4))


def test_turns_taken_unseen_are_known_to_be_simultaneous() -> None:
    env = started(pettingzoo.make("aec", "classic/rps-v2"))
    assert as_game(env).traits.simultaneous


class Elsewhere(DiceEnv):
    """Somebody else's environment, which says nothing of what its agents know."""

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        super().reset(seed)
        self.hands = {agent: int(self.rng.integers(4)) for agent in ("a", "b")}


def deal_elsewhere(env: Any, agent: Any, generator: np.random.Generator) -> None:
    env.hands["b" if agent == "a" else "a"] = int(generator.integers(4))


def test_what_agents_know_is_said_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zermelo.envs.traits.known_classes._information", {})
    env = started(Elsewhere(), seed=1)
    assert not offers(as_game(env, traits=HIDDEN), SupportsInformationStates)
    with pytest.raises(UnsupportedGameError, match=r"ismcts needs to know what players see.*register_information"):
        ISMCTSAgent(traits=HIDDEN).act(env)
    register_information(
        Elsewhere, information_state_key=lambda env, agent: env.hands[agent], resample=deal_elsewhere
    )
    other = started(Elsewhere(), seed=1)
    game = as_game(other)
    assert offers(game, SupportsInformationStates)
    assert game.traits.information is Information.HIDDEN
    state = game.snapshot(other)
    hands = {game.resample(state, 0, np.random.default_rng(seed)).env.hands["b"] for seed in range(20)}
    assert hands == {0, 1, 2, 3}
    assert ISMCTSAgent(simulations=4).act(other) in (0, 1)


def test_rounds_meet_whatever_came_before() -> None:
    env = started(pettingzoo.make("aec", "classic/rps-v2", max_cycles=3))
    game = as_game(env)

    def after(*actions: int) -> Any:
        state = game.snapshot(env)
        for action in actions:
            state = game.result(state, action)
        return game.key(state)

    assert after(0, 1, 2, 2) == after(1, 0, 0, 2)
    assert len({after(), after(2, 2), after(0, 1, 2, 2), after(0, 1, 2), after(0, 1, 1)}) == 5
