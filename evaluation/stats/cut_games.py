"""Games that the limit on moves ended, whose results are those of an unfinished game."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence
from typing import Final

from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.clock import MAX_MOVES
from zermelo.evaluation.match.record import EndReason, GameRecord

GAMES: Final = 1_000
"""Games that are looked at, drawn from all."""


def cut_notes(records: Sequence[GameRecord], max_moves: int) -> list[str]:
    """A sentence on the games that ended at ``max_moves``, if a limit is set and there are any."""
    if max_moves >= MAX_MOVES:
        return []
    places = random.Random(0).sample(range(len(records)), min(len(records), GAMES))  # no secret
    seen = cut = 0
    for place in places:
        with contextlib.suppress(StoreError):  # which others say
            cut += records[place].end is EndReason.MOVE_LIMIT
            seen += 1
    if not cut:
        return []
    of = f"{seen} games" if len(places) == len(records) else f"{seen:,} games that were looked at"
    ended = "was ended unfinished and counts" if cut == 1 else "were ended unfinished and count"
    return [f"{cut:,} of {of} {ended} by the rewards so far, as max_moves is {max_moves}: raise it to end fewer."]
