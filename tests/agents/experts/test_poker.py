"""Texas hold'em by policies over buckets of hands, beside RLCard's own game and judge."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from poker_cfr import Boards, DealArrays, PublicTreeCFR, exploitability_on, fit_buckets, with_memory

from zermelo.agents import make_agent
from zermelo.agents.experts.poker import cards
from zermelo.agents.experts.poker.agent import PokerPolicy, is_rlcards, policy_for, quantized, seen_by
from zermelo.agents.experts.poker.betting import SHOWDOWN, Bets, Limit, NoLimit, betting_tree
from zermelo.agents.experts.poker.cards import CLASSES, Sizes, equities, pair_number, strength
from zermelo.envs import UnsupportedGameError, clone_env, make
from zermelo.envs.adapters.aec import deal_unseen
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.live.wrappers import innermost

pytest.importorskip("rlcard")
ENVS = {"classic/texas_holdem-v4": Limit(), "classic/texas_holdem_no_limit-v6": NoLimit()}
GAMES = pytest.mark.parametrize("name", ENVS)
SUITS, RANKS = "CDHS", "23456789TJQKA"


def set_of(text: str) -> int:
    """The cards of a text such as ``"AS TD"``."""
    return sum(1 << 13 * SUITS.index(card[1]) + RANKS.index(card[0]) for card in text.split())


def legal(env: Any) -> list[int]:
    return np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist()  # type: ignore[no-any-return]


# -- cards


@pytest.mark.parametrize(
    "hands",
    [
        [
            "AS KS QS JS TS 2D 3D", "5S 4S 3S 2S AS KD KH", "9C 9D 9H 9S 2S 3S 4D", "9C 9D 9H KS KD 3S 2D",
            "9C 9D 9H QS QD 3S 2D", "AC QC 9C 5C 2C AD AH", "KC QC 9C 5C 2C AD AH", "TC 9D 8H 7S 6S 2S 3D",
            "5C 4D 3H 2S AS KS QD", "9C 9D 9H KS QD 3S 2D", "KC KD 9H 9S QD 3S 2D", "KC KD 9H 9S JD 3S 2D",
            "KC KD 9H 8S JD 3S 2D", "KC QD 9H 8S 4D 3S 2D",
        ]
    ],
)  # fmt: skip
def test_stronger_hands_have_higher_numbers(hands: list[str]) -> None:
    found = [strength(set_of(hand)) for hand in hands]
    assert found == sorted(set(found), reverse=True)


def test_the_stronger_hand_is_rlcards() -> None:
    from rlcard.games.limitholdem.utils import compare_hands

    source = random.Random(5)
    for _ in range(3_000):
        dealt = source.sample(range(52), 9)
        hands = [dealt[:5] + dealt[5:7], dealt[:5] + dealt[7:]]
        first, second = (strength(sum(1 << card for card in hand)) for hand in hands)
        texts = [[SUITS[card // 13] + RANKS[card % 13] for card in hand] for hand in hands]
        assert list(compare_hands(texts)) == [int(first >= second), int(second >= first)], texts


def test_equities_on_the_river_and_the_turn_are_those_counted_one_by_one() -> None:
    assert cards.is_compiled()
    board, hand = set_of("2C 7D JS QH"), (set_of("JD"), set_of("QC"))
    own = hand[0] | hand[1]
    left = [card for card in range(52) if not (board | own) >> card & 1]
    by_river = []
    for river in left:
        full = board | 1 << river
        won = 0.0
        pairs = list(itertools.combinations([card for card in left if card != river], 2))
        for pair in pairs if river == left[0] else ():
            other = strength(full | 1 << pair[0] | 1 << pair[1])
            won += (strength(full | own) > other) + 0.5 * (strength(full | own) == other)
        number = pair_number(*(card.bit_length() - 1 for card in hand))
        by_river.append(float(equities(full).means[number]))
        if river == left[0]:
            assert by_river[0] == pytest.approx(won / len(pairs))
    found = equities(board)
    assert found.means[number] == pytest.approx(np.mean(by_river))
    assert found.spreads[number] == pytest.approx(np.std(by_river))
    assert found.means[found.means >= 0].mean() == pytest.approx(0.5)
    assert (found.means < 0).sum() == 1326 - 48 * 47 // 2


def test_plain_code_finds_what_compiled_code_does(monkeypatch: pytest.MonkeyPatch) -> None:
    board = set_of("2C 7D JS QH 3H")
    assert cards.is_compiled()
    compiled = equities(board, seed=3)
    monkeypatch.setattr(cards, "_COMPILED", [])
    for one, other in zip(compiled, equities(board, seed=3), strict=True):
        np.testing.assert_allclose(one, other)


# -- betting


@pytest.mark.parametrize(
    ("name", "forgets"),
    [(name, forgets) for name, rules in ENVS.items() for forgets in (True, False) if forgets or rules == Limit()],
)
def test_the_betting_is_rlcards(name: str, forgets: bool) -> None:
    """Legal actions, who is to move, rounds, ends and rewards, in random games.

    The tree of no-limit in which nothing is forgotten is too large.
    """
    rules = ENVS[name]
    env, source, tree = make(name), random.Random(1), betting_tree(rules, forgets=forgets)
    for seed in range(60):
        env.reset(seed=seed)
        node, first = 0, env.possible_agents.index(env.agent_selection)
        while not env.terminations[env.agent_selection]:
            assert (env.possible_agents.index(env.agent_selection) - first) % 2 == tree.movers[node]
            assert {0: 0, 3: 1, 4: 2, 5: 3}[len(innermost(env).env.game.public_cards)] == tree.rounds[node]
            assert legal(env) == tree.actions_of(node)
            action = source.choice([each for each in legal(env) if each != (2 if rules == Limit() else 0)] or [0])
            if source.random() < 0.05:
                action = source.choice(legal(env))
            env.step(action)
            node = int(tree.children[tree.firsts[node] + tree.actions_of(node).index(action)])
        reward = env.rewards[env.possible_agents[first]]
        if tree.movers[node] == SHOWDOWN:
            assert abs(reward) in (0, tree.payoffs[node])
        else:
            assert reward == tree.payoffs[node]


def test_what_is_forgotten_makes_the_tree_small() -> None:
    sizes = {forgets: int((betting_tree(Limit(), forgets=forgets).movers >= 0).sum()) for forgets in (True, False)}
    assert sizes == {True: 724, False: 8200}
    assert Limit().actions(Bets()) == [0, 1, 2]


# -- buckets and policies


@pytest.fixture(scope="module")
def small() -> PokerPolicy:
    """A policy for limit hold'em with few buckets."""
    assert cards.is_compiled()
    buckets = fit_buckets(Sizes((3, 3, 4), (2, 1, 1)), 10, 1)
    cfr = PublicTreeCFR(betting_tree(Limit()), buckets.sizes.types)
    cfr.iterate(Boards(buckets, 2, np.random.default_rng(1)).deals(2_000))
    return PokerPolicy(Limit(), buckets, quantized(cfr.average()), -0.1)


def test_deals_are_of_hands_that_fit(small: PokerPolicy) -> None:
    deals = Boards(small.buckets, 2, np.random.default_rng(1)).deals(500)
    assert deals.types.shape == (500, 2, 4)
    assert deals.types.min() >= 0
    assert (deals.types.max(axis=(0, 1)) < small.buckets.sizes.types).all()
    assert set(deals.outcomes) == {-1, 0, 1}


def test_an_abstract_game_is_solved() -> None:
    """With two buckets and one raise a round a best response gains less than 2 % of the blinds."""
    assert cards.is_compiled()
    generator = np.random.default_rng(1)
    boards = Boards(fit_buckets(Sizes((2, 2, 2), (1, 1, 1)), 10, 1), 5, generator)
    drawn = boards.deals(500)
    drawn.types[:, :, 0] = drawn.types[:, :, 0] * 2 // CLASSES
    deals, types = with_memory(drawn, [2] * 4)
    tree = betting_tree(Limit(raises=1), forgets=False)
    cfr = PublicTreeCFR(tree, types)
    for _ in range(30):
        chosen = generator.integers(500, size=10_000)
        cfr.iterate(DealArrays(deals.types[chosen], deals.outcomes[chosen]))
    assert exploitability_on(tree, types, cfr.average(), deals) < 0.03


def test_buckets_go_by_strength(small: PokerPolicy) -> None:
    board = set_of("2C 7D JS QH 3H")
    found = [
        small.buckets.of_hand(pair_number(*hand), board)
        for hand in ((12, 25), (set_of("7C").bit_length() - 1, 12), (set_of("4C").bit_length() - 1, 19 + 26))
    ]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) > 1


def test_policies_are_written_and_read(small: PokerPolicy, tmp_path: Path) -> None:
    path = tmp_path / "small.npz"
    small.save(path)
    again = PokerPolicy.load(path)
    assert (again.rules, again.value) == (small.rules, small.value)
    np.testing.assert_array_equal(again.shares, small.shares)
    hand, board = (0, 14), (5, 30, 44)
    assert again.probabilities([0, 3], hand, board) == small.probabilities([0, 3], hand, board)
    env = make("classic/texas_holdem-v4")
    env.reset(seed=1)
    assert make_agent(f"holdem(policy={str(path)!r})").act(env) in legal(env)
    env = make("classic/texas_holdem_no_limit-v6")
    env.reset(seed=1)
    with pytest.raises(InvalidSettingError, match=r"holds a policy for Limit.*, not for NoLimit"):
        make_agent(f"holdem(policy={str(path)!r})").act(env)
    path.write_bytes(b"nothing")
    with pytest.raises(InvalidSettingError, match="is no policy of hold'em"):
        PokerPolicy.load(path)


@GAMES
def test_the_shipped_policies_are_sound(name: str) -> None:
    """Aces are not folded before the flop, and the weakest hand is seldom raised with."""
    policy = policy_for(ENVS[name], "equity")
    aces, worst = policy.probabilities([], (12, 25), ()), policy.probabilities([], (0, 18), ())
    fold, raises = (2, (1,)) if policy.rules == Limit() else (0, (2, 3, 4))
    assert aces[fold] < 0.02
    assert sum(aces[each] for each in raises if each in aces) > 0.5
    assert worst[fold] > aces[fold] + 0.2


# -- the agent


@GAMES
def test_its_actions_are_legal_and_cards_that_it_has_not_seen_play_no_part(name: str) -> None:
    env, source = make(name), random.Random(3)
    for seed in range(4):
        env.reset(seed=seed)
        while not env.terminations[env.agent_selection]:
            answers = []
            for deal in range(3):
                copy = clone_env(env)
                assert not deal or deal_unseen(copy, np.random.default_rng(deal))
                result: Any = make_agent("holdem(seed=1)").search(copy)  # type: ignore[attr-defined]
                assert sum(result.policy.values()) == pytest.approx(1)
                answers.append((result.env_action, dict(result.policy)))
            assert answers == answers[:1] * 3
            assert set(answers[0][1]) == set(legal(env))
            folds = 2 if ENVS[name] == Limit() else 0
            env.step(source.choice([action for action in legal(env) if action != folds]))


@GAMES
def test_auto_takes_it_and_says_so(name: str) -> None:
    env = make(name)
    env.reset(seed=1)
    result: Any = make_agent("auto(seconds=0.2)").search(env)  # type: ignore[attr-defined]
    assert result.method == "holdem: it has a policy for this game"
    assert result.env_action in legal(env)
    many = make(name, num_players=3)
    many.reset(seed=1)
    assert make_agent("auto(seconds=0.2)").search(many).method.startswith("ismcts")  # type: ignore[attr-defined]


@pytest.mark.thorough
def test_it_beats_random_play() -> None:
    env, source, won = make("classic/texas_holdem-v4"), random.Random(1), []
    agent = make_agent("holdem(seed=1)")
    for deal in range(300):
        env.reset(seed=deal // 2)
        while not env.terminations[env.agent_selection]:
            is_own = env.possible_agents.index(env.agent_selection) == deal % 2
            env.step(agent.act(env) if is_own else source.choice(legal(env)))
        won.append(float(env.rewards[env.possible_agents[deal % 2]]))
    assert np.mean(won) > 0.3


def test_what_is_seen_of_rlcards_game() -> None:
    env = make("classic/texas_holdem-v4")
    env.reset(seed=1)
    raw = innermost(env)
    seat = env.possible_agents.index(env.agent_selection)
    actions, hand, board, is_first = seen_by(raw, seat)
    assert (actions, board, is_first) == ([], (), True)
    texts = [SUITS[card // 13] + RANKS[card % 13] for card in hand]
    assert texts == [card.get_index() for card in raw.env.game.players[seat].hand]
    assert not seen_by(raw, 1 - seat)[3]


def test_other_games_are_refused() -> None:
    env = make("classic/leduc_holdem-v4")
    env.reset(seed=1)
    with pytest.raises(UnsupportedGameError, match="plays PettingZoo's Texas hold'em for two"):
        make_agent("holdem").act(env)


def test_an_environment_that_only_has_the_name_is_not_taken_for_rlcards() -> None:
    class Copies:
        def __init__(self, env: Any) -> None:
            self.env = env

        def environment(self, state: Any) -> Any:
            return self.env

    env = make("classic/texas_holdem-v4")
    env.reset(seed=0)
    assert is_rlcards(Copies(innermost(env)), None)
    assert not is_rlcards(Copies(Copies(object())), None)
    assert not is_rlcards(object(), None)
