"""Proves that an environment's clones are right, by playing them against their originals."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.outside_generators import OutsideGenerators, global_random_guard
from zermelo.envs.clone.outside_state import OutsideState, layers_of
from zermelo.envs.clone.player import Player, Raised, first_difference
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.clone.traversal import path_to, reachable
from zermelo.envs.errors import CloneError, InvalidSettingError, UnknownTraitWarning

_KNOWN_PACKAGES: Final = ("pettingzoo.classic.", "pettingzoo.utils.", "shimmy.", "zermelo.", "rlcard.")
_ASIDE_STEPS: Final = 30
_CHECK_STEPS: Final = 40
_CHECK_SECONDS: Final = 0.05
_MAX_TRIES: Final = 4
CHECKED: Final = set[Any]()
"""Classes and configurations whose clones were found to be right."""
_tries: Final = dict[Any, int]()


def verify_clone(
    make_env: Callable[[], Any],
    *,
    games: int = 10,
    seed: int = 0,
    clone: Callable[[Any], Any] = clone_env,
    max_steps: int = 1000,
) -> None:
    """Plays random games on environments, on their clones and on one alone, and compares all there is to see.

    Each game is played three times with the same seed and the same actions: by an environment alone; by another
    one, the original, of which clones are taken along the way; and by these clones, in step with the original.
    Further clones are played on with other actions, which must not show in the original. Before the second playing
    ``make_env`` is called once more and that environment is played a little too: one environment must not disturb
    another.

    If the environments keep state outside of themselves, in a module or on a class, give a ``make_env`` whose
    calls return the configurations that are used side by side, in turn, such as
    ``lambda sizes=itertools.cycle([9, 5]): go_v5.env(board_size=next(sizes))``.

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
            f"lambda: connect_four_v3.env(), not {_short(make_env)}"
        )
    for name, value in (("games", games), ("max_steps", max_steps)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InvalidSettingError(f"{name} must be a whole number of at least 1, not {value!r}")
    with global_random_guard():
        for game in range(games):
            _verify_game(make_env, _Game(seed, game, clone, max_steps))


class _UnlikeAloneError(Exception):
    """The original, with clones beside it, did not play as an environment alone did."""


@dataclass
class _Trace:
    records: list[dict[str, Any]]
    actions: list[Any]


@dataclass
class _Game:
    """One game of an environment with clones beside it.

    Attributes:
        seed: Where the random choices of all games start.
        number: Which of them this is.
        clone: Clones an environment.
        max_steps: Where the game is cut off.
        deadline: The time of ``time.perf_counter`` at which it is cut off.
        outside: The state outside of the environment before it began.
    """

    seed: int
    number: int
    clone: Callable[[Any], Any]
    max_steps: int
    deadline: float = math.inf
    outside: OutsideState | None = None
    step: int = field(default=0, init=False)

    def generator(self, stream: int) -> np.random.Generator:
        """The generator of one purpose."""
        return np.random.default_rng([abs(self.seed), self.number, stream])

    def play_alone(self, player: Player, stream: int, max_steps: int, deadline: float = math.inf) -> _Trace:
        """Plays random legal actions to the end, or as far as the limits allow."""
        generator = self.generator(stream)
        _require_success(player, "reset")
        trace = _Trace([player.record()], [])
        while not player.over and len(trace.actions) < max_steps:
            if trace.actions and time.perf_counter() >= deadline:
                break
            action = player.choose(trace.records[-1], generator)
            player.step(action)
            _require_success(player, f"step({action!r})")
            trace.actions.append(action)
            trace.records.append(player.record())
        return trace

    def play(self, original: Player, trace: _Trace | None) -> None:
        """Plays the actions of the trace, or random ones, and compares after every step."""
        generator = self.generator(3)
        followers: list[tuple[Player, int]] = []
        record = original.record()
        self.step = 0
        self._compare_with_alone(original, trace, record)
        steps = self.max_steps if trace is None else len(trace.actions)
        while not original.over and self.step < steps and (not self.step or time.perf_counter() < self.deadline):
            early = self.step < 2
            if early or generator.random() < 0.15:
                followers = [*followers[-2:], (self._copy(original), self.step)]
            if generator.random() < 0.1:  # a clone of a clone
                followers[0] = self._copy(followers[0][0]), self.step
            if early or generator.random() < 0.08:  # only the first is played to its end
                self._play_aside(
                    self._copy(original), generator, self.max_steps if not self.step else _ASIDE_STEPS
                )
            action = original.choose(record, generator) if trace is None else trace.actions[self.step]
            self.step += 1
            original.step(action)
            record = original.record()
            self._compare_with_alone(original, trace, record)
            for player, taken_at in followers:
                # Stepped before it is looked at: looking may refresh what the copy got wrong.
                player.step(action)
                self._compare(original, player, taken_at, record)
        if original.over:
            self._compare(original, self._copy(original), self.step, record)

    def _play_aside(self, player: Player, generator: np.random.Generator, steps: int) -> None:
        for _ in range(steps):
            record = player.record()
            failed = player.failure is not None or any(isinstance(value, Raised) for value in record.values())
            if failed or player.over or time.perf_counter() >= self.deadline:
                return  # what is wrong with it shows in a clone that goes along
            player.step(player.choose(record, generator))

    def _copy(self, player: Player) -> Player:
        try:
            copied = self.clone(player.env)
        except CloneError as error:
            raise CloneError(f"{error} ({self._moment()}{self._more(player)})") from error
        except Exception as error:
            raise CloneError(
                f"{_name(player.env)} could not be cloned ({self._moment()}): {type(error).__name__}: {error}"
            ) from error
        if copied is player.env or original_class(type(copied)) is not original_class(type(player.env)):
            wrong = "the environment itself" if copied is player.env else f"a {type(copied).__name__}"
            raise CloneError(f"the clone of {_name(player.env)} is {wrong} ({self._moment()})")
        return player.copied(copied)

    def _compare_with_alone(self, original: Player, trace: _Trace | None, record: dict[str, Any]) -> None:
        found = None if trace is None else first_difference(trace.records[self.step], record)
        if found is not None:
            raise _UnlikeAloneError(
                f"cloning or another environment disturbs {_name(original.env)} ({self._moment()}): {found[0]} is "
                f"{_short(found[2])}, but {_short(found[1])} when it is played alone{self._more(original)}"
            )

    def _compare(self, original: Player, follower: Player, taken_at: int, record: dict[str, Any]) -> None:
        found = first_difference(record, follower.record())
        if found is not None:
            raise CloneError(
                f"the clone of {_name(original.env)} taken at step {taken_at} is not the same game "
                f"({self._moment()}): {found[0]} is {_short(found[2])} in the clone, but {_short(found[1])} in "
                f"the original{self._more(original)}"
            )

    def _moment(self) -> str:
        return f"seed {self.seed}, game {self.number}, step {self.step}"

    def _more(self, player: Player) -> str:
        """Possible causes: state outside of the object, and sets, whose order may differ in a copy."""
        sets = [path_to(player.env, obj) for obj in reachable(player.env) if type(obj) is set and len(obj) > 1]
        order = (
            f"; a copy may go through a set, or pop from it, in another order: {', '.join(sets[:3])} (where the "
            "order matters, keep a dict or a list, or take the least)"
        )
        return _outside_text(self.outside) + (order if sets else "")


def _verify_game(make_env: Callable[[], Any], game: _Game) -> None:
    alone_env = make_env()
    shape = _configuration(alone_env)
    seed = int(game.generator(0).integers(2**31 - 1))
    alone = Player.start(alone_env, seed)
    game.outside = OutsideState(alone_env)
    trace = game.play_alone(alone, 1, game.max_steps)

    def play(trace: _Trace | None) -> None:
        original = Player.start(_another(make_env, shape), seed)
        game.play_alone(Player.start(make_env(), seed + 1), 2, 5)
        game.play(original, trace)

    try:
        play(trace)
    except _UnlikeAloneError as error:
        if _repeats(Player.start(_another(make_env, shape), seed), trace):
            raise CloneError(str(error)) from None
        play(None)  # reset(seed=...) does not repeat a game: only the clones can be compared


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


def _require_success(player: Player, what: str) -> None:
    if player.failure is not None:
        raise CloneError(
            f"cannot verify clones of {_name(player.env)}: with no clone about, its own {what} raised "
            f"{player.failure.text}"
        ) from player.failure.error


def _repeats(player: Player, trace: _Trace) -> bool:
    for record, action in zip(trace.records, [*trace.actions, None], strict=True):
        if first_difference(record, player.record()) is not None:
            return False
        if not player.over:
            player.step(action)
    return True


def _outside_text(outside: OutsideState | None) -> str:
    changes = [] if outside is None else outside.changes()
    if not changes:
        return ""
    more = f" and {len(changes) - 3} more" if len(changes) > 3 else ""
    return f"; state outside the object changed: {', '.join(changes[:3])}{more}"


def _name(env: Any) -> str:
    inner = getattr(env, "unwrapped", env)
    metadata = getattr(inner, "metadata", None)
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return str(name or type(inner).__qualname__)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


# -- the short form, before a search


def check_clone(env: Any, deadline: float = math.inf) -> bool:
    """Plays a copy of a live environment, and looks whether the environment or another copy notices.

    The first search on an environment asks for it. It is done once for each class and configuration, and not for
    environments that are known to clone right. A warning names what copies share with the environment in modules
    or on classes, and change.

    Returns:
        Whether it is done; what there was no time for is done when it is asked for again, a few times.

    Raises:
        CloneError: A copy is not the same, or not independent.
    """
    copied = clone_env(env)  # raises what can be known without playing
    key = (tuple(original_class(type(layer)) for layer in layers_of(env)), repr(_configuration(env)))
    if is_known_to_clone(env) or key in CHECKED:
        return True
    outside, before = OutsideState(env), _key_or_none(env)
    tries = _tries[key] = _tries.get(key, -1) + 1
    game = _Game(0, tries, clone_env, _CHECK_STEPS, deadline, outside)
    try:
        with OutsideGenerators(env).guard(0):
            other, player = Player(clone_env(env), 0), Player(copied, 0)
            seen = other.record()
            is_stable = first_difference(seen, other.record()) is None  # it shows no time of day
            ends = min(deadline, time.perf_counter() + _CHECK_SECONDS)
            trace = game.play_alone(player, 1, _CHECK_STEPS, ends)
            found = first_difference(seen, other.record()) if is_stable else None
            again = player.copied(clone_env(copied))
            wrong = first_difference(player.record(), again.record()) if is_stable else None
        changes = _outside_text(outside)
        if found is not None:
            raise CloneError(
                f"playing a clone of {_name(env)} changes another one: {found[0]} is {_short(found[2])}, but "
                f"{_short(found[1])} before{changes}"
            )
        if wrong is not None:
            raise CloneError(
                f"the clone of {_name(env)} after {len(trace.actions)} steps is not the same game: {wrong[0]} is "
                f"{_short(wrong[2])} in the clone, but {_short(wrong[1])} in the original{changes}"
            )
        if before is not None and _key_or_none(env) != before:
            raise CloneError(f"playing a clone of {_name(env)} changes the environment itself{changes}")
    finally:
        outside.restore()
    if time.perf_counter() >= deadline and tries < _MAX_TRIES:
        return False
    CHECKED.add(key)
    if changes:
        warnings.warn(
            f"copies of {_name(env)} are not independent of it{changes}, so searches change it too; keep it in an "
            "attribute of the environment",
            UnknownTraitWarning,
            stacklevel=2,
        )
    return True


def is_known_to_clone(env: Any) -> bool:
    """Whether all of it, wrappers included, is of packages whose environments this package's tests clone."""
    return all(type(layer).__module__.startswith(_KNOWN_PACKAGES) for layer in layers_of(env))


def _key_or_none(env: Any) -> Any:
    try:
        return state_key(env)
    except CloneError:
        return None
