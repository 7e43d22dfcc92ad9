"""Where the machine code of a kernel comes from: layers, of which the first that has it answers.

It is on disk, where earlier processes have kept it, or comes with the package: as object files of platform wheels,
or in the archive as machine code, or as bitcode, of which machine code is made. What is in none is compiled.
"""

from __future__ import annotations

import contextlib
import functools
import statistics
import time
from collections.abc import Callable
from typing import Annotated, Any, Final, NamedTuple

import msgspec

from zermelo.envs.jit.cache.code_cache import code_file, shape, shipped_code
from zermelo.envs.jit.cache.kernel_archive import archived, archived_object, can_use_archive, portable_name
from zermelo.envs.jit.cache.sources import Sources
from zermelo.envs.jit.history import path_rules_of
from zermelo.envs.jit.kernel import Kernel
from zermelo.envs.jit.machine_code import Code, emit, emit_portable, read
from zermelo.envs.support.code_parts import UncomparableError
from zermelo.envs.support.files import cache_root, read_checked, write_checked
from zermelo.envs.support.waiting import say_once_about

_TIMES: Final = "compile_seconds"
_MOST_TIMES: Final = 9
_LARGEST: Final = 4096
_Seconds = Annotated[float, msgspec.Meta(ge=0)]


class EditedError(Exception):
    """Rules were edited while they were compiled: nobody can say which version the code is of."""


class Lookup:
    """A kernel whose code is looked for, for one version of its rules.

    Attributes:
        file: Where its machine code is kept; None if no other process can use it.
        is_kept: Whether what is compiled will be there.
    """

    def __init__(self, rules: Any, kernel: Kernel, sources: Sources) -> None:
        self.rules, self.kernel, self.sources = rules, kernel, sources
        self.state = rules.initial_state()
        self.file = code_file(rules, self.state, kernel)
        self.is_kept = self.file is not None

    @functools.cached_property
    def archive_name(self) -> str | None:
        """The name of its bitcode in the archive; None if it cannot be there."""
        if self.file is None or not can_use_archive():
            return None
        try:
            return portable_name(self.rules, self.state, self.kernel)
        except UncomparableError:
            return None

    @functools.cached_property
    def bitcode(self) -> Code | None:
        """Its bitcode in the archive."""
        return None if self.archive_name is None else archived(self.archive_name)


class Layer(NamedTuple):
    """A place where code may be; one that ``is_slow`` has to make it first."""

    find: Callable[[Lookup], Code | None]
    is_slow: bool = False


def code_for(lookup: Lookup, *, slow: bool) -> Code | None:
    """The machine code of a kernel, from the fast layers or from the slow ones; these have all kernels.

    Raises:
        RulesError: The rules do not compile; the message names the method and the line.
        EditedError: They were edited meanwhile.
    """
    found = (layer.find(lookup) for layer in LAYERS if layer.is_slow == slow)
    return next((code for code in found if code is not None), None)


def _on_disk(lookup: Lookup) -> Code | None:
    return None if lookup.file is None else read(lookup.file)


def _shipped_object(lookup: Lookup) -> Code | None:
    return None if lookup.file is None else shipped_code(lookup.rules, lookup.state, lookup.kernel)


def _archived_object(lookup: Lookup) -> Code | None:
    return None if lookup.archive_name is None else archived_object(lookup.archive_name)


def _from_bitcode(lookup: Lookup) -> Code | None:
    return None if lookup.bitcode is None else emit_portable(lookup.bitcode)


def _compiled(lookup: Lookup) -> Code | None:
    from zermelo.envs.jit.compiling import compile_kernel, import_compiler

    import_compiler()
    from numba.core.errors import NumbaError

    rules = lookup.rules
    when = "once; " if lookup.is_kept else ""
    say_once_about(
        f"compiling the rules of {type(rules).__name__} for this machine ({when}{compile_time()})",
        type(rules),
        lookup.sources,
        shape(rules),
        shape(lookup.state),
    )
    begun = time.monotonic()
    try:
        code = emit(*compile_kernel(path_rules_of(rules), lookup.kernel))
    except NumbaError as error:
        from zermelo.envs.jit.method_calls import explain

        raise explain(rules, error) from None
    if not lookup.sources.is_current():
        raise EditedError
    if lookup.is_kept:
        add_compile_time(time.monotonic() - begun)
    return code


LAYERS: Final = (
    Layer(_on_disk),
    Layer(_shipped_object),
    Layer(_archived_object),
    Layer(_from_bitcode, is_slow=True),
    Layer(_compiled, is_slow=True),
)


def compile_time() -> str:
    """How long a kernel takes to compile on this machine, as a message says it: as the last ones took."""
    known = _times()
    return f"about {max(statistics.median(known), 1):.0f} s" if known else "some 2 to 20 s"


def add_compile_time(seconds: float) -> None:
    """Keeps the time of one more kernel, where the cache folder can be written to."""
    with contextlib.suppress(OSError):
        times = [*_times(), round(seconds, 2)][-_MOST_TIMES:]
        write_checked(cache_root() / _TIMES, msgspec.json.encode(times))


def _times() -> list[float]:
    """The last times; none where there is no file, or another."""
    content = read_checked(cache_root() / _TIMES, _LARGEST)
    try:
        return [] if content is None else msgspec.json.decode(content, type=list[_Seconds])[-_MOST_TIMES:]
    except (ValueError, RecursionError):
        return []
