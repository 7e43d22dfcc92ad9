"""What searches find at a few hundred positions, written down, so that a rebuilt search can be compared with it.

``python -m oracles.signatures`` (with ``tests`` on the path) plays the positions out anew and writes
``tests/data/signatures.json``. Only public names are used, so that any version of the package can write one.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from doubles.grown_rules import Grown
from doubles.own_rules import ThreeTake
from doubles.small_games import AIMA_5_2, CoinRow, ConnectK, DiceRace, TreeGame, random_tree

from zermelo.agents import AlphaBetaAgent, make_agent, solve
from zermelo.agents.solving.solve import exact_values
from zermelo.agents.solving.value_iteration import value_iteration
from zermelo.agents.training.labels import search_many
from zermelo.envs import CHANCE, as_game
from zermelo.envs.adapters.transition_table import TableGame
from zermelo.envs.game import Chance
from zermelo.envs.games import (
    MNK,
    Backgammon,
    Breakthrough,
    Chomp,
    ConnectFour,
    Domineering,
    DotsAndBoxes,
    EinStein,
    Game2048,
    Hexapawn,
    Kalah,
    Nim,
    Othello,
    Pig,
)
from zermelo.envs.registration.make import make
from zermelo.envs.rules import RulesGame

FILE = Path(__file__).parent.parent / "data" / "signatures.json"
_DIGITS = 11


class Counted2048(Game2048):
    """2048 on four by four with the evaluation of other boards, which no fitting changes."""

    def evaluation(self, state: Any, seat: int) -> int:
        """The score, and ten points for each empty square."""
        return 1024 * (int(state.score) + 10 * int((self.tiles(state) == 0).sum()))

    def evaluates_before_chance(self) -> bool:
        """As other boards."""
        return False


class Uncompiled:
    """The game of rules, which compiled searches do not recognize: plain Python searches it."""

    def __init__(self, rules: Any) -> None:
        self._game = RulesGame(rules)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)


def _tree(seed: int, *, bounds: tuple[float, float], chance: Chance = Chance.NONE, **how: Any) -> TreeGame:
    generator = np.random.default_rng(seed)
    root: Any = None
    while getattr(root, "mover", CHANCE) == CHANCE:
        root = random_tree(generator, 6, chance=chance is not Chance.NONE, **how)
    constant = {key: how[key] for key in ("seats", "constant") if key in how}
    paid = not how.get("rewards", False)
    return TreeGame(root, bounds=bounds, chance=chance, terminal_rewards_only=paid, **constant)


TWO = {
    "MNK(3,3,3)": MNK(m=3, n=3, k=3),
    "ConnectFour": ConnectFour(),
    "Othello": Othello(),
    "Othello(4,4,margin)": Othello(rows=4, columns=4, margin=True),
    "Kalah": Kalah(),
    "Kalah(3,2,margin)": Kalah(houses=3, seeds=2, margin=True),
    "Breakthrough(5,4)": Breakthrough(rows=5, columns=4, pawn_rows=1),
    "Hexapawn(4,4)": Hexapawn(rows=4, columns=4),
    "Domineering(4,4)": Domineering(rows=4, columns=4),
    "Chomp(3,4)": Chomp(rows=3, columns=4),
    "Nim(2,3,4)": Nim(heaps=(2, 3, 4)),
    "Nim(1,2,3,misere)": Nim(heaps=(1, 2, 3), misere=True),
    "DotsAndBoxes(2,2,margin)": DotsAndBoxes(rows=2, columns=2, margin=True),
}
DICE = {
    "Pig(20)": Pig(target=20),
    "EinStein(4)": EinStein(size=4),
    "Backgammon": Backgammon(),
    "Game2048(2,2)": Game2048(rows=2, columns=2),
    "Game2048": Counted2048(),
    "Grown(1)": Grown(seed=100_000, players=1),
    "Grown(2)": Grown(seed=200_000),
}
MANY = {
    "MNK(4,3,3,players=3)": MNK(m=4, n=3, k=3, players=3),
    "DotsAndBoxes(2,2,players=3)": DotsAndBoxes(rows=2, columns=2, players=3),
    "DotsAndBoxes(1,3,players=4,margin)": DotsAndBoxes(rows=1, columns=3, players=4, margin=True),
    "Nim(2,3,2,players=3)": Nim(heaps=(2, 3, 2), players=3),
    "Pig(10,players=3)": Pig(target=10, players=3),
    "ThreeTake": ThreeTake(),
    "Grown(3)": Grown(seed=300_000, players=3),
}
TREES = {
    "AIMA 5.2": lambda: TreeGame(AIMA_5_2, bounds=(-15, 15)),
    "ConnectK(3,3,3)": ConnectK,
    "ConnectK(4,4,4,drops)": lambda: ConnectK(4, 4, 4, drops=True),
    "CoinRow": lambda: CoinRow([3, 1, 4, 1, 5, 9, 2, 6, 5, 3]),
    "tree(1)": lambda: _tree(1, bounds=(-2, 2)),
    "tree(2,constant)": lambda: _tree(2, bounds=(-2, 6), constant=4.0),
    "tree(3,rewards)": lambda: _tree(3, bounds=(-9, 9), rewards=True),
}
CHANCE_TREES = {
    "tree(4,chance)": lambda: _tree(4, bounds=(-2, 2), chance=Chance.EXACT),
    "tree(5,chance,rewards)": lambda: _tree(5, bounds=(-9, 9), chance=Chance.EXACT, rewards=True),
    "tree(6,chance,alone)": lambda: _tree(6, bounds=(-2, 2), chance=Chance.EXACT, seats=1),
    "DiceRace": DiceRace,
}
CLONES = ("classic/tictactoe-v3", "classic/connect_four-v3", "FrozenLake-v1", "CliffWalking-v1")

# Every class of rules that is compiled costs seconds where its machine code is not kept, for each kind of search.
_UNCOMPILED = {"Hexapawn(4,4)", "Domineering(4,4)", "Chomp(3,4)", "EinStein(4)", "Backgammon", "Game2048(2,2)",
               "Game2048", "Nim(2,3,2,players=3)", "Pig(10,players=3)", "ThreeTake"}  # fmt: skip
_FULL_WIDTH_COMPILED = {"MNK(3,3,3)", "Nim(2,3,4)", "Nim(1,2,3,misere)"}
_PROVEN_COMPILED = _FULL_WIDTH_COMPILED | {"Kalah(3,2,margin)"}
_MANY_COMPILED = set(MANY) | {"MNK(3,3,3)", "Grown(1)", "Grown(2)"}


def games() -> dict[str, Any]:
    """Every game by name, plain and compiled where it has rules; clones of environments as they are."""
    found: dict[str, Any] = {}
    for name, rules in (TWO | DICE | MANY).items():
        if name not in _UNCOMPILED:
            found[f"{name} compiled"] = RulesGame(rules)
        found[f"{name} plain"] = Uncompiled(rules)
    for name, build in (TREES | CHANCE_TREES).items():
        found[name] = build()
    for name in CLONES:
        env = make(name)
        env.reset(seed=7)
        backend = "auto" if name in ("FrozenLake-v1", "CliffWalking-v1") else "clone"
        game = as_game(env, backend=backend)
        if isinstance(game, TableGame):
            game = game.without_time_limit
        game.kept_alive = env
        found[name] = game
    return found


def settings_of(name: str) -> Iterator[str]:
    """The agents that search a game, with small limits."""
    base, _, how = name.rpartition(" ")
    plain = how != "compiled"
    game = base if base in TWO | DICE | MANY else name
    evaluator = "" if game in _EVALUATED else ",evaluator=rewards"
    yield "greedy()"
    if game in TWO or game in TREES or game in ("classic/tictactoe-v3", "classic/connect_four-v3"):
        slow = game.startswith("classic/") or game == "Othello"
        deep = (2 if slow else 3) if plain else 5
        if game in _SHALLOW and not slow:
            deep -= 1
        if plain or game in _FULL_WIDTH_COMPILED:
            yield f"minimax(depth={min(deep - 1, 3)}{evaluator})"
        for setting in _ALPHA_BETA:
            if not (plain and "late_move_reductions" in setting):  # only compiled searches leave moves out
                yield f"alphabeta(depth={deep}{evaluator}{setting})"
        if game in _QUIET and not plain:
            yield f"alphabeta(depth={deep}{evaluator},null_move=2)"
            yield f"alphabeta(depth={deep}{evaluator},null_move=2,late_move_reductions=2,memory_mb=0)"
        yield f"alphabeta(nodes=300{evaluator},exact=True,ties=first)"
        if game in _TINY:
            if plain or game in _FULL_WIDTH_COMPILED:
                yield "minimax()"
            yield "alphabeta(depth=full,exact=True)"
            yield "alphabeta(depth=full,window=full,prefer_short_wins=False,ordering=fixed,memory_mb=0,ties=first)"
    if game not in MANY and (plain or game in DICE):
        deep = 1 if game in ("Backgammon", "Game2048") or game.startswith("classic/") else 2
        deep = min(deep + (not plain), 2)
        for setting in _EXPECTIMINIMAX:
            yield f"expectiminimax(depth={deep}{evaluator}{setting})"
        if game in _TINY or (game in CHANCE_TREES and game != "DiceRace"):
            yield "expectiminimax(depth=full,pruning=star1)"
            yield "expectiminimax(depth=full,pruning=star2,exact=True)"
            yield "value_iteration()"
        if game == "DiceRace":
            yield "expectiminimax(depth=full,samples=5,pruning=star1)"
            yield "expectimax(samples=3)"
            yield "paranoid(depth=full,samples=3)"
            yield "maxn(depth=full,samples=3)"
    if plain and game not in ("Backgammon", "Game2048"):
        yield f"expectimax(depth=2{evaluator})"
        yield f"expectimax(depth=2{evaluator},opponent=softmax({evaluator[1:]}),memory_mb=0)"
    if not plain and game not in _MANY_COMPILED:
        return
    deep = 1 if (plain and game in ("Backgammon", "Game2048")) or game.startswith("classic/") else 2
    if game in MANY:
        deep = 2 if plain else 3
    for rule in _TIE_RULES if game in MANY else ["first"]:
        yield f"maxn(depth={deep}{evaluator},tie_rule={rule})"
    for kind in ("maxn", "paranoid", "bestreply"):
        for setting in ("", ",memory_mb=0,ordering=fixed,deepening=True", ",exact=True,prefer_short_wins=False"):
            yield f"{kind}(depth={deep}{evaluator}{setting})"


_TIE_RULES = ("paranoid", "friendly", "spiteful", "generous")
_ALPHA_BETA = (
    "",
    ",memory_mb=0",
    ",memory_mb=0,ordering=fixed,window=full",
    ",ordering=fixed,deepening=False",
    ",exact=True",
    ",exact=True,memory_mb=0",
    ",quiescence=0,prefer_short_wins=False",
    ",late_move_reductions=2,memory_mb=0",
)
_EXPECTIMINIMAX = (
    "",
    ",memory_mb=0",
    ",pruning=star1",
    ",pruning=star2",
    ",pruning=star2,memory_mb=0,ordering=fixed",
    ",pruning=star1,memory_mb=0,deepening=False,chance_at_limit=evaluate,prefer_short_wins=False",
    ",pruning=star2,exact=True,chance_at_limit=average",
)
_EVALUATED = {name for name, rules in (TWO | DICE | MANY).items() if hasattr(rules, "evaluation")}
_QUIET = {name for name, rules in TWO.items() if hasattr(rules, "pass_turn")}
_TINY = {"MNK(3,3,3)", "Nim(2,3,4)", "Nim(1,2,3,misere)", "AIMA 5.2", "CoinRow", "tree(1)", "tree(2,constant)",
         "tree(3,rewards)", "Chomp(3,4)", "Grown(1)", "Grown(2)"}  # fmt: skip
_SHALLOW = {"Othello", "Domineering(4,4)", "Breakthrough(5,4)", "ConnectFour", "Kalah", "DotsAndBoxes(2,2,margin)"}
_SOLVED = {"MNK(3,3,3)", "Kalah(3,2,margin)", "Nim(2,3,4)", "Nim(1,2,3,misere)", "Chomp(3,4)", "Hexapawn(4,4)",
           "DotsAndBoxes(2,2,margin)", "Domineering(4,4)"}  # fmt: skip
_ITERATED = ("Pig(20) compiled", "MNK(3,3,3) compiled", "FrozenLake-v1", "CliffWalking-v1")


def positions(name: str, game: Any) -> list[list[int]]:
    """The moves and rolls that lead to a few unfinished positions in which a player is to move."""
    base = name.rpartition(" ")[0] if name.rpartition(" ")[0] in TWO | DICE | MANY else name
    generator = random.Random(base)
    found: list[list[int]] = []
    least = 3 if base in _TINY and base.startswith(("MNK", "Nim", "Chomp")) else 0
    while len(found) < 4:
        state, played = game.initial_state(), []
        sampled = game.traits.chance is Chance.SAMPLED
        longest = 0 if sampled or (base in CHANCE_TREES | TREES and len(found) == 0) else 9
        for _ in range(generator.randint(least, max(least, longest))):
            if game.is_terminal(state):
                break
            state, action = _step(game, state, generator)
            played.append(action)
        while not game.is_terminal(state) and game.to_move(state) == CHANCE:
            state, action = _step(game, state, generator)
            played.append(action)
        if not game.is_terminal(state):
            found.append(played)
    return [list(moves) for moves in dict.fromkeys(map(tuple, found))]


def _step(game: Any, state: Any, generator: random.Random) -> tuple[Any, int]:
    if game.to_move(state) == CHANCE:
        actions = [outcome for outcome, _ in game.chance_outcomes(state)]
    else:
        actions = list(game.legal_actions(state))
    action = generator.choice(actions)
    return game.result(state, action), action


def replayed(game: Any, moves: list[int]) -> Any:
    """The position after moves and rolls."""
    state = game.initial_state()
    for action in moves:
        state = game.result(state, action)
    return state


def signature(game: Any, state: Any, agent: str) -> list[Any]:
    """What one search finds: action, values by seat, of actions, principal variation, plies, and what it took."""
    if agent.startswith("solve("):
        return _solved(game, state, agent)
    result = make_agent(agent).search_state(game, state)  # type: ignore[attr-defined]  # every one here searches
    return [
        result.action,
        _rounded(result.values_by_seat),
        {str(action): _rounded(value) for action, value in sorted(result.action_values.items())},
        list(map(int, result.principal_variation)),
        result.plies,
        result.proven,
        result.depth,
        str(result.stopped_by),
        result.nodes,
    ]


def _solved(game: Any, state: Any, agent: str) -> list[Any]:
    found = solve(game, state, outcome_only=agent == "solve(weak)")
    values = {str(action): _rounded(value) for action, value in found.action_values.items()}
    plies = {str(action): number for action, number in found.action_plies.items()}
    bounds = _rounded(found.value_bounds)
    line = list(map(int, found.principal_variation))
    told = [str(found.outcome), _rounded(found.value), bounds, values, plies, line]
    return [*told, found.plies, found.proven, str(found.stopped_by), found.nodes]


def _rounded(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, tuple):
        return [_rounded(each) for each in value]
    value = round(float(value), _DIGITS)
    if not math.isfinite(value):
        return str(value)
    return int(value) if value == int(value) else value


def cases(name: str) -> list[str]:
    """The agents whose signature is taken in a game."""
    found = list(dict.fromkeys(settings_of(name)))
    if _is_solved(name):
        found += ["solve(weak)", "solve()"]
    return found


def _is_solved(name: str) -> bool:
    base, _, how = name.rpartition(" ")
    return name in ("ConnectK(3,3,3)", "CoinRow") or base in (_PROVEN_COMPILED if how == "compiled" else _SOLVED)


def together(name: str, game: Any, moves: list[list[int]]) -> dict[str, Any]:
    """What is asked of many states at once."""
    found: dict[str, Any] = {}
    states = [replayed(game, each) for each in moves]
    if _is_solved(name):
        found["exact_values"] = [[_rounded(v), plies] for v, plies in exact_values(game, states, threads=1)]
    if name.endswith(" compiled") and name.rpartition(" ")[0] in TWO:
        agent = AlphaBetaAgent(depth=3, exact=True, evaluator="rewards", memory_mb=1)
        many = search_many(game, states, agent, threads=1)
        found["search_many"] = [[_rounded(r.values_by_seat), r.action, r.nodes] for r in many]
    if name in _ITERATED:
        table = value_iteration(game, states=states, tolerance=1e-10)
        told = [[round(table.value(state), 8), list(table.best_actions(state))] for state in states]
        found["value_iteration"] = [len(table), *told]
    return found


def signatures() -> dict[str, Any]:
    """All of them, by game and agent."""
    found: dict[str, Any] = {}
    for name, game in games().items():
        moves = positions(name, game)
        found[name] = {"positions": moves}
        for agent in cases(name):
            found[name][agent] = [signature(game, replayed(game, each), agent) for each in moves]
            if name.endswith(" compiled") and agent.startswith(("paranoid", "bestreply")):
                # With a table these ended too early when this was written, as if they had seen the end: left out.
                found[name][agent] = [
                    None if one[7] == "completed" and not one[5] else one for one in found[name][agent]
                ]
        found[name] |= together(name, game, moves)
    return found


def written(found: Mapping[str, Any]) -> str:
    """As text, an agent a line."""
    lines = []
    for name, agents in found.items():
        inside = ",\n".join(f"{json.dumps(a)}:{json.dumps(s, separators=(',', ':'))}" for a, s in agents.items())
        lines.append(f"{json.dumps(name)}:{{\n{inside}}}")
    return "{" + ",\n".join(lines) + "}\n"


if __name__ == "__main__":
    FILE.write_text(written(signatures()))
