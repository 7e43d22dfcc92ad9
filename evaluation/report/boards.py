"""The shown games, played again, as plain data for the page: moves with their values, and the board after each."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from zermelo.agents.solving.solve import solve
from zermelo.agents.tree_search.exact.prover import can_prove
from zermelo.envs.adapters.as_game import as_game
from zermelo.envs.capabilities import SupportsActionText, offers
from zermelo.envs.errors import ZermeloError
from zermelo.envs.game import RewardSum
from zermelo.evaluation.analysis.judgement import GameVerdict, Mark
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.replay import Replayer, ReplayError
from zermelo.evaluation.match.text import json_number
from zermelo.evaluation.positions.drawing import coordinates_of, drawing
from zermelo.evaluation.positions.moves import move_text
from zermelo.evaluation.report.sample import ShownGame

MOVES_SHOWN: Final = 1000  # moves of a game that can be stepped through
LINES: Final = 60  # best lines of a page; each takes a search of its own
LINE_MOVES: Final = 12  # moves of a line that are shown
LINE_NODES: Final = 5_000  # states that the search for a line may visit; compiled, a hundred times as many
_BLUNDERS: Final = (Mark.WIN_THROWN_AWAY, Mark.DRAW_THROWN_AWAY)


@dataclass
class DrawnGames:
    """The games of a page, as its script reads them."""

    games: list[dict[str, Any]] = field(default_factory=list)
    left_out: int = 0  # how many there was no room for
    notes: list[str] = field(default_factory=list)
    scale: dict[str, Any] = field(default_factory=dict)  # sum and bounds of rewards, coordinates
    written: dict[int, str] = field(default_factory=dict)  # actions as people write them, if always so


def draw_games(
    games: Iterable[ShownGame],
    numbers: Mapping[str, int],
    *,
    room: int,
    replayer: Replayer | None = None,
    verdicts: Mapping[str, GameVerdict] | None = None,
) -> DrawnGames:
    """The games, the most important first, as far as there is room, in bytes of JSON."""
    drawn, marker = DrawnGames(), _Marker()
    replayer = replayer or Replayer()
    undrawn: list[str] = []
    for game in games:
        if drawn.left_out:
            drawn.left_out += 1
            continue
        data = _plain_game(game, numbers)
        verdict = (verdicts or {}).get(game.record.game_id)
        verdict = verdict if verdict and verdict.seed == game.record.seed else None  # not of another run's game
        try:
            data |= _frames(game.record, replayer, drawn.scale, verdict, marker)
        except ReplayError as error:
            undrawn.append(str(error))
        size = len(json.dumps(data, separators=(",", ":")))
        if size > room:
            drawn.left_out += 1
            continue
        room -= size
        drawn.games.append(data)
    drawn.written = {number: texts.pop() for number, texts in marker.written.items() if len(texts) == 1}
    if undrawn:
        count = "1 game is" if len(undrawn) == 1 else f"{len(undrawn)} games are"
        drawn.notes.append(f"{count} shown without a board: {undrawn[0]}")
    return drawn


def _plain_game(game: ShownGame, numbers: Mapping[str, int]) -> dict[str, Any]:
    record, failure = game.record, game.record.failure
    moves = [
        [move.seat, _short(1000 * move.seconds), move.nodes, move.depth, _short(move.value)]
        for move in record.moves[: max(0, MOVES_SHOWN - len(record.opening))]
    ]
    failed = failure and {"kind": str(failure.kind), "seat": failure.seat, "message": failure.message[:500]}
    return {
        "id": record.game_id, "why": game.reason, "agents": [numbers[name] for name in record.agents],
        "end": str(record.end), "failure": failed, "rewards": [*map(_short, record.rewards)],
        "outcomes": [*map(str, record.outcomes)], "seed": record.seed,
        "opening": min(len(record.opening), MOVES_SHOWN), "plies": len(record.opening) + len(record.moves),
        "actions": [*map(_action_text, record.actions[:MOVES_SHOWN])], "moves": moves,
    }  # fmt: skip


def _short(value: float | None) -> float | int | str | None:
    """A number with five digits; infinities as text, for JSON has none."""
    if value is None or math.isnan(value):
        return None
    if math.isinf(value):
        return str(json_number(value))
    rounded = float(f"{value:.5g}")
    return int(rounded) if rounded == int(rounded) and abs(rounded) < 1e15 else rounded


def _action_text(action: Any) -> str:
    text = json.dumps(action) if isinstance(action, tuple | list | dict) else str(action)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _frames(
    record: GameRecord, replayer: Replayer, scale: dict[str, Any], verdict: GameVerdict | None, marker: _Marker
) -> dict[str, Any]:
    """The board before the first move and after each, how people write the actions, and what the judge says."""
    driver = replayer.start(record)
    driver.turn()
    try:
        game: Any = as_game(driver.env)
        scale |= _scale(game)
    except ZermeloError:
        game = verdict = None  # what cannot be searched may still render itself
    boards, names = [_draw(game, driver.env)], []
    values, lines = [], dict[int, list[str]]()
    for ply, (_, action) in enumerate(replayer.steps(record, driver)):
        if ply:
            boards.append(_draw(game, driver.env))
        if ply == MOVES_SHOWN:
            break
        writes = verdict is not None or offers(game, SupportsActionText)
        state = game.snapshot(driver.env) if writes else None
        names.append(move_text(game, state, action) if isinstance(action, int) else "")
        found = None if verdict is None else marker.at(verdict, ply, game, state)
        values.append(None if found is None else found[0])
        if found is not None and found[1]:
            lines[ply] = found[1]
    else:
        if record.actions:
            boards.append(_draw(game, driver.env))
    data: dict[str, Any] = {"frames": _as_changes(boards) if boards[0] else []}
    data["names"] = names if any(names) else []
    if verdict is not None:
        marks = {move.ply: str(move.mark) for move in verdict.moves}
        letters = "".join(marks.get(ply, ".") for ply in range(len(names)))
        data |= {"marks": letters, "values": values, "lines": lines}
    return data


def _scale(game: Any) -> dict[str, Any]:
    traits = game.traits
    opposed = traits.seats == 2 and traits.reward_sum is not RewardSum.GENERAL
    low, high = traits.utility_bounds
    names = coordinates_of(game)
    return {
        "sum": traits.constant if opposed else None,
        "bounds": [low, high] if math.isfinite(high - low) and low < high else None,
        "coordinates": None if names is None else [names.columns, names.rows],
    }


def _draw(game: Any, env: Any) -> str:
    try:
        return drawing(game, env)
    except ZermeloError:
        return ""


def _as_changes(boards: list[str]) -> list[Any]:
    """Each board as text, or as its changes to the one before: ``[place, characters, place, characters, ...]``."""
    frames: list[Any] = boards[:1]
    for before, after in itertools.pairwise(boards):
        changes = list[Any]()
        for place, (old, new) in enumerate(zip(before, after, strict=False)):
            if old == new:
                continue
            if changes and changes[-2] + len(changes[-1]) == place:
                changes[-1] += new
            else:
                changes += [place, new]
        is_short = len(before) == len(after) and len(json.dumps(changes)) < len(json.dumps(after))
        frames.append(changes if is_short else after)
    return frames


class _Marker:
    """Says of judged moves what the page shows of them, and collects how people write their actions."""

    def __init__(self) -> None:
        self.written: dict[int, set[str]] = {}
        self._lines: dict[Hashable, list[str]] = {}

    def at(self, verdict: GameVerdict, ply: int, game: Any, state: Any) -> tuple[Any, list[str]] | None:
        """The values of all actions before a judged move, the best first, and after a blunder best play."""
        move = next((move for move in verdict.moves if move.ply == ply), None)
        if move is None or set(move.values) != set(game.legal_actions(state)):
            return None
        for action in move.values:
            if text := move_text(game, state, action):
                self.written.setdefault(action, set()).add(text)
        groups = [[float(f"{value:.5g}"), list(actions)] for value, actions in move.groups]
        return groups, self._line(game, state) if move.mark in _BLUNDERS else []

    def _line(self, game: Any, state: Any) -> list[str]:
        key = game.key(state)
        if key not in self._lines and len(self._lines) < LINES:
            self._lines[key] = _best_line(game, state)
        return self._lines.get(key, [])


def _best_line(game: Any, state: Any) -> list[str]:
    try:
        solution = solve(game, state, nodes=LINE_NODES * (100 if can_prove(game) else 1), memory_mb=1)
    except ZermeloError:  # chance, or a game without an end: no single line is best
        return []
    line = []
    for action in solution.principal_variation[:LINE_MOVES] if solution.proven else ():
        line.append(move_text(game, state, action) or str(action))
        state = game.result(state, action)
    return line
