"""The weights of ``zermelo.envs.games.backgammon.features``, fitted to self-play: 4096 are one unit of log odds.

``python scripts/fit_backgammon.py --games 10000 --rounds 4 --lambda 0.9 --seed 1`` makes ``weights.json``. For
each feature it has three rows: for a win, for winning a gammon and for losing one, each with a number for every
point where there is one for every point.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from zermelo.envs.games.backgammon.features import BLOCKS, FEATURES, OUTCOMES

FILE: Final = Path(__file__).with_name("weights.json")


def _read(game: str) -> npt.NDArray[np.int64]:
    """The weights of a game, of shape (outcomes, features and one).

    In the last column of the first row is how many of 1024 gammons are backgammons.
    """
    blocks: dict[str, Any] = json.loads(FILE.read_text())[game]
    weights = np.zeros((len(OUTCOMES), FEATURES + 1), np.int64)
    for name, start, size in BLOCKS:
        weights[:, start : start + size] = blocks[name]
    weights[0, FEATURES] = blocks["backgammons"]
    return weights


def as_text(found: dict[str, npt.NDArray[np.int64]]) -> str:
    """The weights of games as such a file has them."""
    games = []
    for game, weights in found.items():
        lines = [f'"backgammons": {weights[0, FEATURES]}']
        for name, start, size in BLOCKS:
            rows = json.dumps(weights[:, start : start + size].tolist(), separators=(",", ":"))
            lines.append(f"{json.dumps(name)}: {rows}")
        games.append(json.dumps(game) + ": {\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(games) + "\n}\n"


BACKGAMMON: Final = _read("Backgammon")
HYPERGAMMON: Final = _read("Hypergammon")
