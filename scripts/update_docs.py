"""Writes the generated parts of README.md and the pages in docs, each between two comments.

python scripts/update_docs.py [PART...]

where a part is ``tournament``, ``agents`` or ``fits``; all if none is given. ``scripts/bench.py --write`` writes
the tables of benchmarks.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from zermelo.agents import list_agents, make_agent
from zermelo.envs import UnsupportedGameError, make_env
from zermelo.evaluation.match.readiness import require_fit

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
TOURNAMENT = re.compile(r"^zermelo tournament (?:[^\n\\]|\\\n)*", re.MULTILINE)
KINDS = {
    "two players": ("chess, go, connect four", "zermelo/MNK-v0"),
    "two players and dice": ("backgammon, EinStein", "zermelo/EinStein-v0"),
    "one player": ("2048, FrozenLake", "zermelo/Game2048-v0"),
    "three or more players": ("dots and boxes for three", "zermelo/DotsAndBoxes-v0(players=3)"),
    "hidden cards": ("poker, Hanabi, liar's dice", "zermelo/Kuhn-v0"),
    "moves at the same time": ("rock paper scissors, Goofspiel", "zermelo/Goofspiel-v0(cards=4)"),
}
"""Each kind of game, with examples and an environment of that kind."""


def tournament():
    """The output of the first tournament on the page that shows it."""
    [page] = pages_with("tournament")
    words = shlex.split(TOURNAMENT.search(page.read_text()).group().replace("\\\n", " "))
    program = Path(sys.executable).with_name("zermelo")
    output = subprocess.run([program, *words[1:]], check=True, capture_output=True, text=True).stdout
    return f"```text\n{output.rstrip()}\n```"


def agents():
    """A table of the agents that have a name."""
    lines = ["| name | what it does |", "| --- | --- |"]
    lines += [f"| `{entry.name}` | {entry.summary.replace('``', '`')} |" for entry in list_agents()]
    return "\n".join(lines)


def fits():
    """A table of the kinds of games, and the agents that play them."""
    lines = ["| game | for example | agents |", "| --- | --- | --- |"]
    lines += [f"| {kind} | {games} | {', '.join(_agents_for(env))} |" for kind, (games, env) in KINDS.items()]
    return "\n".join(lines)


def _agents_for(env_id):
    """The agents that do not refuse an environment; ``random`` never does."""
    env = make_env(env_id)
    env.reset(seed=0)
    for entry in list_agents():
        if entry.name == "random":
            continue
        try:
            require_fit(make_agent(entry.name), env, entry.name)
        except UnsupportedGameError:
            continue
        yield f"`{entry.name}`"


PARTS = {"tournament": tournament, "agents": agents, "fits": fits}


def block(name):
    """What finds the block of that name."""
    return re.compile(f"(<!-- generated: {name} -->\n).*?(\n<!-- end -->)", re.DOTALL)


def update(text, name, content):
    """The text with the block of that name replaced."""
    if len(block(name).findall(text)) != 1:
        raise SystemExit(f"one page needs one block `<!-- generated: {name} -->` ... `<!-- end -->`")
    return block(name).sub(lambda found: f"{found[1]}\n{content}\n{found[2]}", text)


def pages_with(name):
    """The pages with a block of that name."""
    return [page for page in PAGES if block(name).search(page.read_text())]


def main(names):
    for name in names or PARTS:
        if name not in PARTS:
            raise SystemExit(f"there is no part {name!r}: parts are {', '.join(PARTS)}")
        content = PARTS[name]()
        for page in pages_with(name):
            page.write_text(update(page.read_text(), name, content))


if __name__ == "__main__":
    main(sys.argv[1:])
