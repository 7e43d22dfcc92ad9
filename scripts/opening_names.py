"""Builds the names of chess openings that exported games carry, from github.com/lichess-org/chess-openings (CC0).

    python scripts/opening_names.py FOLDER

The folder has its files a.tsv to e.tsv.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import chess

from zermelo.evaluation.positions.opening_names import TABLE, position_key


def main(folder: Path) -> None:
    """Writes the table: a position's key, the code and the name in each line."""
    lines = []
    for path in sorted(folder.glob("[a-e].tsv")):
        for row in path.read_text(encoding="utf-8").splitlines()[1:]:
            code, name, moves = row.split("\t")
            board = chess.Board()
            for word in moves.split():
                if not word.endswith("."):
                    board.push_san(word)
            lines.append(f"{position_key(board.fen())}\t{code}\t{name}\n")
    TABLE.write_bytes(gzip.compress("".join(sorted(lines, key=lambda line: line[17:])).encode(), mtime=0))
    print(f"{len(lines):,} positions, {TABLE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
