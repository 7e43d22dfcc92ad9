"""Does an environment's code use the ``random`` or ``numpy.random`` modules themselves?

Their state is shared by the whole process: a search that steps copies of such an environment would change the live
game's next draws, and see them. Where that can happen, every step in a search puts the state back afterwards.
"""

from __future__ import annotations

import dis
import random
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from zermelo.envs.adapters.wrappers import layers

__all__ = ["may_use_global_random"]

_LIBRARIES = frozenset(sys.stdlib_module_names) | {"numpy", "gymnasium", "pettingzoo", "pygame"}


def may_use_global_random(env: Any) -> bool:
    """Whether the methods of the environment's classes mention a function of the global generators.

    A look at the code, not a proof: code elsewhere that the methods call is not read, and what is mentioned may
    never be called. Play on copies, watched, finds the rest.
    """
    return any(
        _mentions_global_random(code, function.__globals__)
        for cls in _classes(env)
        for function in _functions(cls)
        for code in _codes(function.__code__)
    )


def _classes(env: Any) -> Iterator[type]:
    for layer in layers(env):
        for cls in type(layer).__mro__:
            if cls.__module__.partition(".")[0] not in _LIBRARIES:
                yield cls


def _functions(cls: type) -> Iterator[types.FunctionType]:
    for value in vars(cls).values():
        candidates: tuple[Any, ...] = (value, getattr(value, "__func__", None), getattr(value, "fget", None))
        for candidate in candidates:
            inner = getattr(candidate, "__wrapped__", candidate)
            if isinstance(inner, types.FunctionType):
                yield inner


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _mentions_global_random(code: types.CodeType, scope: dict[str, Any]) -> bool:
    """Whether the code loads a global name, and attributes of it, that end at a function of a global generator.

    A module that is loaded as a whole, to be passed on, counts too.
    """
    instructions = list(dis.get_instructions(code))
    for place, instruction in enumerate(instructions):
        if instruction.opname not in ("LOAD_GLOBAL", "LOAD_NAME") or instruction.argval not in scope:
            continue
        thing = scope[instruction.argval]
        for following in instructions[place + 1 :]:
            if following.opname not in ("LOAD_ATTR", "LOAD_METHOD") or not isinstance(thing, types.ModuleType):
                break
            thing = getattr(thing, following.argval, None)
        if thing is random or thing is np.random or _is_global_function(thing):
            return True
    return False


def _is_global_function(thing: Any) -> bool:
    """Whether this is a method bound to a generator that a module keeps for the whole process."""
    owner = getattr(thing, "__self__", None)
    return owner is not None and (owner is _PYTHON_GENERATOR or owner is _NUMPY_GENERATOR)


_PYTHON_GENERATOR: Any = random.random.__self__  # type: ignore[attr-defined]  # a bound method, typed as a function
_NUMPY_GENERATOR: Any = np.random.random.__self__  # type: ignore[attr-defined]  # likewise
