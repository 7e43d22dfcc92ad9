"""Hat guessing: one hint tells all other players something about their hands. The source is in ``HanabiAgent``.

For each player all know a list of questions about the hand, whose answers make one number. A hint stands for the
sum of the other players' numbers, modulo the number of hints: who sees all other hands finds its own number.
"""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.experts.hanabi import layout as at
from zermelo.agents.experts.hanabi.smart import best_play, likeliest_play
from zermelo.agents.experts.hanabi.table import HanabiTable, bits, possible, touched

_KINDS: Final = 3  # hints to a player: of a rank or a colour that points at the newest card, or not at it


def observe(rules: HanabiTable, table: Any, action: int) -> None:
    """Takes in what a move says by the convention, before it is made."""
    if not rules.is_hint(action):
        return
    mover, most = table[at.MOVER], _KINDS * (rules.players - 1)
    rest = _number_of(rules, table, mover, action)
    for offset in range(1, rules.players):
        player = (mover + offset) % rules.players
        if player != table[at.EYES]:
            rest -= _answers(rules, table, player, most, -1)
    for offset in range(1, rules.players):
        player = (mover + offset) % rules.players
        own = rest % most if player == table[at.EYES] else _answers(rules, table, player, most, -1)
        _answers(rules, table, player, most, own)
    target, cards = rules.hint_to(mover, action), rules.hint_set(action)
    places = touched(table, target, cards)
    for place in range(table[at.SIZE + target]):
        table[at.MEANT + at.HAND * target + place] &= cards if places >> place & 1 else ~cards


def act(rules: HanabiTable, table: Any) -> int:
    """The action of the player to move."""
    me = table[at.MOVER]
    unseen = rules.unseen_by(table, me, me)
    play = best_play(rules, table, me, unseen)
    if play >= 0:
        return rules.size + play
    hint = _hint(rules, table, me) if table[at.TOKENS] > 0 else -1
    place, worth = _discard(rules, table, me, unseen)
    is_full = table[at.TOKENS] == rules.tokens
    if hint >= 0 and (is_full or table[at.LEFT] == 0 or worth < _TRASH or table[at.TOKENS] > 4):
        return hint
    if table[at.LEFT] == 0 and table[at.LIVES] > 1:
        play = likeliest_play(table, me, unseen)
        if play >= 0:
            return rules.size + play
    if not is_full:
        return place
    for action in range(2 * rules.size, 2 * rules.size + (rules.players - 1) * (rules.colors + rules.ranks)):
        if rules.is_legal(table, action):
            return action
    return int(rules.size + table[at.SIZE + me] - 1)


_TRASH: Final = 2000


def _discard(rules: HanabiTable, table: Any, me: int, unseen: int) -> tuple[int, int]:
    """The place of the card that can best be spared, and how well."""
    held = 0
    for holder in range(rules.players):
        if holder != me:
            for slot in range(at.HAND * holder, at.HAND * holder + table[at.SIZE + holder]):
                held |= 1 << table[at.CARD + slot]
    best, chosen = -1, 0
    for place in range(table[at.SIZE + me]):
        cards = possible(table, at.HAND * me + place, unseen)
        if cards & ~table[at.DEAD] == 0:
            worth = 3000
        elif cards & ~(table[at.DEAD] | held) == 0:
            worth = _TRASH
        else:
            total = loss = 0
            for card in range(rules.colors * rules.ranks):
                if cards >> card & 1:
                    total += 1
                    if table[at.CRITICAL] >> card & 1:
                        loss += 10 - card % rules.ranks
                    elif not (table[at.DEAD] | held) >> card & 1:
                        loss += 2
            worth = 1000 - 100 * loss // total
        if worth > best:
            best, chosen = worth, place
    return chosen, best


def _number_of(rules: HanabiTable, table: Any, mover: int, action: int) -> int:
    target = rules.hint_to(mover, action)
    offset = (target - mover) % rules.players
    newest = table[at.CARD + at.HAND * target + table[at.SIZE + target] - 1]
    kind = 2
    if rules.hint_set(action) >> newest & 1:
        kind = 0 if rules.is_rank_hint(action) else 1
    return int(_KINDS * (offset - 1) + kind)


def _hint(rules: HanabiTable, table: Any, me: int) -> int:
    """The hint that says what the others should know; -1 if their hands allow none."""
    most, total = _KINDS * (rules.players - 1), 0
    for offset in range(1, rules.players):
        total += _answers(rules, table, (me + offset) % rules.players, most, -1)
    for action in range(2 * rules.size, 2 * rules.size + (rules.players - 1) * (rules.colors + rules.ranks)):
        if rules.is_legal(table, action) and _number_of(rules, table, me, action) == total % most:
            return action
    return -1


def _answers(rules: HanabiTable, table: Any, player: int, most: int, number: int) -> int:
    """The number that answers the questions about a hand; one that is given is taken in."""
    asked, scale, left, total = 0, 1, most, 0
    while left >= 2:
        place = _asked_about(rules, table, player, asked)
        if place < 0:
            break
        asked |= 1 << place
        slot = at.HAND * player + place
        cards = possible(table, slot, rules.not_gone(table))
        classes = min(left, bits(cards & ~table[at.DEAD]) + (1 if cards & table[at.DEAD] else 0))
        if classes < 2:
            continue
        if number < 0:
            total += scale * _class(rules, table, cards, classes, table[at.CARD + slot])
        else:
            answer, kept = number // scale % classes, 0
            for card in range(rules.colors * rules.ranks):
                if cards >> card & 1 and _class(rules, table, cards, classes, card) == answer:
                    kept |= 1 << card
            if kept:
                table[at.MEANT + slot] = kept
        scale *= classes
        left //= classes
    return total


def _asked_about(rules: HanabiTable, table: Any, player: int, asked: int) -> int:
    """The place of the card that is likeliest to be playable, of those that are not known to be, or not to be."""
    best, chosen = -1, -1
    for place in range(table[at.SIZE + player]):
        cards = possible(table, at.HAND * player + place, rules.not_gone(table))
        if asked >> place & 1 or cards & ~table[at.PLAYABLE] == 0 or cards & ~table[at.DEAD] == 0:
            continue
        playable = total = 0
        for card in range(rules.colors * rules.ranks):
            if cards >> card & 1:
                weight = rules.copies(card) - table[at.GONE + card]
                total += weight
                if table[at.PLAYABLE] >> card & 1:
                    playable += weight
        share = 1000 * playable // max(total, 1)
        if share > best:
            best, chosen = share, place
    return chosen


def _class(rules: HanabiTable, table: Any, cards: int, classes: int, card: int) -> int:
    """The answer for a card: dead ones share one, playable ones share none with the rest if there are enough."""
    live, below = cards & ~table[at.DEAD], (1 << card) - 1
    playable, later = live & table[at.PLAYABLE], live & ~table[at.PLAYABLE]
    first = 1 if cards & table[at.DEAD] else 0
    is_playable = playable >> card & 1
    if classes - first == 1 and playable and later:
        return int(is_playable)
    if not live >> card & 1:
        return 0
    spread = classes - first
    if not playable or not later:
        return first + bits(live & below) % spread
    own = min(max(spread * bits(playable) // bits(live), 1), bits(playable), spread - 1)
    if is_playable:
        return first + bits(playable & below) % own
    return first + own + bits(later & below) % (spread - own)
