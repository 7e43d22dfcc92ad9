"""Shows that an environment's clones are right, by playing them against their originals."""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from zermelo.envs.checks.differences import Place, clocks, differences, first_difference, place_name
from zermelo.envs.checks.remarks import remarks_of
from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.generators import OutsideGenerators, global_random_guard
from zermelo.envs.clone.outside_state import OutsideState, layers_of
from zermelo.envs.clone.quiet import OUTPUT_GUARD
from zermelo.envs.clone.saved_states.saving import NO_DRAWS, draws_unseen
from zermelo.envs.clone.settings_kept import SettingsKept
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.clone.traversal import copy_generally, path_to, reachable
from zermelo.envs.errors import CloneError, InvalidSettingError, UnsupportedGameError
from zermelo.envs.live.masks import own_mask, shown_mask, wants_numpy, writes_own_last
from zermelo.envs.live.spaces import ActionCodec
from zermelo.envs.live.wrappers import game_name, of_reset, of_step, shortened
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
        raise CloneError(
            f"cannot verify clones of {game_name(driver.env)}: its {what} failed before anything was "
            f"cloned: {driver.failure}"
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


_AEC_FIELDS: Final = (
    "agents", "agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations", "infos",
)  # fmt: skip
_SEEN: Final = ("observation", "info")
_GYMNASIUM_FIELDS: Final = ("observation", "reward", "terminated", "truncated", "info")


class Raised(str):
    """The text of an error that the environment raised."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<raised {self}>"


class VerifiedEnv:
    """An environment that draws the same random numbers whatever is played beside it; ``error`` is its last one.

    Two environments that draw from generators outside of them disturb each other although nothing is wrong with a
    copy; so these start from a seed of the driver and of its step whenever the environment's code runs.
    """

    def __init__(self, env: Any, seed: int, outside: OutsideGenerators | None = None) -> None:
        self.env = env
        self._seed = seed
        self._steps = 0
        self._outside = OutsideGenerators(env) if outside is None else outside
        self._gymnasium = not (hasattr(env, "observe") and hasattr(env, "possible_agents"))
        self._asks_last = not self._gymnasium and writes_own_last(env)
        self._last: dict[str, Any] = {}
        self.error: Exception | None = None
        self.stuck = list[int]()  # the steps at which a mask allowed nothing

    @classmethod
    def start(cls, env: Any, seed: int) -> VerifiedEnv:
        """A driver that has reset its environment with the seed."""
        driver = cls(env, seed)
        driver._take(lambda: of_reset(env.reset(seed=seed)) if driver._gymnasium else env.reset(seed=seed), _SEEN)
        return driver

    def copied(self, env: Any) -> VerifiedEnv:
        """A driver for a copy of this one's environment."""
        driver = VerifiedEnv(env, self._seed, self._outside)
        driver._last, driver._steps = dict(self._last), self._steps
        return driver

    def _call(self, action: Callable[[], Any]) -> Any:
        with self._outside.guard((1_000_003 * self._seed + self._steps) % 2**32, is_reset=True), OUTPUT_GUARD:
            return self._attempt(action)

    def _attempt(self, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except Exception as error:  # whatever an environment's own code raises is something to compare
            self.error = error
            return Raised(f"{type(error).__name__}: {error}")

    def _take(self, action: Callable[[], Any], names: tuple[str, ...]) -> None:
        result = self._call(action)
        if isinstance(result, Raised):
            self._last = {"step": result}
        elif self._gymnasium:
            self._last = dict(zip(names, result, strict=True))

    @property
    def over(self) -> bool:
        """Returns whether there is nothing left to step."""
        if self._gymnasium:
            return any(self._last.get(name) for name in ("terminated", "truncated", "step"))
        agents = self._call(lambda: self.env.agents)
        return isinstance(agents, Raised) or not agents

    @property
    def failure(self) -> Raised | None:
        """The error of the last step, if it raised one."""
        return self._last.get("step")

    def step(self, action: Any) -> None:
        """Steps; what a Gymnasium environment answers becomes a part of the record."""
        if self._asks_last:  # as a loop over ``agent_iter`` does
            self._call(self.env.last)
        self._steps += 1
        self._take(lambda: of_step(self.env.step(action)), _GYMNASIUM_FIELDS)

    def record(self) -> dict[str, Any]:
        """All that can be observed of the position, copied."""
        seen = {"step": None, **self._last}
        if not self._gymnasium:
            more = self._call(self._look)
            seen.update(more if isinstance(more, dict) else {"looking": more})
        copied: dict[str, Any] = copy_generally(seen)
        return copied

    def _look(self) -> dict[str, Any]:
        env = self.env
        inner = env.unwrapped  # of an environment made by parallel_to_aec, that is the parallel one
        inner = inner if hasattr(inner, "agent_selection") else env
        seen = {name: self._attempt(partial(getattr, inner, name)) for name in _AEC_FIELDS}
        agents = seen["agents"] if isinstance(seen["agents"], list | tuple) else []
        if self._asks_last and agents:
            seen["last"] = self._attempt(env.last)
        seen["observations"] = {agent: self._attempt(partial(env.observe, agent)) for agent in agents}
        if agents and getattr(env, "render_mode", None) == "ansi":
            seen["render"] = self._attempt(env.render)
        return seen

    def choose(self, record: dict[str, Any], generator: np.random.Generator) -> Any:
        """A random legal action for the agent to move, as the environment takes it; None where it is dead."""
        if self._gymnasium:
            space, seen, info = self.env.action_space, record.get("observation"), record.get("info")
        else:
            agent = record["agent_selection"]
            if record["terminations"].get(agent) or record["truncations"].get(agent):
                return None
            space = self.env.action_space(agent)
            seen, info = record["observations"].get(agent), record["infos"].get(agent)
        return self._sample(space, seen, info, generator)

    def _sample(self, space: Any, seen: Any, info: Any, generator: np.random.Generator) -> Any:
        try:
            codec = ActionCodec(space, game_name(self.env))
        except UnsupportedGameError:  # such as a space of fractions
            own = copy.deepcopy(space)  # the environment's own space would be advanced
            type(own).seed(own, int(generator.integers(2**31)))
            return own.sample()
        mask = shown_mask(seen, info, codec)
        if mask is None and self._gymnasium:
            mask = self._call(lambda: own_mask(self.env))
        if mask is None or isinstance(mask, Raised):
            action = codec.first + int(generator.integers(codec.size))
        else:
            allowed = codec.masked(mask)
            if not allowed:
                self.stuck.append(self._steps)
            action = allowed[int(generator.integers(len(allowed)))] if allowed else codec.first
        codec.as_numpy = wants_numpy(self.env, codec, action)
        return codec.to_env(action)
