"""Rectangular boards in one 64-bit integer: square ``row * columns + column`` is the bit of that number.

Boards of 64 squares are negative numbers at times: ``whole`` makes them the same compiled and in plain Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zermelo.envs.rules.bits import bit_index, popcount, shift_right


def whole(bits: int) -> int:
    """The lowest 64 bits as a signed integer: what compiled code has anyway."""
    return shift_right(bits, 0)


def all_squares(squares: int) -> int:
    """The lowest ``squares`` bits, 1 to 64 of them."""
    return (2 << (squares - 1)) - 1


def first_column(rows: int, stride: int) -> int:
    """One bit at the start of each row, rows being ``stride`` bits apart."""
    ones, have = 1, 1
    while have < rows:
        ones |= ones << (have * stride)
        have *= 2
    return ones & all_squares(rows * stride)


def mirrored_columns(board: int, rows: int, columns: int, stride: int) -> int:
    """Left and right exchanged."""
    ones = first_column(rows, stride)
    mirrored = 0
    for column in range(columns):
        mirrored |= (shift_right(board, column) & ones) << (columns - 1 - column)
    return whole(mirrored)


def mirrored_rows(board: int, rows: int, stride: int) -> int:
    """First and last row exchanged, and so on."""
    row_squares = all_squares(stride)
    mirrored = 0
    for row in range(rows):
        mirrored |= (shift_right(board, row * stride) & row_squares) << ((rows - 1 - row) * stride)
    return whole(mirrored)


def transposed(board: int, rows: int, columns: int, stride: int, new_stride: int) -> int:
    """Rows and columns exchanged; the new rows are ``new_stride`` bits apart."""
    swapped = 0
    for row in range(rows):
        for column in range(columns):
            swapped |= (shift_right(board, row * stride + column) & 1) << (column * new_stride + row)
    return whole(swapped)


def symmetric_board(board: int, rows: int, columns: int, symmetry: int, spare: int = 0) -> int:
    """The board seen through a symmetry: bit 0 mirrors columns, bit 1 rows, bit 2 swaps the two (if square).

    Rows end with some ``spare`` bits.
    """
    if symmetry & 1:
        board = mirrored_columns(board, rows, columns, columns + spare)
    if symmetry & 2:
        board = mirrored_rows(board, rows, columns + spare)
    if symmetry & 4:
        board = transposed(board, rows, columns, columns + spare, rows + spare)
    return board


def board_seen(board: int, layout: tuple[int, int, int, int, int], symmetry: int) -> int:
    """The board of a ``layout()`` seen through a symmetry; its rows or columns may end with spare bits."""
    rows, columns, _, down, right = layout
    if right == 1:
        return symmetric_board(board, rows, columns, symmetry, abs(down) - columns)
    exchanged = symmetry & 4 | (symmetry & 1) << 1 | symmetry >> 1 & 1
    return symmetric_board(board, columns, rows, exchanged, right - rows)


def symmetric_square(square: int, rows: int, columns: int, symmetry: int) -> int:
    """The image of a square under a symmetry, numbered as in ``symmetric_board``."""
    row, column = square // columns, square % columns
    if symmetry & 1:
        column = columns - 1 - column
    if symmetry & 2:
        row = rows - 1 - row
    if symmetry & 4:
        row, column = column, row
    return row * columns + column


def symmetric_direction(direction: int, symmetry: int) -> int:
    """The image of a direction, 0 to 3 for up, right, down and left, under a symmetry."""
    if symmetry & 1 and direction % 2 == 1:
        direction = 4 - direction
    if symmetry & 2 and direction % 2 == 0:
        direction = 2 - direction
    return 3 - direction if symmetry & 4 else direction


def rows_of(stones: int, length: int, step: int) -> int:
    """The squares at which ``length`` of the stones begin that lie ``step`` bits apart."""
    found = 1
    while 2 * found <= length:
        stones &= stones >> found * step
        found *= 2
    return stones & (stones >> (length - found) * step)


def has_row(stones: int, length: int, stride: int) -> bool:
    """Whether ``length`` stones lie in a row, in any direction; rows are ``stride`` bits apart, one spare."""
    along = rows_of(stones, length, 1) | rows_of(stones, length, stride)
    return along | rows_of(stones, length, stride - 1) | rows_of(stones, length, stride + 1) != 0


def stones_of(cells: Sequence[Any], squares: Sequence[int]) -> tuple[int, int] | None:
    """The stones of the player to move, and all stones, of cells that hold 0, 1 or 2; never compiled.

    None if these are no stones that players have put in turn. ``squares`` are the bits of the cells.
    """
    if len(cells) != len(squares):
        return None
    sides = [0, 0, 0]
    for stone, square in zip(cells, squares, strict=True):
        if stone not in (0, 1, 2):
            return None
        sides[stone] |= 1 << square
    _, first, second = sides
    turn = first.bit_count() - second.bit_count()
    return (second if turn else first, first | second) if turn in (0, 1) else None


def list_squares(board: int, actions: list[int]) -> int:
    """Writes the squares of a board, ascending, and returns how many."""
    count = popcount(board)
    for number in range(count):
        actions[number] = bit_index(board)
        board &= board - 1
    return count


def list_evenly(numbers: int, outcomes: list[int], probabilities: list[float]) -> int:
    """Writes the bits of a number as outcomes of chance, all as likely, and returns how many."""
    count = list_squares(numbers, outcomes)
    for number in range(count):
        probabilities[number] = 1.0 / count
    return count


def king_moves(square: int, rows: int, columns: int) -> int:
    """The squares around a square."""
    left = first_column(rows, columns)
    row = here = 1 << square
    if not here & left:
        row |= shift_right(here, 1)
    if not here & left << (columns - 1):
        row |= here << 1
    around = row | row << columns | shift_right(row, columns)
    return whole(around & all_squares(rows * columns) & ~here)


def square_text(square: int, columns: int) -> str:
    """Column as a letter from the left, row as a number from the top."""
    return f"{chr(ord('a') + square % columns)}{square // columns + 1}"
