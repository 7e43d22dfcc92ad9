"""Moves read from PGN and SGF."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from typing import Final

from zermelo.envs import MissingDependencyError
from zermelo.envs.support.installing import install_command
from zermelo.envs.support.spec_text import parse_spec
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.text import shown

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
