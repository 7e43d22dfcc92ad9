"""Runs the tests of known defects on another commit and on this version, and prints how each fared.

Usage: python scripts/defects.py COMMIT [arguments for pytest]

Tests marked ``defect(number)`` fail on the version that had the defect. This version's tests run on both.
"""

import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Writes a line for each marked test, by its call, or by whatever failed or skipped it before."""
    report = yield
    if report.when == "call" or not report.passed:
        with open(os.environ["DEFECTS"], "a") as file:
            file.writelines(f"{mark.args[0]} {report.outcome}\n" for mark in item.iter_markers("defect"))
    return report


def outcomes(source, folder, arguments):
    """Counts of the outcomes of each defect's tests, with the product's code in ``source``."""
    links = source / subprocess.check_output([source / "scripts" / "link_packages"], text=True).strip()
    result = Path(tempfile.mkstemp(dir=folder)[1])
    path = os.pathsep.join([str(links), str(ROOT / "scripts")])
    settings = {"PYTHONPATH": path, "DEFECTS": str(result), "ZERMELO_CACHE_DIR": str(folder / "cache")}
    pytest_command = [sys.executable, "-m", "pytest", "-p", "defects", "-m", "defect", "-q", "--tb=no"]
    command = [*pytest_command, "--continue-on-collection-errors", *arguments]
    subprocess.run(command, cwd=ROOT, env=os.environ | settings, stdout=sys.stderr)
    return Counter(result.read_text().splitlines())


def main(commit, *arguments):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(["git", "worktree", "add", "-q", "--detach", folder / "old", commit], cwd=ROOT, check=True)
        try:
            before, after = (outcomes(source, folder, arguments) for source in (folder / "old", ROOT))
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder / "old"], cwd=ROOT, check=True)
    print(f"defect  tests  failing on {commit[:7]}  failing now")
    for number in sorted({line.split()[0] for line in after}, key=int):
        tests = sum(count for line, count in after.items() if line.split()[0] == number)
        print(f"{number:>6}  {tests:>5}  {before[f'{number} failed']:>18}  {after[f'{number} failed']:>11}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
