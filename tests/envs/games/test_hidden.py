"""Games of hidden cards and dice: what each seat sees, what is dealt again, and the games they are twins of."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pettingzoo
import pytest
from oracles.compared_searches import random_result

from zermelo.envs import CHANCE, as_game
from zermelo.envs.capabilities import SupportsInformationStates, offers
from zermelo.envs.errors import RulesError
from zermelo.envs.game import Information
from zermelo.envs.games import Goofspiel, Kuhn, Leduc, LiarsDice
from zermelo.envs.games.hidden.goofspiel import GoofspielState
from zermelo.envs.games.hidden.kuhn import KuhnState
from zermelo.envs.rules import RulesGame

GAMES = [
    Kuhn(),
    Kuhn(4),
    Leduc(),
    Leduc(blinds=True),
    Leduc(5),
    LiarsDice(),
    LiarsDice(2, 3),
    Goofspiel(4),
    Goofspiel(5, shuffled=False, hidden=True, difference=True),
]
every_game = pytest.mark.parametrize("rules", GAMES, ids=repr)


def random_states(game: Any, games: int, seed: int) -> Iterator[Any]:
    """All states of some random games."""
    generator = random.Random(seed)
    for _ in range(games):
        state = game.initial_state()
        yield state
        while not game.is_terminal(state):
            state = random_result(game, state, generator)
            yield state


@every_game
def test_what_is_dealt_again_is_what_the_seat_does_not_see_and_depends_on_nothing_else(rules: Any) -> None:
    game = RulesGame(rules)
    assert offers(game, SupportsInformationStates)
    assert game.traits.information is Information.HIDDEN
    others = 0
    for number, state in enumerate(random_states(game, 8, seed=1)):
        for seat in range(game.traits.seats):
            dealt = game.resample(state, seat, np.random.default_rng(number))
            assert game.information_state_key(dealt, seat) == game.information_state_key(state, seat)
            assert np.array_equal(game.observation(dealt, seat), game.observation(state, seat))
            assert game.is_terminal(dealt) == game.is_terminal(state)
            assert game.to_move(dealt) == game.to_move(state)
            if game.to_move(state) == seat:
                assert game.legal_actions(dealt) == game.legal_actions(state)
            others += dealt != state
            if not game.is_terminal(state):
                seeds = number + 100
                again = [game.resample(one, seat, np.random.default_rng(seeds)) for one in (state, dealt)]
                assert again[0] == again[1]
    assert others > 8


def test_hands_are_dealt_again_as_often_as_chance_deals_them() -> None:
    generator = np.random.default_rng(4)
    game = RulesGame(Leduc())
    state = game.initial_state()
    for action in (0, 2, 3, 3, 1):  # a jack and a king, both check, a queen is opened
        state = game.result(state, action)
    counts = Counter(game.resample(state, 0, generator).second_card for _ in range(600))
    assert set(counts) == {1, 2, 3}
    assert counts[1] == pytest.approx(150, abs=50)  # of four cards one is a jack, two are kings
    assert counts[3] == pytest.approx(300, abs=60)
    assert {game.resample(state, 1, generator).second_card for _ in range(20)} == {3}
    three = RulesGame(Kuhn(3))
    deals = Counter(three.resample(KuhnState(0x321, 0, 0, 0), 1, generator).cards for _ in range(600))
    assert len(deals) == 6  # two of the three others' cards, in either order
    assert all(count == pytest.approx(100, abs=45) for count in deals.values())


@pytest.mark.parametrize(
    ("rules", "played", "expected"),
    [
        (Kuhn(), (2, 0, 0, 0), 1),
        (Kuhn(), (0, 2, 1, 1), -2),
        (Kuhn(), (0, 2, 1, 0), 1),
        (Kuhn(), (1, 0, 0, 1, 0), -1),
        (Kuhn(), (1, 0, 0, 1, 1), 2),
        (Leduc(), (0, 1, 3, 3, 2, 3, 3), -1),  # antes only: the queen beats the jack
        (Leduc(), (0, 1, 3, 3, 0, 3, 3), 1),  # the jack makes a pair
        (Leduc(), (0, 0, 1, 0, 2, 1, 1, 0), 0),
        (Leduc(), (2, 0, 1, 1, 2), -3),
        (Leduc(), (2, 0, 1, 1, 0, 1, 1, 1, 0), 13),
    ],
)
def test_what_poker_pays(rules: Any, played: tuple[int, ...], expected: int) -> None:
    game = RulesGame(rules)
    state = game.initial_state()
    for action in played:
        assert not game.is_terminal(state)
        state = game.result(state, action)
    assert game.is_terminal(state)
    assert game.utility(state) == (expected, -expected)


def test_the_highest_face_of_liars_dice_is_wild() -> None:
    game = RulesGame(LiarsDice(2, 6))
    state = game.initial_state()
    for face in (1, 1, 1, 5):  # three twos and a six: four twos
        state = game.result(state, face)
    bid = game.result(state, 3 * 6 + 1)
    assert game.utility(game.result(bid, 24)) == (1, -1)
    raised = game.result(bid, 3 * 6 + 2)
    assert game.utility(game.result(raised, 24)) == (1, -1)  # now the other has bid, and there is one three
    assert game.legal_actions(raised) == [21, 22, 23, 24]


class Peeking(NamedTuple):
    """Rules that say what is seen, but not how the rest is dealt again."""

    size: int = 3

    num_actions = initial_state = to_move = legal_actions = result = is_terminal = utility = lambda *_: 0

    def information_state_key(self, state: Any, seat: int) -> int:
        return 0


def test_rules_that_hide_something_say_all_of_it() -> None:
    with pytest.raises(RulesError, match="Peeking has no resample, write_observation"):
        RulesGame(Peeking())


# -- the twin of PettingZoo's Leduc hold'em -----------------------------------------------------------------------


def test_leduc_is_observed_and_paid_as_in_pettingzoo() -> None:
    env = pettingzoo.make("aec", "classic/leduc_holdem-v4")
    env.reset(seed=1)
    game = as_game(env)
    for seat, agent in enumerate(env.possible_agents):
        assert np.array_equal(env.observe(agent)["observation"], game.observation(game.snapshot(env), seat))
    assert as_game(env).traits.utility_bounds == (-7.0, 7.0)
    assert as_game(env, backend="environment").traits.information is Information.HIDDEN


# -- the twins of OpenSpiel's goofspiel ---------------------------------------------------------------------------

GOOFSPIELS = {
    "goofspiel": Goofspiel(),
    "goofspiel(num_cards=2)": Goofspiel(2),
    "goofspiel(num_cards=5,points_order=descending)": Goofspiel(5, shuffled=False),
    "goofspiel(num_cards=6,returns_type=point_difference)": Goofspiel(6, difference=True),
    "goofspiel(imp_info=True,num_cards=4)": Goofspiel(4, hidden=True),
}


@pytest.mark.parametrize("text", GOOFSPIELS)
def test_goofspiel_is_openspiels_game(text: str) -> None:
    """Both are played side by side."""
    theirs = pytest.importorskip("pyspiel").load_game(text)
    rules = GOOFSPIELS[text]
    game, generator, found, seed = RulesGame(rules), random.Random(1), Counter[float](), 1
    for number in range(10):
        state, other = game.initial_state(), theirs.new_initial_state()
        while not other.is_terminal():
            where = f"seed {seed}, game {number}: {state}\n{other}"
            assert not game.is_terminal(state), where
            if other.is_chance_node():
                assert game.to_move(state) == CHANCE, where
                assert game.chance_outcomes(state) == other.chance_outcomes(), where
                outcome = generator.choice(other.chance_outcomes())[0]
                other.apply_action(outcome)
                state = game.result(state, outcome)
                continue
            assert [*game.movers(state)] == [0, 1], where
            for seat in range(2):
                assert game.actions_of(state, seat) == other.legal_actions(seat), where
            bids = [generator.choice(other.legal_actions(seat)) for seat in range(2)]
            other.apply_actions(bids)
            state = game.joint_result(state, dict(enumerate(bids)))
        assert game.is_terminal(state)
        scale = 0.5 if rules.difference else 1
        assert [scale * each for each in game.utility(state)] == other.returns(), f"seed {seed}: {state}\n{other}"
        found[other.returns()[0]] += 1
    assert len(found) > 1


def test_hidden_bids_are_drawn_from_all_that_fit() -> None:
    """The first player bid 3, 2 and 5, and lost, lost and won against cards from 1 to 6."""
    rules = Goofspiel(6, shuffled=False, hidden=True)
    state = GoofspielState(first=0x325, second=0x431, prizes=0)
    generator = np.random.default_rng(5)
    drawn = Counter(rules.resample(state, 0, generator).second for _ in range(2_000))
    fits = [(a, b, c) for a in (4, 5, 6) for b in (3, 4, 5, 6) for c in (1, 2, 3, 4) if len({a, b, c}) == 3]
    assert set(drawn) == {a << 8 | b << 4 | c for a, b, c in fits}
    assert all(count == pytest.approx(2_000 / len(fits), abs=30) for count in drawn.values())
