"""A table of Hanabi in an array of integers: cards, fireworks, tokens, and what everybody knows of each card.

Cards are numbers ``colour * ranks + rank``, sets of cards are integers with a bit for each. Deals and moves are
numbered as OpenSpiel does. No convention looks at a card in the hand of the player who decides; that the cards are
there lets one table serve all players.

A card of the hand of ``player`` at ``place`` (the oldest first) is at ``HAND * player + place`` of ``CARD``,
``HINTED``, ``MEANT`` and ``CLUED``.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

HAND: Final = 5
LIVES: Final = 0
TOKENS: Final = 1
LEFT: Final = 2
"""Cards in the deck."""
MOVER: Final = 3
TURNS: Final = 4
"""Turns that are left once the deck is empty."""
SCORE: Final = 5
EVENTS: Final = 6
"""Deals and moves so far."""
MISSING: Final = 7
"""Cards still to be dealt before the next move."""
PLAYABLE: Final = 8
DEAD: Final = 9
"""Cards that can never be played any more."""
CRITICAL: Final = 10
"""The last copies of cards that can still be played."""
HEIGHT: Final = 11
"""For each colour how many cards are in its firework."""
GONE: Final = 16
"""For each card how many copies were played or discarded."""
SIZE: Final = 41
"""For each player how many cards are in the hand."""
CARD: Final = 46
HINTED: Final = 71
"""The cards that each card can be by what hints say literally."""
MEANT: Final = 96
"""The cards that it can be by what the convention reads into hints."""
CLUED: Final = 121
"""1 for a card that a hint has pointed at."""
KINDS: Final = 149
"""The cards with one copy in the deck, with two, with three."""
OUT: Final = 152
"""The cards of which one copy or more are gone, two or more, three."""
BORN: Final = 155
"""The number of the event that dealt each card."""
SPARE: Final = 180
"""Ten words that may be written to."""
EYES: Final = 190
"""The player who has yet to work out from hints what others see; -1 for nobody."""
WORDS: Final = 192


class Nothing(NamedTuple):
    """The state of ``HanabiTable``: the table itself is in memory that kernels are given."""

    unused: int = 0


class HanabiTable(NamedTuple):
    """The settings of a game, and the convention.

    Attributes:
        players: Their number.
        size: Cards in a hand.
        colors: The number of colours.
        ranks: The number of ranks.
        tokens: The most hint tokens.
        lives: Lives at the start.
        longest: Deals and moves after which the game is cut off.
        hats: 1 if hints are read by hat guessing.
    """

    players: int
    size: int
    colors: int
    ranks: int
    tokens: int
    lives: int
    longest: int
    hats: int = 0

    def initial_state(self) -> Nothing:
        """Tells the compiler what a state is."""
        return Nothing()


def copies(rules: HanabiTable, card: int) -> int:
    """The copies of a card in the deck."""
    rank = card % rules.ranks
    return 3 if rank == 0 else 1 if rank == rules.ranks - 1 else 2


def bits(cards: int) -> int:
    """The number of cards in a set."""
    count = 0
    while cards:
        cards &= cards - 1
        count += 1
    return count


def rank_set(rules: HanabiTable, rank: int) -> int:
    """The cards of a rank."""
    cards = 0
    for color in range(rules.colors):
        cards |= 1 << (color * rules.ranks + rank)
    return cards


def color_set(rules: HanabiTable, color: int) -> int:
    """The cards of a colour."""
    return ((1 << rules.ranks) - 1) << (color * rules.ranks)


def all_cards(rules: HanabiTable) -> int:
    """Every card."""
    return (1 << (rules.colors * rules.ranks)) - 1


def begin(rules: HanabiTable, table: Any, eyes: int) -> None:
    """Puts the table in the state before the first deal, as a player sees it; -1 for nobody."""
    for word in range(WORDS):
        table[word] = 0
    table[EYES] = eyes
    table[LIVES], table[TOKENS], table[TURNS] = rules.lives, rules.tokens, rules.players
    for rank in range(rules.ranks):
        table[LEFT] += rules.colors * copies(rules, rank)
    table[MISSING] = rules.players * rules.size
    for card in range(rules.colors * rules.ranks):
        table[KINDS + copies(rules, card) - 1] |= 1 << card
    read_fireworks(rules, table)


def copy_table(table: Any, other: Any) -> None:
    """Makes another table the same. A slice would have Numba ask for memory."""
    for word in range(WORDS):
        other[word] = table[word]


def read_fireworks(rules: HanabiTable, table: Any) -> None:
    """Works out which cards are playable, dead and critical."""
    playable = dead = critical = 0
    for color in range(rules.colors):
        reachable = True
        for rank in range(rules.ranks):
            card = color * rules.ranks + rank
            left = copies(rules, card) - table[GONE + card]
            if rank < table[HEIGHT + color] or not reachable:
                dead |= 1 << card
                continue
            if rank == table[HEIGHT + color]:
                playable |= 1 << card
            if left == 1:
                critical |= 1 << card
            if left == 0:
                dead |= 1 << card
                playable &= ~(1 << card)
                reachable = False
    table[PLAYABLE], table[DEAD], table[CRITICAL] = playable, dead, critical


def is_over(rules: HanabiTable, table: Any) -> bool:
    """True once nobody moves any more."""
    return bool(
        table[LIVES] == 0
        or table[TURNS] == 0
        or table[SCORE] == rules.colors * rules.ranks
        or table[EVENTS] >= rules.longest
    )


def needs_deal(table: Any) -> bool:
    """True if a card is to be dealt before the next move."""
    return bool(table[MISSING] > 0 and table[LEFT] > 0)


def deal(rules: HanabiTable, table: Any, card: int) -> None:
    """Deals a card to the first player who has too few."""
    player = 0
    while table[SIZE + player] == rules.size:
        player += 1
    slot = HAND * player + table[SIZE + player]
    table[CARD + slot] = card
    table[HINTED + slot] = table[MEANT + slot] = all_cards(rules)
    table[CLUED + slot] = 0
    table[BORN + slot] = table[EVENTS]
    table[SIZE + player] += 1
    table[LEFT] -= 1
    table[MISSING] -= 1
    table[EVENTS] += 1


def is_hint(rules: HanabiTable, action: int) -> bool:
    """True if an action is a hint."""
    return action >= 2 * rules.size


def is_rank_hint(rules: HanabiTable, action: int) -> bool:
    """True if a hint is about a rank."""
    return action - 2 * rules.size >= (rules.players - 1) * rules.colors


def hint_to(rules: HanabiTable, mover: int, action: int) -> int:
    """The player to whom a hint is given."""
    number = action - 2 * rules.size
    if is_rank_hint(rules, action):
        offset = (number - (rules.players - 1) * rules.colors) // rules.ranks
    else:
        offset = number // rules.colors
    return (mover + 1 + offset) % rules.players


def hint_set(rules: HanabiTable, action: int) -> int:
    """The cards that a hint is about."""
    number = action - 2 * rules.size
    if is_rank_hint(rules, action):
        return rank_set(rules, (number - (rules.players - 1) * rules.colors) % rules.ranks)
    return color_set(rules, number % rules.colors)


def hint_action(rules: HanabiTable, offset: int, number: int) -> int:
    """The hint to the player ``offset`` seats on, of colour ``number`` or, above the colours, of a rank."""
    if number < rules.colors:
        return 2 * rules.size + (offset - 1) * rules.colors + number
    others = rules.players - 1
    return 2 * rules.size + others * rules.colors + (offset - 1) * rules.ranks + number - rules.colors


def touched(table: Any, player: int, cards: int) -> int:
    """The places of the cards in a hand that a hint points at, a bit each."""
    places = 0
    for place in range(table[SIZE + player]):
        if cards >> table[CARD + HAND * player + place] & 1:
            places |= 1 << place
    return places


def is_legal(rules: HanabiTable, table: Any, action: int) -> bool:
    """True if the player to move may do this."""
    mover = table[MOVER]
    if action < rules.size:
        return bool(action < table[SIZE + mover] and table[TOKENS] < rules.tokens)
    if action < 2 * rules.size:
        return bool(action - rules.size < table[SIZE + mover])
    target = hint_to(rules, mover, action)
    return bool(table[TOKENS] > 0 and touched(table, target, hint_set(rules, action)))


def move(rules: HanabiTable, table: Any, action: int) -> None:
    """Plays, discards, or notes what a hint says literally; what it means is the convention's affair."""
    mover = table[MOVER]
    if table[LEFT] == 0:
        table[TURNS] -= 1
    if is_hint(rules, action):
        target, cards = hint_to(rules, mover, action), hint_set(rules, action)
        places = touched(table, target, cards)
        for place in range(table[SIZE + target]):
            table[HINTED + HAND * target + place] &= cards if places >> place & 1 else ~cards
        table[TOKENS] -= 1
    else:
        _use_card(rules, table, mover, action)
    table[EVENTS] += 1
    table[MOVER] = (mover + 1) % rules.players


def _use_card(rules: HanabiTable, table: Any, mover: int, action: int) -> None:
    place = action % rules.size
    card = table[CARD + HAND * mover + place]
    color, rank = card // rules.ranks, card % rules.ranks
    table[OUT + table[GONE + card]] |= 1 << card
    table[GONE + card] += 1
    if action < rules.size:
        table[TOKENS] += 1
    elif table[HEIGHT + color] == rank:
        table[HEIGHT + color] += 1
        table[SCORE] += 1
        if rank == rules.ranks - 1 and table[TOKENS] < rules.tokens:
            table[TOKENS] += 1
    else:
        table[LIVES] -= 1
    last = table[SIZE + mover] - 1
    for slot in range(HAND * mover + place, HAND * mover + last):
        for what in (CARD, HINTED, MEANT, CLUED, BORN):
            table[what + slot] = table[what + slot + 1]
    table[SIZE + mover] = last
    table[MISSING] = 1 if table[LEFT] > 0 else 0
    read_fireworks(rules, table)


# -- what a player sees


def not_gone(rules: HanabiTable, table: Any) -> int:
    """The cards of which a copy is still in the deck or in a hand."""
    gone = (table[OUT] & table[KINDS]) | (table[OUT + 1] & table[KINDS + 1]) | (table[OUT + 2] & table[KINDS + 2])
    return int(all_cards(rules) & ~gone)


def unseen_by(rules: HanabiTable, table: Any, player: int, other: int) -> int:
    """The cards of which a copy is in no place that both of two players see: the deck, or one of their hands."""
    once, twice, thrice = table[OUT], table[OUT + 1], table[OUT + 2]
    for holder in range(rules.players):
        if holder not in (player, other):
            for slot in range(HAND * holder, HAND * holder + table[SIZE + holder]):
                card = 1 << table[CARD + slot]
                thrice |= twice & card
                twice |= once & card
                once |= card
    seen = (once & table[KINDS]) | (twice & table[KINDS + 1]) | (thrice & table[KINDS + 2])
    return int(all_cards(rules) & ~seen)


def possible(table: Any, slot: int, unseen: int) -> int:
    """The cards that a card can be, by the convention; where nothing is left of that, by the hints alone."""
    cards = table[MEANT + slot] & unseen
    if table[CLUED + slot] and cards & ~table[DEAD]:
        cards &= ~table[DEAD]
    if cards == 0:
        cards = table[HINTED + slot] & unseen
    return int(cards if cards else table[HINTED + slot])
