"""``zermelo tune``, ``label``, ``evaluate``, ``rate``: evaluations by self-play, labels, ratings of policies."""

from __future__ import annotations

import contextlib
import enum
import functools
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from zermelo.agents.base.limits import Limits
from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation.cli import arguments
from zermelo.evaluation.cli.arguments import settings_from, takes_settings
from zermelo.evaluation.tournament.settings import RunnerSettings

if TYPE_CHECKING:
    from zermelo.agents.training.linear import TuningRound
    from zermelo.evaluation.training.tune import Generation


class Model(enum.StrEnum):
    """What is fitted."""

    LINEAR = "linear"
    NETWORK = "network"


_OnGame: TypeAlias = Callable[[str, float, float], object]
_OF_EVALUATION, _OF_PLAYOUTS = "depth=2", "seconds=0.5"  # limits in the match


@takes_settings(
    RunnerSettings,
    workers=Annotated[
        int | None,
        typer.Option(
            "--workers", "-w", min=1, help="Processes that play for a network; by default one a processor."
        ),
    ],
)
def tune_command(
    env: arguments.EnvText,
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE")] = "evaluation.json",
    model: Annotated[Model, typer.Option()] = Model.LINEAR,
    hidden: Annotated[int, typer.Option(min=16, max=256)] = 64,
    hours: Annotated[float, typer.Option()] = 1.0,
    features: Annotated[str, typer.Option()] = "observation",
    games: Annotated[int, typer.Option(min=10)] = 1_000,
    rounds: Annotated[int, typer.Option(min=1)] = 4,
    match: Annotated[int, typer.Option(min=0)] = 100,
    seed: arguments.Seed = 0,
    **runner: Any,
) -> None:
    """Fit an evaluation to a game by self-play, for search agents to use: alphabeta(evaluator="FILE").

    For games of one player, or of two opposed players, without hidden information. A linear evaluation plays
    against itself one ply ahead: in the first round by rewards alone, or by the weights that are written, in each
    later one by the weights learned so far. Losses are measured on a tenth of the games, which is held out.

    With --model network each generation plays, trains, and meets the best so far in a match at equal time.
    Ctrl-C stops it; the same command goes on.

    [bold]Examples[/bold]
    $ zermelo tune classic/connect_four-v3 --games 300 --rounds 3
    $ zermelo tune zermelo/Kalah-v0 --features mymodule:FEATURES --out kalah.json
    $ zermelo tune zermelo/Othello-v0 --model network --hidden 64 --hours 4 --out othello.json
    $ zermelo search zermelo/Othello-v0 "alphabeta(depth=3, evaluator='othello.json')"

    Options:
        out: The file to write, ending in .json.
        model: linear: the weights of features, for any environment; network: a small network over the planes of
            rules, made in generations for as many hours as are given.
        hidden: Units of a network's hidden layer: a multiple of 16.
        hours: Hours for a network, those of earlier runs with this file included.
        features: observation: all numbers that the player to move observes; module:name: a LinearEvaluator, a
            dictionary of functions of game and state, or a function that returns numbers.
        games: Games of self-play in each round.
        rounds: Rounds of self-play and fitting.
        match: Games against the same search without the file; 0 for none.
    """
    with _progress() as on_game:
        play = functools.partial(_print_match, env, games=match, seed=seed, on_game=on_game)
        if model is Model.LINEAR:
            _tune_weights(play, env, features, out=out, games=games, rounds=rounds, seed=seed, on_game=on_game)
            return
        from zermelo.evaluation.training.tune import tune_network

        def on_progress(name: str, share: float) -> None:
            on_game(name, share, 1.0)

        generations = tune_network(
            env, out=out, hidden=hidden, hours=hours, seed=seed, on_progress=on_progress, **runner
        )
        try:
            _print_generations(generations, out)
            play(repr(out))
        except KeyboardInterrupt:
            typer.echo("zermelo: stopped; the same command goes on", err=True)
            raise SystemExit(arguments.INTERRUPTED) from None


@contextlib.contextmanager
def _progress() -> Iterator[_OnGame]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        tasks = {}

        def on_game(name: str, count: float, total: float) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=count)

        yield on_game


def _tune_weights(play: Callable[[str], None], env: str, features: str, *, out: str, **settings: Any) -> None:
    from zermelo.agents.training.linear import tune

    done: list[TuningRound] = []

    def on_round(one: TuningRound) -> None:
        if not done:
            typer.echo(f"{'round':>5}{'games':>8}{'positions':>11}{'loss':>9}{'average':>9}")
        done.append(one)
        typer.echo(f"{one.number:5}{one.games:8,}{one.positions:11,}{one.loss:9.4f}{one.average:9.4f}")
        sys.stdout.flush()

    try:
        tuned = tune(env, out=out, features=features, on_round=on_round, **settings)
        typer.echo(f"{len(tuned.evaluator.weights):,} weights of {features} in {out}")
        play(tuned.evaluator.spec())
    except KeyboardInterrupt:
        written = f"{out} has the weights of round {len(done)}" if done else "nothing was written"
        typer.echo(f"zermelo: stopped; {written}", err=True)
        raise SystemExit(arguments.INTERRUPTED) from None


def _print_generations(generations: Iterable[Generation], out: str) -> None:
    from zermelo.evaluation.stats.ratings.elo import elo

    head = f"{'generation':>10}{'positions':>11}{'loss':>9}{'average':>9}{'rounding':>10}{'hours':>7}  match"
    for number, one in enumerate(generations):
        if not number:
            typer.echo(head)
        line = f"{one.number:10}{one.positions:11,}{one.loss:9.4f}{one.average:9.4f}{one.error:10.4f}"
        match = f"{one.wins} won, {one.draws} drawn, {one.losses} lost   {elo(one.wins, one.draws, one.losses)}"
        typer.echo(f"{line}{one.seconds / 3600:7.2f}  {match}{f' -> {out}' if one.is_best else ''}")
        sys.stdout.flush()


def _print_match(env: str, evaluator: str, games: int, seed: int, on_game: _OnGame) -> None:
    """Plays games of the search with the file against the search without it, and prints the result."""
    if not games:
        return
    from zermelo.agents.evaluators.registry import features_for
    from zermelo.envs.adapters.as_game import as_game
    from zermelo.envs.game import Chance
    from zermelo.envs.registration.make import make
    from zermelo.evaluation.stats.ratings.elo import elo
    from zermelo.evaluation.training.tune import play_match

    live = make(env)
    live.reset(seed=seed)
    game = as_game(live)
    if game.traits.seats != 2:
        typer.echo("no match: the game has one player")
        return
    kind = "alphabeta" if game.traits.chance is Chance.NONE else "expectiminimax"
    limit = _OF_EVALUATION if features_for(game, game.snapshot(live)) is not None else _OF_PLAYOUTS
    specs = {"tuned": f"{kind}({limit}, evaluator={evaluator})", "untuned": f"{kind}({limit})"}

    def count(played: int) -> None:
        on_game("match", played, games)

    row = play_match(env, specs, games=games, seed=seed, on_game=count)
    estimate = elo(row.wins, row.draws, row.losses)
    typer.echo(f"{specs['tuned']} against {specs['untuned']}:")
    typer.echo(f"  {row.wins} won, {row.draws} drawn, {row.losses} lost   {estimate}")


@takes_settings(Limits, RunnerSettings, workers=arguments.Workers)
def label_command(
    env: arguments.EnvText,
    agent: Annotated[str, typer.Argument(metavar="[AGENT]")] = "auto",
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE")] = "",
    positions: Annotated[int, typer.Option("--positions", min=1)] = 1_000,
    seed: arguments.Seed = 0,
    **options: Any,
) -> None:
    """Write positions of a game with values, policies and proofs, as targets for learning.

    Positions come from random games, without repetition. A row has the moves that lead to the position, the
    observation of the player, the mask of legal actions, and the agent's answer: the value, whether it is
    proven, the best action, a policy, the value of each action. Parquet files are read by pandas, polars and
    datasets. Ctrl-C keeps the rows so far.

    [bold]Examples[/bold]
    $ zermelo label classic/tictactoe-v3 "alphabeta(exact=true)" --positions 2000
    $ zermelo label zermelo/Othello-v0 mcts --simulations 800 --out othello.parquet

    Options:
        agent: The search that evaluates each position.
        out: The file to write, ending in .parquet, .json or .csv; by default labels.parquet, or labels.csv if
            pyarrow is not installed.
        positions: Positions to write.
    """
    from zermelo.agents.training.labels import COLUMNS, label_positions
    from zermelo.envs.support.files import replaced
    from zermelo.evaluation.output import TABLES, ExportFormat
    from zermelo.evaluation.output.export import table_writer
    from zermelo.evaluation.output.progress import tracked
    from zermelo.evaluation.tournament.run import make_runner

    path = Path(out or f"labels.{'parquet' if importlib.util.find_spec('pyarrow') else 'csv'}")
    form = path.suffix.removeprefix(".")
    if form not in TABLES:
        raise InvalidSettingError(f"the file must end in .{', .'.join(TABLES)}, not {path.name!r}")
    writer = table_writer(ExportFormat(form))
    [agent] = arguments.limited([agent], settings_from(Limits, options))
    workers = settings_from(RunnerSettings, options)
    labels = label_positions(env, positions=positions, agent=agent, seed=seed, runner=make_runner(**vars(workers)))
    count = proven = games = 0
    was_stopped = True
    with (
        arguments.writing(path),
        replaced(path) as file,
        writer(file, COLUMNS) as add,
        contextlib.suppress(KeyboardInterrupt),
    ):
        for row in tracked(labels, positions, "labelling"):
            add(row)
            count, proven, games = count + 1, proven + row["proven"], max(games, row["game"] + 1)
        was_stopped = False
    typer.echo(f"{count:,} positions ({games:,} random game{'s' * (games != 1)}; {proven:,} proven) in {path}")
    if was_stopped:
        raise SystemExit(arguments.INTERRUPTED)
    if count < positions:
        typer.echo("zermelo: random games found no more than these", err=True)


def evaluate_command(
    env: arguments.EnvText,
    policy: Annotated[str, typer.Argument(metavar="POLICY")],
    ladder: Annotated[list[str] | None, typer.Option("--ladder", "-l", metavar="FILE|AGENT")] = None,
    within: Annotated[float | None, typer.Option(min=1, metavar="ELO")] = None,
    games: Annotated[int | None, typer.Option("--games", "-n", min=1)] = None,
    seed: arguments.Seed = 0,
    as_json: arguments.Json = False,
) -> None:
    """Rate a policy, or any agent, by games against agents of a ladder, or others that are rated too.

    The 95 % interval holds the errors of those agents' ratings as well. With --within games are played until it is
    as narrow as that; how many are missing is said meanwhile, and below the table where they were too few.

    [bold]Examples[/bold]
    $ zermelo evaluate classic/connect_four-v3 "mcts(simulations=100)" --within 60
    $ zermelo evaluate classic/tictactoe-v3 ppo.zip --ladder random --ladder greedy --games 100

    Options:
        policy: A saved model, such as ppo.zip, or an agent; `zermelo agents` lists them.
        ladder: A ladder's file, or an agent to be rated against; may be given several times. By default the ladder
            that this package has for the game, or else random, greedy and searches.
        within: Width of the interval at which to stop, in Elo, after 20,000 games at most; by default 100 on a
            ladder, after 1,000 games at most.
        games: Games with each agent, at most if --within is given; not for ladders. By default 20.
    """
    from zermelo.evaluation.training.evaluate import evaluate_policy

    line, given = arguments.LiveLine(), ladder or None
    chosen = given[0] if given is not None and len(given) == 1 else given
    rating = evaluate_policy(
        policy, env, ladder=chosen, interval=within, games=games, seed=seed, on_progress=line.show
    )
    line.clear()
    arguments.print_table(rating, as_json=as_json)


@takes_settings(RunnerSettings, workers=arguments.Workers)
def rate_command(
    context: typer.Context,
    env: arguments.EnvText,
    checkpoints: Annotated[list[str], typer.Argument(metavar="CHECKPOINTS...")],
    *,
    ladder: Annotated[list[str] | None, typer.Option("--ladder", "-l", metavar="FILE|AGENT|none")] = None,
    within: Annotated[float | None, typer.Option(min=1, metavar="ELO")] = None,
    sure: Annotated[float | None, typer.Option(metavar="SHARE")] = None,
    games: Annotated[int, typer.Option("--games", "-n", min=1)] = 20_000,
    steps: Annotated[str | None, typer.Option(metavar="time|STEP,STEP,...")] = None,
    agent: Annotated[str, typer.Option(metavar="AGENT")] = "",
    out: Annotated[Path | None, typer.Option("--out", "-o", parser=arguments.folder, metavar="DIR")] = None,
    skip_unfit: Annotated[bool, typer.Option("--skip-unfit")] = False,
    seed: arguments.Seed = 0,
    as_json: arguments.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q")] = False,
    **options: Any,
) -> None:
    """Rate every checkpoint of a training: the curve of its ratings, the best one, and how sure that is.

    Games are chosen where they tell most, until every interval is as narrow as --within says; what a round robin
    would have taken is printed too. With --out the games are stored, with the curve as curve.html, .svg, .png,
    .csv and .json: the same command goes on after Ctrl-C or a kill, and rates checkpoints that have come since.

    Models of Stable-Baselines3 and PyTorch may run code when they are loaded: give only files that you trust.

    [bold]Examples[/bold]
    $ zermelo rate classic/connect_four-v3 runs/ppo --within 60 --out results/ppo
    $ zermelo rate classic/tictactoe-v3 "runs/*_steps.zip" --ladder random --ladder greedy --workers 2
    $ zermelo rate classic/tictactoe-v3 runs --agent "mymodule:load({})" --steps time

    Options:
        checkpoints: A folder with models, files, patterns such as "runs/*.zip", or agents.
        ladder: The opponents: a ladder's file, agents (several times), or none, so that checkpoints only meet each
            other. By default the ladder that this package has for the game, or else random, greedy and searches.
        within: Play until every interval is as narrow as that, in Elo; by default 100, unless --sure is given.
        sure: Play until the best checkpoint is the best with this probability, such as 0.95.
        games: Play no more than these.
        steps: The step of each checkpoint, or time to number them by the times of their files; by default the step
            is read from the name.
        agent: The agent that plays a file of yours, with {} for the file, such as "mymodule:load({})".
        out: A folder for the games and the curve; the same command again goes on.
        skip_unfit: Leave out checkpoints that cannot play this game, and say so.
        quiet: Do not show progress.
    """
    from zermelo.evaluation.errors import RatingInterrupted
    from zermelo.evaluation.training.rate import rate_checkpoints

    line = arguments.LiveLine()
    given: Any = [] if ladder == ["none"] else ladder or None
    try:
        rated = rate_checkpoints(
            env, checkpoints, ladder=given[0] if given is not None and len(given) == 1 else given, within=within,
            sure=sure, games=games, steps=_steps(steps), agent=agent, seed=seed, skip_unfit=skip_unfit, out=out,
            on_progress=None if quiet else line.show, command=str(context.obj or ""), **options,
        )  # fmt: skip
    except RatingInterrupted as interrupt:
        line.clear()
        arguments.print_table(interrupt.rated, as_json=as_json)
        if out is not None:
            typer.echo("The same command again goes on.", err=as_json)
        raise typer.Exit(128 + interrupt.number) from interrupt
    line.clear()
    arguments.print_table(rated, as_json=as_json)
    if out is not None:
        typer.echo(f"Games and curve are in {out}", err=as_json)


def _steps(text: str | None) -> list[int] | str | None:
    if text is None or text == "time":
        return text
    try:
        return [int(step) for step in text.split(",")]
    except ValueError:
        raise InvalidSettingError(
            f"--steps is time, or a step for each checkpoint such as 1000,2000, not {text!r}"
        ) from None
