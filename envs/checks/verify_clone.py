"""Shows that an environment's clones are right, by playing them against their originals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from zermelo.envs.checks.verified_play import Raised, VerifiedEnv, first_difference
from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.generators import global_random_guard
from zermelo.envs.clone.outside_state import OutsideState, layers_of
from zermelo.envs.clone.traversal import path_to, reachable
from zermelo.envs.errors import CloneError, InvalidSettingError
from zermelo.envs.live.wrappers import game_name, shortened
from zermelo.envs.support.calls import explained

_ASIDE_STEPS: Final = 30

_Trace = tuple[list[dict[str, Any]], list[Any]]  # the records of a game, and the actions between them


@explained
def verify_clone(
    make_env: Callable[[], Any],
    *,
    games: int = 10,
    seed: int = 0,
    clone: Callable[[Any], Any] = clone_env,
    max_steps: int = 1000,
) -> None:
    """Plays random games on environments, on their clones and on one alone, and compares all there is to see.

    Each game is played by an environment alone, and by another one, the original, of which clones are taken along
    the way and step with it. Further clones are played on with other actions, which must not show in the original,
    nor must another environment that is played a little.

    If the environments keep state outside of themselves, in a module or on a class, give a ``make_env`` whose
    calls return the configurations that are used side by side, in turn, such as ``lambda sizes=itertools.cycle([9,
    5]): go_v5.env(board_size=next(sizes))``.

    Args:
        make_env: Makes a new environment, PettingZoo AEC or Gymnasium, not yet reset.
        games: How many games to play.
        seed: Where the random choices start; a game is reset with a seed derived from it.
        clone: What clones an environment, to check another way of cloning.
        max_steps: Where a longer game is cut off.

    Raises:
        CloneError: The first difference: seed, game, step, field, and both values; where state outside of the
            environment changed meanwhile, its name as well.
        InvalidSettingError: ``games`` or ``max_steps`` is less than 1, or ``make_env`` makes nothing.
    """
    if not callable(make_env) or (hasattr(make_env, "step") and not isinstance(make_env, type)):
        raise InvalidSettingError(
            "verify_clone plays many environments, so it needs a function that makes one, such as "
            f"lambda: connect_four_v3.env(), not {shortened(make_env)}"
        )
    for name, value in (("games", games), ("max_steps", max_steps)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InvalidSettingError(f"{name} must be a whole number of at least 1, not {value!r}")
    with global_random_guard():
        for number in range(games):
            streams = [np.random.default_rng([abs(seed), number, stream]) for stream in range(4)]
            _verify_game(make_env, _VerifiedGame(seed, number, clone), streams, max_steps)


def _verify_game(
    make_env: Callable[[], Any], game: _VerifiedGame, streams: list[np.random.Generator], max_steps: int
) -> None:
    env = make_env()
    shape, seed = _configuration(env), int(streams[0].integers(2**31 - 1))
    driver = VerifiedEnv.start(env, seed)
    game.outside = OutsideState(env)
    trace = _play(driver, streams[1], max_steps)
    # The same again, unless reset(seed=...) does not repeat a game: then only the clones can be compared.
    again = _replay(VerifiedEnv.start(_another(make_env, shape), seed), trace)
    original = VerifiedEnv.start(_another(make_env, shape), seed)
    _play(VerifiedEnv.start(make_env(), seed + 1), streams[2], 5)
    game.play(original, streams[3], max_steps, trace if again else None)


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


def _replay(driver: VerifiedEnv, trace: _Trace) -> bool:
    """Returns whether the actions of a trace lead to its records again."""
    records, actions = trace
    for record, action in zip(records, [*actions, None], strict=True):
        if first_difference(record, driver.record()) is not None:
            return False
        if not driver.over:
            driver.step(action)
    return True


def _require_success(driver: VerifiedEnv, what: str) -> None:
    if driver.failure is not None:
        raise CloneError(
            f"cannot verify clones of {game_name(driver.env)}: its {what} failed before anything was "
            f"cloned: {driver.failure}"
        ) from driver.error


class _VerifiedGame:
    """A game of an environment with clones beside it, whose moments are named in errors."""

    def __init__(self, seed: int, number: int, clone: Callable[[Any], Any]) -> None:
        self._seed, self._number, self._step = seed, number, 0
        self._clone = clone
        self.outside: OutsideState | None = None

    def play(
        self, original: VerifiedEnv, generator: np.random.Generator, max_steps: int, trace: _Trace | None
    ) -> None:
        followers: list[tuple[VerifiedEnv, int]] = []
        steps = max_steps if trace is None else len(trace[1])
        record = self._record(original, trace)
        while not original.over and self._step < steps:
            early = self._step < 2
            if early or generator.random() < 0.15:
                followers = [*followers[-2:], (self._copy(original), self._step)]
            if generator.random() < 0.1:  # a clone of a clone
                followers[0] = self._copy(followers[0][0]), self._step
            if early or generator.random() < 0.1:
                self._play_aside(self._copy(original), generator)
            action = original.choose(record, generator) if trace is None else trace[1][self._step]
            original.step(action)
            self._step += 1
            record = self._record(original, trace)
            for driver, taken_at in followers:
                # Stepped before it is looked at: looking may refresh what the copy got wrong.
                driver.step(action)
                self._compare(original, driver, taken_at, record)
        if original.over:
            self._compare(original, self._copy(original), self._step, record)

    def _play_aside(self, driver: VerifiedEnv, generator: np.random.Generator) -> None:
        for _ in range(_ASIDE_STEPS):
            record = driver.record()
            if driver.over or any(isinstance(value, Raised) for value in record.values()):
                return  # what is wrong with it shows in a clone that goes along
            driver.step(driver.choose(record, generator))

    def _record(self, original: VerifiedEnv, trace: _Trace | None) -> dict[str, Any]:
        record = original.record()
        found = None if trace is None else first_difference(trace[0][self._step], record)
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
        found = first_difference(record, follower.record())
        if found is not None:
            where, theirs, copied = found[0], shortened(found[1]), shortened(found[2])
            raise CloneError(
                f"the clone of {game_name(original.env)} taken at step {taken_at} is not the same game "
                f"({self._moment()}): {where} is {copied} in the clone, but {theirs} in the "
                f"original{self._causes(original)}"
            )

    def _copy(self, driver: VerifiedEnv) -> VerifiedEnv:
        env = driver.env
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
        return driver.copied(copied)

    def _moment(self) -> str:
        return f"seed {self._seed}, game {self._number}, step {self._step}"

    def _causes(self, driver: VerifiedEnv) -> str:
        """Possible causes: state outside of the object, and sets, whose order may differ in a copy."""
        sets = [path_to(driver.env, obj) for obj in reachable(driver.env) if type(obj) is set and len(obj) > 1]
        order = (
            f"; a copy may go through a set, or pop from it, in another order: {', '.join(sets[:3])} (where the "
            "order matters, keep a dict or a list, or take the least)"
        )
        outside = "" if self.outside is None else self.outside.text()
        return outside + (order if sets else "")
