"""Heaps in what threads, the process, several processes or the system keep; a fresh class at each call."""

from __future__ import annotations

import contextvars
import ctypes
import itertools
import mmap
import multiprocessing
import os
import random
import tempfile
import threading
from collections.abc import Iterator
from multiprocessing import shared_memory
from typing import Any, ClassVar

import numpy as np
from doubles.heap import Heap


def processes() -> Iterator[type[Heap]]:
    """The heap lies in what threads, the process, several processes or the system keep."""
    variable = contextvars.ContextVar("sticks", default=0)

    class InContext(Heap):
        def put(self, number: int) -> None:
            variable.set(number)

        def get(self) -> int:
            return variable.get()

    class Local(Heap):
        local = threading.local()

        def put(self, number: int) -> None:
            self.local.sticks = number

        def get(self) -> int:
            return self.local.sticks  # type: ignore[no-any-return]

    class FileThatIsRead(Heap):
        """The sticks are what is left to read of a file."""

        def start(self, generator: Any, options: Any) -> None:
            self.file = tempfile.TemporaryFile()  # noqa: SIM115 - as strangers do
            self.file.write(b"x" * self.sticks)
            self.file.seek(0)

        def close(self) -> None:
            self.file.close()

        def take(self, number: int) -> None:
            self.file.read(number)

        def get(self) -> int:
            return self.sticks - self.file.tell()

    class FileThatIsWritten(Heap):
        def start(self, generator: Any, options: Any) -> None:
            self.file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - as above
            super().start(generator, options)

        def close(self) -> None:
            self.file.close()

        def put(self, number: int) -> None:
            self.file.seek(0)
            self.file.write(bytes([number]))

        def get(self) -> int:
            self.file.seek(0)
            return self.file.read(1)[0]

    class FileByName(Heap):
        def start(self, generator: Any, options: Any) -> None:
            number, self.name = tempfile.mkstemp()
            os.close(number)
            super().start(generator, options)

        def put(self, number: int) -> None:
            with open(self.name, "w") as file:
                file.write(str(number))

        def get(self) -> int:
            with open(self.name) as file:
                return int(file.read())

    class Mapped(Heap):
        memory = mmap.mmap(-1, 16)

        def put(self, number: int) -> None:
            self.memory[3] = number

        def get(self) -> int:
            return self.memory[3]

        def held(self) -> Any:
            return self.memory[:]

    class MappedByTheEnvironment(Heap):
        def start(self, generator: Any, options: Any) -> None:
            self.memory = mmap.mmap(-1, 16)
            super().start(generator, options)

        def put(self, number: int) -> None:
            self.memory[3] = number

        def get(self) -> int:
            return self.memory[3]

    class RawArray(Heap):
        memory = multiprocessing.RawArray("i", 4)

        def put(self, number: int) -> None:
            self.memory[1] = number

        def get(self) -> int:
            return self.memory[1]  # type: ignore[no-any-return]

    class SharedMemory(Heap):
        def start(self, generator: Any, options: Any) -> None:
            self.memory = shared_memory.SharedMemory(create=True, size=8)
            self.memory.unlink()
            super().start(generator, options)

        def close(self) -> None:
            self.memory.close()

        def put(self, number: int) -> None:
            self.memory.buf[1] = number

        def get(self) -> int:
            return self.memory.buf[1]

    class Buffer(Heap):
        memory = (ctypes.c_int * 4)()

        def put(self, number: int) -> None:
            self.memory[1] = number

        def get(self) -> int:
            return self.memory[1]

    class GeneratorOfClass(Heap):
        """A Python generator that all environments share says how many sticks are left."""

        flow: ClassVar[Any] = None
        shown = 0

        def rest(self, left: int) -> Iterator[int]:
            while True:
                taken = yield left
                left -= taken or 0

        def put(self, number: int) -> None:
            type(self).flow = self.rest(number)
            next(self.flow)

        def take(self, number: int) -> None:
            self.flow.send(min(number, self.get()))

        def get(self) -> int:
            return self.flow.gi_frame.f_locals["left"]  # type: ignore[no-any-return]

    class Count(Heap):
        """``itertools.count`` of the class says how many were taken."""

        count: ClassVar[Any] = itertools.count()

        def start(self, generator: Any, options: Any) -> None:
            type(self).count = itertools.count()

        def take(self, number: int) -> None:
            for _ in range(min(number, self.get())):
                next(self.count)

        def get(self) -> int:
            return self.sticks - int(repr(self.count)[len("count(") : -1])

        def held(self) -> Any:
            return repr(self.count)

    class StateOfRandom(Heap):
        """Every step sets ``random`` and NumPy's generator, those of the whole process, to what is left."""

        def put(self, number: int) -> None:
            self.heap = number
            random.seed(number)
            np.random.seed(number)  # noqa: NPY002 - as strangers do

        def held(self) -> Any:
            return random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002

    class Variable(Heap):
        def put(self, number: int) -> None:
            os.environ["STICKS"] = str(number)

        def get(self) -> int:
            return int(os.environ["STICKS"])

    class Folder(Heap):
        """The sticks are how deep the current folder lies."""

        def start(self, generator: Any, options: Any) -> None:
            self.folder = tempfile.mkdtemp()
            os.makedirs(os.path.join(self.folder, "1", "2", "3", "4", "5"))
            super().start(generator, options)

        def put(self, number: int) -> None:
            os.chdir(os.path.join(self.folder, *map(str, range(1, number + 1))))

        def get(self) -> int:
            return len(os.getcwd()[len(self.folder) :].split(os.sep)) - 1

    yield from (InContext, Local, FileThatIsRead, FileThatIsWritten, FileByName, Mapped, MappedByTheEnvironment)
    yield from (RawArray, SharedMemory, Buffer, GeneratorOfClass, Count, StateOfRandom, Variable, Folder)
