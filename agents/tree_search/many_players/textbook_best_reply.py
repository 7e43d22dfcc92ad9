"""Best-reply search: between two moves of one's own, only one opponent does its worst."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from zermelo.agents.base.textbook_calls import textbook_call
from zermelo.agents.tree_search.textbook_minimax import Evaluate, nothing_more
from zermelo.envs.capabilities import SupportsNullMove, SupportsOrdering, offers
from zermelo.envs.game import CHANCE


@textbook_call()
def best_reply(
    game: Any,
    state: Any,
    seat: int,
    depth: float = math.inf,
    evaluate: Evaluate = nothing_more,
    chooser: int | None = None,
) -> float:
    """The value that a seat is sure of if one opponent chooses a reply and the others do not.

    Schadd and Winands, "Best Reply Search for Multiplayer Games", IEEE Transactions on Computational Intelligence
    and AI in Games 3 (2011). The others skip their turn (``pass_turn(state)``); where the game has no such thing
    they play their usual move, the one that ``ordering_hint`` puts first, else the first, as in Esser, Gras,
    Winands, Schadd and Lanctot, "Improving Best-Reply Search", Computers and Games (2013).

    All choices of the opponents together count once for ``depth``. ``chooser`` is the opponent that has been
    chosen, where the seat has not moved since.
    """
    so_far: float = game.utility(state)[seat]
    if game.is_terminal(state):
        return so_far
    if game.to_move(state) == CHANCE:
        outcomes = game.chance_outcomes(state)
        after = [(p, *_settled(game, game.result(state, o), seat, chooser)) for o, p in outcomes]
        return math.fsum(p * best_reply(game, then, seat, depth, evaluate, who) for p, then, who in after)
    if depth <= 0:
        return so_far + evaluate(state)
    if game.to_move(state) == seat:
        own = [game.result(state, action) for action in game.legal_actions(state)]
        return max(best_reply(game, then, seat, depth - 1, evaluate) for then in own)
    replies = _replies(game, state, seat, chooser)
    return min(best_reply(game, then, seat, depth - 1, evaluate, who) for then, who in replies)


def _replies(game: Any, state: Any, seat: int, chooser: int | None) -> Iterator[tuple[Any, int | None]]:
    """The states after each choice of the opponents, with who chose; each plays each of its actions."""
    skipped: set[int] = set()
    while _is_for_opponents(game, state, seat):
        mover = game.to_move(state)
        if mover not in skipped:
            for action in game.legal_actions(state):
                yield _settled(game, game.result(state, action), seat, mover)
            if chooser is not None:
                return
            skipped.add(mover)
        elif offers(game, SupportsNullMove):
            return  # everybody has skipped a turn, so that nobody would have moved
        state = _without_choice(game, state)
    if game.traits.seats > 2 and not game.is_terminal(state) and game.to_move(state) == CHANCE:
        yield state, None  # who replies is settled after the dice have fallen


def _settled(game: Any, state: Any, seat: int, chooser: int | None) -> tuple[Any, int | None]:
    """The state once those who do not choose have moved, and who still chooses."""
    skipped = 0
    while _is_for_opponents(game, state, seat):
        mover = game.to_move(state)
        if chooser in (None, mover):
            return state, chooser
        if skipped == game.traits.seats and offers(game, SupportsNullMove):
            return state, mover  # everybody has skipped a turn: somebody must move
        state, skipped = _without_choice(game, state), skipped + 1
    is_over = game.is_terminal(state) or game.to_move(state) == seat
    return state, None if is_over else chooser


def _is_for_opponents(game: Any, state: Any, seat: int) -> bool:
    return not game.is_terminal(state) and game.to_move(state) not in (seat, CHANCE)


def _without_choice(game: Any, state: Any) -> Any:
    """The state after a turn of an opponent that does not choose."""
    if offers(game, SupportsNullMove):
        return game.pass_turn(state)
    actions = game.legal_actions(state)
    hint = game.ordering_hint if offers(game, SupportsOrdering) else lambda state, action: 0
    return game.result(state, max(actions, key=lambda action: hint(state, action)))
