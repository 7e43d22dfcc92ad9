"""Pages that hold all they show and ask nothing of any network; all text from outside is escaped here."""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.resources
import json
import re
from collections.abc import Mapping
from typing import Any, Final

import jinja2
from markupsafe import Markup

HERE: Final = "zermelo.evaluation.output"
FRAME: Final = "page.html"  # the template of all pages; the others fill its block ``body``

_FORBIDDEN: Final = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\U0010ffff]")


def _shown(value: Any) -> Any:
    """Text for Jinja to escape; characters that no page may hold become U+FFFD."""
    return value if isinstance(value, Markup) else _FORBIDDEN.sub("\ufffd", str(value))


def resource(name: str, package: str) -> str:
    return (importlib.resources.files(package) / "assets" / name).read_text("utf-8")


@functools.cache  # by the name of a package, whose files stay the same
def environment(package: str) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: resource(name, HERE if name == FRAME else package)),
        finalize=_shown, undefined=jinja2.StrictUndefined, autoescape=True,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip


def embedded_json(value: Any) -> Markup:
    """JSON for a ``script`` element: ASCII, without a character that could end the element or start a comment."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def web_page(
    template: str, package: str, *, style: str, script: str, data: Mapping[str, Any], **values: Any
) -> str:
    script, style = resource("base.js", HERE) + script, resource("base.css", HERE) + style
    values["script_hash"] = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    values |= {"style": Markup(style), "script": Markup(script), "data": embedded_json(data)}
    return environment(package).get_template(template).render(**values)
