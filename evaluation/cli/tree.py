"""``zermelo tree``: a search, drawn node by node."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from zermelo.evaluation.cli import arguments

_BOOK_DEPTH = 4


def tree(
    env: Annotated[
        str,
        typer.Argument(
            metavar="ENV",
            help="An environment, a textbook's figure such as aima-5.5, or a tree such as "
            '"[[3, 12, 8], [2, 4, 6], [14, 5, 2]]".',
        ),
    ],
    agent: Annotated[
        str,
        typer.Argument(metavar="AGENT", help="An agent, such as alphabeta."),
    ] = "",
    moves: arguments.MovesText = "",
    book: Annotated[
        str,
        typer.Option("--book", metavar="FILE", help="Print the lines of this opening book."),
    ] = "",
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The file to write: a page (.html) or a figure (.svg).")
    ] = Path("tree.html"),
    step: Annotated[
        int | None,
        typer.Option(min=0, help="For a figure: the tree after this step of the search."),
    ] = None,
    depth: arguments.Depth = None,
    nodes: arguments.Nodes = None,
    simulations: arguments.Simulations = None,
    seconds: arguments.Seconds = None,
    seed: arguments.Seed = 0,
) -> None:
    """Draw a search as a tree to go through step by step.

    The page shows windows and values as they change, and cut-offs; it works offline. The search runs in plain
    Python and records every node, so it is slow: limit its depth, nodes or simulations.

    Figures of Russell and Norvig's textbook (4th edition): aima-5.2 (minimax), aima-5.4 (maxn), aima-5.5
    (alphabeta), aima-5.13, aima-5.14a and aima-5.14b (expectiminimax); in the 3rd edition aima-5.11, aima-5.12a
    and aima-5.12b.

    [bold]Examples[/bold]

    [dim]$[/dim] zermelo tree aima-5.5 alphabeta --out tree.html

    [dim]$[/dim] zermelo tree classic/tictactoe-v3 alphabeta --depth 3 --moves 0,4 --out tree.svg
    """
    from zermelo.envs import InvalidSettingError, UnknownNameError
    from zermelo.envs.trees import list_figures
    from zermelo.evaluation.search_trees import check_file, draw_tree, tree_of_text

    if book:
        _print_book(env, moves, book, depth or _BOOK_DEPTH)
        return
    if not agent:
        raise InvalidSettingError("a tree is drawn of an agent's search: name an AGENT, or a book with --book")
    check_file(out, step)
    [agent] = arguments.with_limits([agent], depth=depth, nodes=nodes, simulations=simulations, seconds=seconds)
    source: Any = tree_of_text(env)
    played = moves
    if source is None:
        try:
            source, played = arguments.position_after(env, moves, seed).env, ""
        except UnknownNameError as error:
            raise UnknownNameError(f"{error}; figures are {', '.join(list_figures())}") from None
    drawn = draw_tree(
        source,
        agent,
        moves=played,
        seed=seed,
        title=env,
    )
    path = drawn.save(out, step)
    one = drawn.shown
    steps = f"{one.steps:,} {'simulations' if drawn.tree.simulates else 'steps'}"
    typer.echo(f"{drawn.tree.answer} is worth {drawn.tree.value:.6g} to {drawn.tree.seats[drawn.tree.seat]}")
    for note in drawn.tree.notes:
        typer.echo(note)
    typer.echo(f"The tree is in {path} ({len(one.nodes):,} nodes, {steps}, {path.stat().st_size / 1e3:,.0f} kB)")


def _print_book(env: str, moves: str, book: str, depth: int) -> None:
    """Prints the lines of an opening book, good moves marked and followed."""
    from zermelo.agents.knowledge.books import outline
    from zermelo.envs import as_game
    from zermelo.evaluation.positions.moves import name_of

    live = arguments.position_after(env, moves, 0).env
    game = as_game(live)
    for line in outline(book, game, game.snapshot(live), depth=depth, name=name_of):
        typer.echo(line)
