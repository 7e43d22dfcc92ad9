"""Writes the generated parts of README.md: the tournament's table and the list of agents.

python scripts/update_readme.py            everything
python scripts/update_readme.py agents     one part
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from zermelo.agents import list_agents

README = Path(__file__).resolve().parent.parent / "README.md"


def tournament():
    """The output of the tournament command that stands right above its block."""
    command = re.search(r"^zermelo tournament (?:[^\n\\]|\\\n)*", README.read_text(), re.MULTILINE)
    words = shlex.split(command.group().replace("\\\n", " "))
    program = Path(sys.executable).with_name("zermelo")
    output = subprocess.run([program, *words[1:]], check=True, capture_output=True, text=True).stdout
    return f"```text\n{output.rstrip()}\n```"


def agents():
    """A table of the agents that have a name."""
    lines = ["| name | what it does |", "| --- | --- |"]
    lines += [f"| `{entry.name}` | {entry.summary.replace('``', '`')} |" for entry in list_agents()]
    return "\n".join(lines)


PARTS = {"tournament": tournament, "agents": agents}


def update(text, name, content):
    """The text with the block of that name replaced."""
    pattern = re.compile(f"(<!-- generated: {name} -->\n).*?(\n<!-- end -->)", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise SystemExit(f"README.md needs one block `<!-- generated: {name} -->` ... `<!-- end -->`")
    return pattern.sub(lambda found: f"{found[1]}\n{content}\n{found[2]}", text)


def main(names):
    for name in names or PARTS:
        README.write_text(update(README.read_text(), name, PARTS[name]()))


if __name__ == "__main__":
    main(sys.argv[1:])
