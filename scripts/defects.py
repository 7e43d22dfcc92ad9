"""Runs the tests of known defects on another commit and on this version, and prints how each fared.

Usage: python scripts/defects.py COMMIT [arguments for pytest]

Tests marked ``defect(number)`` fail on the version that had the defect. This version's tests run on both.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OUTCOMES = defaultdict(Counter)


def pytest_collection_modifyitems(config, items):
    """Runs marked tests only."""
    marked = [item for item in items if item.get_closest_marker("defect")]
    config.hook.pytest_deselected(items=[item for item in items if item not in marked])
    items[:] = marked


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Counts a test once: by its call, or by whatever failed or skipped it before."""
    report = yield
    if report.when == "call" or not report.passed:
        for marker in item.iter_markers("defect"):
            OUTCOMES[str(marker.args[0])][report.outcome] += 1
    return report


def pytest_sessionfinish():
    """Writes the counts where the script reads them."""
    Path(os.environ["DEFECTS_JSON"]).write_text(json.dumps(OUTCOMES))


def outcomes(source: Path, folder: Path, arguments: list[str]) -> dict[str, dict[str, int]]:
    """Number of passed, failed and skipped tests of each defect, with the product's code in ``source``."""
    links = source / subprocess.check_output([source / "scripts" / "link_packages"], text=True).strip()
    result = folder / "outcomes.json"
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(links), str(ROOT / "scripts")]),
        "DEFECTS_JSON": str(result),
        "ZERMELO_CACHE_DIR": str(folder / "cache"),
    }
    command = [sys.executable, "-m", "pytest", "-p", "defects", "-q", "--tb=no", "--continue-on-collection-errors"]
    subprocess.run([*command, *arguments], cwd=ROOT, env=environment, stdout=sys.stderr)
    return json.loads(result.read_text())


def main(commit: str, *arguments: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder, "old")
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", old, commit], cwd=ROOT, check=True)
        try:
            before = outcomes(old, Path(folder), list(arguments))
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", old], cwd=ROOT, check=True)
        after = outcomes(ROOT, Path(folder), list(arguments))
    print(f"{'defect':>6}  {'tests':>5}  {'failing on ' + commit[:7]:>18}  {'failing now':>11}")
    for number in sorted(after, key=int):
        print(
            f"{number:>6}  {sum(after[number].values()):>5}  {before.get(number, {}).get('failed', 0):>18}"
            f"  {after[number].get('failed', 0):>11}"
        )


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
