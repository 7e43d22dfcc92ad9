"""Whether an environment's rules look at the rewards that were received, judged by its code."""

from __future__ import annotations

import dis
import types
from typing import Final

__all__ = ["reads_cumulative_rewards"]

_KNOWN: Final = ("pettingzoo.", "zermelo.envs.")
"""Packages whose functions outside of classes are known not to read them."""
_OF_SELF: Final = frozenset(
    {"LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "LOAD_SUPER_ATTR", "LOAD_SUPER_METHOD"}
)
_ITSELF: Final = frozenset({"env", "unwrapped", "aec_env"})
"""Attributes of an environment or wrapper that lead to an environment again."""
_CLOSURES: Final = frozenset({"MAKE_CELL", "LOAD_CLOSURE", "COPY_FREE_VARS"})


def reads_cumulative_rewards(cls: type) -> bool:
    """Whether the rules of an environment may depend on rewards received, judged by its code; yes if in doubt.

    There is doubt where a method hands the environment itself to other code, which may read anything of it.
    """
    for base in cls.__mro__:
        if base is object or base.__module__.startswith(("pettingzoo.utils.", "typing", "abc")):
            continue
        for value in vars(base).values():
            function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if not isinstance(function, types.FunctionType):
                continue
            code = function.__code__
            is_method = not isinstance(value, staticmethod | classmethod)
            in_doubt = is_method and not base.__module__.startswith(_KNOWN)
            if _code_reads(code) or (in_doubt and _hands_on(code, code.co_varnames[:1])):
                return True
    return False


def _hands_on(code: types.CodeType, first: tuple[str, ...]) -> bool:
    """Whether a method uses its first argument other than for an attribute, or for a base class's ``__init__``.

    What a wrapper wraps counts as itself: ``helper(self.env.unwrapped)`` hands it on.
    """
    before = None
    waiting = False
    for instruction in dis.get_instructions(code):
        if waiting and instruction.opname not in _OF_SELF:
            return True
        if waiting and instruction.argval in _ITSELF and instruction.opname.startswith("LOAD_ATTR"):
            before = instruction
            continue
        names = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        waiting = False
        if first and first[0] in names and instruction.opname not in _CLOSURES | _OF_SELF:
            starts_call = before is not None and before.argval == "__init__"
            waiting = not (starts_call and names[0] == first[0])
            if waiting and first[0] in names[:-1]:
                return True
        before = instruction
    return any(_hands_on(inner, first) for inner in code.co_consts if isinstance(inner, types.CodeType))


def _code_reads(code: types.CodeType) -> bool:
    line: list[dis.Instruction] = []
    for instruction in dis.get_instructions(code):
        if instruction.starts_line not in (None, False):  # a line number or None; from Python 3.13 on, a bool
            if _line_reads(line):
                return True
            line = []
        line.append(instruction)
    return _line_reads(line) or any(_code_reads(c) for c in code.co_consts if isinstance(c, types.CodeType))


def _line_reads(line: list[dis.Instruction]) -> bool:
    """Whether one line uses the rewards other than to set all, or one agent's, to something else."""
    names = [(i.opname, i.argval) for i in line]
    if any(argval in ("last", "getattr", "vars", "__dict__") for _, argval in names):
        return True
    if not any(argval == "_cumulative_rewards" for _, argval in names):
        return False
    if all(opname == "STORE_ATTR" for opname, argval in names if argval == "_cumulative_rewards"):
        return False
    operations = {opname for opname, _ in names}
    return "STORE_SUBSCR" not in operations or bool(
        operations & {"BINARY_SUBSCR", "BINARY_OP", "COMPARE_OP", "CALL"}
    )
