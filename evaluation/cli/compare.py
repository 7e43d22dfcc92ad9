"""``zermelo compare``: two agents of a run, from the games between them."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zermelo.envs import InvalidSettingError, UnknownNameError
from zermelo.evaluation.cli.arguments import Folder, Json, print_json
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.match.writing import printable

if TYPE_CHECKING:
    from zermelo.evaluation.output.standings import Standings
    from zermelo.evaluation.stats.ratings import EloEstimate, Sprt
    from zermelo.evaluation.stats.rewards import MeanReward


def parse_sprt(text: str) -> Sprt:
    """A sequential test from ``elo0=0,elo1=10``."""
    from zermelo.evaluation.stats.ratings import Sprt

    settings: dict[str, float] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        try:
            if not equals or name not in ("elo0", "elo1", "alpha", "beta"):
                raise ValueError
            settings[name] = float(value)
        except ValueError:
            raise InvalidSettingError(
                f"a sequential test is written elo0=0,elo1=10 (and alpha=, beta=), not {part!r}"
            ) from None
    return Sprt(**settings)


def compare(
    folder: Folder,
    first: Annotated[str, typer.Argument(metavar="AGENT", help="As the table calls it.", show_default=False)],
    second: Annotated[str, typer.Argument(metavar="AGENT", help="The other one.", show_default=False)],
    sprt: Annotated[
        str, typer.Option(metavar="elo0=0,elo1=10", help="The hypotheses of the sequential test.")
    ] = "elo0=0,elo1=5",
    as_json: Json = False,
) -> None:
    """Compare two agents by the games between them: Elo with its interval, and a sequential test.

    Two games with one opening, or one deal, and the seats exchanged count as a pair. Where games pay amounts, what
    was earned is said too; of a cooperative game the scores of the teams.

    [bold]Example[/bold]

    [dim]$[/dim] zermelo compare results/first "alphabeta(depth=4)" random --sprt elo0=0,elo1=10
    """
    from zermelo.evaluation.results import PAIR_NAMES
    from zermelo.evaluation.stats.ratings import elo
    from zermelo.evaluation.tournament.run import read_standings

    test, standings = parse_sprt(sprt), read_standings(folder)
    names = [row.agent for row in standings.rows]
    for name in (first, second):
        if name not in names:
            raise UnknownNameError(f"{name!r} does not play in {folder}: choose two of {', '.join(names)}")
    if as_json:
        print_json(_numbers(standings, test, first, second))
        return
    if standings.scoring is Scoring.TEAM:
        for who, other in ((first, second), (first, first), (second, second)):
            _tell_reward(
                f"{who} {'alone' if who == other else f'with {other}'}", standings.rewards.get((who, other))
            )
        return
    games = standings.results.between(first, second)
    typer.echo(printable(f"{first} against {second}: {games.wins} won, {games.draws} drawn, {games.losses} lost"))
    if standings.scoring is Scoring.REWARDS:
        _tell_reward("reward", standings.rewards.get((first, second)))
    pairs = games.pairs
    if sum(pairs):
        counted = ", ".join(f"{n} {kind}" for n, kind in zip(pairs, PAIR_NAMES, strict=True))
        typer.echo(f"{sum(pairs)} pairs with the seats exchanged: {counted}")
        _tell("pairs", elo(pairs=pairs))
        typer.echo(str(test.test_pairs(pairs)))
    else:
        _tell("games", elo(games.wins, games.draws, games.losses))
        typer.echo(str(test.test(games.wins, games.draws, games.losses)))
    for note in standings.notes:
        typer.echo(printable(f"Note: {note}"))


def _numbers(standings: Standings, test: Sprt, first: str, second: str) -> dict[str, Any]:
    """Everything that ``compare`` prints, as values for JSON."""
    from zermelo.evaluation.stats.ratings import elo

    games = standings.results.between(first, second)
    paired = sum(games.pairs) > 0
    if paired:
        estimate, tested = elo(pairs=games.pairs), test.test_pairs(games.pairs)
    else:
        estimate = elo(games.wins, games.draws, games.losses)
        tested = test.test(games.wins, games.draws, games.losses)
    reward = standings.rewards.get((first, second))
    return {
        "first": first,
        "second": second,
        "wins": games.wins,
        "draws": games.draws,
        "losses": games.losses,
        "elo": dataclasses.asdict(estimate),
        "sprt": dataclasses.asdict(tested),
        "reward": None if reward is None else dataclasses.asdict(reward),
        "notes": list(standings.notes),
    }


def _tell_reward(what: str, found: MeanReward | None) -> None:
    if found is None:
        typer.echo(printable(f"{what}: no games"))
        return
    low, high = found.interval
    ends = f"95 % interval {low:+.4g} to {high:+.4g}" if math.isfinite(high - low) else "no interval"
    typer.echo(printable(f"{what}: {found.mean:+.4g} a game, {ends} (from {found.deals} deals)"))


def _tell(what: str, found: EloEstimate) -> None:
    typer.echo(
        f"Elo {found.elo:+.1f}, 95 % interval {found.lower:+.1f} to {found.upper:+.1f} (from {what}); "
        f"likelihood of being the stronger {100 * found.likelihood_of_superiority:.1f} %"
    )
