"""What games say that they can, and views of games."""

from __future__ import annotations

from typing import Any

import pytest
from doubles.game_envs import Dice, started

from zermelo.envs import as_game
from zermelo.envs.capabilities import (
    CopyFacts,
    GameView,
    SupportsCopies,
    SupportsEvaluation,
    SupportsNullMove,
    SupportsOrdering,
    SupportsText,
    copy_facts,
    innermost_game,
    offers,
    rules_of,
)
from zermelo.envs.games import MNK, ConnectFour, Pig


@pytest.mark.parametrize(
    ("rules", "ability", "can"),
    [
        (ConnectFour(), SupportsEvaluation, True),
        (ConnectFour(), SupportsOrdering, True),
        (ConnectFour(), SupportsNullMove, False),
        (MNK(3, 3, 3), SupportsNullMove, True),
        (Pig(20), SupportsOrdering, False),
    ],
)
def test_a_game_offers_what_its_rules_have(rules: Any, ability: Any, can: bool) -> None:
    game = as_game(rules)
    assert offers(game, ability) == isinstance(game, ability) == offers(game.for_search, ability) == can


def test_what_is_none_is_not_offered() -> None:
    class Silent:
        text = None

    assert not offers(Silent(), SupportsText)


def test_games_of_copies_say_so() -> None:
    game = as_game(started(Dice()), backend="clone")
    assert offers(game, SupportsCopies)
    facts = copy_facts(game)
    assert facts.copying > 0
    assert not facts.knows_what_was_paid
    assert rules_of(game) is None
    assert copy_facts(as_game(ConnectFour())) == CopyFacts()
    assert rules_of(as_game(ConnectFour())) == ConnectFour()


class Mirrored(GameView):
    passes = (SupportsText, SupportsNullMove)


def test_a_view_answers_as_the_game_inside_and_passes_on_what_it_says() -> None:
    game = as_game(MNK(3, 3, 3))
    view = Mirrored(Mirrored(game))
    state = game.result(view.initial_state(), 4)
    assert innermost_game(view) is game
    assert view.traits is game.traits
    assert view.to_move(state) == game.to_move(state)
    assert view.legal_actions(state) == game.legal_actions(state)
    assert view.is_terminal(state) == game.is_terminal(state)
    assert view.utility(state) == game.utility(state)
    assert view.key(state) == game.key(state)
    assert view.text(state) == game.text(state)
    assert offers(view, SupportsNullMove)
    assert not offers(view, SupportsEvaluation)
    assert not offers(Mirrored(as_game(ConnectFour())), SupportsNullMove)
