"""Who plays whom, from which seat and with what seed: pure data, complete before the first game.

A round robin lets every pairing (with n seats: every group of n agents) play ``games`` games. Games come in
blocks. In a block every pairing plays its rotation of the seats, one game for each seat, so that each agent sits
once in each; for more than two seats, successive blocks go through the (n - 1)! cyclic orders, and n! games have
seen every assignment. The order of play is block by block, so a tournament that is stopped early is nearly
balanced.

Seeds: a game's seed is the first 31 bits of the SHA-256 of the tournament's seed, the names of the agents and the
number of the game within its pairing. It depends on nothing else: not on the workers, not on the other agents,
not on how many games are played. 31 bits, because some environments take no longer seed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zermelo.envs import InvalidSettingError

__all__ = ["ScheduledGame", "game_order", "round_robin_schedule"]


@dataclass(frozen=True, slots=True)
class ScheduledGame:
    """A game to be played.

    Attributes:
        game_id: Unique in its schedule: ``block.pairing.game``, counted from 0.
        seed: What the environment is reset with and the agents' seeds are derived from.
        seats: The agent in each seat, by name.
        opening: Actions to play before the agents take over.
    """

    game_id: str
    seed: int
    seats: tuple[str, ...]
    opening: tuple[Any, ...] = ()


def game_order(game_id: str) -> tuple[int, ...]:
    """Sorts game ids as the schedule has them."""
    return tuple(int(part) if part.isdigit() else 0 for part in game_id.split("."))


def round_robin_schedule(agents: Sequence[str], *, seats: int, games: int, seed: int) -> tuple[ScheduledGame, ...]:
    """Every pairing plays ``games`` games, seats rotating.

    With one seat, every agent plays ``games`` games alone, all with the same seeds. With fewer agents than seats,
    the groups are those in which every agent has at least one seat.

    Args:
        agents: Their names, all different.
        seats: Of the environment.
        games: For each pairing. Seats come out even if it is a multiple of ``seats``; otherwise they differ by
            one game in a pairing, and the extra games are spread over the agents.
        seed: Of the tournament.

    Raises:
        InvalidSettingError: There are too few agents or games, or two agents of one name.
    """
    _check(agents, seats, games)
    groups = [tuple(agents[i] for i in group) for group in _groups(len(agents), seats)]
    starts = [sum(group) for group in _groups(len(agents), seats)]
    orders = [(0, *rest) for rest in itertools.permutations(range(1, seats))]
    schedule = []
    for block in range(-(-games // seats)):
        order = orders[block % len(orders)]
        for pairing, group in enumerate(groups):
            for turn in range(min(seats, games - block * seats)):
                number = block * seats + turn
                # An odd game out: who moves first in it alternates with the sum of the agents' numbers.
                shift = (turn + starts[pairing] + 1) % seats
                seated = tuple(group[order[(place + shift) % seats]] for place in range(seats))
                name = group if seats > 1 else ()
                schedule.append(ScheduledGame(f"{block}.{pairing}.{turn}", _seed(seed, name, number), seated))
    return tuple(schedule)


def _check(agents: Sequence[str], seats: int, games: int) -> None:
    if isinstance(games, bool) or not isinstance(games, int) or games < 1:
        raise InvalidSettingError(f"games must be a whole number of at least 1, not {games!r}")
    twice = [name for name, count in Counter(agents).items() if count > 1]
    if twice:
        raise InvalidSettingError(f"two agents are called {twice[0]!r}: give them different names")
    needed = min(seats, 2)
    if len(agents) < needed:
        raise InvalidSettingError(
            f"a tournament needs at least {needed} agent{'s' * (needed > 1)}, not {len(agents)}"
        )


def _groups(agents: int, seats: int) -> list[tuple[int, ...]]:
    if agents >= seats:
        return list(itertools.combinations(range(agents), seats))
    groups = itertools.combinations_with_replacement(range(agents), seats)
    return [group for group in groups if len(set(group)) == agents]


def _seed(seed: int, group: tuple[str, ...], number: int) -> int:
    text = json.dumps([seed, sorted(group), number])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1
