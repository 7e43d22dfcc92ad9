"""Proves that an environment's clones are right, by playing them against their originals."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.outside_generators import OutsideGenerators, global_random_guard
from zermelo.envs.clone.outside_state import OutsideState
from zermelo.envs.clone.player import Player, Raised, Trace, Where, first_difference
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.clone.traversal import path_to, reachable
from zermelo.envs.errors import CloneError, InvalidSettingError, UnknownTraitWarning

Clone = Callable[[Any], Any]

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
    clone: Clone = clone_env,
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
            _verify_game(make_env, Where(seed, game), clone, max_steps)


def _verify_game(make_env: Callable[[], Any], where: Where, clone: Clone, max_steps: int) -> None:
    alone_env = make_env()
    shape = _configuration(alone_env)
    alone = Player.start(alone_env, where.env_seed())
    outside = OutsideState(alone_env)
    trace = play_alone(alone, where.generator(1), max_steps)

    def play(trace: Trace | None) -> None:
        original = Player.start(_another(make_env, shape), where.env_seed())
        neighbour = Player.start(make_env(), where.env_seed() + 1)
        play_alone(neighbour, where.generator(2), 5)
        _Trial(original, where, clone, max_steps, outside).play(trace)

    try:
        play(trace)
    except UnlikeAloneError as error:
        if _is_reproducible(_another(make_env, shape), where, trace):
            raise CloneError(str(error)) from None
        play(None)  # reset(seed=...) does not repeat a game: only the clones can be compared


def _another(make_env: Callable[[], Any], shape: Any) -> Any:
    """The next environment of the same configuration, as ``make_env`` may return several in turn."""
    for _ in range(20):
        env = make_env()
        if _configuration(env) == shape:
            return env
    raise CloneError("make_env never made an environment of the same class and spaces again in 20 calls")


def _configuration(env: Any) -> Any:
    classes = [original_class(type(layer)) for layer in _layers(env)]
    agents = getattr(env, "possible_agents", None)
    if agents is None:
        return classes, str(getattr(env, "action_space", None)), str(getattr(env, "observation_space", None))
    spaces = [(str(env.action_space(agent)), str(env.observation_space(agent))) for agent in agents]
    return classes, list(agents), spaces


def play_alone(
    player: Player, generator: np.random.Generator, max_steps: int, deadline: float = math.inf
) -> Trace:
    """Plays random legal actions to the end, or as far as the limits allow."""
    _require_success(player, "reset")
    trace = Trace([player.record()], [])
    while not player.over and len(trace.actions) < max_steps:
        if trace.actions and time.perf_counter() >= deadline:
            break
        action = player.choose(trace.records[-1], generator)
        player.step(action)
        _require_success(player, f"step({action!r})")
        trace.actions.append(action)
        trace.records.append(player.record())
    return trace


def _require_success(player: Player, what: str) -> None:
    if player.failure is not None:
        raise CloneError(
            f"cannot verify clones of {_name(player.env)}: with no clone about, its own {what} raised "
            f"{player.failure.text}"
        ) from player.failure.error


def _is_reproducible(env: Any, where: Where, trace: Trace) -> bool:
    """Whether an environment alone plays the same game again; it may ignore the seed of ``reset``."""
    return repeats(Player.start(env, where.env_seed()), trace)


def repeats(player: Player, trace: Trace) -> bool:
    """Whether a player sees the same when it plays the actions of a trace."""
    for record, action in zip(trace.records, [*trace.actions, None], strict=True):
        if first_difference(record, player.record()) is not None:
            return False
        if not player.over:
            player.step(action)
    return True


class UnlikeAloneError(Exception):
    """The original, with clones about, did not play as an environment alone did."""


@dataclass
class _Follower:
    player: Player
    taken_at: int


class _Trial:
    """One game of an original with its clones beside it."""

    def __init__(
        self,
        original: Player,
        where: Where,
        clone: Clone,
        max_steps: int,
        outside: OutsideState,
        deadline: float = math.inf,
    ) -> None:
        self.original = original
        self.where = where
        self.clone = clone
        self.max_steps = max_steps
        self.outside = outside
        self.deadline = deadline
        self.generator = where.generator(3)
        self.followers: list[_Follower] = []

    def play(self, trace: Trace | None) -> None:
        """Plays the actions of the trace, or random ones, and compares after every step."""
        record = self.original.record()
        self.compare_with_alone(trace, record, 0)
        step = 0
        steps = self.max_steps if trace is None else len(trace.actions)
        while not self.original.over and step < steps and (step == 0 or time.perf_counter() < self.deadline):
            self.take_clones(step)
            action = self.original.choose(record, self.generator) if trace is None else trace.actions[step]
            step += 1
            self.original.step(action)
            record = self.original.record()
            self.compare_with_alone(trace, record, step)
            for follower in self.followers:
                # Stepped before it is looked at: looking may refresh what the copy got wrong.
                follower.player.step(action)
                self.compare_with_original(follower, record, step)
        if self.original.over:
            self.compare_with_original(_Follower(self.copy(self.original, step), step), record, step)

    def take_clones(self, step: int) -> None:
        """Sometimes takes a clone to go along, a clone of a clone, or one that is played on by itself."""
        early = step < 2
        if early or self.generator.random() < 0.15:
            self.followers = [*self.followers[-2:], _Follower(self.copy(self.original, step), step)]
        if self.generator.random() < 0.1:
            first = self.followers[0]
            self.followers[0] = _Follower(self.copy(first.player, step), step)
        if early or self.generator.random() < 0.08:
            # The first is played to its end; in long games that would be too slow for every one.
            self.play_aside(self.copy(self.original, step), self.max_steps if step == 0 else _ASIDE_STEPS)

    def play_aside(self, player: Player, steps: int) -> None:
        record = player.record()
        for _ in range(steps):
            if (
                time.perf_counter() >= self.deadline
                or player.over
                or any(isinstance(value, Raised) for value in record.values())
            ):
                return  # what is wrong with it shows in a clone that goes along
            player.step(player.choose(record, self.generator))
            if player.failure is not None:
                return
            record = player.record()

    def copy(self, player: Player, step: int) -> Player:
        try:
            copied = self.clone(player.env)
        except CloneError as error:
            raise CloneError(f"{error} ({self.moment(step)}{self.outside_text()})") from error
        except Exception as error:
            raise CloneError(
                f"{_name(player.env)} could not be cloned ({self.moment(step)}): {type(error).__name__}: {error}"
            ) from error
        if copied is player.env or original_class(type(copied)) is not original_class(type(player.env)):
            wrong = "the environment itself" if copied is player.env else f"a {type(copied).__name__}"
            raise CloneError(f"the clone of {_name(player.env)} is {wrong} ({self.moment(step)})")
        return player.copied(copied)

    def compare_with_alone(self, trace: Trace | None, record: dict[str, Any], step: int) -> None:
        if trace is None:
            return
        found = first_difference(trace.records[step], record)
        if found is not None:
            raise UnlikeAloneError(
                f"cloning or another environment disturbs {_name(self.original.env)} ({self.moment(step)}): "
                f"{_field(found[0])} is {_short(found[2])}, but {_short(found[1])} when it is played "
                f"alone{self.outside_text()}"
            )

    def compare_with_original(self, follower: _Follower, record: dict[str, Any], step: int) -> None:
        found = first_difference(record, follower.player.record())
        if found is not None:
            raise CloneError(
                f"the clone of {_name(self.original.env)} taken at step {follower.taken_at} is not the same game "
                f"({self.moment(step)}): {_field(found[0])} is {_short(found[2])} in the clone, but "
                f"{_short(found[1])} in the original{self.outside_text()}"
            )

    def moment(self, step: int) -> str:
        return f"seed {self.where.seed}, game {self.where.game}, step {step}"

    def outside_text(self) -> str:
        return _outside_text(self.outside) + _sets_text(self.original.env)


def _outside_text(outside: OutsideState) -> str:
    changes = outside.changes()
    if not changes:
        return ""
    more = f" and {len(changes) - 3} more" if len(changes) > 3 else ""
    return f"; state outside the object changed: {', '.join(changes[:3])}{more}"


def _sets_text(env: Any) -> str:
    """Sets that an environment holds: rules that depend on their order are not the same in a copy."""
    sets = [path_to(env, obj) for obj in reachable(env) if type(obj) is set and len(obj) > 1]
    if not sets:
        return ""
    return (
        f"; a copy may go through a set, or pop from it, in another order: {', '.join(sets[:3])} (where the order "
        "matters, keep a dict or a list, or take the least)"
    )


def _field(place: str) -> str:
    """``['rewards']['player_1']`` as ``rewards['player_1']``."""
    name, _, rest = place.removeprefix("['").partition("']")
    return name + rest


def _name(env: Any) -> str:
    inner = getattr(env, "unwrapped", env)
    metadata = getattr(inner, "metadata", None)
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return str(name or type(inner).__qualname__)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


def check_clone(env: Any, deadline: float = math.inf) -> bool:
    """A short form of ``verify_clone`` from the current position of a live environment, which it does not change.

    The first search on an environment runs it. It is done once for each class and configuration, not at all for
    environments that are known to clone right, and takes some tenths of a second at most. A warning names what
    copies share with the environment in modules or on classes, and change.

    Args:
        env: The environment.
        deadline: The time of ``time.perf_counter`` at which to give up.

    Returns:
        Whether it is done: some steps are compared each time, and a few times are enough.

    Raises:
        CloneError: As ``verify_clone``.
    """
    clone_env(env)  # raises what can be known without playing
    if is_known_to_clone(env):
        return True
    key = (tuple(original_class(type(layer)) for layer in _layers(env)), repr(_configuration(env)))
    if key in CHECKED:
        return True
    outside = OutsideState(env)
    before = _key_or_none(env)
    try:
        with OutsideGenerators(env).guard(0):
            tries = _tries[key] = _tries.get(key, -1) + 1
            for game in (2 * tries, 2 * tries + 1):
                if game % 2 == 0 or time.perf_counter() < deadline:
                    _check_game(env, clone_env(env), game, outside, deadline)
        changes = _outside_text(outside)
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


def _check_game(env: Any, alone_env: Any, game: int, outside: OutsideState, deadline: float) -> None:
    where = Where(0, game)
    alone = Player.at(alone_env, game)
    again = Player.at(clone_env(env), game)
    original = Player.at(clone_env(env), game)
    ends = min(deadline, time.perf_counter() + _CHECK_SECONDS)
    trace = play_alone(alone, where.generator(1), _CHECK_STEPS, ends)
    try:
        _Trial(original, where, clone_env, _CHECK_STEPS, outside, deadline).play(trace)
    except (UnlikeAloneError, CloneError) as error:
        if outside.changes() or repeats(again, trace):
            raise CloneError(str(error)) from None
        # It draws from a source that nobody can copy, such as the operating system's: two clones never agree.


def is_known_to_clone(env: Any) -> bool:
    """Whether all of it, wrappers included, is of packages whose environments this package's tests clone."""
    return all(type(layer).__module__.startswith(_KNOWN_PACKAGES) for layer in _layers(env))


def _layers(env: Any) -> list[Any]:
    layers = []
    layer = env
    while layer is not None:
        layers.append(layer)
        layer = getattr(layer, "__dict__", {}).get("env") if hasattr(layer, "step") else None
    return layers


def _key_or_none(env: Any) -> Any:
    try:
        return state_key(env)
    except CloneError:
        return None
