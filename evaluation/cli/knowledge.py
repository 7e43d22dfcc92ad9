"""``zermelo book``, ``table`` and ``ladder``: opening books, endgame tables and opponents of known strength."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation.cli import arguments, completion
from zermelo.evaluation.tournament.settings import RunnerSettings

if TYPE_CHECKING:
    from zermelo.agents.knowledge_building.build_table import BuiltTable


@arguments.takes_runner
def book_command(
    env: arguments.EnvText,
    agent: Annotated[str, typer.Argument(metavar="[AGENT]", autocompletion=completion.agents)] = "auto(seconds=1)",
    out: arguments.OutFile = "",
    hours: Annotated[float | None, typer.Option()] = None,
    seconds: Annotated[float | None, typer.Option()] = None,
    positions: Annotated[int | None, typer.Option(min=1)] = None,
    plies: Annotated[int | None, typer.Option(min=1)] = None,
    nodes: Annotated[int | None, typer.Option(min=1)] = None,
    exact: Annotated[bool, typer.Option("--exact")] = False,
    moves: arguments.MovesText = "",
    as_json: arguments.Json = False,
    **runner: Any,
) -> None:
    """Grow an opening book: positions that good play reaches, proven where that is possible.

    The book grows best first: the next position is the one that the best moves of both players reach soonest.
    The same command continues an existing book; Ctrl-C keeps all positions so far. Agents play one of its good
    moves at random: "alphabeta(book='connect_four.zbook')". `zermelo tree ENV --book FILE` shows it.

    With --exact the book is a proven strategy for each player, found in this process; AGENT only says which moves
    to try first. It ends after --plies; with --nodes it goes on where a proof takes more than so many states.

    [bold]Examples[/bold]
    $ zermelo book classic/connect_four-v3 --hours 1
    $ zermelo book classic/connect_four-v3 "alphabeta(nodes=20000)" --exact --plies 6 --nodes 100000
    $ zermelo book "zermelo/Othello-v0(rows=6, columns=6)" "alphabeta(depth=8)" --positions 500

    Options:
        agent: The search that evaluates positions that are not proven.
        hours: Time limit, in hours.
        seconds: Time limit, in seconds.
        positions: Limit on positions in the book.
        plies: Limit on moves from the start.
        nodes: Limit on states for the proof of one position, by default 1,000,000; with --exact the book goes on
            after --plies where a proof takes more.
        exact: Prove all positions up to --plies: with one best move of the player who follows the book, and every
            move of the opponent.
    """
    from zermelo.agents.knowledge.books import PROVEN, Book, read_book
    from zermelo.agents.knowledge_building.grow_book import grow_book
    from zermelo.agents.knowledge_building.prove_book import prove_book
    from zermelo.agents.specs import make_agent
    from zermelo.evaluation.tournament.run import make_runner

    if exact and (plies is None or positions is not None or not RunnerSettings(**runner).here):
        raise InvalidSettingError("--exact takes --plies, and --hours or --seconds, and works in this process")
    path, live = arguments.file_for(out, env, ".zbook"), arguments.LiveLine()

    def show(now: Any) -> None:
        live.show(f"{now.positions:,} positions, {now.proven:,} proven, {now.seconds:.0f} s")

    if hours is not None:
        seconds = 3600 * hours + (seconds or 0)
    started, was_stopped = time.monotonic(), False
    limits: dict[str, Any] = {"seconds": seconds, "plies": plies} | ({"nodes": nodes} if nodes else {})
    limits |= {} if exact else {"positions": positions, "runner": make_runner(**runner)}
    try:
        with arguments.writing(path):
            make: Callable[..., Book] = prove_book if exact else grow_book
            start = arguments.position_after(env, moves, 0).env
            book = make(start, path, agent=make_agent(agent), on_progress=show, **limits)
    except KeyboardInterrupt:
        was_stopped = True
        book = read_book(path)
    finally:
        live.clear()
    proven = int((book.flags & PROVEN).astype(bool).sum())
    about = {"file": str(path), "game": book.about.game, "positions": len(book), "proven": proven}
    if as_json:
        arguments.print_json(about | {"seconds": round(time.monotonic() - started, 2)})
    else:
        typer.echo(f"{len(book):,} positions of {about['game']}, {proven:,} of them proven, in {path}")
    if was_stopped:
        raise SystemExit(arguments.INTERRUPTED)


@arguments.takes_runner
def table_command(
    env: arguments.EnvText,
    pieces: Annotated[str | None, typer.Option()] = None,
    stones: Annotated[int | None, typer.Option(min=1)] = None,
    empty: Annotated[int | None, typer.Option(min=0)] = None,
    states: Annotated[int | None, typer.Option(min=1)] = None,
    moves: arguments.MovesText = "",
    out: arguments.OutFile = "",
    memory_mb: Annotated[float | None, typer.Option()] = None,
    as_json: arguments.Json = False,
    **runner: Any,
) -> None:
    """Make an endgame table: the outcome of every position of an ending, and how soon it comes.

    Moves are taken back from all ends of the game (retrograde analysis), and every entry is then checked
    against its successors. After an interruption the same command continues with the first unfinished part. Parts
    that do not lead to each other, such as endings of as many pieces, are spread over --workers or a cluster.
    Agents treat entries of a table as proven: "alphabeta(tables='kqk.ztable')".

    Repeated positions are draws if the game says so. The fifty-move rule is not part of a table: searches use
    a win only if it comes in time.

    [bold]Examples[/bold]
    $ zermelo table classic/chess-v6 --pieces KQK --out kqk.ztable
    $ zermelo table zermelo/Kalah-v0 --stones 8
    $ zermelo table classic/tictactoe-v3 --states 10000

    Options:
        pieces: Chess: up to this number of pieces, or an ending such as KBNK.
        stones: Kalah, Oware: up to this number of seeds in houses.
        empty: Up to this number of empty squares or lines.
        states: Take all states that are reached, up to this number.
        memory_mb: Memory limit, in MiB; by default half of what is free.
    """
    from zermelo.agents.knowledge_building.build_table import TableProgress, build_table
    from zermelo.evaluation.tournament.run import make_runner

    path, live = arguments.file_for(out, env, ".ztable"), arguments.LiveLine()

    def show(now: TableProgress) -> None:
        of = f" of {now.positions:,}" if now.positions else ""
        live.show(f"{now.part}: {now.done:,}{of} positions, {now.seconds:.0f} s, {now.memory_mb:,.0f} MiB")

    asked: dict[str, Any] = {"pieces": pieces, "stones": stones, "empty": empty, "states": states}
    solvers = make_runner(**runner)
    try:
        with arguments.writing(path):
            game = arguments.position_after(env, moves, 0).env
            made = build_table(game, path, **asked, memory_mb=memory_mb, runner=solvers, on_progress=show)
    except KeyboardInterrupt:
        typer.echo("zermelo: stopped; the same command goes on from the parts that are finished", err=True)
        raise SystemExit(arguments.INTERRUPTED) from None
    finally:
        live.clear()
    if not as_json:
        _print_table(made, path)
        return
    about: dict[str, Any] = {"file": str(path), "game": made.table.about.game, "positions": len(made.table)}
    about |= {"undecided": made.undecided, "bytes": made.size, "seconds": round(made.seconds, 2)}
    arguments.print_json(about | {"parts": [dataclasses.asdict(part) for part in made.figures]})


def _print_table(made: BuiltTable, path: Path) -> None:
    for part in made.figures:
        longest = f", wins in {part.longest} moves at most" if part.longest else ""
        typer.echo(f"{part.part:12} {part.won:>11,} won {part.drawn:>11,} drawn {part.lost:>11,} lost{longest}")
    typer.echo(
        f"{len(made.table):,} positions of {made.table.about.game}, each checked, in {path} "
        f"({made.size / 1e6:.2f} MB, {made.seconds:.1f} s)"
    )
    if made.undecided:
        more = "of these have bounds alone" if made.table.gains else "more are left out"
        typer.echo(f"{made.undecided:,} {more}: play from them may go round")


@arguments.takes_runner
def ladder_command(
    env: arguments.EnvText,
    out: arguments.OutFile = "",
    gap: Annotated[float, typer.Option()] = 100.0,
    width: Annotated[float, typer.Option()] = 40.0,
    move_seconds: Annotated[float, typer.Option()] = 1.0,
    minutes: Annotated[float, typer.Option()] = 60.0,
    seed: arguments.Seed = 0,
    **runner: Any,
) -> None:
    """Build a ladder of opponents of known strength for a game: agents with ratings, random with 0.

    Searches of growing limits, and with a share of random moves between them, play each other until neighbours are
    near and ratings are sure. Limits are depths and simulations, so that a level is the same on every machine.
    Where the game is solved in the time of a move, perfect play is rated too. The games are kept in a journal
    beside the file: after Ctrl-C, or with more --minutes, the same command goes on. Play against the ladder as
    level(800), or level(elo=800, file='FILE') where this package has none for the game.

    Where games pay amounts or hide cards, or a team plays, ratings are mean rewards of a game with a fixed agent
    in the other seats: level(reward=0.5). There --minutes and --move-seconds count alone, and no journal is kept.

    [bold]Examples[/bold]
    $ zermelo ladder classic/tictactoe-v3 --minutes 2
    $ zermelo ladder mygame:MyEnv --out mygame.json --workers 2
    $ zermelo ladder classic/leduc_holdem-v4 --minutes 2

    Options:
        gap: Elo between neighbours, at most.
        width: Width of the rungs' intervals, in Elo.
        move_seconds: Time that the strongest rung may take for a move, in seconds.
        minutes: Processor time for all games, in minutes; where it does not suffice, intervals are wider.
    """
    from zermelo.agents.level import Levels, Unit
    from zermelo.evaluation.ladders.builder import LadderBuilder, write_ladder
    from zermelo.evaluation.ladders.reward_builder import CANDIDATES, RewardLadderBuilder, search_of
    from zermelo.evaluation.text_table import TextTable
    from zermelo.evaluation.tournament.run import make_runner
    from zermelo.evaluation.training.evaluate import perfect_play

    path = arguments.file_for(out, env, ".ladder.json")
    line = arguments.LiveLine()
    with arguments.writing(path):
        method = search_of(env)
        common: dict[str, Any] = {"move_seconds": move_seconds, "seconds": 60 * minutes, "seed": seed}
        builder: LadderBuilder | RewardLadderBuilder
        if method in CANDIDATES:
            builder = RewardLadderBuilder(env, method, on_block=line.show, **common)
        else:
            players = make_runner(**runner)
            builder = LadderBuilder(
                env, Path(f"{path}.games"), players, gap=gap, width=width, on_block=line.show, **common
            )
        ladder = builder.build()
        write_ladder(ladder, path)
        if perfect := perfect_play(env, path, move_seconds):
            write_ladder({"perfect": perfect, **ladder}, path)
    line.clear()
    levels = Levels.read(path)
    rows = [
        [rung.agent, *map(levels.shown, (rung.rating, rung.lower, rung.upper)), f"{rung.ms:.3g}"]
        for rung in reversed(levels.rungs)
    ]
    name = "Elo" if levels.unit is Unit.ELO else f"reward with {levels.baseline}"
    typer.echo(TextTable(["agent", name, "from", "to", "ms a move"], rows).text())
    typer.echo(f"\n{levels.about['games']:,} games in {levels.about['minutes']} minutes; written to {path}")
