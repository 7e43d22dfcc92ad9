"""Compiles kernels for a rules class, or takes the machine code from disk.

A kernel is a plain function over ``rules`` and ``state`` that may call itself and other plain functions. For each
rules class and shape it is compiled with its full signature, together with all that it calls, into one object
file, which is kept on disk. A process that finds it there needs no compiler, and does not import Numba.

The compiler works in a thread of its own, once for each kernel, so that whoever waits for it can be interrupted.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import functools
import gc
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.envs.errors import RulesError
from zermelo.envs.jit.cache.code_cache import code_file, keep, one_compiler, shape, shipped_code
from zermelo.envs.jit.cache.sources import Sources, forget_sources, sources_of
from zermelo.envs.jit.history import on_path
from zermelo.envs.jit.machine_code import Code, emit, emit_portable, link, read
from zermelo.envs.jit.waiting import CompilerInterrupted, interruptible
from zermelo.envs.support.waiting import say_once_about, waiting_bar

_POLL: Final = 0.05
_QUIET: Final = 2.0
"""Seconds of waiting for the compiler without a progress bar."""

_Identity = tuple[Any, ...]
_BUILT: MutableMapping[Sources, dict[_Identity, Callable[..., Any]]] = weakref.WeakKeyDictionary()
"""Kernels by the version of the rules: those of earlier ones are let go."""
_COMPILERS: dict[tuple[int, Sources, _Identity], _Compiler] = {}
"""Those at work, by process, version of the rules, and kernel: a forked child has none of its parent's threads."""


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


def build(rules: Any, kernel: Kernel) -> Callable[..., int]:
    """A kernel compiled for ``rules``: a function of rules, state and its further arguments.

    The rules and the state that it takes are those of ``zermelo.envs.jit.history.starter``. Rules of one class and
    shape share a kernel, until something is edited that it was made from.

    Raises:
        RulesError: The rules do not compile; the message names the method and the line.
        KeyboardInterrupt: Ctrl-C was pressed; the compiler stops too.
    """
    function = _built(rules, kernel, lambda: True)
    assert function is not None, "it was waited for"
    return function


def is_ready(rules: Any, kernel: Kernel, waits: Callable[[], bool] = lambda: True) -> bool:
    """Whether a kernel is built: starts the compiler if it must be, and waits for it as long as ``waits()``.

    Raises as ``build``.
    """
    return _built(rules, kernel, waits) is not None


def is_to_be_compiled(rules: Any, kernel: Kernel) -> bool:
    """Whether a kernel is neither built nor kept anywhere, and another process could compile it for this one."""
    sources, identity = _identity(rules, kernel)
    return (
        identity not in _BUILT.get(sources, {})
        and _Compiler(rules, kernel, sources, identity).is_shared_and_missing()
    )


def _built(rules: Any, kernel: Kernel, waits: Callable[[], bool]) -> Callable[..., int] | None:
    sources, identity = _identity(rules, kernel)
    while (function := _BUILT.get(sources, {}).get(identity)) is None:
        compiler = _COMPILERS.get((os.getpid(), sources, identity))
        if compiler is None:
            compiler = _Compiler(rules, kernel, sources, identity)
            if (code := compiler.kept()) is not None:
                compiler.take(code)
                continue
            compiler = compiler.start()
        if not compiler.is_done(waits):
            return None
        sources, identity = _identity(rules, kernel)  # something may have been edited meanwhile
    return function


def _identity(rules: Any, kernel: Kernel) -> tuple[Sources, _Identity]:
    """The version of the rules, and the key of a kernel's code among all that was made from it.

    Tuples inside the rules may be longer in other rules.
    """
    state = rules.initial_state()
    return sources_of(rules, state), (shape(rules), shape(state), kernel)


class _EditedError(Exception):
    """Rules were edited while they were compiled: nobody can say which version the code is of."""


class _Compiler:
    """Compiles one kernel in a thread of its own."""

    def __init__(self, rules: Any, kernel: Kernel, sources: Sources, identity: _Identity) -> None:
        self._rules, self._kernel, self._sources, self._identity = rules, kernel, sources, identity
        self._name = type(rules).__name__
        self._path = code_file(rules, rules.initial_state(), kernel)
        self._done, self._stop = threading.Event(), threading.Event()
        self._error: Exception | None = None
        self._bitcode: Code | None = None

    def kept(self) -> Code | None:
        """The machine code that is on disk; where there is only bitcode, that is kept in mind."""
        if self._path is None:
            return None
        code = read(self._path) or shipped_code(self._rules, self._rules.initial_state(), self._kernel)
        if code is None:
            from zermelo.envs.jit.cache.portable import portable_code

            code, self._bitcode = portable_code(self._rules, self._kernel)
        return code

    def is_shared_and_missing(self) -> bool:
        """Whether processes share this code, and none has it yet."""
        return self._path is not None and self.kept() is None and self._bitcode is None

    def take(self, code: Code) -> None:
        """Links machine code, for all who ask for this kernel."""
        arguments = ["int64", "int64", *self._kernel.plain_arguments, "int64"]
        function = link(code, arguments, self._sources.tables)
        built = _BUILT.setdefault(self._sources, {})
        built[self._identity] = _caller(function, self._name, self._kernel)

    def start(self) -> _Compiler:
        """Starts the thread, unless another caller has started one for this kernel: then that one is returned."""
        first = _COMPILERS.setdefault((os.getpid(), self._sources, self._identity), self)
        if first is self:
            threading.Thread(target=self._run, name="zermelo-compiler", daemon=False).start()
        return first

    def is_done(self, waits: Callable[[], bool]) -> bool:
        """Waits as long as ``waits()``; raises what compiling raised."""
        with contextlib.ExitStack() as stack:
            show_at = time.monotonic() + _QUIET
            try:
                while waits() and not self._done.wait(_POLL):
                    if time.monotonic() > show_at:
                        stack.enter_context(waiting_bar(f"compiling the rules of {self._name}"))
                        show_at = np.inf
            except KeyboardInterrupt:
                self._stop.set()
                raise
        if self._done.is_set() and self._error is not None:
            raise self._error
        return self._done.is_set()

    def _run(self) -> None:
        collects = gc.isenabled()
        gc.disable()  # a tenth of the compiler's time, and next to nothing is collected
        try:
            with interruptible(self._stop):
                if self._identity not in _BUILT.get(self._sources, {}):  # else another ended before this one began
                    self.take(self._compiled_once())
        except (CompilerInterrupted, _EditedError):
            pass
        except Exception as error:  # it is raised where somebody waits
            forget_sources(self._sources)
            self._error = error
        finally:
            if collects:
                if not gc.get_freeze_count():  # as old, else the first search would look at all that is new
                    gc.freeze()
                    gc.unfreeze()
                gc.enable()
            del _COMPILERS[os.getpid(), self._sources, self._identity]
            self._done.set()

    def _compiled_once(self) -> Code:
        if self._path is None:
            return self._compiled(kept=False)
        with one_compiler(self._path) as can_be_kept:
            code = self.kept()  # another process may have compiled it meanwhile
            if code is None:
                code = self._compiled(kept=can_be_kept)
                if can_be_kept and code.can_be_kept:
                    keep(self._path, code)
        return code

    def _compiled(self, *, kept: bool) -> Code:
        if self._bitcode is not None and (code := emit_portable(self._bitcode)) is not None:
            return code
        from zermelo.envs.jit.cache import durations
        from zermelo.envs.jit.compiling import compile_kernel, import_compiler

        import_compiler()
        from numba.core.errors import NumbaError

        rules, kernel = self._rules, self._kernel
        when = "once; " if kept else ""
        say_once_about(
            f"compiling the rules of {self._name} for this machine ({when}{durations.about()})",
            type(rules),
            self._sources,
            *self._identity[:2],
        )
        begun = time.monotonic()
        try:
            code = emit(*compile_kernel(on_path(rules), kernel))
        except NumbaError as error:
            from zermelo.envs.jit.method_calls import explain

            raise explain(rules, error) from None
        if not self._sources.is_current():
            raise _EditedError
        if kept:
            durations.add(time.monotonic() - begun)
        return code


def _numbers(values: tuple[Any, ...]) -> Iterator[int]:
    """The numbers in a tuple, and in the tuples inside it, each in a word of eight bytes."""
    for value in values:
        if isinstance(value, tuple):
            yield from _numbers(value)
        else:
            yield int(np.float64(value).view(np.int64)) if isinstance(value, float) else int(value)


def _caller(function: Callable[..., int], name: str, kernel: Kernel) -> Callable[..., int]:
    """The function in Python's terms: named tuples and records are handed over by address."""
    records = [place for place, kind in enumerate(kernel.arguments) if not isinstance(kind, str)]

    def call(rules: Any, state: Any, *arguments: Any) -> int:
        plain = list(arguments)
        for place in records:
            plain[place] = ctypes.addressof(plain[place])
        result = ctypes.c_int64()
        try:
            of_rules, of_state = array.array("q", rules), array.array("q", state)
        except TypeError:  # floats, or tuples in them
            of_rules, of_state = array.array("q", _numbers(rules)), array.array("q", _numbers(state))
        addresses = of_rules.buffer_info()[0], of_state.buffer_info()[0]
        if function(*addresses, *plain, ctypes.addressof(result)):
            raise RulesError(
                f"the compiled rules of {name} raised an exception: with NUMBA_DISABLE_JIT=1 they run as plain "
                "Python, which shows it"
            )
        return result.value

    return call
