"""``zermelo standings`` and ``zermelo compare``: the tables of a run in a folder, and two of its agents."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from zermelo.envs.errors import InvalidSettingError, UnknownNameError
from zermelo.evaluation.cli.arguments import Folder, Json, print_json
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.match.text import printable, rounded
from zermelo.evaluation.stats.score_interval import INTERVAL

if TYPE_CHECKING:
    from zermelo.evaluation.output.standings import Standings
    from zermelo.evaluation.results import HeadToHead
    from zermelo.evaluation.stats.ratings.elo import EloEstimate
    from zermelo.evaluation.stats.ratings.sprt import Sprt
    from zermelo.evaluation.stats.rewards import MeanReward

_DEFAULT: Final = "the default"


def print_standings(standings: Standings, *, as_json: bool) -> None:
    from zermelo.evaluation.text_table import terminal_width

    typer.echo(standings.to_json() if as_json else standings.text(terminal_width()))


def standings(folder: Folder, as_json: Json = False) -> None:
    """Print the tables of a tournament in a folder, also while it is being played.

    All numbers are computed from the stored games.

    [bold]Example[/bold]
    $ zermelo standings results/first
    """
    from zermelo.evaluation.tournament.run import read_standings

    print_standings(read_standings(folder), as_json=as_json)


def parse_sprt(text: str) -> Sprt:
    from zermelo.evaluation.stats.ratings.sprt import Sprt

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
    first: Annotated[str, typer.Argument(metavar="AGENT")],
    second: Annotated[str, typer.Argument(metavar="AGENT")],
    sprt: Annotated[str | None, typer.Option(metavar="elo0=0,elo1=10")] = None,
    as_json: Json = False,
) -> None:
    """Compare two agents by the games between them: Elo with its interval, and who is likely the stronger.

    Two games with the same opening or deal and the seats exchanged count as a pair. A run that was played with
    --sprt is tested as it was then, its first agent against its second. If games pay amounts, mean rewards are
    shown too; for cooperative games, the scores of the teams.

    [bold]Example[/bold]
    $ zermelo compare results/first "alphabeta(depth=4)" random --sprt elo0=0,elo1=10

    Options:
        first: The first agent, by its name or number in the tables, or a part of its name that no other has.
        second: The second agent.
        sprt: The hypotheses of a sequential test; by default those of the run (--json: else elo0=0,elo1=5).
    """
    from zermelo.evaluation.stats.ratings.elo import elo
    from zermelo.evaluation.tournament.run import read_standings
    from zermelo.evaluation.tournament.stopping import tested

    standings = read_standings(folder)
    names = [row.agent for row in standings.rows]
    first, second = _player(first, names, folder), _player(second, names, folder)
    agents, test, source = _hypotheses(folder, first, second, sprt)
    if first == second and standings.scoring is not Scoring.TEAM:
        raise InvalidSettingError(f"{first!r} is compared with itself: choose two of {', '.join(names)}")
    games, reward = standings.results.between(first, second), standings.rewards.get((first, second))
    judged = standings.results.judged.between(first, second)
    pairs = judged.pairs
    estimate = elo(pairs=pairs) if sum(pairs) else elo(judged.wins, judged.draws, judged.losses)
    result, sentence = tested(test, standings.results, agents)
    if as_json:
        comparison = {
            "first": first, "second": second, "wins": games.wins, "draws": games.draws, "losses": games.losses,
            "elo": estimate, "sprt": result, "sprt_agents": agents, "sprt_source": source,
            "reward": reward, "notes": standings.notes,
        }  # fmt: skip
        print_json(comparison)
    elif standings.scoring is Scoring.TEAM:
        for who, other in ((first, second), (first, first), (second, second)):
            what = f"{who} {'alone' if who == other else f'with {other}'}"
            _print_reward(what, standings.rewards.get((who, other)))
    else:
        typer.echo(
            printable(f"{first} against {second}: {games.wins} won, {games.draws} drawn, {games.losses} lost")
        )
        if standings.scoring is Scoring.REWARDS:
            _print_reward("reward", reward)
        _print_elo(judged, estimate)
        if source != _DEFAULT:  # few games decide between hypotheses that nobody chose
            typer.echo(printable(f"SPRT of {' against '.join(agents)}, hypotheses of {source}: {sentence}"))
        for note in standings.notes:
            typer.echo(printable(f"Note: {note}"))


def _player(text: str, names: list[str], folder: Path) -> str:
    """The agent that is meant by its name, its number in the table, its settings, or a part of its name."""
    from zermelo.agents.specs import is_same_agent

    if text in names:
        return text
    if text.isdecimal() and 1 <= int(text) <= len(names):
        return names[int(text) - 1]
    meant = [name for name in names if is_same_agent(text, name)]
    meant = meant or [name for name in names if text.strip() and text.strip() in name]
    if len(meant) == 1:
        return meant[0]
    fault = "means several agents" if meant else "does not play"
    listed = "".join(f"\n{number:4}  {name}" for number, name in enumerate(names, start=1))
    raise UnknownNameError(f"{text!r} {fault} in {folder}: choose two of these, by number or name:{listed}")


def _print_elo(games: HeadToHead, estimate: EloEstimate) -> None:
    from zermelo.evaluation.output.cells import likelihood
    from zermelo.evaluation.stats.ratings.elo import ELO_SCALE

    if not games.games:
        typer.echo("No Elo: there are no games to judge them by")
        return
    pairs = sum(games.pairs)
    if single := games.games - 2 * pairs if pairs else 0:
        counts = "1 game has" if single == 1 else f"{single} games have"
        typer.echo(f"{counts} no second one with the seats exchanged yet; Elo and the test are of pairs")
    if pairs:
        kinds = ("two losses", "loss and draw", "win and loss", "two draws", "win and draw", "two wins")
        counted = ", ".join(f"{kind} {n}" for n, kind in zip(games.pairs, kinds, strict=True) if n)
        typer.echo(f"{pairs} pairs with the seats exchanged: {counted}")
    elo, lower, upper = (rounded(value, 1, "+") for value in (estimate.elo, estimate.lower, estimate.upper))
    typer.echo(
        f"Elo {elo}, {INTERVAL} {lower} to {upper} (from "
        f"{'pairs' if pairs else 'games'}); likelihood of being the stronger "
        f"{likelihood(estimate.likelihood_of_superiority)} % ({ELO_SCALE})"
    )


def _hypotheses(folder: Path, first: str, second: str, given: str | None) -> tuple[tuple[str, str], Sprt, str]:
    """The agents of a sequential test, the test, and who asked for it."""
    from zermelo.evaluation.stats.ratings.sprt import Sprt
    from zermelo.evaluation.storage.invocations import read_run
    from zermelo.evaluation.tournament.stopping import SprtTest, rule_of

    if given is not None:
        return (first, second), parse_sprt(given), "--sprt"
    run = read_run(folder)
    rule = rule_of(run.spec) if run is not None and run.spec else None
    if isinstance(rule, SprtTest) and {*rule.agents} == {first, second}:
        return rule.agents, rule.sprt, "the run"
    return (first, second), Sprt(), _DEFAULT


def _print_reward(what: str, reward: MeanReward | None) -> None:
    if reward is None:
        typer.echo(printable(f"{what}: no games"))
        return
    low, high = reward.interval
    ends = f"{INTERVAL} {low:+.4g} to {high:+.4g}" if math.isfinite(high - low) else "no interval"
    typer.echo(printable(f"{what}: {reward.mean:+.4g} a game, {ends} (from {reward.deals} deals)"))
