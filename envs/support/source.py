"""The text of functions, as it stands in the files that their code came from."""

from __future__ import annotations

import functools
import os
import re
import time
import types
from typing import Any, Final

from zermelo.envs.support.files import file_version, read_file

_LOADED: Final = time.time()  # a file that was changed later may not be what runs in this process


def source_of(code: types.CodeType) -> str:
    """The text of a function from its first decorator to its last line.

    Empty for what ``exec`` made, for a lambda, and for a file that was changed while it was in use.
    """
    lines = lines_of(code.co_filename)
    first, last = code.co_firstlineno - 1, _last_line(code)
    if not 0 <= first < last <= len(lines):
        return ""
    # Versions of Python differ in which of the last lines have code: all that stand deeper belong to the function.
    margin = _indentation(lines[first])
    while last < len(lines) and (not lines[last].strip() or _indentation(lines[last]) > margin):
        last += 1
    text = "\n".join(lines[first:last]).rstrip()
    return text if re.search(rf"^\s*(async )?def {re.escape(code.co_name)}\b", text, re.MULTILINE) else ""


def described(function: Any) -> str:
    """The name of a function, or of another callable's class, with the file and the line where it is written."""
    name = getattr(function, "__name__", None) or type(function).__name__
    made = getattr(function, "func", function)  # of a partial
    made = made if isinstance(made, types.FunctionType | types.MethodType) else type(made).__call__
    code = getattr(made, "__code__", None)
    return name if code is None else f"{name} ({code.co_filename}, line {code.co_firstlineno})"


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def lines_of(file: str) -> list[str]:
    """The lines of a file; none if it cannot be read, or was changed since this module was loaded."""
    try:
        about = os.stat(file)
        if max(about.st_mtime, about.st_ctime) > _LOADED:
            return []
        return _read_lines(file, *file_version(file))
    except (OSError, ValueError):
        return []


@functools.lru_cache(maxsize=512)  # by the file's name and version: one that was changed is read again
def _read_lines(file: str, *_version: int) -> list[str]:
    text = read_file(file).decode()
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _last_line(code: types.CodeType) -> int:
    ends = (end for _, end, _, _ in code.co_positions() if end is not None)
    inner = (_last_line(each) for each in code.co_consts if isinstance(each, types.CodeType))
    return max((*ends, *inner), default=0)
