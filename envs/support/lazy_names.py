"""Names of a package that bring their module when they are first used, listed in its ``__init__.pyi``.

Where a name is not there, the error says which was probably meant.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from zermelo.envs.support.spec_text import did_you_mean

_PACKAGES: Final = ("envs", "agents", "evaluation")
_RENAMED: Final = {
    ("zermelo.evaluation", "Isolation"): "AgentLimits",
    ("zermelo.evaluation", "Outcome"): "SeatOutcome",
    ("zermelo.evaluation", "Row"): "AgentRow",
}
"""What names of 0.2.0 are called now that mean something else in another package."""


def _import_line(name: str, package: str) -> str:
    """The line that imports a public class or function of that name, of this package if it has one; else empty."""
    faces = package, *(f"zermelo.{other}" for other in _PACKAGES)
    for face in faces:
        if name in importlib.import_module(face).__all__:
            return f"write `from {face} import {name}`"
    definition = re.compile(rf"^(?:class|def) {re.escape(name)}\b", re.MULTILINE)
    for face in faces:
        for folder in importlib.import_module(face).__path__:
            for path in sorted(Path(folder).rglob("*.py"), key=lambda path: ("textbook" in path.name, path)):
                if definition.search(path.read_text(encoding="utf-8")):
                    module = ".".join((face, *path.relative_to(folder).with_suffix("").parts))
                    return f"write `from {module.removesuffix('.__init__')} import {name}`"
    return ""


def lazy_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """A ``__getattr__``, a ``__dir__`` and an ``__all__`` for the package of that ``__name__``, ``__file__``."""
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    home_of = {alias.name: node.module or package for node in imports for alias in node.names}

    def find(name: str) -> Any:
        if name not in home_of:
            is_other = name.startswith("_") or find_spec(f"{package}.{name}") is not None  # Python's, or a module
            called = _RENAMED.get((package, name), name)
            hint = "" if is_other else _import_line(called, package) or did_you_mean(name, home_of)
            # ``from PACKAGE import NAME`` forgets the message of an AttributeError.
            asking = sys._getframe(1).f_globals.get("__name__")
            if hint and asking == "importlib._bootstrap":
                raise ImportError(f"cannot import {name!r} from {package!r}: {hint}", name=package)
            raise AttributeError(f"module {package!r} has no attribute {name!r}" + f": {hint}" * bool(hint))
        value = getattr(importlib.import_module(home_of[name]), name)
        setattr(sys.modules[package], name, value)  # found by itself from now on
        return value

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home_of})

    return find, list_names, sorted(home_of)
