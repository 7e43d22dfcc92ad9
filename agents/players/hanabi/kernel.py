"""Whole games by a convention, in compiled code: moves so far taken in, one decided, games played on."""

from __future__ import annotations

from typing import Any

from zermelo.agents.players.hanabi.smart import act as act_smart
from zermelo.agents.players.hanabi.smart import observe as observe_smart
from zermelo.agents.players.hanabi.table import (
    CARD,
    GONE,
    HAND,
    KINDS,
    LAST,
    LEFT,
    LIVES,
    MISSING,
    MOVER,
    OUT,
    SCORE,
    SIZE,
    WORDS,
    Table,
    begin,
    copies,
    deal,
    is_over,
    move,
    needs_deal,
)
from zermelo.envs.jit.memory import words
from zermelo.envs.rules.bits import mix


def act(rules: Table, table: Any) -> int:
    return act_smart(rules, table)


def advance(rules: Table, table: Any, event: int) -> None:
    if needs_deal(table):
        deal(rules, table, event)
    else:
        observe_smart(rules, table, event)
        move(rules, table, event)


def replay(rules: Table, table: Any, events: Any, count: int) -> None:
    begin(rules, table)
    for place in range(count):
        advance(rules, table, events[place])


def decide(rules: Table, state: Any, memory: int, events: int, count: int) -> int:
    table = words(memory, WORDS)
    replay(rules, table, words(events, count), count)
    return act(rules, table)


def play_games(rules: Table, state: Any, memory: int, seed: int, games: int, out: int) -> int:
    """Plays games by the convention."""
    table = words(memory, WORDS)
    results = words(out, 3 * games)
    for game in range(games):
        begin(rules, table)
        seed = mix(seed + game)
        while not is_over(rules, table):
            if needs_deal(table):
                seed = mix(seed)
                deal(rules, table, draw(rules, table, seed))
            else:
                action = act(rules, table)
                advance(rules, table, action)
        results[3 * game] = table[SCORE]
        results[3 * game + 1] = table[LIVES]
        results[3 * game + 2] = table[6]
    return 0


def draw(rules: Table, table: Any, bits: int) -> int:
    """A card of those that are neither gone nor in a hand, each copy as likely."""
    number = (bits >> 1 & 0x7FFFFFFF) % table[LEFT]
    for card in range(rules.colors * rules.ranks):
        left = copies(rules, card) - table[GONE + card]
        for holder in range(rules.players):
            for slot in range(HAND * holder, HAND * holder + table[SIZE + holder]):
                if table[CARD + slot] == card:
                    left -= 1
        number -= left
        if number < 0:
            return card
    return -1
