"""Endings of chess as endgame tables number them: by the pieces of both sides, then by their squares.

The player to move is always the one whose pieces go up, so a table has no colours. Without pawns the board is
turned until that player's king is in a triangle of ten squares, with pawns until it is on the files a to d. Pieces
of a kind have ascending squares. A pawn that can be taken in passing counts as if it were on the first row of its
file, where no pawn is. Positions with a right to castle are not numbered.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games.chess.attacks import is_attacked, square_bit
from zermelo.envs.games.chess.state import ChessState, king_square, of_kind, passed_pawn, position, turned
from zermelo.envs.rules.bits import bit_index, popcount, shift_right, swapped_bytes

MOST_PIECES: Final = 6
_KINDS: Final = "PNBRQ"
_DEAD: Final = ("", "N", "B")  # with these alone against a bare king nobody mates, and the game is over


class ChessEndings:
    """The methods of endgame tables."""

    __slots__ = ()

    def table_part(self: Any, state: ChessState) -> int:
        """The pieces, in three bits a kind; -1 if the position is not numbered."""
        if state.own == 0 or state.castling != 0 or popcount(state.own | state.other) > MOST_PIECES:
            return -1
        part = 0
        for kind in range(10):
            part |= popcount(_board(state, kind)) << 3 * kind
        return part

    def table_size(self: Any, part: int) -> int:
        pieces = 0
        for kind in range(10):
            pieces += part >> 3 * kind & 7
        return (32 if part & 7 | part >> 15 & 7 else 10) << 6 * (pieces + 1)

    def table_index(self: Any, state: ChessState) -> int:
        return _index_of(state)

    def table_state(self: Any, part: int, index: int) -> ChessState:
        return _state_of(part, index)

    def table_horizon(self: Any, state: ChessState) -> int:
        """Before the player to move may claim a draw by the fifty-move rule."""
        return 99 - state.clock

    def table_unit(self: Any) -> str:
        return "pieces"

    def table_parts(self: Any, what: str) -> list[tuple[int, ...]]:
        """The endings with so many pieces at most, or one such as KBNK, and all that their moves lead to."""
        wanted: set[tuple[str, str]] = set()
        if what.isdecimal():
            counts = range(int(what) - 1)
            sides = ["".join(s) for n in counts for s in itertools.combinations_with_replacement(_KINDS, n)]
            wanted = {(one, two) for one in sides for two in sides if len(one + two) + 2 <= int(what)}
            if not 3 <= int(what) <= MOST_PIECES:
                wanted.clear()
        else:
            words = what.upper().replace("V", "").split("K")
            if len(words) == 3 and not words[0] and set(words[1] + words[2]) <= set(_KINDS):
                wanted = {(_side(words[1]), _side(words[2]))}
        if not wanted or any(len(one + two) + 2 > MOST_PIECES for one, two in wanted):
            raise InvalidSettingError(
                f"--pieces is a number from 3 to {MOST_PIECES}, or an ending such as KBNK, not {what!r}"
            )
        found: set[frozenset[tuple[str, str]]] = set()
        while wanted:
            one, two = wanted.pop()
            group = frozenset({(one, two), (two, one)})
            if group not in found and not (one in _DEAD and not two) and not (two in _DEAD and not one):
                found.add(group)
                wanted |= {*_after(one, two), *_after(two, one)}
        ordered = sorted((len(one + two), (one + two).count("P"), one, two) for one, two in map(min, found))
        return [tuple(sorted({_number(one, two), _number(two, one)})) for _, _, one, two in ordered]

    def table_part_text(self: Any, part: int) -> str:
        """The pieces of the player to move, then the opponent's: KBNvK."""
        counts = [part >> 3 * kind & 7 for kind in range(10)]
        own, other = ("".join(map(str.__mul__, _KINDS, side))[::-1] for side in (counts[:5], counts[5:]))
        return f"K{own}vK{other}"

    def table_rules(self: Any) -> Any:
        return type(self)()


def _board(state: ChessState, kind: int) -> int:
    """The pieces of one kind: 0 to 4 for own pawns to queens, 5 to 9 for the opponent's."""
    return (state.own if kind < 5 else state.other) & of_kind(state, kind % 5)


def _nothing() -> ChessState:
    return ChessState(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


def _index_of(state: ChessState) -> int:
    king = king_square(state)
    flip = 7 if king & 7 > 3 else 0
    swap = 0
    if state.pawns != 0:
        king ^= flip
        number = king >> 3 << 2 | king & 3
    else:
        flip |= 56 if king >> 3 > 3 else 0
        king ^= flip
        swap = 1 if king >> 3 > king & 7 else 0
        near, far = min(king >> 3, king & 7), max(king >> 3, king & 7)
        number = far * (far + 1) // 2 + near
    square = bit_index(state.other & ~(state.pawns | state.knights | state.diagonal | state.straight)) ^ flip
    number = number << 6 | (square >> 3 | (square & 7) << 3 if swap else square)
    for kind in range(10):
        board = _board(state, kind)
        if kind == 5 and state.passed != 0:
            board ^= shift_right(state.passed, 8) | shift_right(state.passed, 40)
        turned = 0
        while board != 0:
            square = bit_index(board)
            board ^= square_bit(square)
            square ^= flip
            turned |= square_bit(square >> 3 | (square & 7) << 3 if swap else square)
        while turned != 0:
            square = bit_index(turned)
            turned ^= square_bit(square)
            number = number << 6 | square
    return number


def _state_of(part: int, index: int) -> ChessState:
    """The position with a number, white to move; an empty board if the number stands for none."""
    own, other, pawns, knights, diagonal, straight, passed = 0, 0, 0, 0, 0, 0, 0
    for back in range(10):
        kind = 9 - back
        above = 64
        for _ in range(part >> 3 * kind & 7):
            square = index & 63
            index >>= 6
            here = square_bit(square)
            if kind == 5 and square < 8 and part & 7 != 0 and passed == 0:
                passed, here = here << 40, here << 32
            if square >= above or (own | other) & here != 0:
                return _nothing()
            above = square
            if kind < 5:
                own |= here
            else:
                other |= here
            if kind % 5 == 0:
                pawns |= here
            elif kind % 5 == 1:
                knights |= here
            else:
                diagonal |= here if kind % 5 != 3 else 0
                straight |= here if kind % 5 != 2 else 0
    theirs = index & 63
    index >>= 6
    if part & 7 | part >> 15 & 7:
        king = index >> 2 << 3 | index & 3
    else:
        far = 0
        while (far + 1) * (far + 2) // 2 <= index:
            far += 1
        king = (index - far * (far + 1) // 2) << 3 | far
    kings = square_bit(king) | square_bit(theirs)
    rows = 255 | swapped_bytes(255)
    way = passed | passed << 8
    if king == theirs or (own | other) & (kings | way) != 0 or kings & way != 0 or pawns & rows != 0:
        return _nothing()
    own |= square_bit(king)
    other |= square_bit(theirs)
    boards = own, other, pawns, knights, diagonal, straight
    mine, by, men, jumpers, riders, lines = turned(boards)
    if is_attacked(theirs ^ 56, mine | by, by, men, jumpers, riders, lines):
        return _nothing()
    found = position(boards, 0, passed, 0, 0, 0)
    return found if passed == passed_pawn(found, passed) else _nothing()


def _side(pieces: str) -> str:
    return "".join(sorted(pieces, key=_KINDS.index))


def _number(own: str, other: str) -> int:
    counts = Counter(own), Counter(other)
    return sum(counts[kind // 5][_KINDS[kind % 5]] << 3 * kind for kind in range(10))


def _after(own: str, other: str) -> Iterator[tuple[str, str]]:
    """The pieces left after captures and promotions of one player."""
    promoted = [_side(own.replace("P", kind, 1)) for kind in _KINDS[1:]] if "P" in own else []
    for side in (own, *promoted):
        if side != own:
            yield side, other
        for kind in set(other):
            yield side, other.replace(kind, "", 1)
