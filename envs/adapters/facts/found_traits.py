"""The traits of an environment that is searched through copies of it: all sources, random play the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from zermelo.envs.adapters.facts.declared import declared_traits, declares_chance
from zermelo.envs.adapters.facts.global_random import may_use_global_random
from zermelo.envs.adapters.facts.inference import Findings, infer, remembered
from zermelo.envs.adapters.facts.known import known_facts
from zermelo.envs.adapters.wrappers import game_name
from zermelo.envs.clone.kinds import UncopyableError
from zermelo.envs.clone.verify import check_clone
from zermelo.envs.errors import CloneError, ZermeloError
from zermelo.envs.game import Chance, Information, RewardSum, Traits, TraitSource
from zermelo.envs.traits import merge_traits

__all__ = ["with_traits"]


def with_traits(
    make: Callable[..., Any], raw: Any, given: Mapping[str, Any], *, seats: tuple[str, ...], actions: int
) -> tuple[Any, Mapping[str, Any]]:
    """A game that works on copies with its traits found, and the configuration for which they hold.

    Args:
        make: Called with the environment, its traits and ``uses_global_random``.
        raw: The environment.
        given: Fields of ``Traits`` that the caller gave.
        seats: The names of its seats.
        actions: How many different actions it has.
    """
    declared = declared_traits(raw)
    known = dict(known_facts(raw).traits_of(raw))
    base = Traits(
        name=game_name(raw),
        seat_names=seats,
        chance=Chance.SAMPLED,
        information=Information.PERFECT,
        num_actions=actions,
        sources={"information": TraitSource.ASSUMED, "num_actions": TraitSource.KNOWN},
    )
    if declares_chance(raw):
        known["chance"] = Chance.EXACT
    decided = {**known, **declared, **given}
    hidden = decided.get("information") == Information.HIDDEN
    traits_of_play = ("reward_sum", "chance", "information", "terminal_rewards_only")
    needed = [name for name in traits_of_play if name not in decided]
    if decided.get("reward_sum") == "constant_sum" and "constant" not in decided:
        needed.append("constant")
    uses_global = may_use_global_random(raw)
    inferred: Mapping[str, Any] = {}
    assumed: Mapping[str, Any] = {}
    constants: Mapping[str, Any] = {}
    if hidden:  # no search will look at it, so nothing need be found out
        assumed = {"reward_sum": RewardSum.GENERAL, "constant": 0.0}
    else:
        _check_copies(raw)
    if needed and not hidden:
        findings = _findings(make, raw, base, len(seats))
        inferred, assumed = findings.inferred, findings.assumed
        uses_global = uses_global or findings.uses_global_random
        constants = findings.constants
    traits = merge_traits(
        base,
        (TraitSource.GIVEN, given),
        (TraitSource.DECLARED, declared),
        (TraitSource.KNOWN, known),
        (TraitSource.INFERRED, inferred),
        (TraitSource.ASSUMED, assumed),
    )
    return make(raw, traits, uses_global_random=uses_global), constants


def _check_copies(raw: Any) -> None:
    """Plays a copy beside another, once for a class, before the first search relies on copies."""
    try:
        check_clone(raw)
    except CloneError as error:
        if error.__cause__ is None or isinstance(error.__cause__, UncopyableError | ZermeloError):
            raise
        # The environment's own code raised while it was played alone. That is not the copy's fault, and a search
        # that gets there will say so.


def _findings(make: Callable[..., Any], raw: Any, base: Traits, seats: int) -> Findings:
    findings = remembered(raw)
    if findings is None:
        game = make(raw, base, uses_global_random=True)
        findings = infer(game, game.snapshot(raw), seats)
    return findings
