"""Settings of a tournament, each declared once.

``round_robin`` and ``gauntlet`` take them as keywords, ``zermelo tournament`` as options: names, types and
defaults are those of the fields, and help is the docstring's text of a field up to the words "In Python".
"""

from __future__ import annotations

import enum
import functools
import inspect
import numbers
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol

from zermelo.agents.base.machine import check_threads
from zermelo.agents.base.settings import check_choice, check_flag, check_whole
from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation.match.adjudication import Adjudication
from zermelo.evaluation.match.clock import MAX_MOVES
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.results import name_of
from zermelo.evaluation.schedule import Pairings, checked_seed, parse_pairings
from zermelo.evaluation.workers.settings import AgentLimits

if TYPE_CHECKING:
    from zermelo.evaluation.match.record import GameRecord
    from zermelo.evaluation.match.sources import AgentSource, EnvSource
    from zermelo.evaluation.output.standings import Standings
    from zermelo.evaluation.stats.ratings.sprt import Sprt
    from zermelo.evaluation.tournament.openings import Openings

P = ParamSpec("P")


@dataclass(frozen=True, kw_only=True)
class TournamentSettings:
    """Settings that decide the games of a tournament, and what its tables rank by.

    Attributes:
        games: Games for each pairing; seats rotate. In Python: games of each agent, where one plays alone.
        seed: Seed of all random numbers.
        pairings: Every agent plays every other (round-robin), or the first agent all others (gauntlet), or every
            other agent takes one seat and the first all others, with the same seeds (one-seat); in rounds, agents
            of as many points meet (swiss, or swiss:9 for nine rounds), or whoever loses is out (knockout).
        openings: A file of openings: PGN, SGF, or one a line as a position (FEN, EPD) or as moves, by name or by
            number (e4 e5 Nf3, e2e4,e7e5, 3,2,4); book:FILE takes them from an opening book. In Python also a list,
            each a list of actions or a line of moves, or how many random legal plies games begin with. Each
            opening is played once from each seat. The folder keeps them.
        opening_plies: Random moves at the start of each game; each opening is played from every seat. With
            ``openings``, the first so many moves of each. In Python only the latter; by default all moves.
        until_sure: Stop before ``games`` when the leader is known. In Python: see
            ``zermelo.evaluation.tournament.stopping``.
        sprt: For two agents: stop when a sequential test has decided; takes alpha= and beta= too.
        max_moves: Games of more moves end there, with the rewards so far.
        adjudicate: End games of two once both agree for so many moves each that it is drawn or who wins, such as
            draw=8,win=4. In Python: see ``play_match``.
        isolation: The limits on time and memory of each agent, and which agents get processes of their own; by
            default those that are named by text and run somebody's own code.
        anchor: The agent with rating 0; by default random, unless it lost everything; else the average is 0.
        score: Rank by wins, by rewards such as chips, or by the team's score in cooperative games; auto takes
            rewards if games pay amounts, else wins. In Python: see ``zermelo.evaluation.Scoring``.
        skip_unfit: Leave out agents that cannot play this game, and say so.
    """

    games: int = 10
    seed: int = 0
    pairings: str = Pairings.ROUND_ROBIN
    openings: Openings | None = None
    opening_plies: int | None = None
    until_sure: bool = False
    sprt: Sprt | None = None
    max_moves: int = MAX_MOVES
    adjudicate: str | None = None
    isolation: AgentLimits | None = None
    anchor: str | None = None
    score: Scoring | str = Scoring.AUTO
    skip_unfit: bool = False

    def __post_init__(self) -> None:
        check_whole("games", self.games, lower=1)
        checked_seed(self.seed)
        check_whole("max_moves", self.max_moves, lower=1)
        if self.adjudicate is not None:
            Adjudication.read(self.adjudicate)
        if parse_pairings(self.pairings)[0].in_rounds and (self.until_sure or self.sprt is not None):
            raise InvalidSettingError(
                f"{'until_sure' if self.until_sure else 'sprt'} stops where it is sure who is stronger, and "
                f"assumes that results do not decide who meets whom, as they do with {self.pairings}: use "
                "round-robin or gauntlet, or leave it out"
            )
        check_choice("score", self.score, Scoring)
        check_flag("until_sure", self.until_sure)
        check_flag("skip_unfit", self.skip_unfit)
        if self.isolation is not None and not isinstance(self.isolation, AgentLimits):
            raise InvalidSettingError(
                f"isolation must be a value of the class AgentLimits or None, not {self.isolation!r}"
            )
        if self.sprt is None:
            return
        if self.until_sure:
            raise InvalidSettingError("a run stops either by until_sure or by sprt: choose one of them")
        from zermelo.evaluation.stats.ratings.sprt import Sprt  # late: the command line imports this module

        if not isinstance(self.sprt, Sprt):
            raise InvalidSettingError(f"sprt must be a value of the class Sprt or None, not {self.sprt!r}")

    @property
    def limits(self) -> AgentLimits:
        """The isolation, where none was given too."""
        return self.isolation or AgentLimits()


@dataclass(frozen=True, kw_only=True)
class AttackSettings(TournamentSettings):
    """Settings of an attack on a policy (``zermelo.evaluation.training.attacking``).

    Attributes:
        games: Games of the search that asks the policy, and as many of the one that does not; seats rotate.
        asks: How often a policy that draws its moves is asked in a position, with a seed each.
        states: Also compute the exact best response of games with at most so many states; 0 for none.
    """

    games: int = 100
    pairings: str = Pairings.ONE_SEAT
    score: Scoring | str = Scoring.REWARDS
    asks: int = 4
    states: int = 20_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("asks", self.asks, lower=1)
        check_whole("states", self.states)


class RunnerChoice(enum.StrEnum):
    """Who does the work."""

    LOCAL = "local"
    """This process, or worker processes on this machine."""
    RAY = "ray"
    """A Ray cluster."""


@dataclass(frozen=True, kw_only=True)
class RunnerSettings:
    """Settings of who works, which decide no result.

    Attributes:
        workers: Worker processes, or Ray's tasks at a time; results do not depend on it. In Python: with 1, the
            default, everything is done in this process; with more, an agent that ends its process loses that game
            only. On Ray, by default one for each processor of the cluster.
        runner: Who does the work: this machine, or a Ray cluster. In Python: see
            ``zermelo.evaluation.workers.ray``.
        ray_address: The Ray cluster's address, such as 10.0.0.1:6379, or auto for a cluster on this machine; by
            default RAY_ADDRESS, else a new cluster is started.
    """

    workers: int | None = None
    runner: RunnerChoice | str = RunnerChoice.LOCAL
    ray_address: str | None = None

    def __post_init__(self) -> None:
        if self.workers is not None:
            check_whole("workers", self.workers, lower=1) if self.on_ray else check_threads(
                "workers", self.workers
            )
        check_choice("runner", self.runner, RunnerChoice)
        if self.ray_address is not None and not self.on_ray:
            raise InvalidSettingError(f"the address of a Ray cluster ({self.ray_address!r}) needs runner='ray'")

    @property
    def on_ray(self) -> bool:
        """True if a Ray cluster works."""
        return self.runner == RunnerChoice.RAY

    @property
    def here(self) -> bool:
        """True if this process works."""
        return not self.on_ray and self.workers in (None, 1)


@dataclass(frozen=True, kw_only=True)
class RunSettings(RunnerSettings):
    """Settings of how a tournament is run, which decide no game.

    Attributes:
        out: A folder for the games and standings; the same command again plays the missing games. In Python: a
            database of the games (``games.sqlite``) and, once the run has ended or been interrupted, the same as
            text (``games.jsonl``) and the standings. Killed at any moment and called again, the run ends with the
            games and the ratings of one left alone.
        progress: Whether to show on standard error how far the run is and who leads: drawn in a terminal, and
            elsewhere as a line every half minute. By default in a terminal only.
        on_game: Called with each game's record once it is kept for good.
    """

    out: str | os.PathLike[str] | None = None
    progress: bool | None = None
    on_game: Callable[[GameRecord], None] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.out is not None and not os.fspath(self.out):
            raise InvalidSettingError("out is empty: name a folder for the run, or leave it out")


@dataclass(frozen=True, kw_only=True)
class AllSettings(RunSettings, TournamentSettings):
    """Settings of a tournament and of its run."""

    def __post_init__(self) -> None:
        TournamentSettings.__post_init__(self)
        RunSettings.__post_init__(self)


Agents = Sequence["AgentSource"] | Mapping[str, "AgentSource"]


class _TournamentFunction(Protocol[P]):
    def __call__(self, env: EnvSource, agents: Agents, *args: P.args, **kwargs: P.kwargs) -> Standings: ...


def _plain(value: Any) -> Any:
    """A number of NumPy or an enumeration as Python's, which a file of JSON can hold."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    return int(value) if isinstance(value, numbers.Integral) and not isinstance(value, bool) else value


def settings_as_keywords(
    settings: Callable[P, AllSettings], **fixed: Any
) -> Callable[[Callable[[EnvSource, Agents, AllSettings], Standings]], _TournamentFunction[P]]:
    """Has a function take its settings as keywords, but for those that are fixed."""

    def decorate(play: Callable[[EnvSource, Agents, AllSettings], Standings]) -> _TournamentFunction[P]:
        @functools.wraps(play)
        def call(env: EnvSource, agents: Agents, *args: P.args, **kwargs: P.kwargs) -> Standings:
            given: dict[str, Any] = {name: _plain(value) for name, value in {**kwargs, **fixed}.items()}
            if "anchor" in given:
                given["anchor"] = name_of(given["anchor"]) or given["anchor"]
            return play(env, agents, settings(*args, **given))

        first = [*inspect.signature(play).parameters.values()][:2]
        keywords = [one for one in inspect.signature(settings).parameters.values() if one.name not in fixed]
        call.__dict__["__signature__"] = inspect.Signature([*first, *keywords], return_annotation="Standings")
        return call

    return decorate
