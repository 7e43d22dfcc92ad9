"""Names of a package that bring their module when they are first used: importing the package takes no time.

The one list of a package's names is its ``__init__.pyi``, as type checkers read it: ``from MODULE import NAME as
NAME``. Where a name is not there, the error says which was probably meant; ``calls`` does so for wrong arguments.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Callable, Collection
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any

from zermelo.envs.support.calls import explained
from zermelo.envs.support.spec_text import did_you_mean


def lazy_names(
    package: str, file: str, *, compiles: bool = False, quick: Collection[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """A ``__getattr__``, a ``__dir__`` and an ``__all__`` for the package of that ``__name__``, ``__file__``.

    Functions of a package that ``compiles`` are for compiled code too, and so are left as they are, as are
    ``quick`` ones, which take microseconds and check their argument themselves.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    home_of = {alias.name: node.module or package for node in imports for alias in node.names}

    def find(name: str) -> Any:
        if name not in home_of:
            hint = did_you_mean(name, home_of)
            # ``from PACKAGE import NAME`` forgets the message of an AttributeError.
            asking = sys._getframe(1).f_globals.get("__name__")
            if hint and asking == "importlib._bootstrap" and find_spec(f"{package}.{name}") is None:
                raise ImportError(f"cannot import {name!r} from {package!r}: {hint}", name=package)
            raise AttributeError(f"module {package!r} has no attribute {name!r}" + f": {hint}" * bool(hint))
        value = getattr(importlib.import_module(home_of[name]), name)
        value = value if compiles or name in quick else _explained(value, package, name)
        setattr(sys.modules[package], name, value)  # found by itself from now on
        return value

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return find, list_names, sorted(home_of)


def _explained(value: Any, package: str, name: str) -> Any:
    """A function or class of the package that answers wrong calls by a sentence; other values as they are."""
    if isinstance(value, FunctionType):
        value = explained(value, name)
        value.__module__, value.__qualname__ = package, name  # where pickle finds it
    elif isinstance(value, type):
        _explain_class(value)
    return value


def _explain_class(kind: Any) -> None:
    """Puts explained methods in the place of the class's ``__init__`` and of others that make an object of it."""
    made = kind.__init__
    if (
        not isinstance(made, FunctionType)
        or not made.__module__.startswith("zermelo.")
        or hasattr(made, "__wrapped__")
    ):
        return  # a protocol's own, or done before
    advice = ""
    for name, method in [*vars(kind).items()]:
        if isinstance(method, classmethod) and method.__annotations__.get("return") == kind.__name__:
            setattr(kind, name, classmethod(explained(method.__func__, f"{kind.__name__}.{name}")))
            summary = (inspect.getdoc(kind) or "").splitlines()[0].replace("``", "").removesuffix(".")
            advice = f"{kind.__name__}.{name} makes one ({summary[:1].lower()}{summary[1:]})"
    kind.__init__ = explained(made, advice=advice)
