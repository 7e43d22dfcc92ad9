"""Traits from all sources: field by field the most trusted one that says something decides (``TraitSource``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.game import Evidence, RewardSum, Traits, TraitSource
from zermelo.envs.support.spec_text import unknown_setting

PATIENCE: Final = 1.0
"""Seconds that random play may take, if nothing else is said: searches go on watching."""
_FOUND: Final = ("sources", "evidence", "seat_names", "name", "deals_again", "drawn_again")
_SETTABLE: Final = (*(field.name for field in fields(Traits) if field.name not in _FOUND), "name")


def checked_traits(mapping: Any, where: str = "traits") -> dict[str, Any]:
    """Fields of ``Traits`` that somebody gave or declared, completed; none of None.

    Raises:
        InvalidSettingError: Not a mapping of fields of ``Traits``, nor ``Traits``.
    """
    if mapping is None:
        return {}
    if isinstance(mapping, Traits):
        return {name: getattr(mapping, name) for name in _SETTABLE}
    if not isinstance(mapping, Mapping):
        raise InvalidSettingError(f"{where} must map names of Traits fields to values, not {mapping!r}")
    unknown = [name for name in mapping if name not in _SETTABLE]
    if unknown:
        raise unknown_setting(where, str(unknown[0]), _SETTABLE, "has no field", "there are")
    try:
        Traits(**{"name": "", "seat_names": (), **mapping})
    except InvalidSettingError as error:
        raise InvalidSettingError(f"{where}: {error}") from None
    chosen = dict(mapping)
    # A constant without a word on the kind of sum, or a kind without its constant, is completed.
    if "constant" in chosen and "reward_sum" not in chosen:
        chosen["reward_sum"] = RewardSum.CONSTANT if chosen["constant"] else RewardSum.ZERO
    elif chosen.get("reward_sum") in (RewardSum.ZERO, RewardSum.GENERAL):
        chosen.setdefault("constant", 0.0)
    return chosen


def merge_traits(
    base: Traits,
    *found: tuple[TraitSource, Mapping[str, Any]],
    evidence: Mapping[TraitSource, Mapping[str, Evidence]] = MappingProxyType({}),
) -> Traits:
    """Traits with fields decided by sources, the most trusted first; what none decides is as in ``base``.

    ``evidence`` is that of fields that were seen or are assumed.
    """
    values: dict[str, Any] = {}
    sources: dict[str, TraitSource] = dict(base.sources)
    for source, mapping in reversed(found):
        values |= mapping
        sources |= dict.fromkeys(mapping, source)
    rests_on = {
        name: evidence[source][name] for name, source in sources.items() if name in evidence.get(source, ())
    }
    return replace(base, **values, sources=sources, evidence=rests_on)


class AdaptedGame(NamedTuple):
    """An environment as a game.

    Attributes:
        sufficient_patience: The patience in seconds with which random play would show no more than it did.
        is_current: Says whether nothing was seen since that changes its traits.
    """

    game: Any
    sufficient_patience: float = math.inf
    is_current: Callable[[], bool] = lambda: True
