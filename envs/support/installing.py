"""Commands that install the optional extras of this package, for messages."""

from __future__ import annotations

import importlib
import json
import os
import shlex
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from zermelo.envs.errors import MissingDependencyError

_PACKAGES: Final = {"classic": ("pygame", "chess", "rlcard", "shimmy"), "openspiel": ("pyspiel", "shimmy")}


def install_command(extra: str) -> str:
    """The command that installs an extra, by how this package is installed.

    ``scripts/setup`` for the virtual environment of a clone, ``pip install -e`` for a clone in another one,
    ``pip install`` for a copy of a folder, and otherwise the packages themselves: no index has this one.
    """
    installed = [*distributions(name="zermelo")]
    # An editable installation leaves metadata without an origin in the clone: Python started there sees it first.
    origins = (json.loads(each.read_text("direct_url.json") or "{}") for each in installed)
    origin = next((each for each in origins if "dir_info" in each), None)
    folder = None
    if origin is not None:
        folder = Path(urllib.request.url2pathname(urllib.parse.urlsplit(origin["url"]).path)).resolve()
    if origin is None or folder is None or not (folder / "pyproject.toml").is_file():
        return f"pip install {' '.join(map(_quoted, _requirements(installed, extra)))}"
    here = "." if _is_current(folder) else str(folder)
    if not origin["dir_info"].get("editable"):
        return f"pip install {_quoted(f'{here}[{extra}]')}"
    own = Path(sys.prefix).resolve() == (folder / ".venv").resolve()
    if own and os.name == "posix" and (folder / "scripts" / "setup").is_file():
        return f"{shlex.quote('scripts/setup' if here == '.' else f'{here}/scripts/setup')} {extra}"
    return f"pip install -e {_quoted(f'{here}[{extra}]')}"


def optional_import(module: str, package: str, extra: str) -> Any:
    """A module of an optional package; ``MissingDependencyError`` has the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingDependencyError(f"{package} is not installed: {install_command(extra)}") from error


def is_installed(extra: str) -> bool:
    """Whether the packages of the extra ``classic`` or ``openspiel`` can be imported."""
    return all(find_spec(package) is not None for package in _PACKAGES[extra])


def _is_current(folder: Path) -> bool:
    try:
        return folder == Path.cwd()
    except OSError:  # the current folder has been removed
        return False


def _requirements(installed: Iterable[Distribution], extra: str) -> list[str]:
    """The packages that an extra needs, as the metadata has them; the extra itself where there is none."""
    needed = [line.partition(";") for each in installed for line in each.requires or ()]
    wanted = f"extra == '{extra}'"
    found = [package.strip() for package, _, marker in needed if wanted in marker.replace('"', "'")]
    return [*dict.fromkeys(found)] or [f"zermelo[{extra}]"]


def _quoted(text: str) -> str:
    """A word in double quotes, which shells and the command line of Windows read alike."""
    return f'"{text}"'
