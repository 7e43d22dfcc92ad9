"""Heaps in objects whose copies are the object itself or share parts of it; a fresh class at each call."""

from __future__ import annotations

import dataclasses
import enum
import types
from collections.abc import Iterator
from typing import Any, ClassVar

from doubles.heap import Heap


def objects() -> Iterator[type[Heap]]:
    """The heap lies in an object, whose copies are the object itself or have parts of it."""

    class Board:
        sticks = 0

    class BoardWhoseCopyIsItself(Heap):
        class Own(Board):
            def __deepcopy__(self, memo: Any) -> Any:
                return self

            __copy__ = __reduce__ = __deepcopy__  # type: ignore[assignment]

        def start(self, generator: Any, options: Any) -> None:
            self.board = self.Own()
            super().start(generator, options)

        def put(self, number: int) -> None:
            self.board.sticks = number

        def get(self) -> int:
            return self.board.sticks

    class HistorySharedByCopies(Heap):
        class Moves:
            def __init__(self, taken: list[int]) -> None:
                self.taken = taken

            def __deepcopy__(self, memo: Any) -> Any:
                return type(self)(self.taken)

        def start(self, generator: Any, options: Any) -> None:
            self.moves = self.Moves([])

        def take(self, number: int) -> None:
            self.moves.taken.append(min(number, self.get()))

        def get(self) -> int:
            return self.sticks - sum(self.moves.taken)

        def held(self) -> Any:
            return list(self.moves.taken)

    class SingletonByNew(Heap):
        class One(Board):
            one: ClassVar[Any] = None

            def __new__(cls) -> Any:
                cls.one = cls.one or object.__new__(cls)
                return cls.one

        def put(self, number: int) -> None:
            self.One().sticks = number

        def get(self) -> int:
            return self.One().sticks

    class SingletonByMetaclass(Heap):
        class Meta(type):
            ones: ClassVar[dict[Any, Any]] = {}

            def __call__(cls) -> Any:
                return cls.ones.setdefault(cls, super().__call__())

        class One(Board, metaclass=Meta):
            pass

        def put(self, number: int) -> None:
            self.One().sticks = number

        def get(self) -> int:
            return self.One().sticks

    class Borg(Heap):
        class One:
            shared: ClassVar[dict[str, Any]] = {}
            sticks: int

            def __init__(self) -> None:
                self.__dict__ = self.shared

        def start(self, generator: Any, options: Any) -> None:
            self.board = self.One()
            super().start(generator, options)

        def put(self, number: int) -> None:
            self.board.sticks = number

        def get(self) -> int:
            return self.board.sticks

        def held(self) -> Any:
            return dict(self.One.shared)

    class SlotsOnTheClass(Heap):
        class Slots:
            __slots__ = ("sticks",)

        board = Slots()

        def put(self, number: int) -> None:
            self.board.sticks = number  # type: ignore[attr-defined]

        def get(self) -> int:
            return self.board.sticks  # type: ignore[attr-defined,no-any-return]

    class DefaultOfDataclass(Heap):
        @dataclasses.dataclass
        class State:
            board: Any = Board()  # noqa: RUF009 - as strangers do

        def start(self, generator: Any, options: Any) -> None:
            self.state = self.State()
            super().start(generator, options)

        def put(self, number: int) -> None:
            self.State().board.sticks = number

        def get(self) -> int:
            return self.State().board.sticks  # type: ignore[no-any-return]

    class Pool(Heap):
        """A board that nobody uses comes back with what it held."""

        free: ClassVar[list[Any]] = []

        def start(self, generator: Any, options: Any) -> None:
            if not self.free:
                self.free.append(Board())
            super().start(generator, options)

        def put(self, number: int) -> None:
            board = self.free.pop()
            board.sticks = number
            self.free.append(board)

        def get(self) -> int:
            return self.free[-1].sticks  # type: ignore[no-any-return]

    class EnumMember(Heap):
        class Store(enum.Enum):
            BOARD = types.SimpleNamespace(sticks=0)

        def put(self, number: int) -> None:
            self.Store.BOARD.value.sticks = number

        def get(self) -> int:
            return self.Store.BOARD.value.sticks  # type: ignore[no-any-return]

    yield from (BoardWhoseCopyIsItself, HistorySharedByCopies, SingletonByNew, SingletonByMetaclass, Borg)
    yield from (SlotsOnTheClass, DefaultOfDataclass, Pool, EnumMember)
