"""Signs that one Gymnasium environment plays several sides in turn: it says at each step whose move it is.

Names are looked for by the words that they are made of (``next_player_to_play``), in the attributes of its layers
and of objects in them, in observations and in ``info``. Their values are compared from step to step
(``named_sides``). A name such as ``player`` may be anything: it counts where two values take turns in all games.
"""

from __future__ import annotations

import enum
import functools
import itertools
import numbers
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from zermelo.envs.clone.kinds import fields_of
from zermelo.envs.live.wrappers import layers

_WHO: Final = frozenset(("agent", "color", "colour", "mark", "player", "seat", "side", "symbol", "team"))
_WHEN: Final = frozenset(("active", "cur", "curr", "current", "next", "selected", "to", "whose"))
_TURN: Final = frozenset(("mover", "turn"))
_BESIDE: Final = frozenset((
    "act", "black", "first", "go", "id", "idx", "index", "is", "move", "name", "no", "num", "number", "o", "of",
    "on", "play", "red", "s", "second", "white", "x", "yellow",
))  # fmt: skip
_WHOLE: Final = (["agent", "selection"], ["to", "move"], ["to", "play"], ["to", "act"])
_SURE: Final = frozenset(("agent", "player", "seat", "side", "team"))
"""A current colour or mark may be that of a piece."""
_WORD: Final = re.compile(r"[a-z]+|[A-Z][a-z]*|[0-9]+")
_MOST_SIDES: Final = 8
_CHANGES: Final = 3
"""So often it changes at least, and takes a value again, if it is no count of turns."""
_TURNS: Final = 12
"""So often two values take turns at least, under a name that leaves doubt."""


def sides_said(env: Any, observation: Any, info: Any) -> dict[str, Any]:
    """Whose move it is, by all names under which an environment says it."""
    found: dict[str, Any] = {}
    for where, values in _places(env, observation, info):
        for name, value in values.items():
            if (
                isinstance(name, str)
                and _names_sides(name) is not None
                and (plain := plain_side(value)) is not None
            ):
                found[f"{where}{name}"] = plain
    return found


def _places(env: Any, observation: Any, info: Any) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    for layer in layers(env):
        fields = fields_of(layer)
        yield "", fields
        for name, value in fields.items():
            if not isinstance(value, Mapping | np.ndarray) and hasattr(value, "__dict__"):
                yield f"{name}.", fields_of(value)
    for where, shown in (("observation ", observation), ("info ", info)):
        if isinstance(shown, Mapping):
            yield where, shown


def plain_side(value: Any) -> Any:
    """A truth value, an integer, text or a member of an enumeration, as Python's own; None for anything else."""
    if isinstance(value, np.ndarray | np.generic) and np.size(value) == 1:
        value = value.item()
    return value if isinstance(value, bool | numbers.Integral | str | enum.Enum) else None


@functools.lru_cache(maxsize=4096)
def _names_sides(name: str) -> bool | None:
    """Whether a name says whose move it is; None if it does not, False if that is in doubt."""
    words = [word.lower() for word in _WORD.findall(name)]
    if words in _WHOLE:
        return True
    kinds = set(words)
    if not kinds or not kinds <= _WHO | _WHEN | _TURN | _BESIDE:
        return None
    if kinds & _TURN or (kinds & _SURE and kinds & _WHEN) or (kinds & _BESIDE and {"to", "move"} <= kinds):
        return True
    return False if kinds & _WHO else None


def named_sides(games: Sequence[Sequence[Mapping[str, Any]]]) -> str:
    """The name under which an environment says, move by move of games, whose turn it is; empty if none does."""
    names = dict.fromkeys(name for said in games for step in said for name in step)
    for name in names:
        played = [[step[name] for step in said if name in step] for said in games]
        is_sure = _names_sides(re.split(r"[. ]", name)[-1])
        if any(map(_changes_sides, played)) if is_sure else _take_turns(played):
            return name
    return ""


def _changes_sides(values: Sequence[Any]) -> bool:
    changes = sum(one != other for one, other in itertools.pairwise(values))
    different = len(set(map(repr, values)))
    return changes >= _CHANGES and 2 <= different <= _MOST_SIDES and changes >= different


def _take_turns(games: Sequence[Sequence[Any]]) -> bool:
    """Whether two values take turns in all games; what is said at the end is not looked at."""
    steps = [pair for values in games for pair in itertools.pairwise(values[:-1])]
    different = {repr(value) for values in games for value in values[:-1]}
    return len(steps) >= _TURNS and len(different) == 2 and all(one != other for one, other in steps)
