"""Games of Go in SGF (Hollosi, "SGF FF[4]", 1999): written, and read back as actions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from zermelo.envs import games
from zermelo.envs.rules import RulesGame
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import EndReason, FailureKind, GameRecord
from zermelo.evaluation.match.text import shown
from zermelo.evaluation.positions.moves import replayed
from zermelo.evaluation.positions.pgn_writing import one_line, round_of, short_name

_DEEPEST: Final = 5_000  # variations inside one another
_MOST: Final = 10_000  # nodes of a game's main line, and values in them
_READ: Final = frozenset(("GM", "SZ", "AB", "AW", "AE", "PL", "B", "W"))
"""The properties that are read."""
_VALUE: Final = re.compile(r"\[((?:[^\]\\]|\\.)*+)\]", re.DOTALL)
_TREE: Final = re.compile(r"\((?=\s*+(?:[;(]|\Z|[A-Za-z]{1,40}+\s*+\[))")
_SOMETHING: Final = re.compile(r"\S")
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<sign>[();])|(?P<name>[A-Za-z]{1,40})\s*(?P<values>(?:\[(?:[^\]\\]|\\.)*+\]\s*)++))", re.DOTALL
)
"""A sign of SGF's structure, or a property with its values; without backtracking, which takes memory."""


def go_rules(env: str, settings: Mapping[str, Any]) -> games.Go:
    theirs = "board_size" in settings or env.startswith("classic/")
    size = int(settings.get("board_size" if theirs else "size", 19 if theirs else games.Go().size))
    return games.Go(
        size, float(settings.get("komi", games.Go().komi)), 0 if theirs else int(settings.get("superko", 1))
    )


def written_sgf(
    record: GameRecord, settings: Mapping[str, Any], number: int, date: str = "", finished: bool = True
) -> str:
    """A game in SGF; ``date`` is such as ``2026-03-01``."""
    rules = go_rules(record.env, settings)
    game, nodes = RulesGame(rules), []
    last = game.initial_state()
    for seat, state, action, _ in replayed(record, rules):
        row, column = divmod(action, rules.size)
        point = "" if row == rules.size else chr(ord("a") + column) + chr(ord("a") + row)
        nodes.append(f";{'BW'[seat]}[{point}]")
        last = game.result(state, action)
    black, white = map(short_name, record.agents)
    ended = _result(record, rules.margin(last) - rules.komi) if finished else "?"
    comment = f"{record.failure.kind}: {record.failure.message}" if record.failure else ""
    properties = {
        "GM": "1", "FF": "4", "CA": "UTF-8", "SZ": str(rules.size), "KM": f"{rules.komi:g}",
        "GN": f"game {number}", "EV": record.env, "RO": round_of(record, number), "DT": date,
        "PB": black, "PW": white, "RU": "Chinese", "RE": ended, "GC": comment,
    }  # fmt: skip
    head = "".join(f"{name}[{_escaped(text)}]" for name, text in properties.items() if text)
    rows = (nodes[start : start + 10] for start in range(0, len(nodes), 10))
    return "\n".join([f"(;{head}", *("".join(row) for row in rows)]) + ")"


def _result(record: GameRecord, lead: float) -> str:
    """Who has won and how: by points (Black's ``lead``), resignation (R), time (T) or forfeit (F)."""
    if not record.scores:
        return "Void"
    if record.scores[0] == record.scores[1]:
        return "0"
    black_wins = record.scores[0] > record.scores[1]
    how = ""
    if record.failure is not None:
        how = "T" if record.failure.kind is FailureKind.TIMEOUT else "F"
    elif record.end is EndReason.RESIGNATION:
        how = "R"
    elif record.end is EndReason.TERMINATED and lead and black_wins == (lead > 0):
        how = f"{abs(lead):g}"
    return ("B+" if black_wins else "W+") + how


def _escaped(text: str) -> str:
    return one_line(text).replace("\\", "\\\\").replace("]", "\\]")


class SgfGame(NamedTuple):
    """The main line of a game in a file."""

    line: int  # of the file that it begins in, from 1
    setup: tuple[int, ...]  # the actions that put its first stones on the board, with passes
    moves: tuple[int, ...]  # the actions after that, with a pass where a player moves twice in a row


def sgf_games(text: str, size: int) -> Iterator[SgfGame]:
    """The games of an SGF on boards of so many lines; a ``StoreError`` names the line that a game begins in."""
    for line, nodes in _main_lines(text):
        try:
            yield SgfGame(line, *_played(nodes, size))
        except StoreError as error:
            raise StoreError(f"the game that begins at line {line} cannot be read: {error}") from None


def _played(nodes: Sequence[Mapping[str, Sequence[str]]], size: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    _require_board(nodes[0], size)
    stones: dict[int, str] = {}
    first, moves = "", list[tuple[str, int]]()
    for node in nodes:
        for name, colour in (("AE", ""), ("AB", "B"), ("AW", "W")):
            if name in node and moves:
                raise StoreError(
                    f"{name} sets up stones after move {len(moves)}: only before the first move they can be"
                )
            for value in node.get(name, ()):
                stones.update(dict.fromkeys(_rectangle(value, size), colour))
        if "PL" in node and not moves:
            first = "W" if node["PL"][0].strip().upper()[:1] in ("W", "2") else "B"
        moves += [(colour, _point(node[colour][0], size)) for colour in "BW" if colour in node]
    black, white = (sorted(point for point, colour in stones.items() if colour == mine) for mine in "BW")
    first = first or (moves[0][0] if moves else "W" if black and not white else "B")
    _require_liberties(black, white, size)
    setup = _in_turn(black, white, first, size)
    played, begin, mover = [(action, True) for action in setup], len(setup), first
    for colour, action in moves:
        for one, is_ours in [(action, False)] if colour == mover else [(size * size, True), (action, False)]:
            last, was_ours = played[-1] if played else (-1, False)
            if one == last == size * size and (is_ours or was_ours):
                # With a pass that nobody has played the game would end: without both it is the same player's turn.
                played.pop()
                begin = min(begin, len(played))
            else:
                played.append((one, is_ours))
        mover = "W" if colour == "B" else "B"
    actions = tuple(action for action, _ in played)
    return actions[:begin], actions[begin:]


def _require_board(root: Mapping[str, Sequence[str]], size: int) -> None:
    if (kind := root.get("GM", ["1"])[0].strip()) not in ("1", ""):
        raise StoreError(f"GM[{shown(kind, 20)[1:-1]}] is another game than Go, which is GM[1]")
    lines = root.get("SZ", ["19"])[0].strip()
    if not re.fullmatch(r"\d{1,3}(:\d{1,3})?", lines):
        raise StoreError(f"the board has {shown(lines, 20)} lines, which is no number")
    if set(map(int, lines.split(":"))) != {size}:
        is_offered = lines.isdecimal() and 0 < int(lines) <= 25
        fitting = f": play in zermelo/Go-v0 with size={int(lines)}" if is_offered else ""
        raise StoreError(f"the board has {lines} lines, and the one here has {size}{fitting}")


def _in_turn(black: Sequence[int], white: Sequence[int], first: str, size: int) -> list[int]:
    """Stones as moves in turn, after which ``first`` is to move.

    Nothing is captured on the way where every group has a liberty. Passes come first, never two in a row, so that
    the players' own passes do not end the game too early.
    """
    rounds = max(len(black), len(white) + (first == "W"))
    for_black = [size * size] * (rounds - len(black)) + [*black]
    for_white = [size * size] * (rounds - (first == "W") - len(white)) + [*white]
    turns = [action for pair in zip(for_black, for_white, strict=False) for action in pair]
    return turns + for_black[len(for_white) :]


def _require_liberties(black: Sequence[int], white: Sequence[int], size: int) -> None:
    taken = {*black, *white}
    for stones in (set(black), set(white)):
        while stones:
            group, has_liberty = [stones.pop()], False
            for point in group:  # which grows meanwhile
                row, column = divmod(point, size)
                beside = {point - size} if row else set()
                beside |= {point + size} if row < size - 1 else set()
                beside |= {point - 1} if column else set()
                beside |= {point + 1} if column < size - 1 else set()
                has_liberty = has_liberty or bool(beside - taken)
                group += beside & stones
                stones -= beside
            if not has_liberty:
                row, column = divmod(group[0], size)
                raise StoreError(f"the stone set up at {chr(97 + column)}{chr(97 + row)} has no liberty")


def _main_lines(text: str) -> Iterator[tuple[int, list[dict[str, list[str]]]]]:
    """The line that each game begins in, and the nodes of its main line: the first variation at every branch."""
    line, place = 1, 0
    while (found := _TREE.search(text, place)) is not None:
        begin = found.start()
        line += text.count("\n", place, begin)
        nodes, place = _main_line(text, begin)
        if not nodes:
            raise StoreError(f"at line {line} there is no game in this SGF")
        yield line, nodes
        line += text.count("\n", begin, place)


def _main_line(text: str, place: int) -> tuple[list[dict[str, list[str]]], int]:
    nodes: list[dict[str, list[str]]] = []
    depth, is_main, count = 0, True, 0
    while True:
        token = _TOKEN.match(text, place)
        if token is None or (token["name"] and not nodes):
            if _SOMETHING.search(text, place) is None:
                raise StoreError("this SGF ends too early")
            raise StoreError(
                f"this SGF cannot be read at {shown(text[place : place + 20].lstrip())} in {_line_at(text, place)}"
            )
        if count > _MOST:
            raise StoreError(
                f"this SGF has a game of more than {_MOST:,} nodes and values before {_line_at(text, place)}: "
                "shorten its main line"
            )
        place = token.end()
        if token["sign"] == "(":
            depth += 1
            if depth > _DEEPEST:
                raise StoreError("this SGF is nested too deeply")
        elif token["sign"] == ")":
            depth, is_main = depth - 1, False  # what follows are other variations
            if not depth:
                return nodes, place
        elif token["sign"] and is_main:
            count += 1
            nodes.append({})
        elif token["name"] and is_main and (name := re.sub("[a-z]", "", token["name"])) in _READ:
            found = itertools.islice(_VALUE.finditer(text, *token.span("values")), _MOST + 1)
            values = [re.sub(r"\\(.)", r"\1", one[1], flags=re.DOTALL) for one in found]
            count += len(values)
            nodes[-1].setdefault(name, []).extend(values)


def _line_at(text: str, place: int) -> str:
    return f"line {text.count(chr(10), 0, place) + 1}"


def _rectangle(text: str, size: int) -> list[int]:
    """The points of a value such as ``dd``, or ``aa:cc`` for all between two corners."""
    corners = text.split(":")
    if len(corners) > 2 or not all(corner.strip() for corner in corners):
        raise StoreError(f"{shown(text, 20)} is no point")
    (top, left), (bottom, right) = (divmod(_stone(corner, size), size) for corner in (corners[0], corners[-1]))
    return [row * size + column for row in range(top, bottom + 1) for column in range(left, right + 1)]


def _point(text: str, size: int) -> int:
    """The action of a move; nothing is a pass, and so is ``tt`` on boards of up to 19 lines."""
    return size * size if not text.strip() or (text.strip() == "tt" and size <= 19) else _stone(text, size)


def _stone(text: str, size: int) -> int:
    mark = text.strip()
    if not re.fullmatch(r"[a-y]{2}", mark) or max(ord(letter) - 97 for letter in mark) >= size:
        raise StoreError(f"{shown(mark, 20)} is no point of a board of {size} lines")
    return (ord(mark[1]) - 97) * size + ord(mark[0]) - 97
