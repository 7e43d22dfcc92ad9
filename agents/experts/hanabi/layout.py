"""A table of Hanabi as an array of integers: the words, each by name.

The card of ``player`` at ``place`` is at ``HAND * player + place`` of ``CARD``, and so on; the oldest comes first.
"""

from typing import Final

HAND: Final = 5
LIVES: Final = 0
TOKENS: Final = 1
LEFT: Final = 2  # cards in the deck
MOVER: Final = 3
TURNS: Final = 4  # turns that are left once the deck is empty
SCORE: Final = 5
EVENTS: Final = 6  # deals and moves so far
MISSING: Final = 7  # cards still to be dealt before the next move
PLAYABLE: Final = 8
DEAD: Final = 9  # cards that can never be played any more
CRITICAL: Final = 10  # the last copies of cards that can still be played
HEIGHT: Final = 11  # for each colour how many cards are in its firework
GONE: Final = 16  # for each card how many copies were played or discarded
SIZE: Final = 41  # for each player how many cards are in the hand
CARD: Final = 46
HINTED: Final = 71  # the cards that each card can be by what hints say literally
MEANT: Final = 96  # the cards that it can be by what the convention reads into hints
CLUED: Final = 121  # 1 for a card that a hint has pointed at
KINDS: Final = 149  # the cards with one copy in the deck, with two, with three
OUT: Final = 152  # the cards of which one copy or more are gone, two or more, three
BORN: Final = 155  # the number of the event that dealt each card
SPARE: Final = 180  # ten words that may be written to
EYES: Final = 190  # the player who has yet to work out from hints what others see; -1 for nobody
WORDS: Final = 192
