"""Environments and answers on their way between processes.

Environments are sent as what they hold (``zermelo.envs.clone.packing``).

No die is sent along: the random generators of the copy that travels are given a fresh state first. Nor are cards
that the agent has not seen: what is hidden from it is dealt again, where that can be done.

Answers come from a process that runs somebody's own code, so they are read by an unpickler that knows plain values
and arrays of numbers and nothing else.
"""

from __future__ import annotations

import io
import pickle
import warnings
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from zermelo.envs.adapters.aec import deal_unseen
from zermelo.envs.clone.clone_env import clone_env
from zermelo.envs.clone.generators import replace_generators
from zermelo.envs.clone.packing import NOT_PACKED, packed
from zermelo.envs.errors import EnvFailedError, UnknownTraitWarning, UnsupportedGameError
from zermelo.envs.live.wrappers import game_name
from zermelo.evaluation.match.text import shown


def pack_env(env: Any, generator: np.random.Generator, *, for_all: bool = False) -> bytes:
    """A copy of a live environment as bytes, with other dice, and other cards where the agent to move sees none.

    Where something is hidden that nobody can deal again, a warning says so, once a game. With ``for_all`` nobody's
    cards are sent along, not those of the agent to move either.
    """
    try:
        copy = clone_env(env)
        replace_generators(copy, generator)
        _deal_again(copy, generator, for_all)
        return packed(copy)
    except NOT_PACKED as error:
        raise UnsupportedGameError(
            f"{game_name(env)} cannot be shown to an agent in a process of its own ({error}): play with "
            "isolate='none' (--isolate none), without limits on time and memory"
        ) from error


_peeked: set[str] = set()


def _deal_again(copy: Any, generator: np.random.Generator, for_all: bool) -> None:
    name, agents = game_name(copy), list(getattr(copy, "possible_agents", None) or []) if for_all else []
    try:
        is_done = deal_unseen(copy, generator, agents)
    except Exception as error:  # whatever the environment's own code raises
        raise EnvFailedError(
            f"{name} raised {type(error).__name__} as it dealt again what the agent has not seen: {error}"
        ) from error
    if not is_done and name not in _peeked:
        _peeked.add(name)
        warnings.warn(
            f"{name} hides something from its players, but does not say how to deal it again: agents in processes "
            "of their own are sent all of it, and could look. Write information_state_key and resample into its "
            "class, or call register_information (the guide 'Cards of your own')",
            UnknownTraitWarning,
            stacklevel=3,
        )


class OddAnswer:
    """An answer of a kind that no action space has: only its text and the name of its type travel."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def pack_answer(answer: Mapping[str, Any]) -> bytes:
    """A mapping of names to plain values; an ``action`` that is none becomes an ``odd`` text."""
    message = dict(answer)
    if "action" in message and not _is_plain(message["action"]):
        action = message.pop("action")
        message["odd"] = (type(action).__name__, shown(action, 200))
    return pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)


_PLAIN: Final = (int, float, str, bool, type(None), np.ndarray)


def _is_plain(value: Any, depth: int = 0) -> bool:
    if depth > 8:
        return False
    if type(value) in (tuple, list):
        return all(_is_plain(item, depth + 1) for item in value)
    if type(value) is dict:
        return all(type(key) in (str, int) and _is_plain(item, depth + 1) for key, item in value.items())
    if isinstance(value, np.generic) or type(value) is np.ndarray:
        return value.dtype.kind in "biufcU"
    return type(value) in _PLAIN


def unpack_answer(data: bytes) -> dict[str, Any]:
    """Reads what ``pack_answer`` wrote, and runs nothing."""
    try:
        message = _AnswerReader(io.BytesIO(data)).load()
        if not isinstance(message, dict):
            raise TypeError(f"a {type(message).__name__} instead of a mapping")
        if "odd" in message:
            name, text = message.pop("odd")
            message["action"] = type(str(name), (OddAnswer,), {})(str(text))
    except Exception as error:  # a hostile answer may break the unpickler in any way
        raise ValueError(f"{type(error).__name__}: {error}") from error
    return message


_ARRAY_PARTS: Final = {
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    *((f"numpy.{core}.multiarray", name) for core in ("core", "_core") for name in ("_reconstruct", "scalar")),
    *((f"numpy.{core}.numeric", "_frombuffer") for core in ("core", "_core")),
}


class _AnswerReader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ARRAY_PARTS:
            raise pickle.UnpicklingError(f"{module}.{name} is not a plain value")
        return super().find_class(module, name)
