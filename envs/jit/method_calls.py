"""Compiled rules, one method at a time: to check them, and to say which method and line does not compile."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from zermelo.envs.errors import RulesError
from zermelo.envs.jit.compiling import dispatcher, method, types_of
from zermelo.envs.rules.contract import COMPILED, METHODS, REQUIRED

INTEGER_BUFFERS: Final = ("actions", "outcomes")
FLOAT_BUFFERS: Final = ("probabilities", "priors")


def compiled_methods(rules: Any, names: Sequence[str] = COMPILED) -> dict[str, Callable[..., Any]]:
    """Each method that the rules have, or of those the named ones, compiled, taking the rules first.

    Buffers are handed over as lists, and written back.

    Raises:
        RulesError: A method does not compile, or gives another type than it should.
    """
    import numba
    from numba import types

    rules_type, state_type = types_of(rules)
    kinds: dict[str, Any] = {
        "state": state_type,
        **dict.fromkeys(INTEGER_BUFFERS, types.Array(types.int64, 1, "C")),
        **dict.fromkeys(FLOAT_BUFFERS, types.Array(types.float64, 1, "C")),
    }
    expected = {
        "Any": state_type,
        "bool": types.boolean,
        "int": types.int64,
        "tuple[int, int]": types.UniTuple(types.int64, 2),
    }
    methods: dict[str, Callable[..., Any]] = {}
    for name in names:
        about = METHODS[name]
        function = method(type(rules), name)
        if about.returns not in expected or function is None or not hasattr(rules, name):
            continue
        signature = (rules_type, *(kinds.get(argument, types.int64) for argument in about.arguments))
        call = _call(dispatcher(type(rules), function), len(about.arguments))
        try:
            call.compile(signature)
        except numba.core.errors.NumbaError as error:
            raise RulesError(_compile_error(type(rules), name, error)) from None
        given = types.unliteral(call.overloads[signature].signature.return_type)
        wanted = expected[about.returns]
        if given != wanted and not (isinstance(given, types.Integer) and wanted == types.int64):
            raise RulesError(
                f"{type(rules).__name__}.{name} gives {given} when compiled, where {wanted} is needed: "
                "keep every integer an integer (no true division, no bool in a state)"
            )
        methods[name] = _with_lists(call.overloads[signature].entry_point, about.arguments)
    return methods


def _call(function: Any, arguments: int) -> Any:
    """A compiled method that Python can call, with as many arguments besides the rules."""
    import numba

    callers: tuple[Callable[..., Any], ...] = (
        lambda rules: function(rules),
        lambda rules, first: function(rules, first),
        lambda rules, first, second: function(rules, first, second),
        lambda rules, first, second, third: function(rules, first, second, third),
        lambda rules, first, second, third, fourth: function(rules, first, second, third, fourth),
    )
    return numba.njit(nogil=True, error_model="numpy")(callers[arguments])


def _with_lists(call: Callable[..., Any], arguments: Sequence[str]) -> Callable[..., Any]:
    """The function, with lists for its buffers."""
    types = {
        place: np.int64 if name in INTEGER_BUFFERS else np.float64
        for place, name in enumerate(arguments)
        if name in INTEGER_BUFFERS + FLOAT_BUFFERS
    }

    def with_lists(rules: Any, *given: Any) -> Any:
        passed = [np.array(value, types[place]) if place in types else value for place, value in enumerate(given)]
        result = call(rules, *passed)
        for place in types:
            given[place][:] = passed[place].tolist()
        return result

    return with_lists if types else call


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
    lines = re.findall(r'File "([^"]+)", line (\d+)', text)
    function = method(rules_class, name)
    if not lines and function is not None:
        lines = [(function.__code__.co_filename, function.__code__.co_firstlineno)]
    place = f" (line {lines[0][1]} of {lines[0][0].rsplit('/', 1)[-1]})" if lines else ""
    return f"{rules_class.__name__}.{name}{place} does not compile: {_first_line(error)}"


def _first_line(error: Exception) -> str:
    """The part of Numba's message that says what is wrong, without its temporary names and paths."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    known = ("Unknown attribute", "No implementation of function", "Cannot unify", "Untyped global name")
    telling = [line[line.index(start) :] for start in known for line in lines if start in line]
    dull = ("Failed in nopython mode", "- Resolution failure", "During:", "File ", "Overload of", "None")
    useful = [line for line in lines if not line.startswith(dull)]
    line = (telling or useful or lines or [type(error).__name__])[0]
    return re.sub(r"( for '\$[^']*')?,? defined at .*", "", line).rstrip(": ")
