"""The traits of an environment that is searched through copies of it: all sources, random play the last."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Generator, Mapping
from typing import Any, Final, cast

import numpy as np

from zermelo.envs.clone.generators import OutsideGenerators
from zermelo.envs.clone.outside_state import OutsideState, is_known_to_clone
from zermelo.envs.errors import CloneError, UnknownTraitWarning, ZermeloError
from zermelo.envs.game import Chance, Information, RewardSum, Traits, TraitSource
from zermelo.envs.live.adapter import Adapted
from zermelo.envs.live.wrappers import game_name
from zermelo.envs.traits.declared import declared_traits, declares_chance
from zermelo.envs.traits.known_classes import known_facts
from zermelo.envs.traits.merging import merge_traits
from zermelo.envs.traits.random_play import Findings, infer, random_action, remembered

_PATIENCE: Final = 10.0
"""Seconds of play, all slices together, after which what is not known stays unknown."""
_LONGEST: Final = 1.0
"""Seconds that one step counts at most: a pause of the machine is no play."""
_TRIAL_SECONDS: Final = 0.05
_COPIES: Final = 4
"""Copies that a step of it takes at most; afterwards, how late the last slice was says how early to stop."""
_SHOWN_IN_PLAY: Final = ("reward_sum", "chance", "information", "terminal_rewards_only")


def with_traits(
    make: Callable[..., Any],
    raw: Any,
    given: Mapping[str, Any],
    deadline: float,
    *,
    seats: tuple[str, ...],
    actions: int,
    deals_again: bool,
) -> Adapted:
    """A game that works on copies, with its traits as far as they are known in time."""
    base = Traits(
        name=game_name(raw),
        seat_names=seats,
        chance=Chance.SAMPLED,
        information=Information.PERFECT,
        num_actions=actions,
        deals_again=deals_again,
        sources={"information": TraitSource.ASSUMED, "num_actions": TraitSource.KNOWN},
    )
    declared = declared_traits(raw)
    known = dict(known_facts(raw).traits_of(raw))
    if declares_chance(raw):
        known["chance"] = Chance.EXACT
    decided = {**known, **declared, **given}
    sources = ((TraitSource.GIVEN, given), (TraitSource.DECLARED, declared), (TraitSource.KNOWN, known))
    needed = [name for name in _SHOWN_IN_PLAY if name not in decided]
    if decided.get("reward_sum") == RewardSum.CONSTANT and "constant" not in decided:
        needed.append("constant")
    outside = OutsideGenerators(raw)
    if is_known_to_clone(raw):  # and to draw from its own generators alone
        outside = outside.only(())
    rest = (TraitSource.UNKNOWN, {name: getattr(base, name) for name in needed})
    if decided.get("information") == Information.HIDDEN:  # searches that deal again do not ask for the others
        needed = []
        rest = (TraitSource.ASSUMED, {"reward_sum": RewardSum.GENERAL, "constant": 0.0})
    game = make(raw, merge_traits(base, *sources, rest), outside=outside)

    def settled(findings: Findings) -> Adapted:
        by_play = ((TraitSource.INFERRED, findings.inferred), (TraitSource.ASSUMED, findings.assumed))
        drawn = outside.only(findings.draws_from) if findings.finished else outside
        traits = merge_traits(base, *sources, *by_play)
        return Adapted(game.with_traits(traits, drawn), findings.constants)

    slices = _Slices(game, game.snapshot(raw), settled if needed else None, game.copying)
    return slices.go_on(deadline)


def _try_copies(game: Any, root: Any, deadline: float) -> frozenset[str] | None:
    """Plays one game on copies, and returns the generators outside of them that its steps draw from.

    None if it does not end in time. A warning names what it changes in modules and on classes.

    Raises:
        CloneError: A copy is not the same game, or playing one changes another one.
    """
    env, state, generator = game.environment(root), root, np.random.default_rng(0)
    name, outside, seats = game_name(env), OutsideState(env), range(game.traits.seats)

    def seen(of: Any) -> list[Any]:
        with game.outside.guard(0, is_reset=True):
            return [game.sight(of, seat) for seat in seats]

    before = seen(root)
    is_stable = before == seen(root)  # it shows no time of day
    ends = min(deadline, time.perf_counter() + _TRIAL_SECONDS)
    try:
        with contextlib.suppress(ZermeloError):
            while not game.is_terminal(state) and time.perf_counter() < ends:
                state = game.probe(state, random_action(game, state, generator), int(generator.integers(2**32)))
        same = not is_stable or seen(state) == seen(game.playout_state(state))
        changes = outside.text()
        if is_stable and seen(root) != before:
            raise CloneError(f"playing a clone of {name} changes what another one shows{changes}")
        if not same:
            raise CloneError(f"the clone of {name} that has been played is not the same game{changes}")
    finally:
        outside.restore()
    if changes:
        warnings.warn(
            f"copies of {name} are not independent of it{changes}, so searches change it too; keep it in an "
            "attribute of the environment",
            UnknownTraitWarning,
            stacklevel=2,
        )
    return game.draws_from() if game.is_terminal(state) else None


class _Slices:
    """Checks copies of an environment, then plays them at random, over as many moves as that takes."""

    def __init__(
        self, game: Any, root: Any, settled: Callable[[Findings], Adapted] | None, copying: float
    ) -> None:
        self._game, self._settled = game, settled
        self._spent = self._ends = 0.0
        self._slice = _COPIES * copying
        self._steps = self._run(root)

    def go_on(self, deadline: float) -> Adapted:
        """Goes on until a time of ``time.perf_counter``; the game then has what is known of it."""
        now = time.perf_counter()
        self._ends = deadline
        try:
            while now < deadline - self._slice and self._spent < _PATIENCE:
                next(self._steps)
                begun, now = now, time.perf_counter()
                self._spent += min(now - begun, _LONGEST)
        except StopIteration as done:
            return cast("Adapted", done.value)
        self._slice = max(self._slice, now - deadline)
        return Adapted(self._game, {}, self.go_on if self._spent < _PATIENCE else None)

    def _run(self, root: Any) -> Generator[None, None, Adapted]:
        game = self._game
        yield from game.trials(root)
        env = game.environment(root)
        findings = None if self._settled is None else remembered(env)
        if findings is None and not is_known_to_clone(env):
            drawn = _try_copies(game, root, self._ends)
            if drawn is not None:
                game = game.with_traits(game.traits, game.outside.only(drawn))
            yield
        if self._settled is None:
            return Adapted(game, {})
        if findings is None:
            findings = yield from infer(self._game, root, game.traits.seats)
        return self._settled(findings)
