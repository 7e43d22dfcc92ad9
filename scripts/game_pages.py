"""The pages of docs/games: one for each game of this package, from its rules, and the pictures on them."""

import inspect
import sys
from pathlib import Path

from docs_docstrings import as_markdown

from zermelo.agents import AutoAgent
from zermelo.envs import list_envs, make, make_env
from zermelo.envs.registration.own_games import env_maker

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "games"
PICTURES = ROOT / "docs" / "figures" / "games"
MOVES = 11
"""Random moves before the picture is taken, or fewer if the game would end."""
KNOWN = {
    "Amazons": "The first player wins on 5x5 (M. Müller, 2001).",
    "Breakthrough": "With one row of pawns the first player wins on 4x3 and 5x3, the second on 4x2 (computed).",
    "Chess": "20, 400, 8,902, 197,281 and 4,865,609 move sequences of 1 to 5 plies.",
    "Chomp": "The first player wins on every board larger than 1x1 (D. Gale, 1974).",
    "ConnectFour": "The first player wins by beginning in the middle column (J. Allen and V. Allis, 1988).",
    "Domineering": "The first player wins on 8x8 (D. Breuker, J. Uiterwijk and H. van den Herik, 2000).",
    "DotsAndBoxes": "4x5 boxes are a draw (J. Barker and R. Korf, 2012). The first player's net boxes are -1 "
    "for 1x1, 0 for 1x2, -1 for 1x3 and +2 for 2x2 (computed).",
    "Game2048": "On 2x2, optimal play scores 66.9641494571 on average (computed).",
    "Go": "Black wins 5x5 by 25 points (E. van der Werf, 2003).",
    "Goofspiel": "The value is 0, by symmetry.",
    "Hex": "The first player wins on every board with equal sides (J. Nash, 1949).",
    "Hexapawn": "The second player wins on 3x3 (M. Gardner, 1962), the first on 3x4 and 4x4 (computed).",
    "Kalah": "The first player wins (6, 4) by 10 seeds if captures into empty houses are allowed.",
    "Leduc": "The value for the first player is -0.0856 chips (F. Southey et al., 2005).",
    "Kuhn": "The value for the first player is -1/18 chips (H. Kuhn, 1950).",
    "MNK": "Tic-tac-toe is a draw, as is 4,4,4; the first player wins 3,4,3 and 4,4,3 (computed).",
    "Nim": "The player to move loses if the exclusive or of the heaps is 0 (C. Bouton, 1901).",
    "Othello": "8x8 is a draw (H. Takizawa, 2023); the second player wins 6x6 by 4 discs (J. Feinstein, 1993) "
    "and 4x4 by 8 (computed).",
    "Oware": "A draw (J. Romein and H. Bal, 2002).",
    "Pig": "The first player wins 53.06 % of games to 100 (T. Neller and C. Presser, 2004).",
}
"""Results that are published, or were computed independently of this package."""
ABILITIES = {
    "evaluation": "an evaluation of unfinished positions",
    "ordering_hint": "an order of moves",
    "is_noisy": "quiescence search",
    "pass_turn": "null moves",
    "symmetries": "symmetric positions",
    "repetition_key": "repetition",
    "action_priors": "priors of moves for Monte Carlo search",
    "playout_action": "a playout policy",
    "information_state_key": "what each player knows",
}


def games():
    """The listed environments of this package, by the name of their rules."""
    return {
        entry.name[len("zermelo/") : -len("-v0")]: entry for entry in list_envs() if entry.name[:8] == "zermelo/"
    }


def page(name, entry):
    """The text of a game's page."""
    env = make_env(entry.name)
    env.reset(seed=0)
    rules = env.unwrapped.rules
    text, _, table = inspect.getdoc(type(rules)).partition("\n\nAttributes:\n")
    document = as_markdown(inspect.getdoc(env_maker(type(rules))))
    facts = document[document.index("| | |") :].split("\n\n")[0]
    [*_, module] = [
        cls.__module__ for cls in type(rules).__mro__ if cls.__module__.startswith("zermelo.envs.games")
    ]
    knows = [what for method, what in ABILITIES.items() if hasattr(rules, method)]
    chosen = AutoAgent(nodes=50, compile="never").search(env).method
    rows = [
        ("Players", entry.players),
        ("Kind", entry.kind),
        ("Information", entry.information),
        ("Searches know", ", ".join(knows) or "the rules alone"),
        ("`auto` plays it by", f"`{chosen.partition(':')[0]}`: {chosen.partition(':')[2].strip()}"),
        ("Known results", KNOWN.get(name, "none")),
    ]
    return "\n".join(
        [
            f"# {name}\n",
            f"{as_markdown(text)}\n",
            f"![A position of {name}](../figures/games/{name}.png)\n",
            facts,
            *(f"| {what} | {said} |" for what, said in rows),
            f"\n## Parameters\n\n{parameters(table, rules)}\n",
            f"## Rules\n\n{as_markdown(inspect.getdoc(sys.modules[module]) or '')}\n",
            "## Try it\n\n<!-- not run: the same for every game -->\n",
            f'```sh\nzermelo search {entry.name} "auto(seconds=1)"\nzermelo play {entry.name}',
            f'zermelo tournament {entry.name} random greedy "auto(seconds=0.1)" --games 10\n```\n',
        ]
    )


def parameters(table, rules):
    """The attributes of a docstring as a table, with their defaults."""
    entries: list[list[str]] = []
    for line in inspect.cleandoc(table).splitlines():
        if line and not line.startswith(" ") and line.partition(":")[0] in rules._fields:
            entries.append([line.partition(":")[0], line.partition(":")[2].strip()])
        elif entries and line:
            entries[-1][1] += f" {line.strip()}"
        elif not line:
            break
    if not entries:
        return "None."
    rows = ["| parameter | default | what it is |", "| --- | --- | --- |"]
    rows += [f"| `{name}` | `{rules._field_defaults.get(name)!r}` | {text} |" for name, text in entries]
    return "\n".join(rows)


def index(entries):
    """The text of the page that lists all games."""
    rows = ["| game | environment | players | kind | information |", "| --- | --- | --- | --- | --- |"]
    rows += [
        f"| [{name}]({name}.md) | `{entry.name}` | {entry.players} | {entry.kind} | {entry.information} |"
        for name, entry in sorted(entries.items())
    ]
    return (
        "# Games\n\nThe games of this package, whose rules are searched compiled. PettingZoo's nine classics are "
        "[on their own page](../classics.md);\nany other environment works too "
        "([An environment of your own](../guides/environments.md)).\n\n" + "\n".join(rows) + "\n"
    )


def pages():
    """The text of every page, by its path."""
    found = {FOLDER / f"{name}.md": page(name, entry) for name, entry in games().items()}
    return found | {FOLDER / "index.md": index(games())}


def draw_pictures():
    """Writes a picture of each game after some random moves."""
    import numpy as np
    from PIL import Image

    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, entry in games().items():
        env = make(entry.name, render_mode="rgb_array")
        env.reset(seed=1)
        generator = np.random.default_rng(1)
        image = env.render()
        for _ in range(MOVES):
            if any(env.terminations.values()):
                break
            image = env.render()
            mask = env.observe(env.agent_selection)["action_mask"]
            env.step(int(generator.choice(np.flatnonzero(mask))))
        picture = Image.fromarray(image)
        picture.thumbnail((420, 420))
        picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(
            PICTURES / f"{name}.png", optimize=True
        )


if __name__ == "__main__":
    draw_pictures()
