"""The weights of the evaluation of chess, fitted to games, in hundredths of a pawn.

``weights.json`` has for each term (``zermelo.envs.games.chess.terms``) its values in the middle and the end game.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import numpy as np


def _read() -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    terms = json.loads(Path(__file__).with_name("weights.json").read_text()).values()
    middle, end = np.array([pair for term in terms for pair in term], np.int64).T
    found: np.ndarray[tuple[int], np.dtype[np.int64]] = middle + (end << 32)
    found.flags.writeable = False
    return found


WEIGHTS: Final = _read()
"""Both in one integer, ``middle + (end << 32)``."""
