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
import gc
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, Final

import numpy as np

from zermelo.envs.errors import RulesError
from zermelo.envs.jit.cache.code_cache import keep, one_compiler, shape
from zermelo.envs.jit.cache.sources import Sources, forget_sources, sources_of
from zermelo.envs.jit.cache.store import EditedError, Lookup, code_for
from zermelo.envs.jit.kernel import Kernel
from zermelo.envs.jit.machine_code import Code, link
from zermelo.envs.jit.waiting import CompilerInterrupted, interruptible
from zermelo.envs.support.waiting import waiting_bar

_POLL: Final = 0.05
_QUIET: Final = 2.0
"""Seconds of waiting for the compiler without a progress bar."""

_Identity = tuple[Any, ...]
_BUILT: MutableMapping[Sources, dict[_Identity, Callable[..., Any]]] = weakref.WeakKeyDictionary()
"""Kernels by the version of the rules: those of earlier ones are let go."""
_COMPILERS: dict[tuple[int, Sources, _Identity], _Compiler] = {}
"""Those at work, by process, version of the rules, and kernel: a forked child has none of its parent's threads."""


def build(rules: Any, kernel: Kernel) -> Callable[..., int]:
    """A kernel compiled for ``rules``: a function of rules, state and its further arguments.

    The rules and the state that it takes are those of ``zermelo.envs.jit.history.argument_maker``. Rules of one
    class and shape share a kernel, until something is edited that it was made from.

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
    if identity in _BUILT.get(sources, {}):
        return False
    lookup = Lookup(rules, kernel, sources)
    is_missing = lookup.file is not None and code_for(lookup, slow=False) is None
    return is_missing and lookup.bitcode is None


def _built(rules: Any, kernel: Kernel, waits: Callable[[], bool]) -> Callable[..., int] | None:
    sources, identity = _identity(rules, kernel)
    while (function := _BUILT.get(sources, {}).get(identity)) is None:
        compiler = _COMPILERS.get((os.getpid(), sources, identity))
        if compiler is None:
            compiler = _Compiler(Lookup(rules, kernel, sources), identity)
            if (code := code_for(compiler.lookup, slow=False)) is not None:
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


class _Compiler:
    """Looks for one kernel in the slow layers, in a thread of its own."""

    def __init__(self, lookup: Lookup, identity: _Identity) -> None:
        self.lookup, self._identity = lookup, identity
        self._sources, self._name = lookup.sources, type(lookup.rules).__name__
        self._done, self._stop = threading.Event(), threading.Event()
        self._error: Exception | None = None

    def take(self, code: Code) -> None:
        """Links machine code, for all who ask for this kernel."""
        kernel = self.lookup.kernel
        arguments = ["int64", "int64", *kernel.plain_arguments, "int64"]
        function = link(code, arguments, self._sources.tables)
        built = _BUILT.setdefault(self._sources, {})
        built[self._identity] = _caller(function, self._name, kernel)

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
                    self.take(self._found_once())
        except (CompilerInterrupted, EditedError):
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

    def _found_once(self) -> Code:
        file, code = self.lookup.file, None
        with contextlib.nullcontext(False) if file is None else one_compiler(file) as is_kept:
            self.lookup.is_kept = is_kept
            code = code_for(self.lookup, slow=False)  # another process may have compiled it meanwhile
            if code is None:
                code = code_for(self.lookup, slow=True)
                assert code is not None, "the compiler has all kernels"
                if file is not None and is_kept and code.can_be_kept:
                    keep(file, code)
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
