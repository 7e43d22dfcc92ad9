"""Games that end before their rules end them, because both players agree on the result."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation.match.record import Move

_PART: Final = re.compile(r"\s*(draw|win)\s*=\s*(\d{1,4})\s*(?:@\s*(\d*\.?\d+))?\s*")
_DRAW: Final = 0.02
_WIN: Final = 0.7


class Adjudication(NamedTuple):
    """How long two players have to agree, and on which values, between a loss (-1) and a win (1).

    Attributes:
        draw_moves: Moves of each player in a row whose values are those of a draw; 0 adjudicates no draws.
        draw_value: The largest value of a draw.
        win_moves: Moves of each player in a row after which one has won; 0 adjudicates no wins.
        win_value: The smallest value of a win.
    """

    draw_moves: int = 0
    draw_value: float = _DRAW
    win_moves: int = 0
    win_value: float = _WIN

    @classmethod
    def read(cls, text: Any) -> Adjudication:
        """Reads ``"draw=8,win=4"``, with values such as ``"win=4@0.9"``.

        Raises:
            InvalidSettingError: It is written otherwise.
        """
        parts = [_PART.fullmatch(part) for part in text.split(",")] if isinstance(text, str) else [None]
        found = {part[1]: part for part in parts if part is not None and int(part[2]) > 0}
        if len(found) != len(parts) or any(part[3] and not 0 < float(part[3]) < 1 for part in found.values()):
            raise InvalidSettingError(
                "adjudicate is numbers of moves for which both players agree, such as 'draw=8,win=4' or, with a "
                f"value between 0 and 1, 'win=4@0.9', not {text!r}"
            )
        draw, win = found.get("draw"), found.get("win")
        return cls(
            int(draw[2]) if draw else 0, float(draw[3]) if draw and draw[3] else _DRAW,
            int(win[2]) if win else 0, float(win[3]) if win and win[3] else _WIN,
        )  # fmt: skip

    def rewards(self, moves: Sequence[Move]) -> tuple[float, float] | None:
        """What each of two players gets where they have agreed; None where they have not."""
        count = self.draw_moves
        if count and all(abs(value) <= self.draw_value for value in _values(moves, count)):
            return 0.0, 0.0
        count = self.win_moves
        for winner in (0, 1) if count else ():
            signs = (1 if move.seat == winner else -1 for move in moves[-2 * count :])
            if all(s * v >= self.win_value for s, v in zip(signs, _values(moves, count), strict=False)):
                return (1.0, -1.0) if winner == 0 else (-1.0, 1.0)
        return None


def _values(moves: Sequence[Move], count: int) -> list[float]:
    """The values of the last moves, if each player made so many of them and said a value; else one of no use."""
    last = moves[-2 * count :]
    values = [move.value for move in last if move.value is not None]
    is_whole = len(values) == 2 * count and sum(move.seat for move in last) == count
    return values if is_whole else [float("nan")]
