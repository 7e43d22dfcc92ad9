"""A kernel: a plain function over ``rules`` and ``state`` that may call itself and other plain functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np


@dataclass(frozen=True, eq=False)
class Kernel:
    """A function to compile.

    Attributes:
        function: The function.
        arguments: The types of its arguments after ``rules`` and ``state``: ``int64`` or ``float64``, or the
            layout of a record, which is passed as a ctypes structure.
        variants: Named tuples that stand in place of those of the same types that modules hold, as in
            ``WITH: Final = TwoPlayerVariant()``. What ``if WITH.prunes`` asks is decided before anything is
            compiled; a field may be a function.
    """

    function: Callable[..., int]
    arguments: Sequence[str | np.dtype[Any]]
    variants: tuple[Any, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and (
            self.function is other.function
            and self.typed_variants == other.typed_variants
            and [*self.arguments] == [*other.arguments]
        )

    def __hash__(self) -> int:
        return hash((self.function, self.variants))

    @functools.cached_property
    def typed_variants(self) -> tuple[Any, ...]:
        """The variants with the types of all values: named tuples of two classes, and 1 and True, are equal."""
        return tuple([(type(each), each, *map(type, each)) for each in self.variants])

    @property
    def plain_arguments(self) -> list[str]:
        """Arguments as machine code takes them: of a record, the address."""
        return [kind if isinstance(kind, str) else "int64" for kind in self.arguments]


class Wanted(NamedTuple):
    """A kernel for some rules, which are not always those of the game that is searched."""

    rules: Any
    kernel: Kernel
