"""Games of chess written in PGN (Edwards, "Portable Game Notation", 1994)."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

from zermelo.envs import games
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games.chess.fen import write_fen
from zermelo.envs.games.chess.scores import score_text
from zermelo.envs.rules import RulesGame
from zermelo.envs.support.spec_text import format_spec, parse_spec
from zermelo.evaluation.match.clock import SeatClocks, TimeControl
from zermelo.evaluation.match.record import EndReason, FailureKind, GameRecord, Move
from zermelo.evaluation.positions.moves import replayed
from zermelo.evaluation.positions.opening_names import opening_name

_WIDTH: Final = 80
_SPACE: Final = "\0"  # in which no line ends
_NAMED: Final = 40  # plies in which an opening has a name
_LONGEST_NAME: Final = 60
_ADJUDICATED: Final = "adjudicated, as both players agreed on the result"
_TERMINATIONS: Final = {
    FailureKind.TIMEOUT: "time forfeit", FailureKind.ILLEGAL_ACTION: "illegal move",
    EndReason.TERMINATED: "normal", EndReason.RESIGNATION: "normal",
    EndReason.ADJUDICATION: "adjudication", EndReason.TRUNCATED: "adjudication",
    EndReason.MOVE_LIMIT: "unterminated",
}  # fmt: skip
"""What the tag Termination says; of all other failures ``abandoned``."""


def written_pgn(
    record: GameRecord, settings: Mapping[str, Any], number: int, date: str = "", finished: bool = True
) -> str:
    """A game in PGN; ``date`` is such as ``2026-03-01``.

    Comments say how long a move took (``[%emt]``), what its player's clock showed after it (``[%clk]``) and the
    score that its player found, for White, in pawns or moves to mate (``[%eval]``).
    """
    rules = games.Chess(settings["fen"]) if "fen" in settings else games.Chess()
    score = record.scores[0] if record.scores and finished else None
    result = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}.get(-1.0 if score is None else score, "*")
    ended = record.end if record.failure is None else record.failure.kind
    white, black = map(short_name, record.agents)
    tags = {
        "Event": record.env, "Site": "?", "Date": date.replace("-", ".") or "????.??.??",
        "Round": round_of(record, number), "White": white, "Black": black, "Result": result,
    }  # fmt: skip
    played = list(replayed(record, rules))
    if rules != games.Chess():
        tags |= {"SetUp": "1", "FEN": rules.fen}
    elif (found := opening_name(_positions(played, rules))) is not None:
        tags |= {"ECO": found[0], "Opening": found[1]}
    tags |= _time_controls(record.clocks)
    tags["Termination"] = _TERMINATIONS.get(ended, "abandoned") if finished else "unterminated"
    words: list[str] = []
    first, begins = rules.number, int(rules.fen.split()[1] == "b")
    controls = [TimeControl.read(clock) for clock in record.clocks]
    clocks = SeatClocks(controls[0], len(controls), controls) if controls else None
    winner = {1.0: 0, 0.0: 1}.get(-1.0 if score is None else score) if record.end is EndReason.TERMINATED else None
    for place, (seat, state, action, move) in enumerate(played):
        if seat == 0 or not words:
            words.append(f"{(place + begins) // 2 + first}." + ("" if seat == 0 else ".."))
        words.append(rules.action_text(state, action))
        if move is not None:
            text = "" if move.value is None else score_text(move.value if seat == 0 else -move.value)
            if move.value is not None and not text and winner == (seat if move.value > 0 else 1 - seat):
                text = f"#{'-' * winner}{(len(played) - place + 1) // 2}"  # it is proven, and so it came
            words += _comment(move, text, clocks)
    if record.failure:
        ending = f"{record.failure.kind}: {record.failure.message}"
    else:
        ending = _ADJUDICATED if record.end is EndReason.ADJUDICATION else ""
    if ending:
        words.append(f"{{{one_line(ending).translate({123: '(', 125: ')'})}}}")
    lines = (f'[{name} "{one_line(text).translate({34: chr(39), 92: chr(47)})}"]' for name, text in tags.items())
    moves = textwrap.fill(" ".join([*words, result]), _WIDTH, break_long_words=False, break_on_hyphens=False)
    moves = moves.replace(_SPACE, " ")
    return "\n".join([*lines, "", moves, ""])


def _positions(played: Sequence[tuple[int, Any, int, Any]], rules: games.Chess) -> Iterator[str]:
    """The positions after the first moves of a game."""
    game = RulesGame(rules)
    return (write_fen(game.result(state, action)) for _, state, action, _ in played[:_NAMED])


def _time_controls(clocks: Sequence[str]) -> dict[str, str]:
    if len({*clocks}) > 1:
        return {"WhiteTimeControl": clocks[0], "BlackTimeControl": clocks[1]}
    return {"TimeControl": clocks[0] if clocks else "-"}


def _comment(move: Move, score: str, clocks: SeatClocks | None) -> list[str]:
    """The words of the comment to a move of an agent."""
    said = [f"[%eval{_SPACE}{score}]"] if score else []
    if clocks is not None and clocks.has_time(move.seat, move.seconds):
        said.append(f"[%clk{_SPACE}{_hours(clocks.shown(move.seat).own_left)}]")
    if move.seconds:
        said.append(f"[%emt{_SPACE}{_hours(move.seconds)}]")
    if score and move.depth:
        said.append(f"depth {move.depth}")
    return [f"{{{' '.join(said)}}}"] if said else []


def _hours(seconds: float) -> str:
    minutes, rest = divmod(round(seconds, 3), 60)
    return f"{int(minutes) // 60}:{int(minutes) % 60:02d}:{rest:06.3f}"


def short_name(name: str) -> str:
    """The name of an agent for a table of players: of an engine that of its program, with its other settings."""
    spec_text, mark, number = name.rpartition("#") if name.rpartition("#")[2].isdecimal() else (name, "", "")
    try:
        spec = parse_spec(spec_text)
        words = shlex.split(str(spec.arguments.get("path", "")))
    except (InvalidSettingError, ValueError):
        return name
    if not words:
        return name
    program = PurePath(words[0]).stem
    settings = {key: value for key, value in spec.arguments.items() if key != "path"}
    long = format_spec(program, settings)
    return (long if len(long) <= _LONGEST_NAME else program) + mark + number


def round_of(record: GameRecord, number: int) -> str:
    """A game's place in its schedule, counted from 1, such as ``3.1.2``; its number where it has none."""
    parts = record.game_id.split(".")
    if not all(part.isdecimal() and len(part) < 20 for part in parts):
        return str(number)
    return ".".join(str(int(part) + 1) for part in parts)


def one_line(text: str) -> str:
    return " ".join(text.split())
