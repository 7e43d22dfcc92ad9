"""Installs zermelo with each extra into a fresh environment, and writes what it takes into the page of platforms.

    python scripts/measure_extras.py [EXTRA ...]     all of them by default; nothing is written for some

Without extras the wheel, the source distribution and the checkout are tried, by every Python that pyproject.toml
names and that is found; each installation searches one position. Megabytes are of ``site-packages``; seconds are
those of pip, downloads from a near index included.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/guides/platforms.md"
FIRST_SEARCH = (
    "from zermelo.agents import AlphaBetaAgent\n"
    "from zermelo.envs import make\n"
    "env = make('zermelo/ConnectFour-v0')\n"
    "env.reset(seed=0)\n"
    "assert AlphaBetaAgent(depth=6).act(env) in range(7)\n"
)
OWN = {"dev", "dev-extras", "docs"}  # for those who change the package
CPU_TORCH = ["torch==2.13.0+cpu"]
WITH_TORCH = {"sb3", "torch", "rllib", "tianshou"}


def pythons() -> dict[str, str]:
    """The interpreters that are found, by version."""
    text = (ROOT / "pyproject.toml").read_text()
    found = {}
    for version in re.findall(r"Python :: (3\.\d+)", text):
        root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
        for path in (f"python{version}", *map(str, root.glob(f"versions/{version}.*/bin/python"))):
            try:
                subprocess.run([path, "-c", "import venv"], check=True, capture_output=True)
            except (OSError, subprocess.CalledProcessError):
                continue
            found[version] = path
            break
    return found


def megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / 1e6


def measured(python: str, requirement: str, before: list[str]) -> tuple[float, float]:
    """Megabytes and seconds of an installation that searches a position."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
        own = str(folder / "venv/bin/python")
        pip = [own, "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check"]
        packages = next((folder / "venv").glob("lib/python*/site-packages"))
        empty, started = megabytes(packages), time.perf_counter()
        for one in (before, requirement.split()):
            if one:
                subprocess.run([*pip, *one], check=True)
        seconds, size = time.perf_counter() - started, megabytes(packages) - empty
        home = {**os.environ, "ZERMELO_CACHE_DIR": str(folder / "cache")}
        subprocess.run([own, "-c", FIRST_SEARCH], check=True, cwd=folder, env=home)
    return size, seconds


def main(chosen: list[str]) -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    extras = chosen or ["", *(one for one in listed if one not in OWN)]
    with tempfile.TemporaryDirectory() as name:
        build = Path(name)
        subprocess.run([sys.executable, "-m", "build", "--outdir", build, ROOT], check=True, capture_output=True)
        wheel, archive = next(build.glob("*.whl")), next(build.glob("*.tar.gz"))
        for version, python in pythons().items():
            for kind, source in (("wheel", wheel), ("source distribution", archive), ("repository", f"-e {ROOT}")):
                size, seconds = measured(python, str(source), [])
                print(f"{version}, {kind}: {size:.0f} MB, {seconds:.0f} s", flush=True)
        rows = ["| extra | MB | seconds |", "| --- | --- | --- |"]
        for extra in extras:
            before = CPU_TORCH if extra in WITH_TORCH else []
            size, seconds = measured(sys.executable, f"{wheel}[{extra}]" if extra else str(wheel), before)
            rows.append(f"| {f'`{extra}`' if extra else 'none'} | {size:.0f} | {seconds:.0f} |")
            print(rows[-1], flush=True)
    if not chosen:
        text = PAGE.read_text()
        table = "\n".join(rows)
        PAGE.write_text(
            re.sub(
                r"(?s)(<!-- output: python scripts/measure_extras.py -->\n\n).*?(\n\n<!-- end -->)",
                rf"\1{table}\2",
                text,
            )
        )


if __name__ == "__main__":
    main(sys.argv[1:])
