"""The pages of docs/games, one for each game of this package and each classic environment, and their pictures."""

import inspect
import re
import sys
from pathlib import Path

from docs_docstrings import as_markdown

from zermelo.agents import AutoAgent
from zermelo.envs import as_game, list_envs, make, make_env
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


CLASSICS = {
    "tictactoe-v3": (
        "Tic-tac-toe",
        "Three in a row on a board of 3x3.",
        "The cell, counted down the columns: 0, 1, 2 are the left column from the top.",
        "The player's own marks, then the opponent's.",
    ),
    "connect_four-v3": (
        "Connect Four",
        "Four in a row on a board of six rows and seven columns; stones fall to the lowest free cell.",
        "The column, 0 to 6 from the left.",
        "The player's own stones, then the opponent's; row 0 is the top.",
    ),
    "chess-v6": (
        "Chess",
        "Chess with repetition and the fifty-move rule, drawn without being claimed.",
        "A square of 64 and one of 73 kinds of move from it, as in AlphaZero, seen from the player to move.",
        "Planes of castling rights, the player, the move counter and en passant, then pieces and repetitions of "
        "the last eight positions.",
    ),
    "go-v5": (
        "Go",
        "Go with area scoring; `board_size` and `komi` are parameters.",
        "The point, `row * size + column` from the upper left; the last number passes.",
        "The stones of both players in the last eight positions, and the colour to move.",
    ),
    "hanabi-v5": (
        "Hanabi",
        "A cooperative game: players see all hands but their own, and build five fireworks by giving hints.",
        "Discard a card (0 to 4), play one (5 to 9), hint a colour (10 to 14), hint a rank (15 to 19); more with "
        "more players.",
        "The Hanabi Learning Environment's encoding: hands, board, discards, last action, knowledge of cards.",
    ),
    "leduc_holdem-v4": (
        "Leduc hold'em",
        "Poker with six cards: one private card, two rounds of bets, one public card.",
        "0 calls, 1 raises, 2 folds, 3 checks.",
        "The private card, the public card, then the chips of both players.",
    ),
    "rps-v2": (
        "Rock, paper, scissors",
        "Both players choose at the same time, for `max_cycles` rounds.",
        "0 rock, 1 paper, 2 scissors.",
        "The opponent's last choice; 3 before the first round.",
    ),
    "texas_holdem-v4": (
        "Texas hold'em",
        "Limit hold'em: two private cards, five public ones, bets of a fixed size; `num_players` is a parameter.",
        "0 calls, 1 raises, 2 folds, 3 checks.",
        "The cards that the player sees (52 numbers), then the raises of each of the four rounds.",
    ),
    "texas_holdem_no_limit-v6": (
        "Texas hold'em, no limit",
        "Hold'em with free bets; `num_players` is a parameter.",
        "0 folds, 1 checks or calls, 2 raises half the pot, 3 raises the pot, 4 bets all.",
        "The cards that the player sees (52 numbers), then the player's chips and the most chips of any player.",
    ),
}
"""Each classic environment: its title, what it is, its actions, its observations."""


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
    rows = [
        ("Players", entry.players),
        ("Kind", entry.kind),
        ("Information", entry.information),
        ("Searches know", ", ".join(knows) or "the rules alone"),
        ("`auto` plays it by", _chosen(env)),
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
            f"## Rules\n\n{as_markdown(inspect.getdoc(sys.modules[module]) or '')}",
            *_try_it(entry.name),
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


def classic_page(name):
    """The text of the page of a classic environment."""
    title, about, actions, seen = CLASSICS[name]
    full = f"classic/{name}"
    [entry] = [entry for entry in list_envs() if entry.name == full]
    env = make_env(full)
    env.reset(seed=0)
    space = env.observation_space(env.agent_selection)
    shape = getattr(space, "spaces", {}).get("observation", space)
    game = as_game(env)
    is_won = game.traits.utility_bounds == (-1, 1)
    searched = f"the compiled rules `{game.rules}`" if hasattr(game, "rules") else "copies of the environment"
    rows = [
        ("Creation", f'`make("aec", "{full}")`'),
        ("Agents", ", ".join(env.possible_agents)),
        ("Actions", f"`{env.action_space(env.agent_selection)}`. {actions}"),
        ("Observation", f"{'x'.join(map(str, shape.shape)) or shape}. {seen}"),
        ("Rewards", "1 for a win, -1 for a loss, 0 for a draw" if is_won else "amounts"),
        ("Rendering", ", ".join(env.metadata["render_modes"])),
        ("Players", entry.players),
        ("Kind", entry.kind),
        ("Information", entry.information),
        ("Searched by", searched),
        ("`auto` plays it by", _chosen(env)),
    ]
    facts = "\n".join(f"| {what} | {said} |" for what, said in rows)
    header, lines = _results(full)
    return "\n".join(
        [
            f"# {title}\n\n{about}\n\n![{title}](../figures/games/{name}.png)\n",
            f"| | |\n| --- | --- |\n{facts}\n\n## Against random\n",
            "From [the nine classic environments](../classics.md), where the table is explained.\n",
            *(header, "| --- | --- | --- | ---: |", *lines),
            *_try_it(full, '".[classic]"'),
        ]
    )


def _try_it(env, extra=""):
    """The commands at the end of each page."""
    yield "\n## Try it\n\n<!-- not run: the same for every game -->\n\n```sh"
    if extra:
        yield f"pip install {extra}"
    yield f'zermelo search {env} "auto(seconds=1)"\nzermelo play {env}'
    yield f'zermelo tournament {env} random greedy "auto(seconds=0.1)" --games 10\n```\n'


def _chosen(env):
    """The search that ``auto`` takes, with its reason."""
    name, _, reason = AutoAgent(nodes=50, compile="never").search(env).method.partition(":")
    return f"`{name}`: {reason.strip()}"


def _results(env):
    """Header and rows of the table of docs/classics.md for one environment."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (ROOT / "docs" / "classics.md").read_text().splitlines()
        if line.startswith("| ")
    ]
    header, *rows = (row for row in cells if len(row) == 6)
    lines = [_row(row) for row in rows if re.sub(r"\(.*", "", row[0]) == env]
    return _row(header), lines


def _row(cells):
    _, agent, score, interval, what, games = cells
    return f"| {agent} | {f'{score} {what}' if games.isdigit() else score} | {interval} | {games} |"


def index(entries):
    """The text of the page that lists all games."""
    rows = ["| game | environment | players | kind | information |", "| --- | --- | --- | --- | --- |"]
    rows += [
        f"| [{name}]({name}.md) | `{entry.name}` | {entry.players} | {entry.kind} | {entry.information} |"
        for name, entry in sorted(entries.items())
    ]
    classics = ["| game | environment |", "| --- | --- |"]
    classics += [f"| [{title}]({name}.md) | `classic/{name}` |" for name, (title, *_) in CLASSICS.items()]
    return (
        "# Games\n\nPettingZoo's nine classic environments, which [one table](../classics.md) compares, and the "
        "games of this package, whose rules are searched\ncompiled. Any other environment works too "
        "([An environment of your own](../guides/environments.md)).\n\n## PettingZoo's\n\n"
        + "\n".join(classics)
        + "\n\n## This package's\n\n"
        + "\n".join(rows)
        + "\n"
    )


def pages():
    """The text of every page, by its path."""
    found = {FOLDER / f"{name}.md": page(name, entry) for name, entry in games().items()}
    found |= {FOLDER / f"{name}.md": classic_page(name) for name in CLASSICS}
    return found | {FOLDER / "index.md": index(games())}


def draw_pictures():
    """Writes a picture of each game after some random moves."""
    import numpy as np
    from PIL import Image

    PICTURES.mkdir(parents=True, exist_ok=True)
    names = {name: entry.name for name, entry in games().items()}
    for name, spec in (names | {name: f"classic/{name}" for name in CLASSICS}).items():
        env = make(spec, render_mode="rgb_array")
        env.reset(seed=1)
        generator = np.random.default_rng(1)
        image = env.render()
        for _ in range(MOVES):
            if any(env.terminations.values()):
                break
            image = env.render()
            seen = env.observe(env.agent_selection)
            count = env.action_space(env.agent_selection).n
            mask = seen["action_mask"] if isinstance(seen, dict) else np.ones(count)
            env.step(int(generator.choice(np.flatnonzero(mask))))
        picture = Image.fromarray(image)
        picture.thumbnail((420, 420))
        picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(
            PICTURES / f"{name}.png", optimize=True
        )


if __name__ == "__main__":
    draw_pictures()
