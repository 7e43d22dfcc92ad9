"""Commands that install the optional extras of this package, for messages."""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_PACKAGES: Final = {"classic": ("pygame", "chess", "rlcard", "shimmy"), "openspiel": ("pyspiel", "shimmy")}


def install_command(extra: str) -> str:
    """The command that installs an extra: from the folder that this package was installed from, or by its name."""
    return f'pip install "{_source()}[{extra}]"'


def is_installed(extra: str) -> bool:
    """Whether the packages of the extra ``classic`` or ``openspiel`` can be imported."""
    return all(find_spec(package) is not None for package in _PACKAGES[extra])


def _source() -> str:
    """A folder if the package was installed from one, such as a clone; otherwise the name that an index knows."""
    # An editable installation leaves metadata without an origin in the clone: Python started there sees it first.
    origins = [json.loads(found.read_text("direct_url.json") or "{}") for found in distributions(name="zermelo")]
    origin = next((each for each in origins if "dir_info" in each), None)
    if origin is None:
        return "zermelo"
    folder = Path(urllib.request.url2pathname(urllib.parse.urlsplit(origin["url"]).path))
    return "." if folder == Path.cwd() else str(folder)
