"""Makes the pictures of README and the pages in docs, from real runs.

python scripts/update_pictures.py [NAME...]

NAME is a figure, which the command ``zermelo tree ... --out NAME.svg`` on its page makes; ``games``; or ``pages``,
those of a report and of a tree's page, for which chromium is needed. If none is given, all are made.
"""

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from game_pages import ENTRIES
from PIL import Image

from zermelo.agents import RandomAgent
from zermelo.envs import make

DOCS = Path(__file__).resolve().parents[1] / "docs"
FIGURES = DOCS / "figures"
FIGURE = re.compile(r"^zermelo (tree .*--out (\S+)\.svg)$", re.MULTILINE)
AGENTS = ("random", "greedy", "alphabeta(depth=2)", "alphabeta(depth=4)")
CHROMIUM = "/usr/bin/chromium"
MOVES = 11
"""Random moves before the picture of a game is taken, or fewer if the game would end."""


def zermelo(*words):
    """Runs the command."""
    subprocess.run([Path(sys.executable).with_name("zermelo"), *words], check=True, stdout=subprocess.DEVNULL)


def games():
    """A picture of each game after some random moves."""
    for name, entry in ENTRIES.items():
        env, player = make(entry.name, render_mode="rgb_array"), RandomAgent(seed=1)
        env.reset(seed=1)
        player.reset(seed=1)
        for _ in range(MOVES + 1):
            if any(env.terminations.values()):
                break
            image = env.render()
            env.step(player.act(env))
        picture = Image.fromarray(np.asarray(image))
        picture.thumbnail((420, 420))
        picture = picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=64)
        picture.save(FIGURES / "games" / f"{name}.png", optimize=True)


def pages():
    """The first screen of a report of four agents at connect four, and the page of the textbook's alpha-beta."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        run, tree = Path(folder, "run"), Path(folder, "tree.html")
        zermelo("tournament", "classic/connect_four-v3", *AGENTS, "--games", "20", "--out", run, "--quiet")
        zermelo("report", run)
        zermelo("tree", "aima-5.5", "alphabeta", "--out", tree)
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        page = browser.new_page(viewport={"width": 1200, "height": 735})
        for path in (run / "report.html", tree):
            page.goto(path.as_uri())
            if path == tree:
                page.keyboard.press("End")
                page.wait_for_timeout(500)
            page.screenshot(path=FIGURES / f"{path.stem}.png")
        browser.close()


def main(names):
    texts = [page.read_text() for page in sorted(DOCS.rglob("*.md"))]
    commands = {name: shlex.split(command)[:-1] for text in texts for command, name in FIGURE.findall(text)}
    makers = {"games": games, "pages": pages}
    for name in names or (*commands, *makers):
        if name in makers:
            makers[name]()
        elif name in commands:
            zermelo(*commands[name], FIGURES / f"{name}.svg")
        else:
            raise SystemExit(f"no page has a command with --out {name}.svg; games and pages are other names")


if __name__ == "__main__":
    main(sys.argv[1:])
