"""Races in which all checkers are at home: exact chances of how many rolls a side still needs.

Such sides do not meet any more, so each plays on its own, and so that it needs the fewest rolls on average. For
each of the 54,264 positions of up to 15 checkers on a side's points 1 to 6 there is a row: the chances to have
borne off all checkers after 1, 2, ... ``ROLLS`` rolls, and behind them those to have borne off the first one after
1, 2, ... ``FIRST_ROLLS``, for gammons. ``python scripts/solve_bear_off.py`` computes them.

What a position is worth follows from the rows of both sides. It is not quite exact, as a side that is behind may
do better by taking risks; GNU Backgammon's one-sided tables are the same.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from zermelo.envs.rules.arrays import large_table, load_short

FILE: Final = Path(__file__).with_name("bear_off.npz")
HOME: Final = 6
CHECKERS: Final = 15
POSITIONS: Final = math.comb(CHECKERS + HOME, HOME)
ROLLS: Final = 28
FIRST_ROLLS: Final = 8
COLUMNS: Final = ROLLS + FIRST_ROLLS
CERTAIN: Final = 1 << 14
"""How many units of chance are certainty."""
_CHOOSE: Final = np.array([[math.comb(n, k) for k in range(HOME + 1)] for n in range(CHECKERS + HOME)])


def _read() -> npt.NDArray[np.int16]:
    """Chances to have borne off by then; the file has those of each roll."""
    with np.load(FILE) as file:
        return np.hstack([np.cumsum(file[name], axis=1, dtype=np.int16) for name in ("all", "first")])


_table = large_table("bear_off", _read)


def is_at_home(low: int, high: int) -> bool:
    """True if a side's checkers are on its points 1 to 6, or off; for the two words, see ``features``."""
    return high == 0 and low >> 4 * (HOME + 1) == 0


def place(low: int) -> int:
    """The number of a side's row, by its lower word."""
    number = count = 0
    for point in range(1, HOME + 1):
        count += low >> 4 * point & 15
        number += int(_CHOOSE[count + point - 1, point])
    return number


def chance_by(start: int, column: int, columns: int) -> int:
    """The chance to be done after a number of rolls, from the first of its columns on."""
    if column <= 0:
        return 0
    return load_short(_table(), start + min(column, columns) - 1)


def chances_at_home(low: int, other_low: int) -> tuple[int, int, int]:
    """The chances, in 2 ** -28, of the player about to roll: to win, to win a gammon, and to lose one.

    All checkers are at home; ``low`` is the player's lower word, as for ``features``, and ``other_low`` the
    other's.
    """
    own, other = COLUMNS * place(low), COLUMNS * place(other_low)
    win = gammon = lost_gammon = own_by = other_by = 0
    for rolls in range(1, ROLLS + 1):
        with_this = chance_by(own, rolls, ROLLS) - own_by
        own_by += with_this
        win += with_this * (CERTAIN - other_by)
        if other_low & 15 == 0:
            gammon += with_this * (CERTAIN - chance_by(other + ROLLS, rolls - 1, FIRST_ROLLS))
        with_this = chance_by(other, rolls, ROLLS) - other_by
        other_by += with_this
        if low & 15 == 0:
            lost_gammon += with_this * (CERTAIN - chance_by(own + ROLLS, rolls, FIRST_ROLLS))
    return win, gammon, lost_gammon


def write(path: Path, chances: Any) -> None:
    """Writes the chances of each roll: an array of shape (``POSITIONS``, ``COLUMNS``), of floats."""
    by_then = np.hstack([np.cumsum(part, axis=1) for part in np.split(chances, [ROLLS], axis=1)])
    whole = np.rint(by_then * CERTAIN).astype(np.int16)
    parts = [np.diff(part, axis=1, prepend=0).astype(np.int16) for part in np.split(whole, [ROLLS], axis=1)]
    with open(path, "wb") as file:
        np.savez_compressed(file, all=parts[0], first=parts[1])
