"""Searches that most of the time ran out of nodes, or of time, before they completed the depth that was asked."""

from __future__ import annotations

import contextlib
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import GameRecord, Move

GAMES: Final = 100
"""Games that are looked at, drawn from all."""
_ALMOST: Final = 0.9  # of a time limit: a search ends before it


class _Asked(NamedTuple):
    """What a search was asked for: a depth, and the nodes and seconds in which to complete it."""

    depth: int
    nodes: float
    seconds: float

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> _Asked | None:
        """What an agent's fingerprint says; None where no limit can cut its depth."""
        limits = [_number(settings.get(name)) for name in ("nodes", "seconds")]
        if "depth" not in settings or limits == [None, None]:
            return None
        nodes, seconds = (float("inf") if limit is None else limit for limit in limits)
        return cls(int(_number(settings["depth"]) or 1), nodes, seconds)

    def cut_by(self, move: Move) -> str:
        """What ran out before the depth was completed, or nothing."""
        if move.depth is None or move.depth >= self.depth:
            return ""
        if move.nodes is not None and move.nodes >= self.nodes:
            return "nodes"
        return "time" if move.seconds >= _ALMOST * self.seconds else ""


def _number(text: str | None) -> float | None:
    with contextlib.suppress(TypeError, ValueError):
        return float(text)  # type: ignore[arg-type]  # which raises for None
    return None


def depth_notes(
    records: Sequence[GameRecord],
    settings: Mapping[str, Mapping[str, str]],
    called: Mapping[str, str] | None = None,
) -> list[str]:
    """A sentence on each agent that completed less than its depth in most of its moves.

    Args:
        records: Their games.
        settings: The fingerprint of each agent, by its name in the records.
        called: What sentences call an agent, where that is not its name.
    """
    asked = {name: wanted for name, parts in settings.items() if (wanted := _Asked.of(parts)) is not None}
    moves = _moves(records, asked)
    notes = []
    for name, wanted in asked.items():
        cut = [(move.depth, by) for move in moves[name] if (by := wanted.cut_by(move))]
        if 2 * len(cut) <= len(moves[name]):
            continue
        mean = sum(depth or 0 for depth, _ in cut) / len(cut)
        by = max("nodes", "time", key=[by for _, by in cut].count)
        share = 100 * len(cut) / len(moves[name])
        who = (called or {}).get(name, name)
        notes.append(
            f"{who} completed depth {mean:.1f} of {wanted.depth} on average, as its {by} ran out in {share:.0f} % "
            "of its moves: give it more, or ask for less depth."
        )
    return notes


def _moves(records: Sequence[GameRecord], names: Mapping[str, object]) -> Mapping[str, Sequence[Move]]:
    """The moves of these agents in some of the games."""
    moves = defaultdict[str, list[Move]](list)
    count = len(records) if names else 0
    for place in random.Random(0).sample(range(count), min(count, GAMES)):  # no secret
        with contextlib.suppress(StoreError):  # which others say
            game = records[place]
            for move in game.moves:
                if move.depth is not None and game.agents[move.seat] in names:
                    moves[game.agents[move.seat]].append(move)
    return moves
