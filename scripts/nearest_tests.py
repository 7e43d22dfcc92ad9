"""The tests nearest to a change, while time lasts: a plugin of pytest for ``scripts/check``.

A test file that has changed is at distance 0, one that imports a changed module at 1, one that imports a module
that does at 2. Of files up to ``FARTHEST``, tests are taken in order of distance, short first, if they fit into
the time that is left, by what they took before; of a new one that is guessed. One that comes too late is skipped.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("envs", "agents", "evaluation")
FARTHEST = 3
ALWAYS = ROOT / "tests" / "test_layout.py"  # the arrows between folders, which any new import may break
DURATIONS = "zermelo/durations"
GUESS = 0.2  # seconds
# Sought in the text, as parsing takes seconds; so those of scripts that tests write and run are found as well.
IMPORT = re.compile(r"^[ \t]*(?:from ([\w.]+) import (\([^)]*\)|.*)|import ([\w.]+))", re.MULTILINE)


def changed_files(base: str) -> set[Path]:
    """What differs from a commit in the working tree, new files included."""
    commands = (["diff", "--name-only", "--no-renames", base], ["ls-files", "--others", "--exclude-standard"])
    lines = [
        subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
        for words in commands
    ]
    return {ROOT / line for part in lines for line in part}


class Sources:
    """Who imports whom, read from the text of all modules, tests and scripts."""

    def __init__(self) -> None:
        paths = [path for folder in (*PACKAGES, "tests", "scripts") for path in (ROOT / folder).rglob("*.py")]
        self.modules = {_module_name(path): path for path in paths}
        self.texts = {path: path.read_text() for path in paths}
        self.imports = {path: set(self._imported(path)) for path in paths}

    def distances(self, changed: set[Path]) -> dict[Path, int]:
        """The distance of every file that is reached from the changed ones, from importer to importer."""
        distances = dict.fromkeys(changed, 0)
        near, distance = changed, 0
        while near:
            distance += 1
            near = {path for path in self.texts if path not in distances and self._uses(path, near)}
            distances.update(dict.fromkeys(near, distance))
        return distances

    def _uses(self, path: Path, others: set[Path]) -> bool:
        """Whether a file imports one of the others, or names one that cannot be imported."""
        if not self.imports[path].isdisjoint(others):
            return True
        named = {other for other in others if other.suffix != ".py" or other.parent.name == "scripts"}
        in_tests = path.parts[len(ROOT.parts)] == "tests"
        return any((in_tests or other.parent == path.parent) and other.name in self.texts[path] for other in named)

    def _imported(self, path: Path) -> Iterator[Path]:
        if path.name.startswith("test_"):
            yield ROOT / "tests" / "conftest.py"
        for module, names, alone in IMPORT.findall(self.texts[path]):
            if alone in self.modules:
                yield self.modules[alone]
            elif module in self.modules:
                yield from (self._origin(module, name) for name in re.findall(r"\w+", names))

    def _origin(self, module: str, name: str) -> Path:
        """Where a name comes from: if packages counted that pass names on, all who import one were neighbours."""
        path = self.modules.get(f"{module}.{name}", self.modules[module])
        if path.name == "__init__.py":
            for source, names, _ in IMPORT.findall(self.texts[path]):
                if source != module and source in self.modules and name in re.findall(r"\w+", names):
                    return self._origin(source, name)
        return path


def _module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    named = ("zermelo", *parts) if parts[0] in PACKAGES else parts[1:]
    return ".".join(part for part in named if part != "__init__")


# -- the plugin ---------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds what ``scripts/check`` gives."""
    parser.addoption("--since", default="HEAD", help="the commit that changes are counted from")
    parser.addoption("--seconds", type=float, default=40, help="how long tests may take, once they are collected")


def pytest_configure(config: pytest.Config) -> None:
    """Finds the near files, or takes them from the process that started this one."""
    given = getattr(config, "workerinput", {}).get("distances")
    if given is None:
        changed = changed_files(config.getoption("--since"))
        found = {ALWAYS: FARTHEST, **Sources().distances(changed)} if changed else {}
        given = {str(path): distance for path, distance in found.items() if distance <= FARTHEST}
    config.pluginmanager.register(NearestTests(config, given))


class NearestTests:
    """Collects the near test files, orders their tests, and stops in time."""

    def __init__(self, config: pytest.Config, distances: dict[str, int]) -> None:
        self.config = config
        self.distances = distances
        self.seconds = config.getoption("--seconds")
        self.until = 0.0
        self.durations: dict[str, float] = config.cache.get(DURATIONS, {})  # type: ignore[union-attr]
        self.measured: dict[str, float] = {}

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tells a worker of pytest-xdist."""
        node.workerinput["distances"] = self.distances

    def pytest_report_header(self) -> str:
        """How much there is to test."""
        changed = sum(distance == 0 for distance in self.distances.values())
        tests = sum(Path(path).name.startswith("test_") for path in self.distances)
        return f"changed files: {changed}; test files up to {FARTHEST} imports away: {tests}"

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leaves out what is far."""
        far = collection_path.name.startswith("test_") and str(collection_path) not in self.distances
        return True if far else None

    def duration(self, item: pytest.Item) -> float:
        """How long a test will take."""
        return self.durations.get(item.nodeid, GUESS)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Takes the nearest, as many as there is time for."""
        items.sort(key=lambda item: (self.distances[str(item.path)], self.duration(item)))
        left = self.seconds * int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        taken, others = [], []
        for item in items:
            fits = self.duration(item) <= min(left, self.seconds)
            (taken if fits else others).append(item)
            left -= self.duration(item) if fits else 0.0
        self.config.hook.pytest_deselected(items=others)
        items[:] = taken

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skips what would take too long."""
        self.until = self.until or time.monotonic() + self.seconds
        if time.monotonic() + self.durations.get(item.nodeid, 0.0) > self.until:
            pytest.skip("no time left for it: scripts/test runs it")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Takes the time of a test."""
        if report.when == "call" and not report.skipped:
            self.measured[report.nodeid] = report.duration

    def pytest_sessionfinish(self) -> None:
        """Keeps the shortest time of each test: after an edit the first to need a kernel compiles it."""
        if hasattr(self.config, "workerinput"):
            return
        for name, seconds in self.measured.items():
            self.durations[name] = round(min(seconds, self.durations.get(name, seconds)), 2)
        self.config.cache.set(DURATIONS, self.durations)  # type: ignore[union-attr]
