"""``zermelo report``, ``export`` and ``judge``: what was played, to look at and to compute with."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from zermelo.agents.specs import is_plain_agent
from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation.cli import arguments
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.output import TABLES, ExportFormat

if TYPE_CHECKING:
    from zermelo.evaluation.analysis.exploitability import ExploitabilityTable
    from zermelo.evaluation.analysis.judgement import JudgeTable
    from zermelo.evaluation.storage.curves import Curve

JUDGED = "judge.json"  # what the judge found of the agents, in the folder of the tournament
VERDICTS = "judge.jsonl"  # what the judge found of each game


def report(
    folder: Annotated[Path | None, typer.Argument(metavar="DIR", callback=arguments.results_folder)] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o")] = None,
    games: Annotated[int, typer.Option("--max-games", min=0)] = 100,
    seed: arguments.Seed = 0,
    training: Annotated[list[Path] | None, typer.Option("--training", "-t", metavar="FILE")] = None,
    judged: Annotated[bool, typer.Option("--judge")] = False,
    trust: arguments.Trust = False,
) -> None:
    """Write a report: one HTML file that works offline, with tables, plots and games to step through.

    If `zermelo judge` has judged the games, mistakes are marked, with the best move.

    [bold]Examples[/bold]
    $ zermelo report results/first
    $ zermelo report results/first --judge --max-games 200 -o first.html
    $ zermelo report --training runs/ppo.jsonl

    Options:
        folder: Results folder (the tournament's --out), or one with a training run.
        out: The file to write; by default report.html in DIR, or beside the training run.
        games: Limit on games shown in full.
        training: A training run to show: the file that RatingCurve writes. May be given several times; curve.jsonl
            in DIR is shown anyway.
        judged: Compare every move with perfect play first, as `zermelo judge` does.
    """
    from zermelo.envs.registration.registry import env_runs_own_code
    from zermelo.evaluation.report.page import report_page, training_page
    from zermelo.evaluation.storage.curves import CURVE, read_curve
    from zermelo.evaluation.storage.files import write_text

    files = [*(training or ())]
    if folder is None and not files:
        raise InvalidSettingError(
            "there is nothing to report on: name a results folder, or a training run (--training)"
        )
    if folder is not None and folder.is_file():
        raise InvalidSettingError(f"{folder} is a file: name its folder, or give it as --training {folder}")
    if folder is not None and (folder / CURVE).exists():
        files.insert(0, folder / CURVE)
    curves = [read_curve(path) for path in dict.fromkeys(files)]
    has_boards = True
    if folder is None or (curves and not judged and not _has_games(folder)):
        page = training_page(curves)
        target = out or (files[0].with_suffix(".html") if folder is None else folder / "report.html")
    else:
        run = _of_run(folder, curves, judged=judged, trust=trust)
        page = report_page(**run, games=games, seed=seed)
        has_boards = trust or not env_runs_own_code(run["standings"].env)
        target = out or folder / "report.html"
    write_text(target, page)
    typer.echo(f"The report is in {target} ({len(page.encode()) / 1e6:.2g} MB)")
    if not has_boards:
        typer.echo("Its games have no boards, as these take code of your own: add --trust to run it.")


def _of_run(folder: Path, curves: Sequence[Curve], *, judged: bool, trust: bool) -> dict[str, Any]:
    from zermelo.evaluation.analysis.attack import FILE
    from zermelo.evaluation.analysis.judgement import read_verdicts
    from zermelo.evaluation.match.replay import Replayer
    from zermelo.evaluation.storage.games import read_games
    from zermelo.evaluation.storage.invocations import read_run
    from zermelo.evaluation.tournament.run import read_standings

    return {
        "records": read_games(folder), "replayer": Replayer(trust=trust), "standings": read_standings(folder),
        "judged": judge_folder(folder, trust=trust).to_dict() if judged else _found(folder / JUDGED, "judge"),
        "attack": _found(folder / FILE, "attack"),
        "verdicts": functools.partial(read_verdicts, folder / VERDICTS), "run": read_run(folder), "curves": curves,
    }  # fmt: skip


def _has_games(folder: Path) -> bool:
    from zermelo.evaluation.storage.database import FILE
    from zermelo.evaluation.storage.games import LINES

    return any((folder / name).exists() for name in (FILE, LINES))


def _found(file: Path, command: str) -> dict[str, Any] | None:
    from zermelo.envs.support.files import read_file

    try:
        found: dict[str, Any] = msgspec.json.decode(read_file(file), type=dict[str, Any])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"cannot read {file} ({error}): run `zermelo {command}` again") from error
    return found


def judge_folder(
    folder: Path,
    *,
    env: str | None = None,
    nodes: int | None = None,
    games: int | None = None,
    trust: bool = False,
    tables: str | None = None,
    runner: Any = None,
) -> JudgeTable | ExploitabilityTable:
    """Judges the games of a tournament, or its agents where cards are hidden, and keeps what was found."""
    from zermelo.evaluation.analysis.judge import NODES, Judge, JudgeWork
    from zermelo.evaluation.analysis.judgement import read_verdicts
    from zermelo.evaluation.output.progress import tracked
    from zermelo.evaluation.storage.files import append_lines, write_text
    from zermelo.evaluation.storage.games import read_games
    from zermelo.evaluation.tournament.run import read_sources

    records, run = read_games(folder), read_sources(folder)
    table: JudgeTable | ExploitabilityTable | None = None
    if run is not None:
        table = exploited(env or run[0], run[1], trust=trust)
    if table is None:
        earlier = read_verdicts(folder / VERDICTS)
        judge = Judge(JudgeWork(env, nodes or NODES, trust, tables))
        verdicts = judge.judged(records, earlier, games=games, runner=runner)
        with append_lines(folder / VERDICTS, [one.to_json() for one in earlier.values()]) as write:
            for one in tracked(verdicts, min(len(records), games or len(records)), "judging"):
                if earlier.get(one.game_id) != one:
                    write(one.to_json())
        table = judge.table()
    write_text(folder / JUDGED, json.dumps(table.to_dict(), indent=2, allow_nan=False) + "\n")
    return table


def exploited(env: str, agents: Mapping[str, str], *, trust: bool = False) -> ExploitabilityTable | None:
    """How much agents, texts by name, can be exploited in a game of hidden information; None for other games.

    Agents are made again from their texts. Code of somebody's own is only run where it is trusted.
    """
    from zermelo.envs.registration.registry import env_runs_own_code
    from zermelo.evaluation.analysis.exploitability import agents_exploited, hides_information

    if (not trust and env_runs_own_code(env)) or not hides_information(env):
        return None
    allowed = {name: text for name, text in agents.items() if trust or is_plain_agent(text)}
    notes = tuple(
        f"{name} is not judged, because that would run code of {text}: if you know it, give --trust"
        for name, text in agents.items()
        if name not in allowed
    )
    return agents_exploited(env, allowed, notes=notes)


@arguments.takes_runner
def judge(
    folder: arguments.Folder,
    nodes: Annotated[int, typer.Option("--nodes", min=1)] = 20_000,
    games: Annotated[int | None, typer.Option("--max-games", min=1, show_default="all")] = None,
    trust: arguments.Trust = False,
    tables: arguments.Tables = None,
    as_json: arguments.Json = False,
    **runner: Any,
) -> None:
    """Compare every move with perfect play: optimal moves, regret, blunders.

    Positions that cannot be solved within --nodes are counted, not guessed. What was found of a game is kept:
    after Ctrl-C, or with more games, the same command judges those that are left. In small games with hidden
    information, such as Leduc poker, where no single move is right or wrong, the exploitability of the agents
    is computed, as by `zermelo exploitability`.

    [bold]Example[/bold]
    $ zermelo judge results/first --nodes 100000

    Options:
        nodes: Limit on visited states for a position; compiled rules get 100 times that.
        games: Judge only the first games.
    """
    from zermelo.evaluation.tournament.run import make_runner

    judging = make_runner(**runner)
    table = judge_folder(folder, nodes=nodes, games=games, trust=trust, tables=tables, runner=judging)
    arguments.print_table(table, as_json=as_json)


def export(
    folder: arguments.Folder,
    form: Annotated[ExportFormat, typer.Option("--format", "-f")] = ExportFormat.CSV,
    out: Annotated[Path | None, typer.Option("--out", "-o")] = None,
) -> None:
    """Write all games and all moves as two tables for other programs, or chess as PGN and Go as SGF.

    [bold]Examples[/bold]
    $ zermelo export results/first --format parquet
    $ zermelo export results/chess --format pgn

    Options:
        form: The kind of file.
        out: The folder to write to; by default DIR.
    """
    from zermelo.evaluation.output.export import export_games
    from zermelo.evaluation.positions.notation import export_notation
    from zermelo.evaluation.storage.games import read_games
    from zermelo.evaluation.storage.invocations import read_run

    if form not in TABLES:
        date = "" if (run := read_run(folder)) is None or not run.invocations else run.invocations[0].started[:10]
        typer.echo(f"The games are in {export_notation(read_games(folder), out or folder, form, date)}")
        return
    games, moves = export_games(read_games(folder), out or folder, form)
    typer.echo(f"The games are in {games}, their moves in {moves}")
