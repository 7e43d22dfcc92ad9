"""Heaps on a class, in a module or in what functions keep, which no copy carries; a fresh class at each call."""

from __future__ import annotations

import functools
import logging
import weakref
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from doubles.heap import Heap

MODULE_BOARD = [0]
MODULE_ARRAY = np.zeros((2, 2), np.int64)
MODULE_BUFFER = bytearray(4)
module_sticks = 0


def classes() -> Iterator[type[Heap]]:
    """The heap lies on a class, in a module or in what functions keep."""

    class ListOfClass(Heap):
        board: ClassVar[list[int]] = [0]

        def put(self, number: int) -> None:
            self.board[0] = number

        def get(self) -> int:
            return self.board[0]

    class NumberOfClass(Heap):
        number = 0

        def put(self, number: int) -> None:
            type(self).number = number

        def get(self) -> int:
            return self.number

    class PropertyOfClass(Heap):
        class Meta(type):
            kept: ClassVar[dict[str, int]] = {}

            @property
            def sticks(cls) -> int:
                return cls.kept["sticks"]

            @sticks.setter
            def sticks(cls, number: int) -> None:
                cls.kept["sticks"] = number

        class Board(metaclass=Meta):
            pass

        def put(self, number: int) -> None:
            self.Board.sticks = number

        def get(self) -> int:
            return self.Board.sticks

    class ListOfModule(Heap):
        def put(self, number: int) -> None:
            MODULE_BOARD[0] = number

        def get(self) -> int:
            return MODULE_BOARD[0]

    class NumberOfModule(Heap):
        def put(self, number: int) -> None:
            global module_sticks
            module_sticks = number

        def get(self) -> int:
            return module_sticks

    class ViewOfModule(Heap):
        def start(self, generator: Any, options: Any) -> None:
            self.corner = MODULE_ARRAY[1:, 1:]
            super().start(generator, options)

        def put(self, number: int) -> None:
            MODULE_ARRAY[1, 1] = number

        def get(self) -> int:
            return int(MODULE_ARRAY[1, 1])

        def held(self) -> Any:
            return MODULE_ARRAY.tobytes(), int(self.corner[0, 0])

    class MemoryviewOfModule(Heap):
        view = memoryview(MODULE_BUFFER)

        def put(self, number: int) -> None:
            self.view[1] = number

        def get(self) -> int:
            return self.view[1]

        def held(self) -> Any:
            return bytes(MODULE_BUFFER)

    class DefaultArgument(Heap):
        def put(self, number: int, box: list[int] = [0]) -> None:  # noqa: B006 - as strangers do
            box[0] = number

        def get(self) -> int:
            return type(self).put.__defaults__[0][0]  # type: ignore[index,no-any-return]

    sticks = 0

    class CellOfMethods(Heap):
        def put(self, number: int) -> None:
            nonlocal sticks
            sticks = number

        def get(self) -> int:
            return sticks

    @functools.cache
    def board(name: str) -> list[int]:
        return [0]

    class Cached(Heap):
        def put(self, number: int) -> None:
            board("main")[0] = number

        def get(self) -> int:
            return board("main")[0]

    class CallsCounted(Heap):
        """An ``lru_cache`` counts what was asked: its size is how many were taken."""

        def start(self, generator: Any, options: Any) -> None:
            self.asked = functools.lru_cache(maxsize=None)(lambda number: number)

        def take(self, number: int) -> None:
            size = self.asked.cache_info().currsize
            for new in range(size, min(size + number, self.sticks)):
                self.asked(new)

        def get(self) -> int:
            return self.sticks - self.asked.cache_info().currsize

    class Descriptor(Heap):
        class ById:
            def __init__(self) -> None:
                self.kept: dict[int, int] = {}

            def __get__(self, owner: Any, cls: Any = None) -> Any:
                return self if owner is None else self.kept[id(owner)]

            def __set__(self, owner: Any, number: int) -> None:
                self.kept[id(owner)] = number

        heap = ById()  # type: ignore[assignment]

        def held(self) -> Any:
            return type(self).heap.kept[id(self)]  # type: ignore[attr-defined]

    class Registry(Heap):
        named: ClassVar[dict[str, int]] = {}

        def put(self, number: int) -> None:
            self.named[self.metadata["name"]] = number

        def get(self) -> int:
            return self.named[self.metadata["name"]]

        def held(self) -> Any:
            return dict(self.named)

    class WeakKeys(Heap):
        class Token:
            pass

        kept: ClassVar[Any] = weakref.WeakKeyDictionary()

        def start(self, generator: Any, options: Any) -> None:
            self.token = self.Token()
            super().start(generator, options)

        def put(self, number: int) -> None:
            self.kept[self.token] = number

        def get(self) -> int:
            return self.kept[self.token]  # type: ignore[no-any-return]

    class WeakValues(Heap):
        class Board:
            sticks = 0

        kept: ClassVar[Any] = weakref.WeakValueDictionary()

        def start(self, generator: Any, options: Any) -> None:
            self.board = self.kept["main"] = self.Board()
            super().start(generator, options)

        def put(self, number: int) -> None:
            self.kept["main"].sticks = number

        def get(self) -> int:
            return self.kept["main"].sticks  # type: ignore[no-any-return]

    class Handler(Heap):
        """A log has a line for each stick that was taken."""

        class Lines(logging.Handler):
            def __init__(self) -> None:
                super().__init__()
                self.lines: list[str] = []

            def emit(self, record: logging.LogRecord) -> None:
                self.lines.append(record.getMessage())

        log = logging.Logger("heap")
        log.addHandler(Lines())

        def start(self, generator: Any, options: Any) -> None:
            self.log.handlers[0].lines.clear()  # type: ignore[attr-defined]

        def take(self, number: int) -> None:
            for _ in range(min(number, self.get())):
                self.log.warning("taken")

        def get(self) -> int:
            return self.sticks - len(self.log.handlers[0].lines)  # type: ignore[attr-defined]

    yield from (ListOfClass, NumberOfClass, PropertyOfClass, ListOfModule, NumberOfModule, ViewOfModule)
    yield from (MemoryviewOfModule, DefaultArgument, CellOfMethods, Cached, CallsCounted, Descriptor, Registry)
    yield from (WeakKeys, WeakValues, Handler)
