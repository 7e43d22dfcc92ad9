"""The text of functions: from the first decorator to the last line, whatever of it has code."""

import functools
from collections.abc import Callable
from typing import Any

import pytest

from zermelo.envs.support.source import source_of


@functools.cache
def loop(numbers: Any) -> None:
    for _ in numbers:
        print(
            "one"
            # and no other
        )  # fmt: skip


def dedented(
    first: int,
) -> str:
    return f"""{first}
that is all
    """


def inner() -> Callable[[], int]:
    def made() -> int:
        return 1

    return made


@pytest.mark.parametrize(
    ("function", "first", "last"),
    [
        (loop.__wrapped__, "@functools.cache", ")  # fmt: skip"),
        (dedented, "def dedented(", '"""'),
        (inner(), "def made() -> int:", "return 1"),
        (inner, "def inner() -> Callable[[], int]:", "return made"),
    ],
)
def test_a_function_is_whole(function: Any, first: str, last: str) -> None:
    lines = [line.strip() for line in source_of(function.__code__).split("\n")]
    assert (lines[0], lines[-1]) == (first, last)


def test_a_lambda_and_what_exec_made_have_none() -> None:
    space: dict[str, Any] = {}
    exec("def one(): return 1", space)
    assert source_of(space["one"].__code__) == ""
    assert source_of((lambda: 1).__code__) == ""
