"""Games of chess in PGN (Edwards, "Portable Game Notation", 1994): written, and read back as moves in UCI."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from zermelo.envs import games
from zermelo.envs.errors import MissingDependencyError
from zermelo.envs.support.installing import install_command
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import EndReason, FailureKind, GameRecord
from zermelo.evaluation.match.text import printable, shown
from zermelo.evaluation.positions.lines import LineReader
from zermelo.evaluation.positions.moves import replayed

_WIDTH: Final = 80
_TERMINATIONS: Final = {
    FailureKind.TIMEOUT: "time forfeit", FailureKind.ILLEGAL_ACTION: "illegal move",
    EndReason.TERMINATED: "normal", EndReason.RESIGNATION: "normal",
    EndReason.TRUNCATED: "adjudication", EndReason.MOVE_LIMIT: "adjudication",
}  # fmt: skip
"""What the tag Termination says; of all other failures ``abandoned``."""
_MOST_PLIES: Final = 5_000  # of a game
_MOST_TAGS: Final = 1_000
_SAID: Final = 200  # characters of an error of python-chess
_STANDARD: Final = ("", "standard", "normal", "chess", "from position")
"""Values of the tag Variant that mean chess."""


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


def _said(error: Exception) -> str:
    text = printable(one_line(str(error)))
    return text if len(text) <= _SAID else f"{text[:_SAID]}..."


class PgnGame(NamedTuple):
    """The main line of a game in a file."""

    line: int  # of the file that it begins in, from 1
    fen: str  # where it starts
    moves: tuple[str, ...]  # in UCI notation


def pgn_games(text: str, plies: int | None = None) -> Iterator[PgnGame]:
    """The games of a PGN, one after another: their first ``plies`` moves, without comments and variations.

    Raises:
        MissingDependencyError: python-chess is missing.
        StoreError: A game cannot be read, within those plies; it names the line that the game begins in.
    """
    try:
        import chess.pgn
    except ImportError as error:
        raise MissingDependencyError(f"reading PGN needs python-chess: {install_command('classic')}") from error

    class MainLine(chess.pgn.BaseVisitor[None]):  # type: ignore[misc]  # python-chess may be missing
        """Collects the main line, and the first thing that is wrong with it."""

        def begin_game(self) -> None:
            self.moves: list[str] = []
            self.plies = self.tags = 0
            self.fen, self.problem = chess.STARTING_FEN, ""

        def visit_header(self, tagname: str, tagvalue: str) -> None:
            self.tags += 1
            if self.tags > _MOST_TAGS:
                raise StoreError(f"it has more than {_MOST_TAGS:,} tags")
            if tagname == "FEN":
                self.fen = tagvalue
            if tagname == "Variant" and tagvalue.lower() not in _STANDARD:
                self.problem = f"it is a game of {shown(tagvalue, 40)}, not of chess"

        def begin_variation(self) -> Any:
            return chess.pgn.SKIP

        def visit_move(self, board: Any, move: Any) -> None:
            self.plies += 1
            if self.plies > _MOST_PLIES:
                raise StoreError(f"it has more than {_MOST_PLIES:,} plies")
            if self._reads():
                self.moves.append(move.uci())
                self.problem = "" if move else f"move {len(self.moves)} is a null move"

        def handle_error(self, error: Exception) -> None:
            if self._reads():
                self.problem = _said(error)

        def _reads(self) -> bool:
            return not self.problem and (plies is None or len(self.moves) < plies)

        def result(self) -> None:
            """Nothing: what was read is in the attributes."""

    reader, lines = MainLine(), LineReader(text)
    while line := lines.begin_game():
        try:
            chess.pgn.read_game(lines, Visitor=lambda: reader)
        except Exception as error:  # a library that reads anybody's text
            raise StoreError(f"the game that begins at line {line} cannot be read: {_said(error)}") from error
        if reader.problem:
            raise StoreError(f"the game that begins at line {line} cannot be read: {reader.problem}")
        if not reader.moves and not reader.tags:
            raise StoreError(f"line {line} is no game in PGN")
        yield PgnGame(line, reader.fen, tuple(reader.moves))
