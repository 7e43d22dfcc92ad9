"""Endings of chess as endgame tables number them: by the pieces of both sides, then by their squares.

The player to move is always the one whose pieces go up, so a table has no colours. Without pawns the board is
turned until that player's king is in a triangle of ten squares, with pawns until it is on the files a to d. Pieces
of a kind have ascending squares. Not numbered are positions with a right to castle, with a pawn that can be taken
in passing, and with pawns on both sides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games.chess.attacks import checks_and_pins, is_attacked, square_bit
from zermelo.envs.games.chess.state import ChessState, king_square
from zermelo.envs.rules.bits import bit_index, popcount, swapped_bytes

MOST_PIECES: Final = 6
_KINDS: Final = "PNBRQ"
_DEAD: Final = ("", "N", "B")
"""With these alone against a bare king nobody mates, and the game is over."""

Side = tuple[int, ...]
"""How many pawns, knights, bishops, rooks and queens a player has."""


def _board(state: ChessState, kind: int) -> int:
    """The pieces of one kind: 0 to 4 for own pawns to queens, 5 to 9 for the opponent's."""
    side = state.own if kind < 5 else state.other
    if kind % 5 == 0:
        return side & state.pawns
    if kind % 5 == 1:
        return side & state.knights
    if kind % 5 == 2:
        return side & state.diagonal & ~state.straight
    if kind % 5 == 3:
        return side & state.straight & ~state.diagonal
    return side & state.diagonal & state.straight


def _nothing() -> ChessState:
    """The empty board, which is in no part."""
    return ChessState(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


def part_of(state: ChessState) -> int:
    """The pieces, in three bits a kind; -1 if the position is not numbered."""
    if state.own == 0 or state.castling | state.passed != 0 or popcount(state.own | state.other) > MOST_PIECES:
        return -1
    part = 0
    for kind in range(10):
        part |= popcount(_board(state, kind)) << 3 * kind
    return part


def size_of(part: int) -> int:
    """The count of numbers of positions with these pieces."""
    pieces = 0
    for kind in range(10):
        pieces += part >> 3 * kind & 7
    return (32 if part & 7 | part >> 15 & 7 else 10) << 6 * (pieces + 1)


def index_of(state: ChessState) -> int:
    """The number of a position among those with its pieces."""
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


def state_of(part: int, index: int) -> ChessState:
    """The position with a number, white to move; an empty board if the number stands for none."""
    own, other, pawns, knights, diagonal, straight = 0, 0, 0, 0, 0, 0
    for back in range(10):
        kind = 9 - back
        above = 64
        for _ in range(part >> 3 * kind & 7):
            square = index & 63
            index >>= 6
            here = square_bit(square)
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
    if king == theirs or (own | other) & kings != 0 or pawns & rows != 0:
        return _nothing()
    own |= square_bit(king)
    other |= square_bit(theirs)
    occupied = swapped_bytes(own | other)
    attackers, men = swapped_bytes(own), swapped_bytes(pawns)
    riders, lines = swapped_bytes(diagonal), swapped_bytes(straight)
    if is_attacked(theirs ^ 56, occupied, attackers, men, swapped_bytes(knights), riders, lines):
        return _nothing()
    checkers, pinned = checks_and_pins(king, own, other, pawns, knights, diagonal, straight)
    return ChessState(own, other, pawns, knights, diagonal, straight, 0, 0, 0, 0, 0, checkers, pinned)


# -- which endings there are -----------------------------------------------------------------------------------


def groups_of(what: str) -> list[tuple[int, ...]]:
    """The endings with so many pieces at most, or one such as KBNK, and all that their moves lead to.

    Raises:
        InvalidSettingError: It is neither.
    """
    wanted: set[tuple[Side, Side]] = set()
    if what.isdecimal():
        sides = [side for count in range(int(what) - 1) for side in _sides(count)]
        wanted = {(one, two) for one in sides for two in sides if sum(one) + sum(two) + 2 <= int(what)}
        if not 3 <= int(what) <= MOST_PIECES:
            wanted.clear()
    else:
        words = what.upper().replace("V", "").split("K")
        if len(words) == 3 and not words[0] and set(words[1] + words[2]) <= set(_KINDS):
            wanted = {(_side(words[1]), _side(words[2]))}
    wanted = {pair for pair in wanted if not (pair[0][0] and pair[1][0])}
    if not wanted or any(sum(one) + sum(two) + 2 > MOST_PIECES for one, two in wanted):
        raise InvalidSettingError(
            f"--pieces is a number from 3 to {MOST_PIECES}, or an ending with pawns on one side at most, such as "
            f"KBNK, not {what!r}"
        )
    found: set[frozenset[tuple[Side, Side]]] = set()
    while wanted:
        one, two = wanted.pop()
        group = frozenset({(one, two), (two, one)})
        if group in found or _is_dead(one, two):
            continue
        found.add(group)
        wanted |= set(_after(one, two)) | set(_after(two, one))
    by_size = sorted(found, key=lambda group: (_order(*min(group)), sorted(group)))
    return [tuple(sorted(_number(one, two) for one, two in group)) for group in by_size]


def part_text(part: int) -> str:
    """The pieces of the player to move, then the opponent's: KBNvK."""
    counts = [part >> 3 * kind & 7 for kind in range(10)]
    own, other = (
        "".join(kind * count for kind, count in reversed(list(zip(_KINDS, side, strict=True))))
        for side in (counts[:5], counts[5:])
    )
    return f"K{own}vK{other}"


def _sides(count: int, kinds: int = 5) -> Iterator[Side]:
    """All sides with so many pieces besides the king."""
    if kinds == 1:
        yield (count,)
        return
    for first in range(count + 1):
        for rest in _sides(count - first, kinds - 1):
            yield (first, *rest)


def _side(letters: str) -> Side:
    counts = Counter(letters)
    return tuple(counts[kind] for kind in _KINDS)


def _number(own: Side, other: Side) -> int:
    return sum(count << 3 * kind for kind, count in enumerate((*own, *other)))


def _is_dead(one: Side, two: Side) -> bool:
    dead = [_side(letters) for letters in _DEAD]
    return (one in dead and not sum(two)) or (two in dead and not sum(one))


def _order(one: Side, two: Side) -> tuple[int, int]:
    return sum(one) + sum(two), one[0] + two[0]


def _after(own: Side, other: Side) -> Iterator[tuple[Side, Side]]:
    """The pieces left after captures and promotions of one player."""
    promoted = [own]
    if own[0]:
        promoted += [tuple(n - (i == 0) + (i == kind) for i, n in enumerate(own)) for kind in range(1, 5)]
    for side in promoted:
        if side != own:
            yield side, other
        for kind in range(5):
            if other[kind]:
                yield side, tuple(n - (i == kind) for i, n in enumerate(other))
