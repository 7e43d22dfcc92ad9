"""The pages of docs/games, one for each game of this package and each classic environment.

What rules and environments do not say themselves stands in games.toml. How strong agents are is read from the
ladders that this package ships, and for other games from docs/games/levels.json, which ``scripts/bench.py
strengths`` writes.
"""

import inspect
import json
import re
import sys
import tomllib
from pathlib import Path

from docs_site import as_markdown

from zermelo.agents import AutoAgent
from zermelo.agents.level import FOLDER as SHIPPED
from zermelo.agents.level import Levels, levels_for
from zermelo.envs import as_game, list_envs
from zermelo.envs.registration.make import make
from zermelo.envs.registration.own_games import env_maker

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "games"
SAID = tomllib.loads(Path(__file__).with_name("games.toml").read_text())
CLASSICS = SAID["classics"]
ENTRIES = {
    entry.name.removeprefix("zermelo/").removesuffix("-v0").removeprefix("classic/"): entry
    for entry in list_envs()
    if entry.name.startswith(("zermelo/", "classic/"))
}
"""The listed environments by the names of their pages."""
COLUMNS = ("agent", "ms a move", "against random", "against the row above", "games")
WITH_LADDER = {"classic/go-v5": "classic/go-v5(board_size=9)"}
"""Environments whose ladder is that of other settings."""
LEVELS = """Each agent plays `random` and the agent of the row above. Scores are % of the points, or mean rewards
of a game where it pays amounts, with the 95 % interval in brackets. In games for one player, and in Hanabi, the
score is the agent's own. The command is `python scripts/bench.py strengths`."""


def page(name):
    """The text of a game's page."""
    entry = ENTRIES[name]
    env = make(entry.name)
    env.reset(seed=0)
    title, about, facts, sections = (_classic if name in CLASSICS else _own)(name, env)
    facts += [
        ("Players", entry.players),
        ("Kind", entry.kind),
        ("Information", entry.information),
        *_searches(env),
        ("Known results", SAID["known"].get(name, "none")),
        ("Version", f"{entry.name.rpartition('-')[2]}{', of PettingZoo' if name in CLASSICS else ', the first'}"),
    ]
    install = "scripts/setup classic\n" if name in CLASSICS else ""
    return "\n\n".join(
        [
            f"# {title}",
            about,
            f"![A position of {title}](../figures/games/{name}.png)",
            table(" | ", facts),
            f"## How strong agents are\n\n{levels(entry.name, LEVELS)}",
            *sections,
            "## Try it\n\n<!-- not run: the same for every game -->\n\n```sh\n"
            f'{install}zermelo search {entry.name} "auto(seconds=1)"\nzermelo play {entry.name}\n'
            f'zermelo tournament {entry.name} random greedy "auto(seconds=0.1)" --games 10\n```\n',
        ]
    )


def _own(name, env):
    rules = env.unwrapped.rules
    text, *described = re.split(r"\n\n(?:Args|Attributes|Raises):\n", inspect.getdoc(type(rules)))
    document = as_markdown(inspect.getdoc(env_maker(type(rules))))
    lines = document[document.index("| | |") :].split("\n\n")[0].splitlines()[2:]
    facts = [tuple(line.strip("| ").split(" | ", 1)) for line in lines]
    module = next(
        cls.__module__ for cls in reversed(type(rules).__mro__) if cls.__module__.startswith("zermelo.envs.games")
    )
    told = as_markdown(inspect.getdoc(sys.modules[module]) or "").replace("``", "`")
    facts = [(what, f"`{text}`" if what in ("Creation", "Actions") else text) for what, text in facts]
    sections = [f"## Parameters\n\n{_parameters(described, rules)}", f"## Rules\n\n{told}"]
    return name, as_markdown(text).replace("``", "`"), facts, sections


def _parameters(described, rules):
    """The parameters that a docstring's parts describe, as a table with their defaults."""
    about = dict(re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", "\n".join(described), re.MULTILINE))
    rows = []
    for name, parameter in inspect.signature(type(rules)).parameters.items():
        if name not in about:
            raise SystemExit(f"{type(rules).__name__} does not say what its parameter {name} is")
        text = " ".join(about[name].split()).replace("``", "`")
        rows.append((f"`{name}`", f"`{parameter.default!r}`", text))
    return table("parameter | default | what it is", rows) if rows else "None."


def _classic(name, env):
    said = CLASSICS[name]
    space = env.observation_space(env.agent_selection)
    shape = getattr(space, "spaces", {}).get("observation", space)
    is_won = as_game(env).traits.utility_bounds == (-1, 1)
    facts = [
        ("Creation", f'`pettingzoo.make("aec", "classic/{name}")`'),
        ("Agents", ", ".join(env.possible_agents)),
        ("Actions", f"`{env.action_space(env.agent_selection)}`. {said['actions']}"),
        ("Observation", f"{'x'.join(map(str, shape.shape)) or shape}. {said['seen']}"),
        ("Rewards", "1 for a win, -1 for a loss, 0 for a draw" if is_won else "amounts"),
        ("Rendering", ", ".join(env.metadata["render_modes"])),
    ]
    return said["title"], said["about"], facts, []


def _searches(env):
    """What searches know of a game, and which one ``auto`` takes."""
    rules = getattr(as_game(env), "rules", None)
    knows = [what for method, what in SAID["abilities"].items() if hasattr(rules, method)]
    yield "Searched by", "copies of the environment" if rules is None else f"compiled rules, `{rules}`"
    yield "Searches know", ", ".join(knows) or "the rules alone"
    name, _, reason = AutoAgent(nodes=50, compile="never").search(env).method.partition(":")
    yield "`auto` plays it by", f"`{name}`: {reason.strip()}"


def levels(env, about=""):
    """A table of how strong agents of growing limits are, and how long they take for a move."""
    live = make(WITH_LADDER.get(env, env))
    live.reset(seed=0)
    ladder = levels_for(live)
    if ladder is not None:
        return rungs(ladder)
    rows = json.loads((FOLDER / "levels.json").read_text()).get(env, [{}])
    shown = [heading for heading in COLUMNS if any(row.get(heading) for row in rows)]
    lines = [[f"`{row[key]}`" if key == "agent" else row[key] for key in shown] for row in rows]
    return f"{about}\n\n{table(' | '.join(shown), lines)}".strip()


def rungs(ladder):
    """A table of a ladder: what each rung scores against the one below, and its time."""
    is_elo = ladder.unit == "elo"
    lines = []
    for below, rung in zip((None, *ladder.rungs), ladder.rungs, strict=False):
        score = [f"{100 / (1 + 10 ** ((below.rating - rung.rating) / 400)):.0f} %" if below else ""] * is_elo
        ends = f"{ladder.shown(rung.lower)} to {ladder.shown(rung.upper)}"
        lines.append([f"`{rung.agent}`", ladder.shown(rung.rating), ends, *score, f"{rung.ms:.3g}"])
    first, last = (ladder.shown(rung.rating) for rung in (ladder.rungs[0], ladder.rungs[-1]))
    level, of = ("E", "any rating E") if is_elo else ("reward=R", "any mean reward R")
    scale = "`random` has 0 Elo." if is_elo else f"Rewards are means of games with `{ladder.baseline}`."
    about = (
        f"The game's ladder, from weak to strong, rated in {ladder.about['games']:,} games "
        f"({ladder.about['date']}). {scale} `level({level})` plays at {of} from {first} to {last}: "
        "as the two rows next to it, game by game."
    )
    if any(rung.agent.startswith("noisy(") for rung in ladder.rungs):
        about += " `noisy` plays a share `epsilon` of its moves at random."
    columns = "agent | Elo | 95 % interval | expected score against the row above | ms a move"
    if not is_elo:
        columns = "agent | mean reward | 95 % interval | ms a move"
    return f"{about}\n\n{table(columns, lines)}"


def ladders():
    """A table of the ladders of this package: what their levels are, and how sure."""
    lines = []
    for file in sorted(SHIPPED.glob("*.json")):
        ladder = Levels.read(file)
        first, *others = ladder.rungs
        last = others[-1]
        unit = "Elo" if ladder.unit == "elo" else f"reward with `{ladder.baseline}`"
        levels = f"{unit}, {ladder.shown(first.rating)} to {ladder.shown(last.rating)}"
        width = ladder.shown(max(rung.upper - rung.lower for rung in others))
        name = ladder.about["env"]
        page = name.partition("(")[0].rpartition("/")[2].removesuffix("-v0")
        strongest = f"`{last.agent}`: {last.ms:.3g}"
        lines.append([f"[`{name}`](../games/{page}.md)", levels, len(ladder.rungs), width, strongest])
    return table("environment | levels | rungs | widest interval | strongest rung, ms a move", lines)


def table(columns, rows):
    """A table in Markdown."""
    heading = columns.split(" | ")
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def index():
    """The text of the page that lists all games."""
    classics = [(f"[{said['title']}]({name}.md)", f"`classic/{name}`") for name, said in CLASSICS.items()]
    own = [
        (f"[{name}]({name}.md)", f"`{entry.name}`", entry.players, entry.kind, entry.information)
        for name, entry in sorted(ENTRIES.items())
        if name not in CLASSICS
    ]
    return (
        "# Games\n\nPettingZoo's nine classic environments, which [one table](../classics.md) compares, and the "
        "games of this package, whose rules are\nsearched compiled. Any other environment works too "
        "([An environment of your own](../guides/environments.md)).\n\n## PettingZoo's\n\n"
        + table("game | environment", classics)
        + "\n\n## This package's\n\n"
        + table("game | environment | players | kind | information", own)
        + "\n"
    )


def pages():
    """The text of every page, by its path."""
    return {FOLDER / f"{name}.md": page(name) for name in ENTRIES} | {FOLDER / "index.md": index()}
