"""Games of chess in PGN (Edwards, "Portable Game Notation", 1994), read as moves in UCI."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from zermelo.envs import games
from zermelo.envs.errors import InvalidSettingError, MissingDependencyError
from zermelo.envs.support.installing import install_command
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.text import printable, shown
from zermelo.evaluation.positions.lines import LineReader

_MOST_PLIES: Final = 5_000  # of a game
_MOST_TAGS: Final = 1_000
_SAID: Final = 200  # characters of an error of python-chess
_STANDARD: Final = ("", "standard", "normal", "chess", "from position")
"""Values of the tag Variant that mean chess."""
_TAG: Final = re.compile(r'\[\s*(?P<name>\w+)\s*"(?P<value>(?:[^"\\]|\\.)*+)"\s*\]')
_LOOSE_TAG: Final = re.compile(r'\[\s*(?P<name>\w+)\s*"(?P<value>.*)"\s*\]\s*$')
"""A tag with quotes in its value, which should be escaped."""
_TOKEN: Final = re.compile(r"\s*+(?:(?P<sign>[{};()\[\]])|\$\d*+|(?P<word>\*|[^\s{};()\[\]$*]++))")
_SOMETHING: Final = re.compile(r"\S")
_NUMBER: Final = re.compile(r"(\d{1,9})(?:[.\u2026]++|$)")
_RESULT: Final = re.compile(r"(?:1-0|0-1|1/2(?:-1/2)?|\u00bd(?:-\u00bd)?|\*)")
_ASSESSMENT: Final = re.compile(
    r"[!?+\-=/~\u00b1\u2213\u2a71\u2a72\u221e\u25a1\u2191\u2192\u21c6\u27f3\u2a00\u25cb]+"
)
_NULL_MOVES: Final = ("--", "Z0", "@@@@", "0000", "null", "pass")
_FIGURINES: Final = str.maketrans("\u2654\u2655\u2656\u2657\u2658\u265a\u265b\u265c\u265d\u265e", "KQRBNKQRBN")


class PgnGame(NamedTuple):
    """The main line of a game in a file."""

    line: int  # of the file that it begins in, from 1
    fen: str  # where it starts
    moves: tuple[str, ...]  # in UCI notation


def pgn_games(text: str, plies: int | None = None) -> Iterator[PgnGame]:
    """The games of a PGN, one after another: their first ``plies`` moves, without comments and variations.

    Blank lines may be anywhere, and games need neither tags nor a result. Without a result a game ends where tags,
    or the numbers of moves, begin again.

    Raises:
        MissingDependencyError: python-chess is missing.
        StoreError: A game cannot be read, within those plies; it names the line that the game begins in.
    """
    try:
        import chess
    except ImportError as error:
        raise MissingDependencyError(f"reading PGN needs python-chess: {install_command('classic')}") from error
    tokens = _Tokens(text)
    while True:
        game = _Game(tokens, plies, chess)
        try:
            if not game.read():
                return
        except (StoreError, InvalidSettingError) as error:
            line = game.line or tokens.number
            if game.is_none:
                raise StoreError(f"line {line} is no game in PGN") from None
            raise StoreError(f"the game that begins at line {line} cannot be read: {error}") from None
        yield PgnGame(game.line, game.fen, tuple(game.moves))


class _Token(NamedTuple):
    kind: str  # "tag", "word", "(" or ")"
    text: str
    line: int
    value: str = ""  # of a tag
    is_first: bool = False  # in its line
    is_apart: bool = False  # first after a blank line


class _Tokens:
    """What a PGN consists of, without its comments; a token may be given back."""

    def __init__(self, text: str) -> None:
        self._lines = LineReader(text)
        self._line, self._place = "", 0
        self._is_first = self._is_apart = False  # of the next token
        self._back: _Token | None = None

    @property
    def number(self) -> int:
        return self._lines.number

    def give_back(self, token: _Token) -> None:
        self._back = token

    def next(self, *, is_between: bool) -> _Token | None:
        """The next token; ``is_between`` says that no game has begun, whose lines count."""
        token, self._back = self._back, None
        if token is not None:
            self._lines.begin_game()
        while token is None:
            if _SOMETHING.search(self._line, self._place) is None:
                if is_between:
                    self._lines.begin_game()
                if not self._next_line():
                    return None
                continue
            token = self._scan()
        return token

    def _next_line(self) -> bool:
        line = self._lines.readline()
        self._line, self._place = ("" if line.startswith("%") else line), 0
        if self.number == 1:
            self._line = self._line.removeprefix("\ufeff")
        self._is_first, self._is_apart = True, self._is_apart or line.isspace()
        return bool(line)

    def _scan(self) -> _Token | None:
        found = _TOKEN.match(self._line, self._place)
        assert found is not None, "something is left of the line"
        begin, self._place = found.end() - 1, found.end()
        sign = found["sign"] or ""
        if sign == "{":
            self._skip_comment()
        elif sign == ";":
            self._place = len(self._line)
        elif sign == "[":
            return self._tag(begin)
        elif sign in ("]", "}"):
            raise StoreError(f"{sign!r} in line {self.number} closes nothing: leave it out")
        elif sign or found["word"]:
            return self._token(sign or "word", found["word"] or "")
        return None

    def _token(self, kind: str, text: str, value: str = "") -> _Token:
        token = _Token(kind, text, self.number, value, self._is_first, self._is_apart)
        self._is_first = self._is_apart = False
        return token

    def _skip_comment(self) -> None:
        begun = self.number
        while (end := self._line.find("}", self._place)) < 0:
            self._place = 0
            if not (line := self._lines.readline()):
                raise StoreError(f"the comment that begins in line {begun} does not end: close it with }}")
            self._line = line
        self._place = end + 1

    def _tag(self, begin: int) -> _Token:
        tag = _TAG.match(self._line, begin) or _LOOSE_TAG.match(self._line, begin)
        if tag is None:
            what = shown(self._line[begin : begin + 40].strip(), 40)
            raise StoreError(f'{what} in line {self.number} is no tag, such as [Event "name"]')
        self._place = tag.end()
        return self._token("tag", tag["name"], re.sub(r"\\(.)", r"\1", tag["value"]))


class _Game:
    """A game that is being read."""

    def __init__(self, tokens: _Tokens, plies: int | None, chess: Any) -> None:
        self._tokens, self._most, self._chess = tokens, plies, chess
        self.line = self.plies = self._tags = 0
        self.fen, self.moves = games.Chess().fen, list[str]()
        self._names: set[str] = set()
        self._board: Any = None
        self._first: int | None = None  # number of the first move

    @property
    def is_none(self) -> bool:
        """Whether it began with a word that is no move."""
        return self.plies == 1 and not self.moves and not self._names

    def read(self) -> bool:
        """Reads up to its end; False if there is no game."""
        depth, begins = 0, 0
        while (token := self._tokens.next(is_between=not self.line)) is not None:
            self.line = self.line or token.line
            if token.kind == "(":
                depth, begins = depth + 1, begins if depth else token.line
            elif token.kind == ")":
                if not depth:
                    raise StoreError(f"')' in line {token.line} closes nothing: leave it out")
                depth -= 1
            elif token.kind == "tag":
                if depth:
                    raise StoreError(f"the variation that begins in line {begins} does not end: close it with )")
                if self._board is not None or self._is_another(token):
                    break
                self._add_tag(token)
            elif not depth:
                if self._begins_again(token):
                    break
                if self._is_last(token):
                    if self.plies or self._names:
                        return True
                    self.line = 0  # a result alone is no game
        else:
            if depth:
                raise StoreError(f"the variation that begins in line {begins} does not end: close it with )")
            return self.line > 0
        self._tokens.give_back(token)
        return True

    def _is_another(self, tag: _Token) -> bool:
        """Whether a tag that follows tags is another game's."""
        is_event = tag.text == "Event" and (tag.is_apart or tag.text in self._names)
        return bool(self._names) and (is_event or (tag.is_apart and tag.text in self._names))

    def _add_tag(self, tag: _Token) -> None:
        self._tags += 1
        if self._tags > _MOST_TAGS:
            raise StoreError(f"it has more than {_MOST_TAGS:,} tags")
        self._names.add(tag.text)
        if tag.text == "FEN":
            self.fen = games.Chess(tag.value).fen
        if tag.text == "Variant" and tag.value.lower() not in _STANDARD:
            raise StoreError(f"it is a game of {shown(tag.value, 40)}, not of chess: leave it out")

    def _begins_again(self, token: _Token) -> bool:
        """Whether the number of a move is the first of another game, before which this one had no result."""
        number = _NUMBER.match(token.text)
        if number is None or self._first is None or not token.is_first or not (token.is_apart or not self._names):
            return False
        moves, is_black = divmod(self.plies + (self.fen.split()[1] == "b"), 2)
        return int(number[1]) == self._first and bool(moves or (is_black and number[0] == f"{number[1]}."))

    def _is_last(self, token: _Token) -> bool:
        """Plays a word of the main line; True for the result, which ends the game."""
        word = token.text
        if self._board is None:
            self._board = self._chess.Board(self.fen)
        if _RESULT.fullmatch(word):
            return True
        if (number := _NUMBER.match(word)) is not None:
            if self._first is None:
                self._first = int(number[1])
                if self._first > 1 and not self.plies and "FEN" not in self._names:
                    raise StoreError(
                        f"it begins with move {self._first}, without the tag FEN: give it the position before that"
                    )
            word = word[number.end() :]
        word = word.lstrip(".\u2026")
        if word and (word in _NULL_MOVES or not _ASSESSMENT.fullmatch(word)):
            self._play(word, token.line)
        return False

    def _play(self, word: str, line: int) -> None:
        self.plies += 1
        if self.plies > _MOST_PLIES:
            raise StoreError(f"it has more than {_MOST_PLIES:,} plies")
        if self._most is not None and len(self.moves) >= self._most:
            return
        if word.rstrip("!?") in _NULL_MOVES:
            raise StoreError(f"move {self.plies} is a null move: leave it and what follows out")
        try:
            move = self._board.push_san(_plain(word))
        except ValueError as error:
            try:
                move = self._board.push_uci(word.lower())
            except ValueError:
                letters = "" if self._chess.SAN_REGEX.match(_plain(word)) else ": pieces are K, Q, R, B and N"
                raise StoreError(f"{_said(error)}, in line {line}{letters}") from None
        self.moves.append(move.uci())


def _plain(word: str) -> str:
    """A move in SAN without annotations, figurines, ``e.p.`` and other letters than O in castling."""
    word = word.translate(_FIGURINES).rstrip("!?").removesuffix("e.p.").removesuffix("ep").rstrip("+#!?")
    return re.sub(r"^[oO0]-[oO0](-[oO0])?$", lambda castling: castling[0].translate({111: 79, 48: 79}), word)


def _said(error: Exception) -> str:
    text = printable(" ".join(str(error).split()))
    return text if len(text) <= _SAID else f"{text[:_SAID]}..."
