#!/usr/bin/env python
"""Runs a benchmark and prints its table.

    python scripts/bench.py                          lists the benchmarks
    python scripts/bench.py NAME --help              what it measures, and its options
    python scripts/bench.py NAME [options] [--write]
    python scripts/bench.py --write                  all that pages show, which takes many minutes

``--write`` puts the table into the page with a comment ``output: python scripts/bench.py NAME [options]``.
Figures depend on the machine. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import show

from zermelo.envs import ZermeloError

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = re.compile(r"(<!-- output: python scripts/bench\.py ([^\n]*?) -->\n).*?(\n<!-- end -->)", re.DOTALL)
BENCHMARKS = {
    "openspiel": ("alphabeta", "mcts", "mcts_openspiel", "mcts_choice"),
    "chess": ("chess", "chess_book"),
    "versions": ("features",),
    "chance": ("pruning", "tiles", "backgammon"),
    "hidden": (
        "ismcts", "exploitability", "hanabi", "hanabi_search", "equilibrium", "poker", "poker_exploitability",
    ),
    "clone": ("clone",),
    "limit": ("limit",),
    "tournament": ("tournament", "million", "cluster", "coverage", "policies"),
    "learning": ("many", "opponents", "frameworks"),
    "levels": ("levels", "strengths"),
    "first_moves": ("first_moves",),
    "connect_four": ("exact",),
    "knowledge": ("endings", "strategies", "probing", "proofs"),
}  # fmt: skip
"""The functions of each module."""


def found(name: str) -> Callable[..., Any]:
    """The function of that name."""
    modules = [module for module, names in BENCHMARKS.items() if name in names]
    if not modules:
        raise SystemExit(f"there is no benchmark {name!r}: there are {', '.join(sum(BENCHMARKS.values(), ()))}")
    function: Callable[..., Any] = getattr(importlib.import_module(f"benchmarks.{modules[0]}"), name)
    return function


def parsed(name: str, words: Sequence[str]) -> argparse.Namespace:
    """The options of a benchmark, which are the parameters of its function."""
    function = found(name)
    parser = argparse.ArgumentParser(prog=f"bench.py {name}", description=inspect.getdoc(function))
    for option, parameter in inspect.signature(function).parameters.items():
        default = parameter.default
        listed = ", ".join(map(str, default)).replace("%", "%%") if isinstance(default, tuple) else "%(default)s"
        given: dict[str, Any] = {"type": type(default)}
        if isinstance(default, bool):
            given = {"action": "store_true"}
        elif isinstance(default, tuple):
            choices = default if option == "only" else None
            given = {"type": type(default[0]), "nargs": "+", "metavar": "VALUE", "choices": choices}
        parser.add_argument(f"--{option}", default=default, help=f"default: {listed}", **given)
    parser.add_argument("--write", action="store_true", help="put the table into the page that shows this command")
    return parser.parse_args(words)


def pages_with(command: str) -> list[Path]:
    """The pages that show what a command prints."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in pages if command in [shown[1] for shown in OUTPUT.findall(page.read_text())]]


def written(text: str, command: str, table: str) -> str:
    """The text of a page with the table of a command replaced."""
    return OUTPUT.sub(lambda at: f"{at[1]}\n{table}\n{at[3]}" if at[2] == command else at[0], text)


def main(words: Sequence[str]) -> None:
    if list(words) == ["--write"]:
        for page in sorted((ROOT / "docs").rglob("*.md")):
            for _, command, _ in OUTPUT.findall(page.read_text()):
                subprocess.run([sys.executable, __file__, *shlex.split(command), "--write"], check=True)
        return
    if not words or words[0] in ("-h", "--help"):
        print(__doc__, *(f"  {name}" for names in BENCHMARKS.values() for name in names), sep="\n")
        return
    options = vars(parsed(words[0], words[1:]))
    command = shlex.join(word for word in words if word != "--write")
    pages = pages_with(command) if options.pop("write") else None
    if pages == []:
        raise SystemExit(f"no page shows the output of `python scripts/bench.py {command}`: leave out --write")
    warnings.simplefilter("ignore")  # what environments say while they are made
    try:
        table = show(found(words[0])(**options))
    except ZermeloError as error:
        raise SystemExit(str(error)) from None
    for page in pages or ():
        page.write_text(written(page.read_text(), command, table))


if __name__ == "__main__":
    main(sys.argv[1:])
