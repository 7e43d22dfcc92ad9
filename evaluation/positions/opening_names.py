"""Names of chess openings by their positions, and codes of the Encyclopaedia of Chess Openings (ECO).

From github.com/lichess-org/chess-openings (CC0) by ``scripts/opening_names.py``.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

TABLE: Final = Path(__file__).with_name("opening_names.tsv.gz")


def position_key(fen: str) -> str:
    """The key of a position: board, player to move and rights to castle."""
    return hashlib.blake2b(" ".join(fen.split()[:3]).encode(), digest_size=8).hexdigest()


@functools.cache  # without a key: the table comes with the package
def _names() -> dict[str, tuple[str, str]]:
    rows = (line.split("\t") for line in gzip.decompress(TABLE.read_bytes()).decode().splitlines())
    return {key: (code, name) for key, code, name in rows}


def opening_name(fens: Iterable[str]) -> tuple[str, str] | None:
    """Code and name of the last of a game's positions that has one."""
    names = _names()
    found = None
    for fen in fens:
        found = names.get(position_key(fen), found)
    return found
