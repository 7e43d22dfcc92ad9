"""Versions of alpha-beta against each other: single features, and this tree against another one.

Each version plays in a process of its own, from a copy of the package in which some lines are changed. Nodes are
limited, so that other work on the machine does not matter; whose nodes take longer has fewer of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from benchmarks.common import result_of
from zermelo.envs import as_game
from zermelo.envs.registration.make import make
from zermelo.evaluation import sprt
from zermelo.evaluation.stats.ratings.sprt import Decision

ROOT = Path(__file__).resolve().parents[2]
PLAYER = Path(__file__).with_name("version_player.py")
FOLDERS = "envs", "agents", "evaluation"
SETTINGS = {"late_move_reductions": 2, "null_move": 2, "futility": 0.15, "share_positions": True, "reuse": True}
LONGEST = 300
"""Games of more moves are drawn."""
BALANCED = 0.25
"""The largest value of an opening, as a part of the value of a win."""
CALIBRATION = 10
"""So many games, which do not count, say how long the nodes of each version take."""
PAIRS = (0, 0), (0, 0.5), (0, 1), (0.5, 0.5), (0.5, 1), (1, 1)
"""What pairs of games bring, as ``sprt`` counts them."""
Rows = Iterator[dict[str, Any]]


class Feature(NamedTuple):
    """How to leave a feature out: other settings, or another line in a file."""

    file: str = ""
    line: str = ""
    instead: str = ""
    settings: Mapping[str, Any] = MappingProxyType({})


KERNEL = "agents/tree_search/alpha_beta/kernel_selective.py"
QUIESCENCE = "agents/tree_search/alpha_beta/kernel_quiescence.py"
HISTORY = "agents/tree_search/alpha_beta/kernel_memory.py"
FEATURES = {
    "selective": Feature(settings={"late_move_reductions": 0, "null_move": 0, "futility": 0.0}),
    "network": Feature(settings={"evaluator": "game"}),
    "network_kept_up_to_date": Feature(
        "agents/evaluators/network_kernel.py",
        "    fewest = difference(fresh, here, both)\n    for place in ((ply - 1) & _PLIES - 1, _PLIES):",
        "    fewest = 64 * both + 1\n    for place in (_PLIES,):",
    ),
    "null_move": Feature(settings={"null_move": 0}),
    "reductions": Feature(settings={"late_move_reductions": 0}),
    "reductions_by_history": Feature(KERNEL, "less -= merit >> 3", "less -= 0"),
    "all_futility": Feature(settings={"futility": 0.0}),
    "reverse_futility": Feature(KERNEL, "MAX_STATIC_DEPTH: Final = 8", "MAX_STATIC_DEPTH: Final = 0"),
    "futility": Feature(KERNEL, "MAX_FUTILE_DEPTH: Final = 6", "MAX_FUTILE_DEPTH: Final = -1"),
    "late_moves": Feature(KERNEL, "MAX_LATE_DEPTH: Final = 8", "MAX_LATE_DEPTH: Final = 0"),
    "losing_moves": Feature(KERNEL, "MAX_LOSING_DEPTH: Final = 3", "MAX_LOSING_DEPTH: Final = -1"),
    "internal_reduction": Feature(KERNEL, "MIN_INTERNAL_DEPTH: Final = 6", "MIN_INTERNAL_DEPTH: Final = 99"),
    "improving": Feature(KERNEL, "        return 0\n    return 1", "        return 1\n    return 1"),
    "killers": Feature(
        HISTORY,
        "    killers = search.killers + 16 * ply\n    first = load(killers, 0)\n    second = load(killers, 1)",
        "    first = second = 0",
    ),
    "malus": Feature(
        HISTORY, "            _learn(history, other, -gain)", "            _learn(history, other, 0)"
    ),
    "history": Feature(HISTORY, "return load(search.history + 8 * mover * search.choices, action)", "return 0"),
    "evasions": Feature(
        QUIESCENCE, "is_urgent = WITH.selective and not is_last and rules.is_urgent(state)", "is_urgent = False"
    ),
}


def changed(feature: Feature, folder: Path) -> Path:
    """A copy of the package in a folder, with the feature's line changed."""
    package = folder / "zermelo"
    package.mkdir()
    for name in FOLDERS:
        if feature.file.startswith(f"{name}/"):
            shutil.copytree(ROOT / name, package / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            (package / name).symlink_to(ROOT / name)
    if feature.file:
        file = package / feature.file
        text = file.read_text()
        if text.count(feature.line) != 1:
            raise SystemExit(f"{feature.file} has {feature.line!r} {text.count(feature.line)} times, not once")
        file.write_text(text.replace(feature.line, feature.instead))
    return folder


class Player:
    """A version, in its own process."""

    def __init__(self, tree: Path, env_id: str, settings: dict[str, Any]) -> None:
        environment = {**os.environ, "PYTHONPATH": str(tree)}
        command = [sys.executable, str(PLAYER), str(tree), env_id, json.dumps(settings)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.nodes, self.seconds = 0, 0.0
        self._known = 0
        self._answer()  # "ready"

    def new_game(self) -> None:
        """Goes back to the start."""
        self._known = 0
        self._tell("new")

    def choose(self, actions: Sequence[int]) -> tuple[int, float]:
        """What it plays after these actions of the game, and its value."""
        self._tell(f"go {' '.join(map(str, actions[self._known :]))}")
        self._known = len(actions)
        action, value, nodes, seconds = self._answer().split()
        self.nodes += int(nodes)
        self.seconds += float(seconds)
        return int(action), float(value)

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.communicate()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        if not (line := self._process.stdout.readline()):
            self.close()
            raise SystemExit("a version has ended: what it says stands above")
        return line


class Match:
    """Games of two versions of a game without chance, in pairs from openings of random moves."""

    def __init__(self, env_id: str, plies: int, seed: int) -> None:
        env = make(env_id)
        env.reset(seed=0)
        self.game: Any = as_game(env)
        self.start, self.plies = self.game.snapshot(env), plies
        self.generator = random.Random(seed)

    def opening(self, judge: Player) -> list[int]:
        """Random moves after which neither side is much better, as a version judges them."""
        highest = self.game.traits.utility_bounds[1]
        while True:
            line, state = list[int](), self.start
            while len(line) < self.plies and not self.game.is_terminal(state):
                line.append(self.generator.choice(self.game.legal_actions(state)))
                state = self.game.result(state, line[-1])
            if self.game.is_terminal(state):
                continue
            judge.new_game()
            if abs(judge.choose(line)[1]) <= BALANCED * highest:
                return line

    def play(self, line: Sequence[int], players: Sequence[Player]) -> float:
        """What seat 0 scores after an opening: 1, 0.5 or 0."""
        game, actions, state = self.game, list[int](), self.start
        for player in players:
            player.new_game()
        while not game.is_terminal(state):
            if len(actions) >= LONGEST:
                return 0.5
            known = len(actions) < len(line)
            action = line[len(actions)] if known else players[game.to_move(state)].choose(actions)[0]
            actions.append(action)
            state = game.result(state, action)
        first, second = game.utility(state)
        return 0.5 if first == second else float(first > second)

    def pair(self, players: Sequence[Player]) -> tuple[float, float]:
        """What the first version scores in two games from one opening, in either seat."""
        line = self.opening(players[0])
        return self.play(line, players), 1 - self.play(line, players[::-1])


def match(
    trees: Sequence[Path], env_id: str, settings: Sequence[dict[str, Any]], plies: int, nodes: int, games: int,
    elo1: float,
) -> dict[str, Any]:  # fmt: skip
    """The cells of a match of the first of two versions against the second; it ends when its test does."""
    match = Match(env_id, plies, seed=nodes)
    limits = [nodes, nodes]
    ratio = 1.0
    with contextlib.ExitStack() as stack:

        def players() -> list[Player]:
            found = []
            for tree, own, limit in zip(trees, settings, limits, strict=True):
                found.append(Player(tree, env_id, {**own, "nodes": limit}))
                stack.callback(found[-1].close)
            return found

        pair = players()
        for _ in range(CALIBRATION // 2):
            match.pair(pair)
        first, second = (player.seconds / player.nodes for player in pair)
        ratio = first / second
        limits = [round(nodes / max(ratio, 1.0)), round(nodes * min(ratio, 1.0))]
        pair = players()
        counts, pairs = [0, 0, 0], [0] * len(PAIRS)
        verdict = sprt(pairs=pairs, elo1=elo1)
        while sum(counts) < games and verdict.decision is Decision.CONTINUE:
            scores = match.pair(pair)
            for score in scores:
                counts[round(2 * score)] += 1
            pairs[PAIRS.index((min(scores), max(scores)))] += 1
            verdict = sprt(pairs=pairs, elo1=elo1)
    cells = result_of(*counts[::-1])
    return {**cells, "test": str(verdict.decision), "time": f"{ratio:.2f}"}


def features(
    only: tuple[str, ...] = tuple(FEATURES),
    env: str = "zermelo/Chess-v0",
    evaluator: str = "network",
    nodes: int = 5_000,
    games: int = 1_000,
    plies: int = 8,
    elo1: float = 20.0,
    alone: bool = False,
) -> Rows:
    """Single features of the selective search: alpha-beta with one against alpha-beta without it.

    Pairs of games from openings of ``plies`` random moves in which neither side is much better. Until a sequential
    test has decided whether the feature is worth nothing or ``elo1`` normalized Elo (5 % errors), or there were so
    many ``games``. ``nodes`` for each move; whose nodes take longer, has fewer, so that both need the same
    processor time. "time" is that of a node with the feature, as a part of that without it. With ``alone`` both
    have none of the other features that are settings.
    """
    for name in only:
        feature = FEATURES[name]
        if alone and not feature.settings:
            raise SystemExit(f"{name} is no setting, so it cannot be tried alone: leave out --alone")
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            trees = [changed(Feature(), Path(first)), changed(feature, Path(second))]
            plain = {**SETTINGS, "evaluator": evaluator}
            settings = [plain, {**plain, **feature.settings}]
            if alone:
                none = {**plain, **FEATURES["selective"].settings}
                settings = [
                    {**none, **{key: plain.get(key, feature.settings[key]) for key in feature.settings}},
                    none,
                ]
            row = match(trees, env, settings, plies, nodes, games, elo1)
        yield {"feature": name, **row}
