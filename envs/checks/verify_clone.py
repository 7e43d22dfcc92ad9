"""Shows that an environment's clones are right, by playing them against their originals."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from zermelo.envs.checks.differences import Place, clocks, differences, first_difference, place_name
from zermelo.envs.checks.remarks import remarks_of
from zermelo.envs.checks.verified_env import Raised, VerifiedEnv
from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.generators import global_random_guard
from zermelo.envs.clone.outside_state import OutsideState, layers_of
from zermelo.envs.clone.saved_states.saving import NO_DRAWS, draws_unseen
from zermelo.envs.clone.settings_kept import SettingsKept
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.clone.traversal import path_to, reachable
from zermelo.envs.errors import CloneError, InvalidSettingError
from zermelo.envs.live.failures import place_of
from zermelo.envs.live.wrappers import game_name, shortened
from zermelo.envs.registration.make import make
from zermelo.envs.support.calls import checked_call

_ASIDE_STEPS: Final = 30
_TIMED: Final = 20  # calls

_Trace = tuple[list[dict[str, Any]], list[Any]]  # the records of a game, and the actions between them


@dataclass(frozen=True, kw_only=True)
class VerifiedClones:
    """What ``verify_clone`` compared without a difference; ``print`` says it.

    Attributes:
        env: The environment's name.
        games, steps, clones: How many were played, made and compared.
        fields: What was compared after each step.
        clocks: Where numbers are that only time changes, which were not compared.
        repeats: Whether ``reset(seed=...)`` repeated each game.
        remarks: Other faults seen in the games, which do not concern clones.
        clone_seconds, step_seconds, key_seconds: What a clone, a step and a key of a state take, in the median.
    """

    env: str
    games: int
    steps: int
    clones: int
    fields: tuple[str, ...]
    clocks: tuple[str, ...]
    repeats: bool
    remarks: tuple[str, ...]
    clone_seconds: float
    step_seconds: float
    key_seconds: float

    def __str__(self) -> str:
        times = (self.clone_seconds, self.step_seconds, self.key_seconds)
        clone, step, key = (f"{1e6 * one:,.0f} us" if one < 1e-3 else f"{1e3 * one:,.1f} ms" for one in times)
        lines = [
            f"{self.env}: its clones are right. {self.clones:,} were compared in {self.games} games of "
            f"{self.steps:,} steps, by {', '.join(self.fields)}.",
            f"A clone takes {clone}, a step {step}, and a key of a state {key}.",
        ]
        if self.clocks:
            lines.append(f"Not compared, as time alone changes it: {', '.join(self.clocks)}.")
        if not self.repeats:
            lines.append(
                "reset(seed=...) does not repeat a game: the seed is not used, or not for all that is random, so "
                "tournaments cannot be repeated and no game can be shown again."
            )
        if self.remarks:
            lines.append(f"Also seen: {'; '.join(self.remarks)}.")
        return "\n".join(lines)


@checked_call
def verify_clone(
    make_env: Callable[[], Any] | str,
    *,
    games: int = 10,
    seed: int = 0,
    clone: Callable[[Any], Any] = clone_env,
    max_steps: int = 1000,
) -> VerifiedClones:
    """Plays random games on environments, on their clones and on one alone, and compares all there is to see.

    Each game is played by an environment alone, and by another one, the original, of which clones are taken along
    the way and step with it. Further clones are played on with other actions, which must not show in the original,
    nor must another environment that is played a little. Games are cut off after ``max_steps``. Clocks are not
    compared: numbers in an info, and fractions in an observation that only grow, which differ between two plays
    with the same seed in which all else is the same.

    Args:
        make_env: Makes a new environment, PettingZoo AEC or Gymnasium, not yet reset; or its name. If these keep
            state outside of themselves, in a module or on a class, its calls return the configurations that are
            used in turn: ``lambda sizes=itertools.cycle([9, 5]): go_v5.env(board_size=next(sizes))``.
        games: How many games to play.
        seed: Where the random choices start; a game is reset with a seed derived from it.
        clone: What clones an environment, to check another way of cloning.
        max_steps: Steps of a game.

    Returns:
        What was compared, and how long a clone, a step and a key take; an environment that fails is an error.

    Raises:
        CloneError: The first difference: seed, game, step, field, and both values; where state outside of the
            environment changed meanwhile, its name as well.
        InvalidSettingError: ``games`` or ``max_steps`` is less than 1, or ``make_env`` makes nothing.
    """
    if isinstance(make_env, str):
        make_env = partial(make, make_env)
    if not callable(make_env) or (hasattr(make_env, "step") and not isinstance(make_env, type)):
        is_plain = hasattr(make_env, "step") and not hasattr(make_env, "env")  # no wrapper
        advice = f"as in verify_clone({type(make_env).__name__})" if is_plain else "such as lambda: go_v5.env()"
        raise InvalidSettingError(
            f"verify_clone plays many environments, so it needs a class or a function that makes one, {advice}, "
            f"not {shortened(make_env)}"
        )
    for name, value in (("games", games), ("max_steps", max_steps)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InvalidSettingError(f"{name} must be a whole number of at least 1, not {value!r}")
    played = [_VerifiedGame(seed, number, clone) for number in range(games)]
    with SettingsKept(lambda: "the environment"), global_random_guard():
        for number, game in enumerate(played):
            streams = [np.random.default_rng([abs(seed), number, stream]) for stream in range(4)]
            last = _verify_game(make_env, game, streams, max_steps)
        names = {name: None for name in last.record() if name not in ("step", "_cumulative_rewards")}
        return VerifiedClones(
            env=game_name(last.env), games=games, steps=sum(game.step for game in played),
            clones=sum(game.clones for game in played), fields=tuple(names),
            clocks=tuple(sorted({place_name(place) for game in played for place in game.times})),
            repeats=all(game.repeats for game in played), remarks=_all_remarks(played, max_steps),
            clone_seconds=statistics.median(one for game in played for one in game.clone_seconds),
            step_seconds=statistics.median(one for game in played for one in game.step_seconds),
            key_seconds=_seconds_of(lambda: state_key(last.env)),
        )  # fmt: skip


def _all_remarks(played: list[_VerifiedGame], max_steps: int) -> tuple[str, ...]:
    found = dict[str, str]()
    for number, game in enumerate(played):
        for text, step in game.remarks:
            found.setdefault(text, f"{text} (game {number}, step {step})")
    endless = sum(game.is_cut for game in played)
    games = "1 game was" if endless == 1 else f"{endless} games were"
    cut = [f"{games} not over after {max_steps:,} steps (max_steps)"] if endless else []
    return (*found.values(), *cut)


def _seconds_of(call: Callable[[], Any]) -> float:
    times = []
    for _ in range(_TIMED):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def _verify_game(
    make_env: Callable[[], Any], game: _VerifiedGame, streams: list[np.random.Generator], max_steps: int
) -> VerifiedEnv:
    """Plays one game; returns its original."""
    env = make_env()
    shape, seed = _configuration(env), int(streams[0].integers(2**31 - 1))
    driver = VerifiedEnv.start(env, seed)
    game.outside = OutsideState(env)
    trace = _play(driver, streams[1], max_steps)
    # The same again, unless reset(seed=...) does not repeat a game: then only the clones can be compared.
    times = _replay(VerifiedEnv.start(_another(make_env, shape), seed), trace)
    game.repeats, game.is_cut = times is not None, not driver.over
    stuck = [("the mask allows nothing while the game goes on", step) for step in driver.stuck[:1]]
    game.remarks = [*stuck, *remarks_of(env, trace[0])]
    if times and game.outside.text():  # a counter outside of the environment is no clock
        times = None
    game.times = times or frozenset()
    original = VerifiedEnv.start(_another(make_env, shape), seed)
    _play(VerifiedEnv.start(make_env(), seed + 1), streams[2], 5)
    game.play(original, streams[3], max_steps, None if times is None else trace)
    return original


def _another(make_env: Callable[[], Any], shape: Any) -> Any:
    for _ in range(20):
        env = make_env()
        if _configuration(env) == shape:
            return env
    raise CloneError("make_env never made an environment of the same class and spaces again in 20 calls")


def _configuration(env: Any) -> Any:
    classes = [original_class(type(layer)) for layer in layers_of(env)]
    agents = getattr(env, "possible_agents", None)
    if agents is None:
        return classes, str(getattr(env, "action_space", None)), str(getattr(env, "observation_space", None))
    spaces = [(str(env.action_space(agent)), str(env.observation_space(agent))) for agent in agents]
    return classes, list(agents), spaces


def _play(driver: VerifiedEnv, generator: np.random.Generator, max_steps: int) -> _Trace:
    _require_success(driver, "reset")
    records, actions = [driver.record()], list[Any]()
    while not driver.over and len(actions) < max_steps:
        action = driver.choose(records[-1], generator)
        driver.step(action)
        _require_success(driver, f"step({action!r})")
        actions.append(action)
        records.append(driver.record())
    return records, actions


def _replay(driver: VerifiedEnv, trace: _Trace) -> frozenset[Place] | None:
    """Plays the actions of a trace; the places at which time alone differs, or None if it is another game."""
    records, actions = trace
    found: dict[Place, list[tuple[Any, Any]]] = {}
    for record, action in zip(records, [*actions, None], strict=True):
        for place, *values in differences(record, driver.record()):
            found.setdefault(place, []).append((values[0], values[1]))
        if clocks(found) is None:
            return None
        if not driver.over:
            driver.step(action)
    return clocks(found)


def _require_success(driver: VerifiedEnv, what: str) -> None:
    if driver.failure is not None:
        place = "" if driver.error is None else place_of(driver.error)
        raise CloneError(
            f"cannot verify clones of {game_name(driver.env)}: its {what} failed before anything was "
            f"cloned: {driver.failure}{place}"
        ) from driver.error


class _VerifiedGame:
    """A game of an environment with clones beside it, whose moments are named in errors."""

    def __init__(self, seed: int, number: int, clone: Callable[[Any], Any]) -> None:
        self._seed, self._number, self.step = seed, number, 0
        self._clone = clone
        self.clones = 0
        self.clone_seconds, self.step_seconds = list[float](), list[float]()
        self.outside: OutsideState | None = None
        self.times: frozenset[Place] = frozenset()
        self.repeats, self.is_cut = True, False
        self.remarks = list[tuple[str, int]]()

    def play(
        self, original: VerifiedEnv, generator: np.random.Generator, max_steps: int, trace: _Trace | None
    ) -> None:
        followers: list[tuple[VerifiedEnv, int]] = []
        steps = max_steps if trace is None else len(trace[1])
        record = self._record(original, trace)
        while not original.over and self.step < steps:
            early = self.step < 2
            if early or generator.random() < 0.15:
                followers = [*followers[-2:], (self._copy(original), self.step)]
            if generator.random() < 0.1:  # a clone of a clone
                followers[0] = self._copy(followers[0][0]), self.step
            if early or generator.random() < 0.1:
                self._play_aside(self._copy(original), generator)
            action = original.choose(record, generator) if trace is None else trace[1][self.step]
            started = time.perf_counter()
            original.step(action)
            self.step_seconds.append(time.perf_counter() - started)
            self.step += 1
            record = self._record(original, trace)
            for driver, taken_at in followers:
                # Stepped before it is looked at: looking may refresh what the copy got wrong.
                driver.step(action)
                self._compare(original, driver, taken_at, record)
        if original.over:
            self._compare(original, self._copy(original), self.step, record)

    def _play_aside(self, driver: VerifiedEnv, generator: np.random.Generator) -> None:
        for _ in range(_ASIDE_STEPS):
            record = driver.record()
            if driver.over or any(isinstance(value, Raised) for value in record.values()):
                return  # what is wrong with it shows in a clone that goes along
            driver.step(driver.choose(record, generator))

    def _record(self, original: VerifiedEnv, trace: _Trace | None) -> dict[str, Any]:
        record = original.record()
        found = None if trace is None else first_difference(trace[0][self.step], record, self.times)
        if found is not None:
            where, alone, now = found[0], shortened(found[1]), shortened(found[2])
            raise CloneError(
                f"cloning or another environment disturbs {game_name(original.env)} ({self._moment()}): {where} "
                f"is {now}, but {alone} when it is played alone{self._causes(original)}"
            )
        return record

    def _compare(
        self, original: VerifiedEnv, follower: VerifiedEnv, taken_at: int, record: dict[str, Any]
    ) -> None:
        found = first_difference(record, follower.record(), self.times)
        if found is not None:
            where, theirs, copied = found[0], shortened(found[1]), shortened(found[2])
            raise CloneError(
                f"the clone of {game_name(original.env)} taken at step {taken_at} is not the same game "
                f"({self._moment()}): {where} is {copied} in the clone, but {theirs} in the "
                f"original{self._causes(original)}"
            )

    def _copy(self, driver: VerifiedEnv) -> VerifiedEnv:
        env, started = driver.env, time.perf_counter()
        try:
            copied = self._clone(env)
        except CloneError as error:
            raise CloneError(f"{error} ({self._moment()}{self._causes(driver)})") from error
        except Exception as error:
            raise CloneError(
                f"{game_name(env)} could not be cloned ({self._moment()}): {type(error).__name__}: {error}"
            ) from error
        if copied is env or original_class(type(copied)) is not original_class(type(env)):
            wrong = "the environment itself" if copied is env else f"a {type(copied).__name__}"
            raise CloneError(f"the clone of {game_name(env)} is {wrong} ({self._moment()})")
        self.clone_seconds.append(time.perf_counter() - started)
        self.clones += 1
        return driver.copied(copied)

    def _moment(self) -> str:
        return f"seed {self._seed}, game {self._number}, step {self.step}"

    def _causes(self, driver: VerifiedEnv) -> str:
        """Possible causes: state outside of the object, sets, whose order may differ in a copy, and emulators."""
        sets = [path_to(driver.env, obj) for obj in reachable(driver.env) if type(obj) is set and len(obj) > 1]
        order = (
            f"; a copy may go through a set, or pop from it, in another order: {', '.join(sets[:3])} (where the "
            "order matters, keep a dict or a list, or take the least)"
        )
        chancy = [path_to(driver.env, obj) for obj in reachable(driver.env) if draws_unseen(type(obj))]
        draws = f"; copies of {', '.join(chancy)} draw other random numbers: compare without them ({NO_DRAWS})"
        outside = "" if self.outside is None else self.outside.text()
        return outside + (order if sets else "") + (draws if chancy else "")
