"""Games as files and back: PGN for chess, SGF for Go, JSON for every game.

Files may be anybody's. What is read decides nothing but moves: a file of another environment than that on the
board is refused, so none can name a module to be imported, and moves are played one by one by the rules.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from zermelo.envs import InvalidSettingError, MissingDependencyError
from zermelo.envs.support.installing import install_command
from zermelo.envs.support.spec_text import parse_spec
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import EndReason, GameRecord, Move
from zermelo.evaluation.match.writing import shown
from zermelo.evaluation.output import ExportFormat
from zermelo.evaluation.output.positions.notation import game_text, notation_of

LARGEST: Final = 2**20
"""Bytes of the largest file that is read."""
_PLIES: Final = 5_000
_TOKEN: Final = re.compile(
    r"\s*(?:([();])|([A-Z]{1,8})\s*\[((?:\\.|[^\]\\])*)\](?:\s*\[(?:\\.|[^\]\\])*\])*)", re.DOTALL
)
"""A sign of SGF's structure, or a property with its first value."""


def formats_of(env: str) -> tuple[ExportFormat, ...]:
    """The files that a game of an environment can be saved in, the usual one first."""
    own = notation_of(env)
    return (ExportFormat.JSON,) if own is None else (own, ExportFormat.JSON)


def saved_game(record: GameRecord, form: str, *, finished: bool) -> str:
    """The text of a file of a game."""
    if form not in formats_of(record.env):
        known = " and ".join(formats_of(record.env))
        raise InvalidSettingError(f"games of {record.env} are saved as {known}, not as {shown(form, 20)}")
    if form == ExportFormat.JSON:
        return record.to_json() + "\n"
    return game_text(record, ExportFormat(form), finished=finished)


def load_game(text: str, env: str) -> GameRecord:
    """The game in a file, for the board of an environment; whether its moves are legal is not looked at."""
    if len(text) > LARGEST:
        raise StoreError(f"the file is too large: a game has at most {LARGEST:,} characters")
    start = text.lstrip("\ufeff \t\r\n")[:1]
    own = notation_of(env)
    if start == "{":
        return _from_json(text, env)
    if start == "(" and own is ExportFormat.SGF:
        return _record(env, _sgf_moves(text, env))
    if start and own is ExportFormat.PGN and start != "(":
        return _record(env, _pgn_moves(text, env))
    known = " or ".join(form.upper() for form in formats_of(env))
    raise StoreError(f"this is no game in {known}, which is what games of {env} are loaded from")


def _record(env: str, moves: list[Any]) -> GameRecord:
    """A record of moves alone; actions may be texts."""
    played = tuple(Move(place % 2, move) for place, move in enumerate(moves))
    names = ("", "")
    return GameRecord(
        env=env, agents=names, seat_names=names, seed=0, rewards=(0.0, 0.0), end=EndReason.MOVE_LIMIT, moves=played
    )


def _from_json(text: str, env: str) -> GameRecord:
    try:
        record = GameRecord.from_json(text)
    except StoreError as error:
        raise StoreError(f"this is no game that zermelo has saved: {shown(str(error), 200)}") from error
    if record.env != env:
        other = shown(record.env, 60)
        raise StoreError(f"this is a game of {other}, and the board is for {env}: start the board for that one")
    known = all(isinstance(one, int | tuple) and not isinstance(one, bool) for one in record.actions)
    if not known or len(record.actions) > _PLIES:
        raise StoreError(f"this is no game for the board: its moves are not numbers, or more than {_PLIES:,}")
    return record


# -- PGN ----------------------------------------------------------------------------------------------------------


def _pgn_moves(text: str, env: str) -> list[str]:
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
    return [move.uci() for move in game.mainline_moves()][:_PLIES]


# -- SGF ----------------------------------------------------------------------------------------------------------


def _sgf_moves(text: str, env: str) -> list[int]:
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
    if len(moves) > _PLIES:
        raise StoreError(f"this SGF has more than {_PLIES:,} moves")
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
            if depth >= _PLIES:
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
