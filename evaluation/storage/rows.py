"""Games and moves as rows of tables.

``games`` has one row a game, with a column for each seat's agent, reward, score and outcome (``agent_0``, ...).
``moves`` has one row a move: ``ply`` counts from 0 at the start of the game, its opening included, and moves of
the opening have no agent. An action that is not an integer is written as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from zermelo.evaluation.match.record import GameRecord

_GAMES: Final[Mapping[str, tuple[type, Callable[[GameRecord], Any]]]] = {
    "game_id": (str, lambda game: game.game_id),
    "env": (str, lambda game: game.env),
    "seed": (int, lambda game: game.seed),
    "end": (str, lambda game: str(game.end)),
    "plies": (int, lambda game: len(game.opening) + len(game.moves)),
    "opening": (str, lambda game: json.dumps(game.opening) if game.opening else ""),
    "seconds": (float, lambda game: game.seconds),
    "failure": (str, lambda game: str(game.failure.kind) if game.failure else ""),
    "failure_seat": (int, lambda game: game.failure.seat if game.failure else None),
    "failure_message": (str, lambda game: game.failure.message if game.failure else ""),
}
_SEAT_COLUMNS: Final[Mapping[str, type]] = {"agent": str, "reward": float, "score": float, "outcome": str}
MOVE_COLUMNS: Final[Mapping[str, type]] = {
    "game_id": str,
    "ply": int,
    "seat": int,
    "agent": str,
    "action": str,
    "seconds": float,
    "nodes": int,
    "depth": int,
    "value": float,
}


def game_columns(seats: int) -> dict[str, type]:
    """The columns of a table of games and their types."""
    columns = {name: kind for name, (kind, _) in _GAMES.items()}
    for seat in range(seats):
        columns |= {f"{name}_{seat}": kind for name, kind in _SEAT_COLUMNS.items()}
    return columns


def game_row(record: GameRecord) -> dict[str, Any]:
    """The row of a game; None where there is nothing to say."""
    row = {name: value(record) for name, (_, value) in _GAMES.items()}
    scores, outcomes = record.scores, record.outcomes
    for seat, agent in enumerate(record.agents):
        row[f"agent_{seat}"] = agent
        row[f"reward_{seat}"] = record.rewards[seat]
        row[f"score_{seat}"] = scores[seat] if scores else None
        row[f"outcome_{seat}"] = str(outcomes[seat]) if outcomes else None
    return row


def move_rows(record: GameRecord) -> Iterator[dict[str, Any]]:
    """The rows of a game's moves, its opening first."""
    for ply, action in enumerate(record.opening):
        yield dict.fromkeys(MOVE_COLUMNS) | {"game_id": record.game_id, "ply": ply, "action": _text(action)}
    for ply, move in enumerate(record.moves, start=len(record.opening)):
        who = {"game_id": record.game_id, "ply": ply, "agent": record.agents[move.seat]}
        yield {**who, **move._asdict(), "action": _text(move.action)}


def _text(action: Any) -> str:
    return str(action) if isinstance(action, int) else json.dumps(action)
