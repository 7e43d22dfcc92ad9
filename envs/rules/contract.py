"""The names of the methods that rules have, and a check for misspelt ones."""

from __future__ import annotations

import difflib
import functools
import inspect
from typing import Final

from zermelo.envs.errors import RulesError
from zermelo.envs.rules.protocol import Rules

_NEVER_COMPILED: Final = (
    "action_aliases", "action_text", "check", "evaluates_before_chance", "future", "hides_more", "image",
    "information_state_key", "moves_so_far", "observation", "observation_bounds", "observation_dtype",
    "observation_shape", "playout_moves", "received", "resample", "round_start", "search_settings", "seat_names",
    "text",
)  # fmt: skip
METHODS: Final = frozenset({*(name for name in vars(Rules) if not name.startswith("_")), *_NEVER_COMPILED})
"""Every method of rules that this package calls."""
_SIMILAR: Final = 0.75
"""From this ratio of ``difflib`` on, names with one first letter and about one length are taken for one name."""
_LENGTHS: Final = 3


@functools.lru_cache(maxsize=256)
def require_known_names(kind: type) -> None:
    """Checks that no public method of a rules class looks like a misspelt method of the contract.

    A name that resembles one which the same class also writes is a helper's.

    Raises:
        RulesError: A method would silently be ignored.
    """
    for part in kind.__mro__:
        written = {name for name, value in vars(part).items() if inspect.isroutine(value) or _is_property(value)}
        for name in written - METHODS:
            if name.startswith("_") or part in (tuple, object):
                continue
            alike = [known for known in METHODS - written if _may_be_meant(known, name)]
            nearest = difflib.get_close_matches(name, alike, 1, _SIMILAR)
            if nearest:
                raise RulesError(
                    f"{part.__name__}.{name} is no method of rules: did you mean {nearest[0]}? (Begin the name of "
                    "a helper with an underscore.)"
                )


def _may_be_meant(known: str, name: str) -> bool:
    return known[0] == name[0] and abs(len(known) - len(name)) <= _LENGTHS


def _is_property(value: object) -> bool:
    return isinstance(value, property | functools.cached_property | staticmethod | classmethod)
