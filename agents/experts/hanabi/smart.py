"""A convention in the manner of SmartBot: hints point at a card to play, or save one from being discarded.

The focus of a hint is the card that its holder would discard next, if the hint points at it; else the newest that
no hint had pointed at. It can be played now, or was next to be discarded and is needed; other cards are needed
some time. Whoever gives a hint works out first how it will be read.
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.experts.hanabi import layout as at
from zermelo.agents.experts.hanabi.table import HanabiTable, bits, possible, touched

_URGENT: Final = 1000  # the worth of a hint without which the next player would lose a card that is needed
_USEFUL: Final = 10  # worth below which a hint waits, or ``_SCARCE`` more with few tokens
_SCARCE: Final = 8
_SAFE: Final = 40  # per cent of what a card can literally be that must be playable, with the last life
_NONE: Final = -1_000_000


def observe(rules: HanabiTable, table: Any, action: int) -> None:
    """Takes in what a move says by the convention, before it is made."""
    if rules.is_hint(action):
        target, cards = rules.hint_to(table[at.MOVER], action), rules.hint_set(action)
        _read_hint(rules, table, target, cards, touched(table, target, cards), rules.is_rank_hint(action))


def act(rules: HanabiTable, table: Any) -> int:
    """The action of the player to move."""
    me = table[at.MOVER]
    unseen = rules.unseen_by(table, me, me)
    play = best_play(rules, table, me, unseen)
    worth, hint = _best_hint(rules, table, me) if table[at.TOKENS] > 0 else (_NONE, -1)
    if worth >= _URGENT:
        return hint
    if play >= 0:
        return rules.size + play
    if worth >= _USEFUL + (_SCARCE if table[at.TOKENS] <= 2 else 0):
        return hint
    if table[at.LEFT] == 0 and table[at.LIVES] > 1:
        play = likeliest_play(table, me, unseen)
        if play >= 0:
            return rules.size + play
    if hint >= 0 and (table[at.LEFT] <= 1 or table[at.TOKENS] == rules.tokens):
        return hint
    if table[at.TOKENS] == rules.tokens:
        return int(rules.size + table[at.SIZE + me] - 1)
    return _discard(rules, table, me, unseen)


def _chop(table: Any, player: int) -> int:
    """The place of the card to be discarded next, the oldest that no hint has pointed at; -1 if there is none."""
    for place in range(table[at.SIZE + player]):
        if not table[at.CLUED + at.HAND * player + place]:
            return place
    return -1


def _read_hint(rules: HanabiTable, table: Any, target: int, cards: int, places: int, is_rank: bool) -> None:
    first, oldest = at.HAND * target, _chop(table, target)
    fresh, focus, again = 0, -1, -1
    for place in range(table[at.SIZE + target]):
        slot = first + place
        if not places >> place & 1:
            table[at.MEANT + slot] &= ~cards
            continue
        table[at.MEANT + slot] &= cards
        if not table[at.CLUED + slot]:
            fresh |= 1 << place
            focus = place
        elif possible(table, slot, -1) & ~table[at.PLAYABLE]:
            again = place
    allowed = table[at.PLAYABLE]
    if oldest >= 0 and fresh >> oldest & 1:
        focus = oldest
        if is_rank:
            allowed |= cards & (table[at.CRITICAL] | (rules.rank_set(1) & ~table[at.DEAD]))
        else:
            allowed |= cards & table[at.CRITICAL] & ~rules.rank_set(rules.ranks - 1)
    elif fresh == 0:
        focus = again
    for place in range(table[at.SIZE + target]):
        slot = first + place
        if places >> place & 1:
            table[at.CLUED + slot] = 1
            is_lowest = is_rank and fresh >> place & 1 and cards & rules.rank_set(0)
            meant = allowed if place == focus or is_lowest else ~table[at.DEAD]
            if table[at.MEANT + slot] & meant:
                table[at.MEANT + slot] &= meant


def best_play(rules: HanabiTable, table: Any, me: int, unseen: int) -> int:
    """The place of the card of lowest rank that can be played; -1 if none can.

    With the last life, what hints say literally must speak for it too.
    """
    best, play = rules.ranks, -1
    for place in range(table[at.SIZE + me]):
        slot = at.HAND * me + place
        cards, literally = possible(table, slot, unseen), table[at.HINTED + slot] & unseen
        if table[at.LIVES] == 1 and 100 * bits(literally & table[at.PLAYABLE]) < _SAFE * bits(literally):
            continue
        if cards & ~table[at.PLAYABLE] == 0:
            rank = 0
            while not cards & rules.rank_set(rank):
                rank += 1
            if rank < best:
                best, play = rank, place
    return play


def likeliest_play(table: Any, me: int, unseen: int) -> int:
    """The place of the card that is likeliest to be playable; -1 if none can be."""
    best, play = 0, -1
    for place in range(table[at.SIZE + me]):
        cards = possible(table, at.HAND * me + place, unseen)
        share = 1000 * bits(cards & table[at.PLAYABLE]) // bits(cards)
        if share > best:
            best, play = share, place
    return play


def _discard(rules: HanabiTable, table: Any, me: int, unseen: int) -> int:
    oldest, best, chosen = _chop(table, me), -1, 0
    spared = table[at.DEAD] | _cards_shown(rules, table, -1, me, unseen)
    for place in range(table[at.SIZE + me]):
        cards = possible(table, at.HAND * me + place, unseen)
        if cards & ~table[at.DEAD] == 0:
            worth = 3000
        elif cards & ~spared == 0:
            worth = 2500
        elif place == oldest:
            worth = 2000
        else:
            worth = 1000 - 1000 * bits(cards & table[at.CRITICAL]) // bits(cards)
        if worth > best:
            best, chosen = worth, place
    return chosen


def _best_hint(rules: HanabiTable, table: Any, me: int) -> tuple[int, int]:
    best, chosen = _NONE, -1
    for offset in range(1, rules.players):
        target = (me + offset) % rules.players
        unseen = rules.unseen_by(table, me, target)
        known = _cards_shown(rules, table, me, target, unseen)
        for number in range(rules.colors + rules.ranks):
            is_rank = number >= rules.colors
            cards = rules.rank_set(number - rules.colors) if is_rank else rules.color_set(number)
            if touched(table, target, cards):
                worth = _worth(rules, table, target, cards, is_rank, unseen, known, offset == 1)
                if worth > best:
                    best, chosen = worth, rules.hint_action(offset, number)
    return best, chosen


def _cards_shown(rules: HanabiTable, table: Any, me: int, target: int, unseen: int) -> int:
    """The cards that hints have pointed at in other hands than the target's, as ``me`` sees them."""
    cards = 0
    for holder in range(rules.players):
        for slot in range(at.HAND * holder, at.HAND * holder + table[at.SIZE + holder]):
            if table[at.CLUED + slot] and holder not in (me, target):
                cards |= 1 << table[at.CARD + slot]
            elif table[at.CLUED + slot] and holder == me:
                mine = possible(table, slot, unseen)
                if mine & (mine - 1) == 0:
                    cards |= mine
    return cards


def _knows(table: Any, player: int, unseen: int, wanted: int) -> int:
    """The places of the cards of which a player knows that they are among those wanted."""
    places = 0
    for place in range(table[at.SIZE + player]):
        if possible(table, at.HAND * player + place, unseen) & ~wanted == 0:
            places |= 1 << place
    return places


def _worth(
    rules: HanabiTable, table: Any, target: int, cards: int, is_rank: bool, unseen: int, known: int, is_next: bool
) -> int:
    """How good a hint is: it is read as the target will read it, and taken back."""
    first, size, oldest = at.HAND * target, table[at.SIZE + target], _chop(table, target)
    before = _knows(table, target, unseen, table[at.PLAYABLE])
    is_busy = before | _knows(table, target, unseen, table[at.DEAD]) != 0
    shown = plays = worth = 0
    for place in range(size):
        table[at.SPARE + place] = table[at.MEANT + first + place]
        table[at.SPARE + at.HAND + place] = table[at.CLUED + first + place]
        if table[at.CLUED + first + place]:
            shown |= 1 << table[at.CARD + first + place]
    places = touched(table, target, cards)
    _read_hint(rules, table, target, cards, places, is_rank)
    for place in range(size):
        slot = first + place
        card, now = 1 << table[at.CARD + slot], possible(table, slot, unseen)
        if now & ~table[at.PLAYABLE] == 0:
            if not card & table[at.PLAYABLE]:
                worth -= 100_000
            elif not before >> place & 1:
                worth += -20 if card & (known | plays) else 26 - 2 * (table[at.CARD + slot] % rules.ranks)
                plays |= card
        elif not now & card:
            worth -= 300
        if places >> place & 1 and not table[at.SPARE + at.HAND + place]:
            worth -= 14 if card & (table[at.DEAD] | known | shown) else 0
            shown |= card
        worth += bits(table[at.SPARE + place]) // 5 - bits(now) // 5
        table[at.MEANT + slot] = table[at.SPARE + place]
        table[at.CLUED + slot] = table[at.SPARE + at.HAND + place]
    if oldest >= 0 and not is_busy:
        card = 1 << table[at.CARD + first + oldest]
        if card & table[at.CRITICAL] and (places >> oldest & 1 or plays):
            worth += _URGENT if is_next else 100
        elif places >> oldest & 1 and card & rules.rank_set(1) & ~(table[at.DEAD] | known):
            worth += 12
    return worth
