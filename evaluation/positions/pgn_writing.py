"""Games of chess written in PGN (Edwards, "Portable Game Notation", 1994)."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any, Final

from zermelo.envs import games
from zermelo.evaluation.match.record import EndReason, FailureKind, GameRecord
from zermelo.evaluation.positions.moves import replayed

_WIDTH: Final = 80
_TERMINATIONS: Final = {
    FailureKind.TIMEOUT: "time forfeit", FailureKind.ILLEGAL_ACTION: "illegal move",
    EndReason.TERMINATED: "normal", EndReason.RESIGNATION: "normal",
    EndReason.TRUNCATED: "adjudication", EndReason.MOVE_LIMIT: "adjudication",
}  # fmt: skip
"""What the tag Termination says; of all other failures ``abandoned``."""


def written_pgn(
    record: GameRecord, settings: Mapping[str, Any], number: int, date: str = "", finished: bool = True
) -> str:
    """A game in PGN; ``date`` is such as ``2026-03-01``."""
    rules = games.Chess(settings["fen"]) if "fen" in settings else games.Chess()
    score = record.scores[0] if record.scores and finished else None
    result = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}.get(-1.0 if score is None else score, "*")
    ended = record.end if record.failure is None else record.failure.kind
    tags = {
        "Event": record.env, "Site": "?", "Date": date.replace("-", ".") or "????.??.??",
        "Round": round_of(record, number), "White": record.agents[0], "Black": record.agents[1], "Result": result,
    }  # fmt: skip
    if rules != games.Chess():
        tags |= {"SetUp": "1", "FEN": rules.fen}
    tags["Termination"] = _TERMINATIONS.get(ended, "abandoned") if finished else "unterminated"
    words: list[str] = []
    black_begins = rules.fen.split()[1] == "b"
    first = rules.number
    for place, (seat, state, action, move) in enumerate(replayed(record, rules), start=int(black_begins)):
        if seat == 0 or not words:
            words.append(f"{place // 2 + first}." + ("" if seat == 0 else ".."))
        words.append(rules.action_text(state, action))
        if move is not None and move.value is not None:
            words.append(f"{{{move.value:+.3f}/{move.depth or 0} {move.seconds:.2f}s}}")
    if record.failure:
        comment = one_line(f"{record.failure.kind}: {record.failure.message}").translate({123: "(", 125: ")"})
        words.append(f"{{{comment}}}")
    lines = (f'[{name} "{one_line(text).translate({34: chr(39), 92: chr(47)})}"]' for name, text in tags.items())
    moves = textwrap.fill(" ".join([*words, result]), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join([*lines, "", moves, ""])


def round_of(record: GameRecord, number: int) -> str:
    """A game's place in its schedule, counted from 1, such as ``3.1.2``; its number where it has none."""
    parts = record.game_id.split(".")
    if not all(part.isdecimal() and len(part) < 20 for part in parts):
        return str(number)
    return ".".join(str(int(part) + 1) for part in parts)


def one_line(text: str) -> str:
    return " ".join(text.split())
