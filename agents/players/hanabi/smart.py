"""A convention in the manner of SmartBot: hints point at a card to play, or save one from being discarded.

A hint has a focus. It is the card that its holder would discard next, if the hint points at it; else the newest card
that no hint had pointed at before. The focus can be played now, or, if it was next to be discarded, is one that is
needed and would be lost. Other cards that are pointed at are needed some time. Everybody reads a hint alike, as that
takes no more than all have seen; and whoever gives one first works out how it will be read.
"""

from __future__ import annotations

from typing import Any

from zermelo.agents.players.hanabi.table import (
    CLUED,
    CARD,
    CRITICAL,
    DEAD,
    HAND,
    HINTED,
    LEFT,
    LIVES,
    MEANT,
    MOVER,
    PLAYABLE,
    SCORE,
    SIZE,
    TOKENS,
    TURNS,
    Table,
    bits,
    color_set,
    hint_action,
    hint_set,
    hint_to,
    is_hint,
    is_rank_hint,
    possible,
    rank_set,
    touched,
    unseen_by,
)


def chop(table: Any, player: int) -> int:
    """The place of the oldest card that no hint has pointed at: the next to be discarded; -1 if there is none."""
    for place in range(table[SIZE + player]):
        if not table[CLUED + HAND * player + place]:
            return place
    return -1


def observe(rules: Table, table: Any, action: int) -> None:
    """Takes in what a move says by the convention, before it is made."""
    if is_hint(rules, action):
        target, cards = hint_to(rules, table[MOVER], action), hint_set(rules, action)
        read_hint(rules, table, target, cards, touched(table, target, cards), is_rank_hint(rules, action))


def read_hint(rules: Table, table: Any, target: int, cards: int, places: int, is_rank: bool) -> None:
    """Notes what a hint means."""
    first = HAND * target
    oldest, focus = chop(table, target), -1
    fresh = 0
    for place in range(table[SIZE + target]):
        if places >> place & 1:
            if not table[CLUED + first + place]:
                fresh |= 1 << place
                focus = place
    for place in range(table[SIZE + target]):
        slot = first + place
        if places >> place & 1:
            table[MEANT + slot] &= cards
            if focus < 0 or not fresh:
                if possible(table, slot, -1) & ~table[PLAYABLE]:
                    focus = place
        else:
            table[MEANT + slot] &= ~cards
    allowed = table[PLAYABLE]
    if oldest >= 0 and fresh >> oldest & 1:
        focus = oldest
        saved = table[CRITICAL] & cards
        if is_rank:
            saved |= rank_set(rules, 1) & cards & ~table[DEAD]
        else:
            saved &= ~rank_set(rules, rules.ranks - 1)
        allowed |= saved
    for place in range(table[SIZE + target]):
        slot = first + place
        if not places >> place & 1:
            continue
        table[CLUED + slot] = 1
        if place == focus or (is_rank and fresh >> place & 1 and cards & rank_set(rules, 0)):
            if table[MEANT + slot] & allowed:
                table[MEANT + slot] &= allowed
        elif table[MEANT + slot] & ~table[DEAD]:
            table[MEANT + slot] &= ~table[DEAD]


def act(rules: Table, table: Any) -> int:
    """The action of the player to move."""
    me = table[MOVER]
    unseen = unseen_by(rules, table, me, me)
    best, play = -1, -1
    for place in range(table[SIZE + me]):
        cards = possible(table, HAND * me + place, unseen)
        if cards & ~table[PLAYABLE] == 0:
            worth = _lowest_rank_worth(rules, cards)
            if worth > best:
                best, play = worth, place
    hint_worth, hint = best_hint(rules, table) if table[TOKENS] > 0 else (-1, -1)
    if hint_worth >= 1000:
        return hint
    if play >= 0:
        return rules.size + play
    if hint_worth >= 10 or (hint >= 0 and table[TOKENS] == rules.tokens):
        return hint
    if table[TOKENS] == rules.tokens:
        return hint if hint >= 0 else rules.size + table[SIZE + me] - 1
    if table[LEFT] == 0 and hint >= 0:
        return hint
    return discard(rules, table, unseen)


def _lowest_rank_worth(rules: Table, cards: int) -> int:
    """Greater for cards of lower rank."""
    worth = 1
    for rank in range(rules.ranks):
        if cards & rank_set(rules, rank):
            worth = 10 - rank
            break
    return worth


def discard(rules: Table, table: Any, unseen: int) -> int:
    """The card that can best be spared."""
    me = table[MOVER]
    oldest = chop(table, me)
    best, chosen = -1, 0
    for place in range(table[SIZE + me]):
        cards = possible(table, HAND * me + place, unseen)
        if cards & ~table[DEAD] == 0:
            worth = 1_000_000
        elif place == oldest:
            worth = 100_000
        else:
            worth = 1000 - 1000 * bits(cards & table[CRITICAL]) // bits(cards)
        if worth > best:
            best, chosen = worth, place
    return chosen


def will_play(table: Any, player: int, unseen: int) -> bool:
    """True if a player knows of a card to play."""
    for place in range(table[SIZE + player]):
        if possible(table, HAND * player + place, unseen) & ~table[PLAYABLE] == 0:
            return True
    return False


def has_trash(table: Any, player: int, unseen: int) -> bool:
    """True if a player knows of a card that nobody needs."""
    for place in range(table[SIZE + player]):
        if possible(table, HAND * player + place, unseen) & ~table[DEAD] == 0:
            return True
    return False


def best_hint(rules: Table, table: Any) -> tuple[int, int]:
    """The worth of the best hint and its action; -1 for the action if there is none that does no harm."""
    me = table[MOVER]
    best, chosen = -1_000_000, -1
    for offset in range(1, rules.players):
        target = (me + offset) % rules.players
        unseen = unseen_by(rules, table, me, target)
        known = known_plays(table, unseen, target, me, rules)
        for number in range(rules.colors + rules.ranks):
            if number < rules.colors:
                cards = color_set(rules, number)
            else:
                cards = rank_set(rules, number - rules.colors)
            places = touched(table, target, cards)
            if places == 0:
                continue
            worth = hint_worth_of(rules, table, target, cards, places, number >= rules.colors, unseen, known, offset)
            if worth > best:
                best, chosen = worth, hint_action(rules, offset, number)
    return best, chosen


def known_plays(table: Any, unseen: int, target: int, me: int, rules: Table) -> int:
    """The cards that players other than the target have been shown by hints."""
    cards = 0
    for holder in range(rules.players):
        for slot in range(HAND * holder, HAND * holder + table[SIZE + holder]):
            if table[CLUED + slot] and holder != target:
                if holder != me:
                    cards |= 1 << table[CARD + slot]
                else:
                    mine = possible(table, slot, unseen)
                    if mine & (mine - 1) == 0:
                        cards |= mine
    return cards


def hint_worth_of(
    rules: Table,
    table: Any,
    target: int,
    cards: int,
    places: int,
    is_rank: bool,
    unseen: int,
    known: int,
    offset: int,
) -> int:
    """How good a hint is."""
    first, size = HAND * target, table[SIZE + target]
    oldest = chop(table, target)
    busy = will_play(table, target, unseen) or has_trash(table, target, unseen)
    meant = (table[MEANT + first], table[MEANT + first + 1], table[MEANT + first + 2], table[MEANT + first + 3], table[MEANT + first + 4])
    clued = (table[CLUED + first], table[CLUED + first + 1], table[CLUED + first + 2], table[CLUED + first + 3], table[CLUED + first + 4])
    before = 0
    shown = 0
    for place in range(size):
        if possible(table, first + place, unseen) & ~table[PLAYABLE] == 0:
            before |= 1 << place
        if clued[place]:
            shown |= 1 << table[CARD + first + place]
    read_hint(rules, table, target, cards, places, is_rank)
    worth = 0
    plays = 0
    for place in range(size):
        slot = first + place
        card = 1 << table[CARD + slot]
        now = possible(table, slot, unseen)
        if now & ~table[PLAYABLE] == 0:
            if not card & table[PLAYABLE]:
                worth -= 100_000
            elif not before >> place & 1:
                if card & (known | plays):
                    worth -= 20
                else:
                    worth += 40 - 2 * (table[CARD + slot] % rules.ranks)
                plays |= card
        elif not now & card:
            worth -= 300
        if places >> place & 1 and not clued[place]:
            if card & table[DEAD] or card & (known | shown):
                worth -= 8
            else:
                worth += 3
            shown |= card
        if now & ~table[DEAD] == 0 and not card & table[DEAD]:
            worth -= 50
        worth += bits(meant[place]) // 5 - bits(now) // 5
    if oldest >= 0 and places >> oldest & 1 and not busy:
        card = 1 << table[CARD + first + oldest]
        if card & table[CRITICAL]:
            worth += 1000 if offset == 1 else 30
        elif card & rank_set(rules, 1) & ~table[DEAD] and not card & known:
            worth += 12
    elif oldest >= 0 and not busy and plays and (1 << table[CARD + first + oldest]) & table[CRITICAL]:
        worth += 1000 if offset == 1 else 15
    for place in range(5):
        table[MEANT + first + place] = meant[place]
        table[CLUED + first + place] = clued[place]
    return worth
