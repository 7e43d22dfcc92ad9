"""Variants of kernels: what a kernel is compiled with stands in its code, and in the name of its code."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import pytest

from zermelo.envs.games import Nim
from zermelo.envs.jit import compiling
from zermelo.envs.jit.build import build
from zermelo.envs.jit.cache.code_cache import hashed_name
from zermelo.envs.jit.cache.kernel_archive import portable_name
from zermelo.envs.jit.extensions.precompiled_parts import name_of_parts
from zermelo.envs.jit.history import argument_maker
from zermelo.envs.jit.kernel import Kernel
from zermelo.envs.support.code_parts import UncomparableError

RULES = Nim((1, 2, 3))
INT64 = ("int64",)


def plus(number: int) -> int:
    return number + 10


def times(number: int) -> int:
    return number * 10


class Counting(NamedTuple):
    """A variant with a function, a number and flags."""

    change: Callable[[int], int] = plus
    least: int = 1
    moves: bool = False
    waits: bool = False


class Counting2(NamedTuple):
    """Another class with the same fields."""

    change: Callable[[int], int] = plus
    least: int = 1
    moves: bool = False
    waits: bool = False


class Ending(NamedTuple):
    """A second variant of the same kernel."""

    sign: int = 1


WITH: Final = Counting()
END: Final = Ending()


def counted(number: int) -> int:
    return WITH.change(number) if number >= WITH.least else -1


def count(rules: Any, state: Any, number: int) -> int:
    """A kernel that compiles only if the branch that is not wanted is gone."""
    if WITH.moves:
        return rules.no_such_method(state)
    return END.sign * counted(number)


def kernel(*variants: Any) -> Kernel:
    return Kernel(count, INT64, variants)


def names(made: Kernel) -> tuple[str, str, str]:
    """What the code of a kernel is found by on disk, in the archive, and among functions compiled ahead."""
    state = RULES.initial_state()
    return hashed_name(RULES, state, made), portable_name(RULES, state, made), name_of_parts(made)


def run(made: Kernel, number: int) -> int:
    return build(RULES, made)(*argument_maker(RULES, 1)(RULES.initial_state()), number)


OTHERS: dict[str, Any] = {
    "another function": Counting(times),
    "another number": Counting(least=2),
    "another flag": Counting(waits=True),
    "a number for a flag": Counting(waits=0),  # type: ignore[arg-type]
    "another class": Counting2(),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_another_value_in_a_variant_is_another_name(other: Any) -> None:
    known = names(kernel(Counting()))
    assert names(kernel(Counting())) == known
    assert all(one != two for one, two in zip(known, names(kernel(other)), strict=True))
    assert kernel(other) != kernel(Counting()) == kernel(Counting())
    assert len({kernel(other), kernel(Counting()), kernel(Counting())}) == 2


def test_which_objects_variants_share_decides_no_name() -> None:
    assert names(kernel(WITH, END)) == names(kernel(Counting(), Ending()))


def adding(step: Callable[[int], int]) -> Callable[[int], int]:
    def change(number: int) -> int:
        return step(number) + 1

    return change


def taking(step: Callable[[int], int]) -> Callable[[int], int]:
    def change(number: int) -> int:
        return step(number) - 1

    return change


def test_the_source_of_a_function_in_a_variant_is_in_the_name() -> None:
    """The functions have one name; another is the text, or that of a function which it calls."""
    made = [adding(plus), taking(plus), adding(times), adding(plus)]
    for each in made:
        each.__qualname__ = "change"
    *others, again = [names(kernel(Counting(each))) for each in made]
    assert all(len(set(each)) == len(others) for each in zip(*others, strict=True))
    assert again == others[0]


def test_fields_that_change_places_are_another_name() -> None:
    one, two = (
        collections.namedtuple("Both", fields, module=__name__)(True, False)  # type: ignore[misc]
        for fields in (("moves", "waits"), ("waits", "moves"))
    )
    assert one == two
    assert all(a != b for a, b in zip(names(kernel(one)), names(kernel(two)), strict=True))


def test_a_function_without_source_has_no_name_in_the_archive() -> None:
    with pytest.raises(UncomparableError):
        name_of_parts(kernel(Counting(eval("lambda number: number"))))


def test_a_kernel_has_the_values_of_its_variants() -> None:
    assert run(kernel(Counting(), Ending()), 5) == 15
    assert run(kernel(Counting(times), Ending()), 5) == 50
    assert run(kernel(Counting(times, least=6), Ending()), 5) == -1
    assert run(kernel(Counting(times), Ending(-1)), 5) == -50
    assert run(kernel(Counting(), Ending()), 5) == 15  # the first is still there
    assert count(RULES, RULES.initial_state(), 5) == 15  # plain Python has the module's


def test_only_functions_that_read_a_variant_are_the_kernels_own() -> None:
    others = compiling.Functions()
    functions = compiling.Functions((Counting(times),), others)
    assert functions.varies(count)
    assert functions.varies(counted)
    assert not functions.varies(times)
    assert functions.compiled(times) is others.compiled(times)
    assert functions.compiled(counted) is not others.compiled(counted)
    assert not compiling.Functions((Ending(),), others).varies(counted)
