"""Whether an environment's rules look at the rewards that were received, judged by its code."""

from __future__ import annotations

import dis
import types

__all__ = ["reads_cumulative_rewards"]


def reads_cumulative_rewards(cls: type) -> bool:
    """Whether the rules of an environment may depend on rewards received, judged by its code; yes if in doubt."""
    for base in cls.__mro__:
        if base is object or base.__module__.startswith(("pettingzoo.utils.", "typing", "abc")):
            continue
        for value in vars(base).values():
            function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if isinstance(function, types.FunctionType) and _code_reads(function.__code__):
                return True
    return False


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
