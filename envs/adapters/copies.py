"""Games whose states are copies of a live environment: what AEC and Gymnasium have in common."""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, Self

import numpy as np

from zermelo.envs.adapters.copied_state import CopiedState
from zermelo.envs.adapters.watching import Assumed
from zermelo.envs.clone.clone_env import copier_for
from zermelo.envs.clone.copy_classes import original_class
from zermelo.envs.clone.generators import OutsideGenerators, generator_states, replace_generators
from zermelo.envs.clone.key_plan import written_key
from zermelo.envs.clone.outside_state import is_known_to_clone
from zermelo.envs.clone.quiet import OUTPUT_GUARD
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.clone.traversal import defines_own, reachable
from zermelo.envs.errors import (
    CloneError,
    EnvFailedError,
    EnvFailureWarning,
    GameOverError,
    ZermeloError,
    illegal_action,
    warn_once,
)
from zermelo.envs.game import CHANCE, Chance, Traits, TraitSource
from zermelo.envs.live.failures import place_of
from zermelo.envs.live.masks import OF_TYPES
from zermelo.envs.live.spaces import ActionCodec
from zermelo.envs.live.wrappers import game_name, is_dead
from zermelo.envs.traits.findings import Findings
from zermelo.envs.traits.hidden_order import shuffle_lists
from zermelo.envs.traits.known_classes import known_class
from zermelo.envs.traits.observability import differences

_SLOW: Final = 0.02  # seconds that a copy takes which is worth a comparison


class CopiedGame:
    """The game of an environment, in which a state is a copy of it.

    Args:
        raw: The environment, or a copy of it, below its checking wrappers.
        template: Makes the copy from which resets start.
        traits: What is known about the game.
        outside: The random generators that steps may draw from and the environment does not hold, which are put
            back after every step; by default all there are.
        seed: Where the game's own stream of random numbers starts, for ``result`` of sampled chance.

    Attributes:
        as_numpy: Whether actions are given to the environment as integers of NumPy's.
        pays_by_rewards: Whether ``rewards`` count, and not what ``last()`` pays.
        ignored_paths: Attributes that are no part of a key, as ``state_key`` takes them.
        noisy: Parts of what is shown that differ although nothing else does, such as a clock.
        keys_are_slow: Whether a key takes longer than several moves, so that searches do without.
        assumed: What nobody has told of it, for searches to watch.
    """

    pays_by_rewards = False
    knows_what_was_paid = False
    """Utilities begin at zero where a live environment stands."""

    def __init__(
        self, raw: Any, template: Callable[[], Any], traits: Traits, outside: OutsideGenerators | None, seed: int
    ) -> None:
        self._template, self.copying = _timed(template)
        self._copy = copier_for(self._template)
        if self.copying > _SLOW:  # the first may have made what all others use, such as an emulator
            self.copying = min(self.copying, _timed(lambda: self._copy(self._template))[1])
        self._name = game_name(raw)
        known = known_class(raw)
        self._fast_key, self._hidden = known.key, known.hidden_of(raw)
        self._is_known = is_known_to_clone(raw)  # whose spaces never change
        self.outside = OutsideGenerators(raw) if outside is None else outside
        self._generator = np.random.default_rng(seed)
        self._codecs: dict[int, ActionCodec] = {}
        self.as_numpy = self.keys_are_slow = False
        self.ignored_paths: dict[str, dict[str, str]] = {}
        self.noisy: frozenset[str] = frozenset()
        self._failures, self._bytes, self._kind = [0], list[int](), original_class(type(raw))
        self._set_traits(traits, None)

    def with_traits(self, traits: Traits, outside: OutsideGenerators, assumed: Assumed | None = None) -> Self:
        """This game with other traits; states of one are states of the other."""
        changed = copy.copy(self)
        changed._set_traits(traits, assumed or None)
        changed.outside = outside
        return changed

    def _set_traits(self, traits: Traits, assumed: Assumed | None) -> None:
        self.traits, self.assumed = traits, assumed
        self._sampled = traits.chance is Chance.SAMPLED
        # No step draws from them, which zermelo knows or searches watch; a user who says so may want to foresee.
        is_known = traits.chance is Chance.NONE and traits.source("chance") is TraitSource.KNOWN
        self._shares_generators = is_known or (assumed is not None and assumed.looks_at_generators)

    def learn(self, findings: Findings) -> None:
        """Has the game play as random play has shown that the environment wants it."""
        self.leave_out(findings.ignored_paths)
        self.keys_are_slow, self.noisy = findings.slow_keys, frozenset(findings.noisy)
        self.pays_by_rewards = self.pays_by_rewards or findings.pays_by_rewards
        if findings.as_numpy:
            self.takes_numpy()

    @property
    def failures(self) -> int:
        """How many lines of play were left out because the environment failed in them."""
        return self._failures[0]

    def record_failure(self, error: Exception) -> None:
        """Counts a line of play that a search leaves out, and warns of it, once for each place in the code."""
        self._failures[0] += 1
        place = getattr(error.__cause__, "__traceback__", None)
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        about = str(error) if place is None else (place.tb_frame.f_code.co_filename, place.tb_lineno)
        text = f"{error}; lines of play that run into this are left out, and nothing is proven"
        warn_once(self._kind, text, EnvFailureWarning, about)

    def state_bytes(self, state: CopiedState) -> int:
        """The memory that a state takes, in bytes: measured on the first one."""
        if not self._bytes:
            self._bytes.append(sum(map(sys.getsizeof, reachable(state.env))))
        return self._bytes[0]

    def tell_once(self, text: str, kind: type[Warning], about: str = "") -> None:
        """Warns, once for environments of this class, of the same text or the same subject."""
        warn_once(self._kind, f"{self._name} {text}", kind, about)

    def watched(self, state: CopiedState) -> CopiedState:
        """A state as the root of a search, whose steps are watched where something is assumed."""
        if self.assumed is None:
            return state
        root = replace(state)
        root.watch = self.assumed.watch(root)
        return root

    def to_move(self, state: CopiedState) -> int:
        return state.mover

    def is_terminal(self, state: CopiedState) -> bool:
        return state.over

    def utility(self, state: CopiedState) -> tuple[float, ...]:
        """The sum of rewards over the steps since the first state, seat by seat."""
        return state.totals

    def legal_actions(self, state: CopiedState) -> tuple[int, ...]:
        actions = state.actions
        if actions is None:
            is_asked = not state.over and state.mover != CHANCE
            actions = state.actions = self._find_actions(state) if is_asked else ()
        return actions

    def chance_outcomes(self, state: CopiedState) -> tuple[tuple[int, float], ...]:
        return tuple((number, probability) for number, (_, probability) in enumerate(state.outcomes))

    def result(self, state: CopiedState, action: int) -> CopiedState:
        return self._advance(state, action, self._generator if self._sampled else None)

    def sample_result(self, state: CopiedState, action: int, generator: np.random.Generator) -> CopiedState:
        return self._advance(state, action, generator)

    def playout_state(self, state: CopiedState) -> CopiedState:
        return replace(state, env=self._copy(state.env, self._shares_generators))

    def play_on(
        self, state: CopiedState, action: int, generator: np.random.Generator | None = None
    ) -> CopiedState:
        if self._sampled and generator is None:
            generator = self._generator
        return self._advance(state, action, generator, state.env)

    def play_out(self, state: CopiedState, random: Callable[[], int]) -> None:
        return None

    def key(self, state: CopiedState) -> Hashable:
        if state.key is None:
            inside = self.position(state) if self._fast_key is None else self._fast_key(state.env)
            state.key = (state.mover, state.over, inside)
        return state.key

    def to_env_action(self, state: CopiedState, action: int) -> Any:
        return self._codec_of(state).to_env(action)

    def snapshot(self, env: Any) -> CopiedState:
        """The position of a live environment now."""
        raise NotImplementedError

    def initial_state(self, seed: int = 0) -> CopiedState:
        raise NotImplementedError

    # -- what an adapter says ------------------------------------------------------------------------------------

    def _space(self, state: CopiedState, seat: int) -> Any:
        """The action space of a seat, which may be another one in each state."""
        raise NotImplementedError

    def _find_actions(self, state: CopiedState) -> tuple[int, ...]:
        raise NotImplementedError

    def _after(self, state: CopiedState, env: Any, returned: Any) -> CopiedState:
        """The state after a step of ``env``, a copy of that of ``state``."""
        raise NotImplementedError

    def _apply_outcome(self, state: CopiedState, index: int, env: Any = None) -> CopiedState:
        raise NotImplementedError

    def _draw_again(self, env: Any, generator: np.random.Generator) -> None:
        """Draws again, before a step, what the environment holds but no player sees."""
        if self.traits.drawn_again:
            shuffle_lists(env, self.traits.drawn_again, generator)

    def _whose(self, state: CopiedState) -> str:
        """Ends the message on an action that is not legal."""
        return f"in {self._name}"

    def _hint(self, state: CopiedState) -> str:
        return ""

    def _codec_of(self, state: CopiedState) -> ActionCodec:
        state.codec = state.codec or self._codec(state, max(state.mover, 0))
        return state.codec

    def _codec(self, state: CopiedState, seat: int) -> ActionCodec:
        codec = self._codecs.get(seat)
        if codec is not None and self._is_known:
            return codec
        space = self._space(state, seat)
        if codec is None or (codec.space is not space and codec.space != space):
            codec = self._codecs[seat] = ActionCodec(space, self._owner(seat), as_numpy=self.as_numpy)
        return codec

    def _owner(self, seat: int) -> str:
        return self._name

    def _position(self, live: Any, copied: Callable[[Any], Any]) -> Any:
        """A copy of a live environment: the one there is, where copying is slow and nothing has happened."""
        if self.copying > _SLOW and defines_own(type(live), "__deepcopy__") and not is_dead(live):
            try:
                if state_key(live) == state_key(self._template):
                    return self._template
            except CloneError:  # something in it cannot be compared
                pass
        return copied(live)

    def _reset(self, seed: int) -> tuple[Any, Any]:
        env = self._copy(self._template)
        replace_generators(env, np.random.default_rng(seed))  # for environments that do not look at the seed
        with self.outside.guard(seed % 2**32, is_reset=True), self._blame(f"reset(seed={seed})"):
            returned = env.reset(seed=seed)
        replace_generators(env, self._generator)
        return env, returned

    def _advance(
        self, state: CopiedState, action: int, generator: np.random.Generator | None, env: Any = None
    ) -> CopiedState:
        """The state after an action: of a copy of its environment, unless the environment to step is given."""
        if state.over:
            raise GameOverError(f"{self._name} is over: there is no action to play")
        if state.mover == CHANCE:
            after = self._apply_outcome(state, action, env)
        else:
            actions = self.legal_actions(state) if state.actions is None else state.actions
            if action not in actions:
                raise illegal_action(action, self._whose(state), actions)
            after = self._played(state, action, generator, env)
        if state.watch is not None:
            after.watch = state.watch
            state.watch.see(state, action, after)
        return after

    def _played(
        self, state: CopiedState, action: int, generator: np.random.Generator | None, env: Any
    ) -> CopiedState:
        codec = self._codec_of(state)
        try:
            return self._stepped(state, codec.to_env(action), generator, env)
        except EnvFailedError as failure:
            if env is not None or codec.as_numpy or not isinstance(failure.__cause__, OF_TYPES):
                raise
            self.takes_numpy()  # numbers as ``space.sample()`` gives them
            try:
                return self._stepped(state, codec.to_env(action), generator, env)
            except EnvFailedError:
                self.takes_numpy(False)
                raise failure from failure.__cause__

    def takes_numpy(self, takes: bool = True) -> None:
        """Has actions be given as integers of NumPy's, or again as Python's."""
        self.as_numpy = takes
        for codec in self._codecs.values():
            codec.as_numpy = takes

    def _stepped(
        self, state: CopiedState, env_action: Any, generator: np.random.Generator | None, env: Any
    ) -> CopiedState:
        if env is None:
            env = self._copy(state.env, self._shares_generators and generator is None)
        watched_by = None if state.watch is None else self.assumed
        if generator is not None:
            if watched_by is None or not watched_by.by_order:
                replace_generators(env, generator)
            self._draw_again(env, generator)
        outside = self.outside if watched_by is None else watched_by.outside
        with self._guarded(outside, generator) if outside.used else OUTPUT_GUARD:
            try:
                return self._after(state, env, env.step(env_action))
            except ZermeloError as error:
                raise type(error)(f"{error} (after step({env_action!r}))") from error.__cause__
            except Exception as error:
                raise self._failure(f"step({env_action!r})", error, self._hint(state)) from error

    @contextmanager
    def _guarded(self, outside: OutsideGenerators, generator: np.random.Generator | None) -> Iterator[None]:
        seed = 0 if generator is None else int(generator.integers(2**32))
        with outside.guard(seed), OUTPUT_GUARD:
            yield

    @contextmanager
    def _blame(self, what: str) -> Iterator[None]:
        try:
            with OUTPUT_GUARD:
                yield
        except ZermeloError:
            raise
        except Exception as error:
            raise self._failure(what, error) from error

    def _failure(self, what: str, error: Exception, hint: str = "") -> EnvFailedError:
        return EnvFailedError(
            f"{self._name} raised {type(error).__name__} in {what} on a copy of the environment: {error}"
            f"{place_of(error)}{hint}"
        )

    # -- what random play asks (zermelo.envs.traits.observability.Playable) ---------------------------------

    def play(self, state: CopiedState, action: int) -> CopiedState:
        return self._advance(state, action, None)

    def probe(self, state: CopiedState, action: int, seed: int) -> CopiedState:
        """The state after an action with all randomness from a seed."""
        return self._advance(state, action, np.random.default_rng(seed))

    def foretell(self, state: CopiedState, env_action: Any) -> CopiedState:
        """The state after an action as the environment takes it, with the copy's own generators."""
        return self._stepped(state, env_action, None, self._copy(state.env))

    def differs_by_chance(self, before: CopiedState, action: int, after: CopiedState) -> bool:
        """Whether an action leads elsewhere with other random numbers."""
        if before.mover == CHANCE:
            return False
        return bool(differences(self, after, self.probe(replace(before, watch=None), action, 1)))

    def drew(self, before: CopiedState, after: CopiedState) -> bool:
        return generator_states(before.env) != generator_states(after.env)

    def permuted(self, state: CopiedState) -> CopiedState:
        return replace(state, env=self._copy(state.env), seen=None, actions=None, key=None)

    def sides_said(self, state: CopiedState) -> Mapping[str, Any]:
        return {}

    def draws_from(self) -> frozenset[str]:
        return frozenset(self.outside.drawn)

    def rewards_now(self, state: CopiedState) -> tuple[float, ...] | None:
        """The environment's ``rewards``, seat by seat; None where it has none."""
        return None

    def observation_key(self, state: CopiedState, seat: int) -> Hashable:
        """A value of what a seat observes; None where that is not known."""
        raise NotImplementedError

    def leave_out(self, attributes: Mapping[str, Mapping[str, str]]) -> None:
        for cls, names in attributes.items():
            self.ignored_paths[cls] = {**self.ignored_paths.get(cls, {}), **names}

    def position(self, state: CopiedState) -> Any:
        return state_key(state.env, self.ignored_paths) if self.ignored_paths else written_key(state.env)

    def environment(self, state: CopiedState) -> Any:
        return state.env


def _timed(make: Callable[[], Any]) -> tuple[Any, float]:
    """Calls a function. Returns its result and the seconds it took."""
    begun = time.perf_counter()
    return make(), time.perf_counter() - begun
