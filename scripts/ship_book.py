"""Makes the book of Connect Four that comes with the package anew, or says again which rules it is of.

Its header has a hash of the sources of the rules that it is of. After an edit that leaves the game as it is,
``--check`` compares values of the book with proofs, and writes the same positions for the rules as they are now.
Without it the book is proven from the start, which takes about 45 minutes.

python scripts/ship_book.py --help
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from zermelo.agents import AlphaBetaAgent
from zermelo.agents.knowledge.books import BOOKS, EXPANDED, SHIPPED, Book, read_book
from zermelo.agents.knowledge_building.prove_book import prove_book
from zermelo.agents.tree_search.exact.prover import Prover
from zermelo.envs.games import ConnectFour
from zermelo.envs.jit.memory import load_state
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.bits import popcount

FILE = SHIPPED["connect_four"]
FIRST_PLY = 12
"""Positions from here on are proven again; those before follow from what is after them."""


def write(book: Book) -> None:
    """Writes the book for the rules of today, for all versions of Python."""
    about: dict[str, Any] = {field: getattr(book.about, field) for field in ("bounds", "agent", "nodes", "exact")}
    arrays = {name: getattr(book, name) for name in ("keys", "values", "flags", "states")}
    BOOKS.write(FILE, ConnectFour(), about, is_portable=True, **arrays)


def checked(book: Book, proofs: int, seed: int) -> Book:
    """The book, once its values are those of their moves, and those of some positions have been proven."""
    game = RulesGame(ConnectFour())
    states = [load_state(game.initial_state(), row.ctypes.data) for row in np.ascontiguousarray(book.states)]
    for row in np.flatnonzero(book.flags & EXPANDED):
        best = max((move.value for move in book.moves(game, states[row])), default=None)
        if best != book.values[row]:
            raise typer.BadParameter(f"{states[row]} has the value {book.values[row]}, its best move {best}")
    late = [row for row, state in enumerate(states) if popcount(state.stones) >= FIRST_PLY]
    prover = Prover(game)
    for row in np.random.default_rng(seed).choice(late, proofs, replace=False):
        score = prover.score(states[row], lower=-1, upper=1)
        if (score.lower > 0) - (score.upper < 0) != book.values[row]:
            raise typer.BadParameter(f"{states[row]} has the value {book.values[row]}, which a proof contradicts")
    return book


def main(
    check: Annotated[bool, typer.Option(help="Keep the positions, once they are compared with proofs.")] = False,
    proofs: Annotated[int, typer.Option(help="Positions to prove again.")] = 500,
    seed: int = 0,
) -> None:
    """Writes the book of Connect Four."""
    if not check:
        agent = AlphaBetaAgent(nodes=20_000)
        book = prove_book(ConnectFour(), FILE.with_suffix(".new"), plies=10, agent=agent, nodes=30_000)
        FILE.with_suffix(".new").unlink()
    else:
        book = checked(read_book(FILE), proofs, seed)
    write(book)
    print(f"{len(book):,} positions, {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    typer.run(main)
