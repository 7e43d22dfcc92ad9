"""The rules of Hanabi, and what players see, over a table in an array of integers (``layout``).

Cards are numbers ``colour * ranks + rank``, sets of cards bits; deals and moves are numbered as OpenSpiel does. No
convention looks at a card in the hand of the player who decides.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from zermelo.agents.experts.hanabi import layout as at


class Nothing(NamedTuple):
    """The state of ``HanabiTable``: the table itself is in memory that kernels are given."""

    unused: int = 0


class HanabiTable(NamedTuple):
    """The settings of a game, and the convention."""

    players: int
    size: int  # cards in a hand
    colors: int
    ranks: int
    tokens: int  # the most hint tokens
    lives: int  # at the start
    longest: int  # deals and moves after which the game is cut off
    hats: int = 0  # 1 if hints are read by hat guessing

    def initial_state(self) -> Nothing:
        return Nothing()

    def copies(self, card: int) -> int:
        rank = card % self.ranks
        return 3 if rank == 0 else 1 if rank == self.ranks - 1 else 2

    def rank_set(self, rank: int) -> int:
        cards = 0
        for color in range(self.colors):
            cards |= 1 << (color * self.ranks + rank)
        return cards

    def color_set(self, color: int) -> int:
        return ((1 << self.ranks) - 1) << (color * self.ranks)

    def all_cards(self) -> int:
        return (1 << (self.colors * self.ranks)) - 1

    def begin(self, table: Any, eyes: int) -> None:
        """Puts the table in the state before the first deal, as a player sees it; -1 for nobody."""
        for word in range(at.WORDS):
            table[word] = 0
        table[at.EYES] = eyes
        table[at.LIVES], table[at.TOKENS], table[at.TURNS] = self.lives, self.tokens, self.players
        for rank in range(self.ranks):
            table[at.LEFT] += self.colors * self.copies(rank)
        table[at.MISSING] = self.players * self.size
        for card in range(self.colors * self.ranks):
            table[at.KINDS + self.copies(card) - 1] |= 1 << card
        self.read_fireworks(table)

    def read_fireworks(self, table: Any) -> None:
        playable = dead = critical = 0
        for color in range(self.colors):
            reachable = True
            for rank in range(self.ranks):
                card = color * self.ranks + rank
                left = self.copies(card) - table[at.GONE + card]
                if rank < table[at.HEIGHT + color] or not reachable:
                    dead |= 1 << card
                    continue
                if rank == table[at.HEIGHT + color]:
                    playable |= 1 << card
                if left == 1:
                    critical |= 1 << card
                if left == 0:
                    dead |= 1 << card
                    playable &= ~(1 << card)
                    reachable = False
        table[at.PLAYABLE], table[at.DEAD], table[at.CRITICAL] = playable, dead, critical

    def is_over(self, table: Any) -> bool:
        return bool(
            table[at.LIVES] == 0
            or table[at.TURNS] == 0
            or table[at.SCORE] == self.colors * self.ranks
            or table[at.EVENTS] >= self.longest
        )

    def deal(self, table: Any, card: int) -> None:
        """Deals a card to the first player who has too few."""
        player = 0
        while table[at.SIZE + player] == self.size:
            player += 1
        slot = at.HAND * player + table[at.SIZE + player]
        table[at.CARD + slot] = card
        table[at.HINTED + slot] = table[at.MEANT + slot] = self.all_cards()
        table[at.CLUED + slot] = 0
        table[at.BORN + slot] = table[at.EVENTS]
        table[at.SIZE + player] += 1
        table[at.LEFT] -= 1
        table[at.MISSING] -= 1
        table[at.EVENTS] += 1

    def is_hint(self, action: int) -> bool:
        return action >= 2 * self.size

    def is_rank_hint(self, action: int) -> bool:
        return action - 2 * self.size >= (self.players - 1) * self.colors

    def hint_to(self, mover: int, action: int) -> int:
        number = action - 2 * self.size
        if self.is_rank_hint(action):
            offset = (number - (self.players - 1) * self.colors) // self.ranks
        else:
            offset = number // self.colors
        return (mover + 1 + offset) % self.players

    def hint_set(self, action: int) -> int:
        number = action - 2 * self.size
        if self.is_rank_hint(action):
            return self.rank_set((number - (self.players - 1) * self.colors) % self.ranks)
        return self.color_set(number % self.colors)

    def hint_action(self, offset: int, number: int) -> int:
        """The hint to the player ``offset`` seats on, of colour ``number`` or, above the colours, of a rank."""
        if number < self.colors:
            return 2 * self.size + (offset - 1) * self.colors + number
        others = self.players - 1
        return 2 * self.size + others * self.colors + (offset - 1) * self.ranks + number - self.colors

    def is_legal(self, table: Any, action: int) -> bool:
        mover = table[at.MOVER]
        if action < self.size:
            return bool(action < table[at.SIZE + mover] and table[at.TOKENS] < self.tokens)
        if action < 2 * self.size:
            return bool(action - self.size < table[at.SIZE + mover])
        target = self.hint_to(mover, action)
        return bool(table[at.TOKENS] > 0 and touched(table, target, self.hint_set(action)))

    def move(self, table: Any, action: int) -> None:
        """Plays, discards, or notes what a hint says literally; what it means is the convention's affair."""
        mover = table[at.MOVER]
        if table[at.LEFT] == 0:
            table[at.TURNS] -= 1
        if self.is_hint(action):
            target, cards = self.hint_to(mover, action), self.hint_set(action)
            places = touched(table, target, cards)
            for place in range(table[at.SIZE + target]):
                table[at.HINTED + at.HAND * target + place] &= cards if places >> place & 1 else ~cards
            table[at.TOKENS] -= 1
        else:
            self._use_card(table, mover, action)
        table[at.EVENTS] += 1
        table[at.MOVER] = (mover + 1) % self.players

    def _use_card(self, table: Any, mover: int, action: int) -> None:
        place = action % self.size
        card = table[at.CARD + at.HAND * mover + place]
        color, rank = card // self.ranks, card % self.ranks
        table[at.OUT + table[at.GONE + card]] |= 1 << card
        table[at.GONE + card] += 1
        if action < self.size:
            table[at.TOKENS] += 1
        elif table[at.HEIGHT + color] == rank:
            table[at.HEIGHT + color] += 1
            table[at.SCORE] += 1
            if rank == self.ranks - 1 and table[at.TOKENS] < self.tokens:
                table[at.TOKENS] += 1
        else:
            table[at.LIVES] -= 1
        last = table[at.SIZE + mover] - 1
        for slot in range(at.HAND * mover + place, at.HAND * mover + last):
            for what in (at.CARD, at.HINTED, at.MEANT, at.CLUED, at.BORN):
                table[what + slot] = table[what + slot + 1]
        table[at.SIZE + mover] = last
        table[at.MISSING] = 1 if table[at.LEFT] > 0 else 0
        self.read_fireworks(table)

    def not_gone(self, table: Any) -> int:
        """The cards of which a copy is still in the deck or in a hand."""
        return self._left(table, table[at.OUT], table[at.OUT + 1], table[at.OUT + 2])

    def unseen_by(self, table: Any, player: int, other: int) -> int:
        """The cards of which a copy is in the deck, or in the hand of one of two players."""
        once, twice, thrice = table[at.OUT], table[at.OUT + 1], table[at.OUT + 2]
        for holder in range(self.players):
            if holder not in (player, other):
                for slot in range(at.HAND * holder, at.HAND * holder + table[at.SIZE + holder]):
                    card = 1 << table[at.CARD + slot]
                    thrice |= twice & card
                    twice |= once & card
                    once |= card
        return self._left(table, once, twice, thrice)

    def _left(self, table: Any, once: int, twice: int, thrice: int) -> int:
        """The cards with more copies than were seen, of those seen once, twice and three times."""
        seen = (once & table[at.KINDS]) | (twice & table[at.KINDS + 1]) | (thrice & table[at.KINDS + 2])
        return int(self.all_cards() & ~seen)


def bits(cards: int) -> int:
    """The number of cards in a set."""
    count = 0
    while cards:
        cards &= cards - 1
        count += 1
    return count


def copy_table(table: Any, other: Any) -> None:
    """Makes another table the same. A slice would have Numba ask for memory."""
    for word in range(at.WORDS):
        other[word] = table[word]


def needs_deal(table: Any) -> bool:
    """True if a card is to be dealt before the next move."""
    return bool(table[at.MISSING] > 0 and table[at.LEFT] > 0)


def touched(table: Any, player: int, cards: int) -> int:
    """The places of the cards in a hand that a hint points at, a bit each."""
    places = 0
    for place in range(table[at.SIZE + player]):
        if cards >> table[at.CARD + at.HAND * player + place] & 1:
            places |= 1 << place
    return places


def possible(table: Any, slot: int, unseen: int) -> int:
    """The cards that a card can be, by the convention; where nothing is left of that, by the hints alone."""
    cards = table[at.MEANT + slot] & unseen
    if table[at.CLUED + slot] and cards & ~table[at.DEAD]:
        cards &= ~table[at.DEAD]
    if cards == 0:
        cards = table[at.HINTED + slot] & unseen
    return int(cards if cards else table[at.HINTED + slot])
