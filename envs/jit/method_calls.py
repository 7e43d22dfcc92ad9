"""Compiled rules, one method at a time: to check them, and to say which method and line does not compile."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from zermelo.envs.errors import RulesError
from zermelo.envs.jit.compiling import method, types_of
from zermelo.envs.rules.rules_game import REQUIRED

_ARGUMENTS = {
    "num_actions": (),
    "to_move": ("state",),
    "legal_actions": ("state", "actions"),
    "count_legal": ("state", "count"),
    "result": ("state", "number"),
    "is_terminal": ("state",),
    "utility": ("state", "number"),
    "seats": (),
    "player_actions": (),
    "max_legal_actions": (),
    "utility_bounds": (),
    "utility_sum": (),
    "key": ("state",),
    "key_bits": (),
    "evaluation": ("state", "number"),
    "ordering_hint": ("state", "number"),
    "is_noisy": ("state", "number"),
    "noisy_actions": ("state", "actions"),
    "is_urgent": ("state",),
    "playout_action": ("state", "number"),
    "action_priors": ("state", "actions", "number", "probabilities"),
    "pass_turn": ("state",),
    "symmetries": (),
    "symmetric_state": ("state", "number"),
    "symmetric_action": ("number", "number"),
    "bounds": ("state",),
    "bounds_see_ends": (),
    "safe_actions": ("state", "actions"),
    "chance_outcomes": ("state", "actions", "probabilities"),
    "repetition_key": ("state",),
    "repetition_limit": (),
    "repetition_is_illegal": (),
    "repetition_is_claimed": (),
    "repetition_utility": ("state", "number"),
    "reversible_plies": ("state",),
}

_SOURCE = """
def call(rules{arguments}):
    return rules.{name}({passed})
"""


def compiled_methods(rules: Any, names: Sequence[str] = tuple(_ARGUMENTS)) -> dict[str, Callable[..., Any]]:
    """Each method that the rules have, or of those the named ones, compiled, taking the rules first.

    Those that fill buffers take the buffers' size instead, and return lists.

    Raises:
        RulesError: A method does not compile, or gives another type than it should.
    """
    import numba
    from numba import types

    rules_type, state_type = types_of(rules)
    kinds = {
        "state": state_type,
        "number": types.int64,
        "actions": types.Array(types.int64, 1, "C"),
        "count": types.Array(types.int64, 1, "C"),
        "probabilities": types.Array(types.float64, 1, "C"),
    }
    expected = {
        "result": state_type,
        "pass_turn": state_type,
        "symmetric_state": state_type,
        "is_terminal": types.boolean,
        "is_noisy": types.boolean,
        "is_urgent": types.boolean,
        "bounds_see_ends": types.boolean,
        "repetition_is_illegal": types.boolean,
        "repetition_is_claimed": types.boolean,
        "utility_bounds": types.UniTuple(types.int64, 2),
        "bounds": types.UniTuple(types.int64, 2),
    }
    found: dict[str, Callable[..., Any]] = {}
    for name in names:
        arguments = _ARGUMENTS[name]
        if not hasattr(rules, name) or method(type(rules), name) is None:
            continue
        signature = (rules_type, *(kinds[argument] for argument in arguments))
        call = _call(name, len(arguments))
        try:
            call.compile(signature)
        except numba.core.errors.NumbaError as error:
            raise RulesError(_compile_error(type(rules), name, error)) from None
        given = types.unliteral(call.overloads[signature].signature.return_type)
        wanted = expected.get(name, types.int64)
        if given != wanted and not (isinstance(given, types.Integer) and wanted == types.int64):
            raise RulesError(
                f"{type(rules).__name__}.{name} gives {given} when compiled, where {wanted} is needed: "
                "keep every integer an integer (no true division, no bool in a state)"
            )
        found[name] = _filled(call.overloads[signature].entry_point, arguments)
    return found


def _call(name: str, arity: int) -> Any:
    import numba

    passed = ", ".join(f"argument_{number}" for number in range(arity))
    space: dict[str, Any] = {}
    exec(_SOURCE.format(name=name, arguments=f", {passed}" if passed else "", passed=passed), space)
    return numba.njit(nogil=True, error_model="numpy")(space["call"])


def _filled(call: Callable[..., Any], arguments: Sequence[str]) -> Callable[..., Any]:
    if arguments == ("state", "actions"):

        def actions(rules: Any, state: Any, size: int) -> list[int]:
            buffer = np.zeros(size, np.int64)
            count = call(rules, state, buffer)
            return [int(action) for action in buffer[:count]]

        return actions
    if "number" in arguments and "probabilities" in arguments:

        def priors(rules: Any, state: Any, actions: Sequence[int]) -> list[float]:
            found = np.zeros(len(actions))
            call(rules, state, np.array(actions, np.int64), len(actions), found)
            return [float(prior) for prior in found]

        return priors
    if "count" in arguments:
        return lambda rules, state, size: int(call(rules, state, np.zeros(size, np.int64)))
    if "probabilities" in arguments:

        def outcomes(rules: Any, state: Any, size: int) -> list[tuple[int, float]]:
            buffer, chances = np.zeros(size, np.int64), np.zeros(size)
            count = call(rules, state, buffer, chances)
            return [(int(o), float(p)) for o, p in zip(buffer[:count], chances[:count], strict=True)]

        return outcomes
    return call


def explain(rules: Any, error: Exception) -> RulesError:
    """Why a kernel over these rules did not compile: the method and line, if it is theirs."""
    missing = [name for name in REQUIRED if not hasattr(rules, name)]
    if missing:
        return RulesError(f"{type(rules).__name__} has no {', '.join(missing)}")
    try:
        compiled_methods(rules)
    except RulesError as found:
        return found
    return RulesError(f"{type(rules).__name__} does not compile: {_first_line(error)}")


def _compile_error(rules_class: type, name: str, error: Exception) -> str:
    """One sentence out of Numba's page: the deepest line of the user's source that it names, and its reason."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    function = method(rules_class, name)
    place = ""
    lines = re.findall(r'File "([^"]+)", line (\d+)', text)
    if lines:
        file, line = lines[0]
        place = f" (line {line} of {file.rsplit('/', 1)[-1]})"
    elif function is not None:
        place = f" (line {function.__code__.co_firstlineno} of {function.__code__.co_filename.rsplit('/', 1)[-1]})"
    return f"{rules_class.__name__}.{name}{place} does not compile: {_first_line(error)}"


def _first_line(error: Exception) -> str:
    """The part of Numba's message that says what is wrong."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for start in ("Unknown attribute", "No implementation of function", "Cannot unify", "Untyped global name"):
        for line in lines:
            if start in line:
                return _without_places(line[line.index(start) :])
    dull = ("Failed in nopython mode", "- Resolution failure", "During:", "File ", "Overload of", "None")
    useful = [line for line in lines if not line.startswith(dull)]
    return _without_places((useful or lines or [type(error).__name__])[0])


def _without_places(line: str) -> str:
    """Numba's words less its temporary names and paths."""
    return re.sub(r"( for '\$[^']*')?,? defined at .*", "", line).rstrip(": ")
