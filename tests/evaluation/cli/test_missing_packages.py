"""Commands that need an optional package name the line that installs it."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from zermelo.envs.support.installing import install_command


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_board_in_the_browser_names_the_line_that_installs_what_it_needs(
    package: str, run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    code, _, error = run("play", "zermelo/MNK-v0", "random", "--browser")
    needed = f"zermelo: {package}, which the board in the browser needs, is not installed: "
    assert (code, error.splitlines()) == (2, [needed + install_command("board")])
