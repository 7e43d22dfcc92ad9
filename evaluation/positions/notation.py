"""Games as people keep them: chess in PGN, Go in SGF, all games of a tournament in one file.

Sources: "Portable Game Notation specification and implementation guide" (Edwards, 1994); "SGF FF[4]" (Hollosi,
1999).
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from zermelo.envs import InvalidSettingError, MissingDependencyError
from zermelo.envs.games import Chess, Go
from zermelo.envs.rules import RulesGame
from zermelo.envs.support.files import replaced
from zermelo.envs.support.installing import install_command
from zermelo.envs.support.spec_text import parse_spec
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import GameRecord, Move
from zermelo.evaluation.match.text import shown
from zermelo.evaluation.output import ExportFormat

_WIDTH: Final = 80
_NAMES: Final[Mapping[ExportFormat, tuple[str, tuple[str, ...]]]] = {
    ExportFormat.PGN: ("chess", ("classic/chess-v6", "zermelo/Chess-v0")),
    ExportFormat.SGF: ("Go", ("classic/go-v5", "zermelo/Go-v0")),
}
"""The game of each notation, and the environments that play it."""


def export_notation(records: Iterable[GameRecord], folder: str | os.PathLike[str], form: ExportFormat) -> Path:
    """Writes ``games.pgn`` or ``games.sgf`` into a folder; the records are read once and not kept."""
    write = {ExportFormat.PGN: _pgn, ExportFormat.SGF: _sgf}[form]
    target = Path(folder)
    path, found = target / f"games.{form}", 0
    try:
        target.mkdir(parents=True, exist_ok=True)
        with replaced(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="\n") as file:
            for found, record in enumerate(records, start=1):
                file.write(write(record, _settings(record, form), found) + "\n")
            if not found:
                raise StoreError("there are no games to export: play some first")
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}; choose another folder with --out"
        ) from error
    return path


def notation_of(env: str) -> ExportFormat | None:
    """The notation for games of an environment; None where there is none."""
    for form, (_, names) in _NAMES.items():
        with contextlib.suppress(InvalidSettingError):
            if parse_spec(env).name in names:
                return form
    return None


def game_text(record: GameRecord, form: ExportFormat, *, finished: bool = True) -> str:
    """One game of chess in PGN, or of Go in SGF."""
    write = {ExportFormat.PGN: _pgn, ExportFormat.SGF: _sgf}[form]
    return write(record, _settings(record, form), 1, finished) + "\n"


def _settings(record: GameRecord, form: ExportFormat) -> Mapping[str, Any]:
    """The parameters of a game's environment, if the notation is for it."""
    kind, names = _NAMES[form]
    try:
        spec = parse_spec(record.env)
    except InvalidSettingError:
        spec = None
    if spec is None or spec.name not in names:
        raise InvalidSettingError(f"{form} is for {kind}, such as {names[0]}, and not for {record.env}: use csv")
    return spec.arguments


def _played(
    record: GameRecord, rules: Any, name: Callable[[Any, int], str]
) -> Iterator[tuple[int, str, Move | None]]:
    """The seat, the name and the record of each move, without the last if it was illegal."""
    game = RulesGame(rules)
    state = game.initial_state()
    moves = [*((action, None) for action in record.opening), *((move.action, move) for move in record.moves)]
    for action, move in moves:
        if game.is_terminal(state) or action not in game.legal_actions(state):
            return
        yield game.to_move(state), name(state, action), move
        state = game.result(state, action)


def _one_line(text: str) -> str:
    return " ".join(text.split())


# -- chess ------------------------------------------------------------------------------------------------------


def _pgn(record: GameRecord, settings: Mapping[str, Any], number: int, finished: bool = True) -> str:
    rules = Chess(**settings)
    score = record.scores[0] if record.scores and finished else None
    result = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}.get(-1.0 if score is None else score, "*")
    tags = {
        "Event": record.env,
        "Site": "?",
        "Date": "????.??.??",
        "Round": str(number),
        "White": record.agents[0],
        "Black": record.agents[1],
        "Result": result,
    }
    if settings:
        tags |= {"SetUp": "1", "FEN": rules.fen}
    if record.failure:
        tags["Termination"] = f"{record.failure.kind}: {record.failure.message}"
    words: list[str] = []
    black_begins = rules.fen.split()[1] == "b"
    for place, (seat, text, move) in enumerate(_played(record, rules, rules.action_text), start=int(black_begins)):
        if seat == 0 or not words:
            words.append(f"{place // 2 + 1}." + ("" if seat == 0 else ".."))
        words.append(text)
        if move is not None and move.value is not None:
            words.append(f"{{{move.value:+.3f}/{move.depth or 0} {move.seconds:.2f}s}}")
    lines = (f'[{name} "{_one_line(text).translate({34: chr(39), 92: chr(47)})}"]' for name, text in tags.items())
    moves = textwrap.fill(" ".join([*words, result]), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join([*lines, "", moves, ""])


# -- Go ---------------------------------------------------------------------------------------------------------


def _sgf(record: GameRecord, settings: Mapping[str, Any], number: int, finished: bool = True) -> str:
    theirs = "board_size" in settings or record.env.startswith("classic/")
    size = int(settings.get("board_size" if theirs else "size", 19 if theirs else Go().size))
    komi = float(settings.get("komi", Go().komi))
    rules = Go(size, komi, superko=0 if theirs else int(settings.get("superko", 1)))

    def point(state: Any, action: int) -> str:
        row, column = divmod(action, size)
        return "" if row == size else chr(ord("a") + column) + chr(ord("a") + row)

    score = record.scores[0] if record.scores and finished else None
    properties = {
        "GM": "1",
        "FF": "4",
        "CA": "UTF-8",
        "SZ": str(size),
        "KM": f"{komi:g}",
        "GN": f"game {number}",
        "PB": record.agents[0],
        "PW": record.agents[1],
        "RU": "Chinese",
        "RE": {1.0: "B+", 0.5: "0", 0.0: "W+"}.get(-1.0 if score is None else score, "?"),
    }
    if record.failure:
        properties["GC"] = f"{record.failure.kind}: {record.failure.message}"
    head = "".join(f"{name}[{_escaped(text)}]" for name, text in properties.items())
    nodes = [f";{'BW'[seat]}[{text}]" for seat, text, _ in _played(record, rules, point)]
    rows = (nodes[start : start + 10] for start in range(0, len(nodes), 10))
    return "\n".join([f"(;{head}", *("".join(row) for row in rows)]) + ")"


def _escaped(text: str) -> str:
    return _one_line(text).replace("\\", "\\\\").replace("]", "\\]")


# -- moves read from PGN and SGF

MOST_PLIES: Final = 5_000


_TOKEN: Final = re.compile(
    r"\s*(?:([();])|([A-Z]{1,8})\s*\[((?:\\.|[^\]\\])*)\](?:\s*\[(?:\\.|[^\]\\])*\])*)", re.DOTALL
)
"""A sign of SGF's structure, or a property with its first value."""


def pgn_moves(text: str, env: str) -> list[str]:
    """The moves of the first game in a PGN, in UCI notation."""
    try:
        import chess.pgn
    except ImportError as error:
        raise MissingDependencyError(f"reading PGN needs python-chess: {install_command('classic')}") from error

    class Builder(chess.pgn.GameBuilder):  # type: ignore[misc]  # python-chess may be missing
        """Keeps errors for the message below; python-chess would print them too."""

        def handle_error(self, error: Exception) -> None:
            self.game.errors.append(error)

    try:
        game = chess.pgn.read_game(io.StringIO(text), Visitor=Builder)
    except Exception as error:  # a library that reads anybody's text
        raise StoreError(f"this PGN cannot be read: {shown(str(error), 200)}") from error
    if game is None or (not game.variations and not text.lstrip("\ufeff \t\r\n").startswith("[")):
        raise StoreError("there is no game in this PGN")
    if game.errors:
        raise StoreError(f"this PGN cannot be read: {shown(str(game.errors[0]), 200)}")
    start = parse_spec(env).arguments.get("fen", chess.STARTING_FEN)
    if game.board().epd() != chess.Board(str(start)).epd():
        raise StoreError(f"the game begins at {game.board().fen()}, and the board at {start}: give it as fen=...")
    return [move.uci() for move in game.mainline_moves()][:MOST_PLIES]


def sgf_moves(text: str, env: str) -> list[int]:
    """The moves of the main line of an SGF of Go, as actions of the environment."""
    arguments = parse_spec(env).arguments
    size = int(arguments.get("board_size", arguments.get("size", 19 if env.startswith("classic/") else 9)))
    moves: list[int] = []
    for place, node in enumerate(_nodes(text)):
        if place == 0 and int(_whole(node.get("SZ", "19"))) != size:
            raise StoreError(f"the game is on a board of {node.get('SZ', '19')} lines, and this one has {size}")
        if any(name in node for name in ("AB", "AW", "AE")):
            raise StoreError("this SGF sets up stones (AB, AW or AE), which cannot be played from the start")
        for colour in ("B", "W"):
            if colour in node:
                if colour != "BW"[len(moves) % 2]:
                    raise StoreError(f"move {len(moves) + 1} of this SGF is {colour}'s, out of turn")
                moves.append(_point(node[colour].strip(), size))
    if len(moves) > MOST_PLIES:
        raise StoreError(f"this SGF has more than {MOST_PLIES:,} moves")
    return moves


def _nodes(text: str) -> Iterator[Mapping[str, str]]:
    """The nodes of the main line: the first variation at every branch."""
    if "(" not in text or ";" not in text:
        raise StoreError("this SGF has no game in it")
    text, depth, place = text.rstrip(), 0, 0
    node: dict[str, str] | None = None
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None or (found[2] and node is None):
            raise StoreError(f"this SGF cannot be read at {shown(text[place : place + 20].lstrip())}")
        place = found.end()
        if found[1] == ")":
            break  # what follows are other variations
        if found[1] == "(":
            depth += 1
            if depth >= MOST_PLIES:
                raise StoreError("this SGF is nested too deeply")
        elif found[1] == ";":
            if node is not None:
                yield node
            node = {}
        elif node is not None:
            node[found[2]] = re.sub(r"\\(.)", r"\1", found[3], flags=re.DOTALL)
    if node is not None:
        yield node


def _whole(text: str) -> int:
    if not re.fullmatch(r"\s*\d{1,3}\s*", text):
        raise StoreError(f"this SGF has a board of {shown(text, 20)} lines")
    return int(text)


def _point(text: str, size: int) -> int:
    """The action of a point, such as ``dd``; nothing is a pass, and so is ``tt`` on boards of up to 19 lines."""
    if not text or (text == "tt" and size <= 19):
        return size * size
    if not re.fullmatch(r"[a-y]{2}", text) or max(ord(mark) - 97 for mark in text) >= size:
        raise StoreError(f"this SGF plays at {shown(text, 20)}, which is no point of a board of {size} lines")
    return (ord(text[1]) - 97) * size + ord(text[0]) - 97
