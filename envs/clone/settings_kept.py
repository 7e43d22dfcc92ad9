"""Puts back settings of the process that an environment's own code has changed while copies of it were played."""

from __future__ import annotations

import contextlib
import decimal
import locale
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.envs.clone.quiet import OUTPUT_GUARD
from zermelo.envs.errors import EnvFailureWarning

_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGALRM") if hasattr(signal, name)
)


class _Setting(NamedTuple):
    name: str  # for the warning
    read: Callable[[], Any]
    write: Callable[[Any], None]


def _folder() -> str | None:
    with contextlib.suppress(OSError):  # it may have been removed
        return os.getcwd()
    return None


def _go_to(folder: str | None) -> None:
    if folder is not None:
        os.chdir(folder)


def _set_filters(filters: tuple[Any, ...]) -> None:
    warnings.resetwarnings()  # so that Python forgets which warnings these had let through
    warnings.filters[:] = filters  # type: ignore[index]  # it is a list


def _of_imports(before: tuple[Any, ...], after: tuple[Any, ...]) -> tuple[Any, ...]:
    """The filters that were there, and new ones for certain warnings, as libraries add when they are imported."""
    fresh = [each for each in after if each not in before]
    certain = [each for each in fresh if each[1] or each[3] or each[2].__module__ != "builtins"]
    return (*certain, *before)


def _handlers() -> tuple[Any, ...]:
    return tuple(map(signal.getsignal, _SIGNALS))


def _set_handlers(handlers: tuple[Any, ...]) -> None:
    for number, handler in zip(_SIGNALS, handlers, strict=True):
        if handler is not None:  # as it is where other code than Python's has set it
            signal.signal(number, handler)


def _streams() -> tuple[Any, ...]:
    return OUTPUT_GUARD.unfiltered(sys.stdout), sys.stderr, sys.stdin


def _set_streams(streams: tuple[Any, ...]) -> None:
    sys.stdout, sys.stderr, sys.stdin = streams


def _locale() -> str:
    return locale.setlocale(locale.LC_ALL)


def _set_locale(name: str) -> None:
    locale.setlocale(locale.LC_ALL, name)


def _set_errors(kinds: dict[str, Any]) -> None:
    np.seterr(**kinds)


def _set_printing(options: dict[str, Any]) -> None:
    np.set_printoptions(**options)


def _rounding() -> tuple[int, str]:
    context = decimal.getcontext()
    return context.prec, context.rounding


def _set_rounding(before: tuple[int, str]) -> None:
    context = decimal.getcontext()
    context.prec, context.rounding = before


_FILTERS: Final = _Setting("warnings.filters", lambda: tuple(warnings.filters), _set_filters)
_OF_THREAD: Final = (
    _Setting("NumPy's handling of errors (numpy.seterr)", np.geterr, _set_errors),
    _Setting("NumPy's print options", np.get_printoptions, _set_printing),
    _Setting("decimal's precision or rounding", _rounding, _set_rounding),
)
_OF_PROCESS: Final = (
    _Setting("the working directory (os.chdir)", _folder, _go_to),
    _FILTERS,
    _Setting("signal handlers", _handlers, _set_handlers),
    _Setting("sys.stdout, sys.stderr or sys.stdin", _streams, _set_streams),
    _Setting("the locale", _locale, _set_locale),
)
_ALL: Final = (*_OF_THREAD, *_OF_PROCESS)
_told: Final[set[tuple[str, str]]] = set()


class SettingsKept:
    """A context that puts back what changes in it, and says so once for each environment and setting.

    Settings of the whole process are put back in the main thread alone, as other threads have theirs changed.
    ``os.environ`` is left out: to compare it takes longer than some searches.
    """

    def __init__(self, name: Callable[[], str]) -> None:
        """``name`` gives the name of the environment, for the warning."""
        self._name = name
        is_main = threading.current_thread() is threading.main_thread()
        self._settings = _ALL if is_main else _OF_THREAD
        self._depth = OUTPUT_GUARD.depth
        self._modules = len(sys.modules)
        self._before = [setting.read() for setting in self._settings]

    def __enter__(self) -> None:
        try:
            OUTPUT_GUARD.keep()
        except BaseException:  # Ctrl-C
            OUTPUT_GUARD.leave(self._depth)
            raise

    def __exit__(self, *_: object) -> None:
        OUTPUT_GUARD.leave(self._depth)
        now = [setting.read() for setting in self._settings]
        if now != self._before:
            self._put_back(now)

    def _put_back(self, now: list[Any]) -> None:
        changed = []
        for setting, before, after in zip(self._settings, self._before, now, strict=True):
            if setting is _FILTERS and len(sys.modules) > self._modules:
                before = _of_imports(before, after)
            if before != after:
                with contextlib.suppress(OSError, ValueError, locale.Error):  # such as a folder that is gone
                    setting.write(before)
                changed.append(setting.name)
        name = self._name()
        fresh = [each for each in changed if (name, each) not in _told]
        _told.update((name, each) for each in fresh)
        if fresh:
            warnings.warn(
                f"{name} changed {', '.join(fresh)} while copies of it were played, which was put back: change it "
                "where the environment is made, not in step or reset",
                EnvFailureWarning,
                stacklevel=4,
            )
