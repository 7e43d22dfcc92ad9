"""The traits of an environment that is searched through copies of it: all sources, random play the last."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from typing import Any, Final, cast

from zermelo.envs.adapters.adapter import Adapted
from zermelo.envs.adapters.facts.declared import declared_traits, declares_chance
from zermelo.envs.adapters.facts.inference import Findings, infer, remembered, watch
from zermelo.envs.adapters.facts.known import known_facts
from zermelo.envs.adapters.wrappers import game_name
from zermelo.envs.clone.generators import OutsideGenerators
from zermelo.envs.clone.kinds import UncopyableError
from zermelo.envs.clone.verify import check_clone, is_known_to_clone
from zermelo.envs.errors import CloneError, ZermeloError
from zermelo.envs.game import Chance, Information, RewardSum, Traits, TraitSource
from zermelo.envs.traits import merge_traits

_PATIENCE: Final = 10.0
"""Seconds of play, all slices together, after which what is not known stays unknown."""
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


def _watched(game: Any, raw: Any, deadline: float) -> Any:
    """The game, with the generators guarded that its steps draw from."""
    if not game.outside.used:
        return game
    names = watch(game, game.snapshot(raw), deadline)
    return game if names is None else game.with_traits(game.traits, game.outside.only(names))


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
        begun = time.perf_counter()
        self._ends = min(deadline, begun + _PATIENCE - self._spent)
        try:
            while time.perf_counter() + self._slice < self._ends:
                next(self._steps)
        except StopIteration as done:
            return cast("Adapted", done.value)
        ended = time.perf_counter()
        self._slice = max(self._slice, ended - deadline)
        self._spent += ended - begun
        return Adapted(self._game, {}, self.go_on if self._spent < _PATIENCE else None)

    def _run(self, root: Any) -> Generator[None, None, Adapted]:
        env = self._game.environment(root)
        yield from self._game.trials(root)
        try:
            check_clone(env, self._ends)
        except CloneError as error:
            if error.__cause__ is None or isinstance(error.__cause__, UncopyableError | ZermeloError):
                raise
            # The environment's own code raised while it was played alone. That is not the copy's fault, and a
            # search that gets there will say so.
        yield
        if self._settled is None:
            return Adapted(_watched(self._game, env, self._ends), {})
        findings = remembered(env)
        if findings is None:
            yield
            findings = yield from infer(self._game, root, self._game.traits.seats)
        return self._settled(findings)
