"""Networks that learn a game by playing it against themselves, generation by generation.

A generation plays with the best network so far, or as searches do without one, trains on its games and earlier
ones, meets the best in a match at equal time, and takes its place if it does not lose.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from zermelo.agents.base.machine import default_threads
from zermelo.agents.base.requirements import require_perfect_information
from zermelo.agents.base.settings import check_number, check_whole
from zermelo.agents.evaluators.network import (
    MOST_HIDDEN,
    NetworkOrigin,
    require_planes,
    require_writable,
    rules_text,
)
from zermelo.agents.evaluators.registry import features_for
from zermelo.agents.training.networks.gradients_kernel import Weights
from zermelo.agents.training.networks.self_play import Lessons, LessonWork, calibrated, random_states
from zermelo.agents.training.networks.training import Trained, choose_columns, seat_columns, train
from zermelo.envs.adapters.as_game import as_game
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.game import Chance
from zermelo.envs.registration.make import make
from zermelo.envs.support.array_files import Form, read_arrays, write_arrays
from zermelo.envs.support.data_files import FileKind
from zermelo.evaluation.stats.rows import AgentRow
from zermelo.evaluation.tournament.run import make_runner, round_robin
from zermelo.evaluation.tournament.settings import RunnerChoice

_PLAYING, _TRAINING = 0.75, 0.1  # shares of a generation's time; the rest is for its match
_GENERATIONS: Final = 3, 12, 6  # at least so many, at most, and as many an hour
_REMEMBERED: Final = 4  # generations whose positions are learned, the newest among them
_MOST_POSITIONS: Final = 4_000_000
_GAMES_OF_TASK: Final = 10
_FEWEST: Final = 200  # positions without which nothing is trained
_SAVE_EVERY: Final = 60.0
_MATCH_GAMES: Final = 60
_MATCH_OPENING: Final = 4
_MATCH_SECONDS: Final = 0.005, 0.1  # the least and the most time for a move of the match


@dataclass(frozen=True)
class Generation:
    """The result of a generation, from 1 on."""

    number: int
    positions: int  # that it learned from
    loss: float  # log loss on positions kept apart, in nats
    average: float  # that of always predicting the average
    error: float  # the mean difference in the probability of winning that whole numbers make
    wins: int  # of the match, as are draws, losses and opponent
    draws: int
    losses: int
    opponent: str
    is_best: bool  # whether the file has this network now
    seconds: float  # of all generations so far


def tune_network(
    env: str,
    *,
    out: str,
    hidden: int = 64,
    hours: float = 1.0,
    nodes: int = 1_000,
    outcome_share: float = 0.2,
    seed: int = 0,
    workers: int | None = None,
    runner: RunnerChoice | str = RunnerChoice.LOCAL,
    ray_address: str | None = None,
    on_progress: Callable[[str, float], None] = lambda name, share: None,
) -> Iterator[Generation]:
    """Yields generations until the hours are over; each has written its network if that is the best.

    Beside the file another one, ``.progress.npz``, has what a call with the same settings goes on from.

    The environment has rules, for two opposed players with nothing hidden; ``out`` ends in ``.json``, ``hidden``
    is a multiple of 16 up to 256, and earlier calls with this file count in ``hours``. ``nodes`` are those of the
    search for each move of self-play, and ``outcome_share`` is the weight of a game's outcome in the target, the
    rest being the search's value. How many games there are depends on the clock. ``workers``, ``runner`` and
    ``ray_address`` are as for ``round_robin``. ``on_progress`` is called with what is being done, and the share of
    it that is done.

    Raises:
        InvalidSettingError: A setting is wrong, or the progress is that of other settings.
        UnsupportedGameError: The game is of another kind.
    """
    check_number("hours", hours, lower=0, above=True)
    run = _Run(env, out, hidden, nodes, outcome_share, seed, on_progress)
    fewest, most, hourly = _GENERATIONS
    share = 3600 * hours / min(max(round(hourly * hours), fewest), most)
    playing = make_runner(
        workers or default_threads() if runner == RunnerChoice.LOCAL else workers, runner, ray_address
    )
    while run.progress.seconds < 3600 * hours - 1:
        run.play(playing, _PLAYING * share)
        trained = run.train(_TRAINING * share)
        yield run.judge(trained, (1 - _PLAYING - _TRAINING) * share)


def play_match(
    env: str, agents: Mapping[str, str], *, games: int, seed: int, on_game: Callable[[int], None]
) -> AgentRow:
    """The row of the first of two agents after their match from random openings; ``on_game`` counts the games."""
    played = itertools.count(1)
    settings: Any = {"openings": _MATCH_OPENING, "progress": False, "on_game": lambda _: on_game(next(played))}
    return round_robin(env, agents, games=games, seed=seed, **settings).row(next(iter(agents)))


@dataclass
class _Progress:
    """What a later call goes on from."""

    lessons: list[Lessons] = dataclasses.field(default_factory=list)  # of the remembered generations, oldest first
    weights: Weights | None = None  # of the last training, as are columns; none before
    columns: npt.NDArray[np.int32] | None = None
    counts: list[int] = dataclasses.field(default_factory=lambda: [0])  # positions of each; the last one goes on
    number: int = 1  # of the generation that goes on
    played: float = 0.0
    seconds: float = 0.0  # of all generations
    leads: bool = False  # whether the file has a network that won its match, and so plays


_PLAIN: Final = ("counts", "number", "played", "seconds", "leads")
_KIND: Final = FileKind("progress of zermelo tune", "remove it, and begin again")
_FORMS: Final = {
    "planes": Form("<u8", 3), "movers": Form("|i1", 1), "outcomes": Form("<f4", 1), "values": Form("<f4", 1),
    "columns": Form("<i4", 2, is_optional=True),
    "weights.first": Form("<f4", 2, is_optional=True), "weights.bias": Form("<f4", 1, is_optional=True),
    "weights.outputs": Form("<f4", 2, is_optional=True), "weights.output_bias": Form("<f4", 1, is_optional=True),
}  # fmt: skip


class _ProgressHeader(msgspec.Struct, frozen=True):
    identity: dict[str, Any]
    counts: Annotated[list[Annotated[int, msgspec.Meta(ge=0)]], msgspec.Meta(min_length=1)]
    number: Annotated[int, msgspec.Meta(ge=0)]
    played: float
    seconds: float
    leads: bool


def _check_shapes(about: _ProgressHeader, shapes: Mapping[str, tuple[int, ...]]) -> None:
    positions, seats, words = shapes["planes"]
    if seats != 2 or any(shapes[name] != (positions,) for name in ("movers", "outcomes", "values")):
        raise ValueError("its positions do not fit together")
    if shapes.get("columns", (2, 64 * words)) != (2, 64 * words):
        raise ValueError("its columns are those of other positions")
    weights = [shapes.get(f"weights.{name}") for name in Weights._fields]
    if weights != [None] * 4:
        first, bias, outputs, output_bias = ((*(shape or ()), 0, 0)[:2] for shape in weights)
        hidden, phases = first[1], output_bias[0]
        if (bias, outputs) != ((hidden, 0), (phases, 2 * hidden)) or hidden != about.identity.get("hidden"):
            raise ValueError("its weights do not fit together")


@dataclass
class _Run:
    env: str
    out: str
    hidden: int
    nodes: int
    outcome_share: float
    seed: int
    on_progress: Callable[[str, float], None]

    def __post_init__(self) -> None:
        check_whole("hidden", self.hidden, lower=16)
        check_whole("nodes", self.nodes, lower=1)
        check_number("outcome_share", self.outcome_share, lower=0)
        if self.hidden % 16 or self.hidden > MOST_HIDDEN or self.outcome_share > 1:
            raise InvalidSettingError(
                f"hidden must be a multiple of 16 up to {MOST_HIDDEN} and outcome_share at most 1, not "
                f"{self.hidden} and {self.outcome_share}"
            )
        require_writable(self.out)
        live = make(self.env)
        live.reset(seed=self.seed)
        self.game: Any = as_game(live)
        require_perfect_information(self.game.traits, "tune")
        require_planes(self.game)
        if not all(np.isfinite(self.game.traits.utility_bounds)):
            raise UnsupportedGameError(
                f"a network needs bounds of the utility, which {self.game.traits.name} has not"
            )
        self.start = self.game.snapshot(live)
        stem = self.out.removesuffix(".json")
        self.path, self.candidate = Path(f"{stem}.progress.npz"), f"{stem}.candidate.json"
        self.identity = {"env": self.env, "hidden": self.hidden}
        self.progress = self._read() if self.path.exists() else _Progress()

    def play(self, runner: Any, seconds: float) -> None:
        progress = self.progress
        work = LessonWork(self.env, self.out if progress.leads else "", self.nodes, _GAMES_OF_TASK)
        first = self.seed + 1_000_000 * progress.number + int(1000 * progress.played)
        before = saved = time.monotonic()
        with contextlib.closing(runner.run(work, range(first, first + 1_000_000))) as tasks:
            for lessons in tasks:
                progress.lessons.append(lessons)
                progress.counts[-1] += len(lessons)
                now = time.monotonic()
                progress.played += now - before
                progress.seconds += now - before
                before = now
                self.on_progress(f"generation {progress.number}: playing", min(progress.played / seconds, 1.0))
                if progress.played >= seconds and progress.counts[-1] >= _FEWEST:
                    break
                if now - saved > _SAVE_EVERY:
                    saved = now
                    self._save()
        self._save()

    def train(self, seconds: float) -> Trained:
        progress, begun, name = self.progress, time.monotonic(), f"generation {self.progress.number}: training"
        self.on_progress(name, 0.0)
        lessons = Lessons.joined(progress.lessons)
        newest = len(lessons) - progress.counts[-1]
        progress.lessons = [Lessons.joined([lessons[:newest], calibrated(lessons[newest:])])]
        lessons = progress.lessons[0][-_MOST_POSITIONS:]
        if progress.columns is None:
            ways = seat_columns(self.game, self.start, random_states(self.game), self.seed)
            progress.columns = choose_columns(ways, lessons, self.seed)
        trained = train(
            lessons, progress.columns, hidden=self.hidden, seconds=seconds, seed=self.seed + progress.number,
            outcome_share=self.outcome_share, start=progress.weights,
            on_step=lambda share: self.on_progress(name, share),
        )  # fmt: skip
        progress.weights = trained.weights
        progress.seconds += time.monotonic() - begun
        return trained

    def judge(self, trained: Trained, seconds: float) -> Generation:
        progress, begun = self.progress, time.monotonic()
        rules = rules_text(self.game.rules)
        about = NetworkOrigin(self.env, rules, progress.number, sum(progress.counts))
        trained.evaluator.save(self.candidate, about)
        try:
            has_written = features_for(self.game, self.start) is not None
            (wins, draws, losses), opponent = self._match(has_written, seconds)
            # Without a written evaluation there is nothing better to play with than any network.
            is_best = wins >= losses or not (progress.leads or has_written)
            if is_best or not progress.leads:
                trained.evaluator.save(self.out, about)
        finally:
            Path(self.candidate).unlink(missing_ok=True)
        progress.leads = progress.leads or is_best
        progress.seconds += time.monotonic() - begun
        done = Generation(
            progress.number, sum(progress.counts), trained.loss, trained.average, trained.error,
            wins, draws, losses, opponent, is_best, progress.seconds,
        )  # fmt: skip
        progress.counts = [*progress.counts[1 - _REMEMBERED :], 0]
        progress.lessons = [Lessons.joined(progress.lessons)[-sum(progress.counts) :]]
        progress.number, progress.played = progress.number + 1, 0.0
        self._save()
        return done

    def _match(self, has_written: bool, seconds: float) -> tuple[tuple[int, int, int], str]:
        moves = max(1, len(random_states(self.game)) // 40)
        least, most = _MATCH_SECONDS
        limit = seconds_a_move = f"seconds={min(max(seconds / (_MATCH_GAMES * moves), least), most):.3f}"
        if self.game.traits.chance is Chance.NONE:
            kind, limit = "alphabeta", f"{limit}, selective=game"
        else:
            kind = "expectiminimax"
        best = f"{kind}({limit})" if has_written else f"mcts({seconds_a_move})"
        if self.progress.leads:
            best = f"{kind}({limit}, evaluator={self.out!r})"
        specs = {"candidate": f"{kind}({limit}, evaluator={self.candidate!r})", "best": best}
        name = f"generation {self.progress.number}: match"
        row = play_match(
            self.env, specs, games=_MATCH_GAMES, seed=self.seed + self.progress.number,
            on_game=lambda count: self.on_progress(name, count / _MATCH_GAMES),
        )  # fmt: skip
        return (row.wins, row.draws, row.losses), best

    def _save(self) -> None:
        progress = self.progress
        progress.lessons = [Lessons.joined(progress.lessons)]
        plain = {name: getattr(progress, name) for name in _PLAIN}
        arrays: dict[str, Any] = dict(vars(progress.lessons[0]))
        if progress.weights is not None:
            arrays |= {f"weights.{name}": array for name, array in progress.weights._asdict().items()}
        if progress.columns is not None:
            arrays["columns"] = progress.columns
        try:
            write_arrays(self.path, _KIND, 1, {"identity": self.identity, **plain}, arrays, is_packed=False)
        except OSError as error:
            raise InvalidSettingError(f"cannot write {self.path}: {error.strerror or error}") from error

    def _read(self) -> _Progress:
        about, arrays = read_arrays(self.path, _KIND, 1, _ProgressHeader, _FORMS, _check_shapes)
        if about.identity != self.identity:
            raise InvalidSettingError(
                f"{self.path} is the progress of {about.identity}, not {self.identity}: remove it, or choose "
                "another file"
            )
        lessons = Lessons(*(arrays[field.name] for field in dataclasses.fields(Lessons)))
        weights = [arrays[f"weights.{name}"] for name in Weights._fields if f"weights.{name}" in arrays]
        plain = {name: getattr(about, name) for name in _PLAIN}
        plain["leads"] = plain["leads"] and Path(self.out).is_file()
        return _Progress([lessons], Weights(*weights) if weights else None, arrays.get("columns"), **plain)
