"""Signs that one Gymnasium environment plays several sides in turn: it says at each step whose move it is.

Looked for are usual names of that, in the attributes of its layers and of objects in them, in observations and in
``info``. What they say is compared from step to step (``named_sides``).
"""

from __future__ import annotations

import enum
import itertools
import numbers
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.kinds import fields_of
from zermelo.envs.live.wrappers import layers

_NAMES: Final = frozenset((
    "active_player", "agent_selection", "agent_to_move", "cur_player", "current_agent", "current_color",
    "current_colour", "current_mark", "current_player", "current_player_id", "current_player_idx",
    "current_player_num", "current_side", "current_turn", "mover", "next_player", "player_to_move", "player_turn",
    "side_to_move", "to_move", "to_play", "turn", "whose_turn",
))  # fmt: skip
_MOST_SIDES: Final = 8
_CHANGES: Final = 3
"""So often it changes at least, and takes a value again, if it is no count of turns."""


def sides_said(env: Any, observation: Any, info: Any) -> dict[str, Any]:
    """Whose move it is, by all names under which an environment says it."""
    found: dict[str, Any] = {}
    for where, values in _places(env, observation, info):
        for name, value in values.items():
            if isinstance(name, str) and name.lstrip("_") in _NAMES and (plain := _plain(value)) is not None:
                found[f"{where}{name}"] = plain
    return found


def _places(env: Any, observation: Any, info: Any) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    for layer in layers(env):
        fields = fields_of(layer)
        yield "", fields
        for name, value in fields.items():
            if not isinstance(value, Mapping | np.ndarray) and hasattr(value, "__dict__"):
                yield f"{name}.", fields_of(value)
    yield from (
        (f"{where} ", one)
        for where, one in (("observation", observation), ("info", info))
        if isinstance(one, Mapping)
    )


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic) and np.size(value) == 1:
        value = value.item() if isinstance(value, np.generic) else value.reshape(-1)[0].item()
    return value if isinstance(value, bool | numbers.Integral | str | enum.Enum) else None


def named_sides(said: Sequence[Mapping[str, Any]]) -> str:
    """The name under which an environment says, move by move of a game, whose turn it is; empty if none does."""
    for name in said[0] if said else ():
        values = [step[name] for step in said if name in step]
        changes = sum(one != other for one, other in itertools.pairwise(values))
        different = len(set(map(repr, values)))
        if changes >= _CHANGES and 2 <= different <= _MOST_SIDES and changes >= different:
            return name
    return ""
