"""Games of Hanabi by a convention, in compiled code: what has happened is read, and games are played on."""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.experts.hanabi import layout as at
from zermelo.agents.experts.hanabi.hats import act as act_hats
from zermelo.agents.experts.hanabi.hats import observe as observe_hats
from zermelo.agents.experts.hanabi.smart import act as act_smart
from zermelo.agents.experts.hanabi.smart import observe as observe_smart
from zermelo.agents.experts.hanabi.table import HanabiTable, copy_table, needs_deal, possible
from zermelo.envs.jit.memory import words
from zermelo.envs.rules.bits import mix

ROOM: Final = 1024  # words of memory that a kernel needs
_TRIES: Final = 200  # hands that are tried for each sample before another unexpected move is allowed
_EXPECTED: Final = 3  # with more unexpected moves than this nothing is read into what the others did


def act(rules: HanabiTable, table: Any) -> int:
    """The action of the player to move."""
    return act_hats(rules, table) if rules.hats else act_smart(rules, table)


def advance(rules: HanabiTable, table: Any, event: int) -> None:
    """Takes in a deal or a move."""
    if needs_deal(table):
        rules.deal(table, event)
    else:
        if rules.hats:
            observe_hats(rules, table, event)
        else:
            observe_smart(rules, table, event)
        rules.move(table, event)


def play_on(
    rules: HanabiTable,
    state: Any,
    memory: int,
    events: int,
    count: int,
    seat: int,
    actions: int,
    tried: int,
    samples: int,
    seed: int,
    out: int,
) -> int:
    """Plays games on from a position to their ends, as ``HanabiPolicy.play_on`` says; or returns the next action.

    ``memory`` is the address of ``ROOM`` words; ``events``, ``actions`` and ``out`` are those of ``count`` deals
    and moves so far, of ``tried`` actions, and of points and lives for each action of each sample. Without
    ``samples`` only the next action is worked out.
    """
    table, root = words(memory, at.WORDS), words(memory + 8 * at.WORDS, at.WORDS)
    early, deck = words(memory + 16 * at.WORDS, at.WORDS), words(memory + 24 * at.WORDS, 64)
    guess = words(memory + 24 * at.WORDS + 512, 256)
    happened, results = words(events, count), words(out, 2 * samples * tried)
    choices = words(actions, tried)
    rules.begin(root, seat)
    for place in range(count):
        advance(rules, root, happened[place])
        guess[place] = happened[place]
    if samples == 0:
        return act(rules, root)
    first = count
    if seat >= 0:
        for slot in range(at.HAND * seat, at.HAND * seat + root[at.SIZE + seat]):
            first = min(first, root[at.BORN + slot])
    rules.begin(early, seat)
    for place in range(first):
        advance(rules, early, happened[place])
    allowed = 0
    copy_table(root, table)
    for sample in range(samples):
        seed = mix(seed)
        if seat >= 0:
            seed, allowed = _guess(rules, table, root, early, guess, first, count, seat, seed, allowed)
            copy_table(table, root)
        seed = _shuffle(rules, root, deck, seed)
        for number in range(tried):
            copy_table(root, table)
            index = 2 * (sample * tried + number)
            _finish(rules, table, deck, choices[number])
            results[index] = table[at.SCORE]
            results[index + 1] = table[at.LIVES]
    return 0


def _finish(rules: HanabiTable, table: Any, deck: Any, action: int) -> None:
    """Plays a game to its end, with this action first unless it is -1."""
    dealt = 0
    while not rules.is_over(table):
        if needs_deal(table):
            rules.deal(table, deck[dealt])
            dealt += 1
        else:
            advance(rules, table, action if action >= 0 else act(rules, table))
            action = -1


def _shuffle(rules: HanabiTable, table: Any, deck: Any, seed: int) -> int:
    """Puts the cards that are in no hand and not gone into a random order; returns the next random number."""
    count = 0
    for card in range(rules.colors * rules.ranks):
        for _ in range(_unseen_copies(rules, table, -1, card)):
            deck[count] = card
            count += 1
    for place in range(count - 1, 0, -1):
        seed = mix(seed)
        other = (seed & 0x7FFFFFFF) % (place + 1)
        deck[place], deck[other] = deck[other], deck[place]
    return seed


def _guess(
    rules: HanabiTable,
    table: Any,
    root: Any,
    early: Any,
    guess: Any,
    first: int,
    count: int,
    seat: int,
    seed: int,
    allowed: int,
) -> tuple[int, int]:
    """Draws a hand of the seat with which the others would have moved as they did, and leaves the table with it.

    Returns the next random number, and how many unexpected moves were allowed for.
    """
    tries = 0
    while True:
        tries += 1
        if tries > _TRIES and allowed <= _EXPECTED:
            tries = 1
            allowed += 1
        trusts = allowed <= _EXPECTED
        seed, is_possible = _deal_hand(rules, root, guess, seat, seed, trusts)
        if not is_possible:
            continue
        copy_table(early, table)
        unexpected = 0
        for place in range(first, count):
            event = guess[place]
            if trusts and not needs_deal(table) and table[at.MOVER] != seat and act(rules, table) != event:
                unexpected += 1
                if unexpected > allowed:
                    break
            advance(rules, table, event)
        if unexpected <= allowed or not trusts:
            return seed, allowed


def _deal_hand(rules: HanabiTable, root: Any, guess: Any, seat: int, seed: int, trusts: bool) -> tuple[int, bool]:
    """Draws each card of a hand from those that it can be; false if a copy was drawn twice."""
    unseen = rules.unseen_by(root, seat, seat)
    first, size = at.HAND * seat, root[at.SIZE + seat]
    for slot in range(first, first + size):
        cards = possible(root, slot, unseen) if trusts else root[at.HINTED + slot] & unseen
        total = 0
        for card in range(rules.colors * rules.ranks):
            if cards >> card & 1:
                total += _unseen_copies(rules, root, seat, card)
        seed = mix(seed)
        number = (seed & 0x7FFFFFFF) % max(total, 1)
        for card in range(rules.colors * rules.ranks):
            if cards >> card & 1:
                number -= _unseen_copies(rules, root, seat, card)
                if number < 0:
                    break
        used = 0
        left = _unseen_copies(rules, root, seat, card)
        for other in range(first, slot):
            if guess[root[at.BORN + other]] == card:
                used += 1
        if number + left < used:  # of the copies, the first ones are taken
            return seed, False
        guess[root[at.BORN + slot]] = card
    return seed, True


def _unseen_copies(rules: HanabiTable, table: Any, seat: int, card: int) -> int:
    left = rules.copies(card) - table[at.GONE + card]
    for holder in range(rules.players):
        if holder != seat:
            for slot in range(at.HAND * holder, at.HAND * holder + table[at.SIZE + holder]):
                if table[at.CARD + slot] == card:
                    left -= 1
    return int(left)
