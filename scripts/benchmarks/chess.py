"""Chess against Stockfish at a given rating, from balanced openings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.common import match

OPENINGS = Path(__file__).with_name("chess_openings.json")
"""Moves, as action numbers, that lead to fifty positions which 300,000 nodes of our search call balanced."""


def chess(
    elo: tuple[int, ...] = (2200, 2400, 2500), games: int = 100, seconds: float = 0.1, path: str = "stockfish"
) -> Iterator[dict[str, Any]]:
    """Matches of alpha-beta, as auto sets it, against Stockfish at ratings (its UCI_Elo, 1350 to 2850).

    Fifty balanced openings, each with both colours: so 100 games, or the first ``games`` of them. One thread each,
    which never think at once. The difference in Elo has its 95 % interval. ``path`` is the engine's program.
    """
    ours = f"alphabeta(seconds={seconds}, selective=game, reuse=true)"
    openings = json.loads(OPENINGS.read_text())
    for rating in elo:
        theirs = f"uci(path='{path}', elo={rating}, seconds={seconds})"
        yield {"Stockfish at": rating, **match("classic/chess-v6", ours, theirs, games, openings)}
