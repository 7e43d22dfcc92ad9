"""Makes the pictures of README and the pages in docs, from real runs.

python scripts/update_pictures.py [FIGURE...]

Figures are made by the commands ``zermelo tree ... --out FIGURE.svg`` that stand below them. If none is given, all
are made, and pictures of a report and of a tree's page too, for which chromium is needed.
"""

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"
FIGURES = DOCS / "figures"
FIGURE = re.compile(r"^zermelo (tree .*--out (\S+)\.svg)$", re.MULTILINE)
AGENTS = ("random", "greedy", "alphabeta(depth=2)", "alphabeta(depth=4)")
CHROMIUM = "/usr/bin/chromium"


def zermelo(*words):
    """Runs the command."""
    subprocess.run([Path(sys.executable).with_name("zermelo"), *words], check=True, stdout=subprocess.DEVNULL)


def report(browser, folder):
    """The first screen of a report of four agents at connect four."""
    run = folder / "run"
    zermelo("tournament", "classic/connect_four-v3", *AGENTS, "--games", "20", "--out", run, "--quiet")
    zermelo("report", run)
    page = browser.new_page(viewport={"width": 1200, "height": 735})
    page.goto((run / "report.html").as_uri())
    page.screenshot(path=FIGURES / "report.png")


def tree(browser, folder):
    """The page of the textbook's alpha-beta."""
    path = folder / "tree.html"
    zermelo("tree", "aima-5.5", "alphabeta", "--out", path)
    page = browser.new_page(viewport={"width": 1200, "height": 735})
    page.goto(path.as_uri())
    page.keyboard.press("End")
    page.wait_for_timeout(500)
    page.screenshot(path=FIGURES / "tree.png")


def figures():
    """Each figure's name, and the words of the command that makes it."""
    for page in sorted(DOCS.rglob("*.md")):
        for command, name in FIGURE.findall(page.read_text()):
            yield name, shlex.split(command)[:-1]


def main(names):
    commands = dict(figures())
    for name in names or commands:
        if name not in commands:
            raise SystemExit(f"no page has a command with --out {name}.svg")
        zermelo(*commands[name], FIGURES / f"{name}.svg")
    if names:
        return
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        report(browser, Path(folder))
        tree(browser, Path(folder))
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
