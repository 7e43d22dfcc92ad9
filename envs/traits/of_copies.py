"""The traits of an environment that is searched through copies of it: all sources, random play the last."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
import numpy as np

from zermelo.envs.clone.generators import OutsideGenerators
from zermelo.envs.clone.outside_state import OutsideState, is_known_to_clone
from zermelo.envs.errors import CloneError, UnknownTraitWarning, ZermeloError
from zermelo.envs.game import Chance, Information, RewardSum, Traits, TraitSource
from zermelo.envs.live.configuration import configuration
from zermelo.envs.live.wrappers import game_name
from zermelo.envs.support.waiting import OutOfPatience, Patience
from zermelo.envs.traits.declared import declared_traits, declares_chance
from zermelo.envs.traits.findings import Findings, recall, remember
from zermelo.envs.traits.known_classes import known_class
from zermelo.envs.traits.merging import Adapted, merge_traits
from zermelo.envs.traits.observability import random_action
from zermelo.envs.traits.random_play import infer

_TRIAL_SECONDS: Final = 0.3
_warned: Final[set[str]] = set()
_SHOWN_IN_PLAY: Final = ("reward_sum", "chance", "information", "terminal_rewards_only")
_ASSUMED: Final[Mapping[str, Any]] = {
    "information": Information.PERFECT, "chance": Chance.NONE, "terminal_rewards_only": False,
}  # fmt: skip
"""What is assumed where there was no time to play; and two players are opposed."""


def with_traits(
    make: Callable[..., Any],
    raw: Any,
    given: Mapping[str, Any],
    patience: float,
    *,
    seats: tuple[str, ...],
    actions: int,
    deals_again: bool,
) -> Adapted:
    """A game that works on copies, with its traits: those that are remembered, or that play shows in time."""
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
    of_class = dict(known_class(raw).traits_of(raw))
    if declares_chance(raw):
        of_class["chance"] = Chance.EXACT
    decided = {**of_class, **declared, **given}
    sources = ((TraitSource.GIVEN, given), (TraitSource.DECLARED, declared), (TraitSource.KNOWN, of_class))
    needed = {name for name in _SHOWN_IN_PLAY if name not in decided}
    if decided.get("reward_sum") == RewardSum.CONSTANT and "constant" not in decided:
        needed.add("constant")
    if decided.get("information") == Information.HIDDEN:  # searches that deal again do not ask for the others
        needed = set()
    outside = OutsideGenerators(raw)
    is_known = is_known_to_clone(raw)
    if is_known:  # and to draw from its own generators alone
        outside = outside.only(())
    rest = (TraitSource.ASSUMED, {**_ASSUMED, "reward_sum": RewardSum.GENERAL, "constant": 0.0})
    game = make(raw, merge_traits(base, *sources, rest), outside=outside)
    if is_known and not needed:
        return Adapted(game, {})
    findings = recall(raw)
    if findings is None or not findings.serves(needed, patience):
        fresh = _found(game, raw, needed, patience, is_known=is_known)
        if fresh.is_done or findings is None or patience > 0:
            findings = fresh
        if patience > 0:
            remember(raw, findings)
    for warning in (f"{game_name(raw)} {note}" for note in findings.notes):
        if warning not in _warned:
            _warned.add(warning)
            warnings.warn(warning, UnknownTraitWarning, stacklevel=5)
    by_play = ((TraitSource.INFERRED, findings.inferred), (TraitSource.ASSUMED, findings.assumed))
    if findings.games or is_known:
        outside = outside.only(findings.draws_from)
    game.learn(findings)
    game = game.with_traits(merge_traits(base, *sources, *by_play), outside)
    return Adapted(game, findings.constants, findings.enough)


def _found(game: Any, raw: Any, needed: set[str], patience: float, *, is_known: bool) -> Findings:
    seats = game.traits.seats
    opposed = {"reward_sum": RewardSum.ZERO if seats == 2 else RewardSum.GENERAL, "constant": 0.0}
    findings = Findings(inferred={}, assumed={**_ASSUMED, **opposed}, needed=tuple(sorted(needed)), is_done=False)
    if patience <= 0:
        return findings
    limit = Patience(patience, f"finding out what {game_name(raw)} is, by playing copies of it")
    changes = ""
    try:
        root = game.snapshot(raw)
        if not is_known:
            changes = _try_copies(game, root, limit)
        if needed or not is_known:
            findings = infer(game, root, seats, needed, limit)
    except OutOfPatience:
        pass
    finally:
        limit.end()
    if not findings.is_done:
        constants = findings.constants or configuration(raw)
        findings = msgspec.structs.replace(findings, constants=constants, seconds=min(limit.spent, patience))
    if changes:
        note = f"has copies that change it{changes}, so searches do too; keep that in an attribute of it"
        findings = msgspec.structs.replace(findings, notes=(note, *findings.notes))
    return findings


def _try_copies(game: Any, root: Any, patience: Patience) -> str:
    """Plays one game on copies, and returns the text that names what that changes in modules and on classes.

    Raises:
        CloneError: A copy is not the same game, or playing one changes another one.
    """
    env, state, generator = game.environment(root), root, np.random.default_rng(0)
    name, outside, seats = game_name(env), OutsideState(env), range(game.traits.seats)

    def seen(of: Any) -> list[Any]:
        with game.outside.guard(0, is_reset=True):
            return [game.observation_key(of, seat) for seat in seats]

    before = seen(root)
    is_stable = before == seen(root)  # it shows no time of day
    ends = time.perf_counter() + min(_TRIAL_SECONDS, patience.left)
    try:
        with contextlib.suppress(ZermeloError):
            while not game.is_terminal(state) and time.perf_counter() < ends:
                state = game.probe(state, random_action(game, state, generator), int(generator.integers(2**32)))
                patience.check()
        same = not is_stable or seen(state) == seen(game.playout_state(state))
        changes = outside.text()
        if is_stable and seen(root) != before:
            raise CloneError(f"playing a clone of {name} changes what another one shows{changes}")
        if not same:
            raise CloneError(f"the clone of {name} that has been played is not the same game{changes}")
    finally:
        outside.restore()
    return changes
