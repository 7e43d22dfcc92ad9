"""The games of ``zermelo.envs.rules`` once more, over lists and sets, as slow and plain as can be.

Written from the published rules, not from the fast code; only the numbers of actions are the same. One object
is one game being played.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np


class SlowGame:
    """A game that is over when the player to move has no action."""

    seat = 0

    def legal(self) -> list[int]:
        """The legal actions."""
        raise NotImplementedError

    def over(self) -> bool:
        return not self.legal()


class LastToMove(SlowGame):
    """A player who cannot move has lost."""

    def utilities(self) -> list[int]:
        return [-1, 1] if self.seat == 0 else [1, -1]


class SlowOthello(SlowGame):
    def __init__(self, rows: int = 8, columns: int = 8, margin: bool = False) -> None:
        self.rows, self.columns, self.margin = rows, columns, margin
        row, column = rows // 2 - 1, columns // 2 - 1
        self.discs = {(row, column): 1, (row + 1, column + 1): 1, (row, column + 1): 0, (row + 1, column): 0}

    def flips(self, seat: int, square: tuple[int, int]) -> list[tuple[int, int]]:
        if square in self.discs:
            return []
        turned = []
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                line = []
                row, column = square[0] + down, square[1] + right
                while (down or right) and self.discs.get((row, column)) == 1 - seat:
                    line.append((row, column))
                    row, column = row + down, column + right
                if line and self.discs.get((row, column)) == seat:
                    turned += line
        return turned

    def moves(self, seat: int) -> list[int]:
        squares = [(row, column) for row in range(self.rows) for column in range(self.columns)]
        return [number for number, square in enumerate(squares) if self.flips(seat, square)]

    def over(self) -> bool:
        return not self.moves(0) and not self.moves(1)

    def legal(self) -> list[int]:
        return self.moves(self.seat) or [self.rows * self.columns]

    def play(self, action: int) -> None:
        if action < self.rows * self.columns:
            square = divmod(action, self.columns)
            for turned in self.flips(self.seat, square):
                self.discs[turned] = self.seat
            self.discs[square] = self.seat
        self.seat = 1 - self.seat

    def utilities(self) -> list[int]:
        return ahead([list(self.discs.values()).count(0), list(self.discs.values()).count(1)], self.margin)


class SlowKalah(SlowGame):
    """Pits lie in a ring: houses of seat 0, its store, houses of seat 1, its store."""

    def __init__(self, houses: int = 6, seeds: int = 4, empty_capture: bool = False, margin: bool = False) -> None:
        self.houses, self.empty_capture, self.margin = houses, empty_capture, margin
        self.pits = ([seeds] * houses + [0]) * 2

    def row(self, seat: int) -> range:
        first = seat * (self.houses + 1)
        return range(first, first + self.houses)

    def over(self) -> bool:
        return not any(self.pits[pit] for seat in (0, 1) for pit in self.row(seat))

    def legal(self) -> list[int]:
        return [house for house, pit in enumerate(self.row(self.seat)) if self.pits[pit]]

    def play(self, action: int) -> None:
        own, other = self.row(self.seat), self.row(1 - self.seat)
        store = own.stop
        pit = own[action]
        hand, self.pits[pit] = self.pits[pit], 0
        while hand:
            pit = (pit + 1) % len(self.pits)
            if pit != other.stop:
                self.pits[pit] += 1
                hand -= 1
        if pit in own and self.pits[pit] == 1:
            opposite = 2 * self.houses - pit
            if self.pits[opposite] or self.empty_capture:
                self.pits[store] += 1 + self.pits[opposite]
                self.pits[pit] = self.pits[opposite] = 0
        if not all(any(self.pits[p] for p in side) for side in (own, other)):
            for side in (own, other):
                for p in side:
                    self.pits[side.stop] += self.pits[p]
                    self.pits[p] = 0
        if pit != store:
            self.seat = 1 - self.seat

    def utilities(self) -> list[int]:
        return ahead([self.pits[self.row(seat).stop] for seat in (0, 1)], self.margin)


class SlowPawns(LastToMove):
    """Breakthrough and Hexapawn."""

    def __init__(self, rows: int, columns: int, pawn_rows: int = 1, hexapawn: bool = False) -> None:
        self.rows, self.columns, self.hexapawn = rows, columns, hexapawn
        near = {(row, column) for row in range(pawn_rows) for column in range(columns)}
        self.pawns = [near, {(rows - 1 - row, column) for row, column in near}]

    def step(self, action: int) -> tuple[tuple[int, int], tuple[int, int]]:
        square, sideways = divmod(action, 3)
        row, column = divmod(square, self.columns)
        return (row, column), (row + (1 if self.seat == 0 else -1), column + sideways - 1)

    def may(self, action: int) -> bool:
        source, to = self.step(action)
        own, other = self.pawns[self.seat], self.pawns[1 - self.seat]
        if source not in own or to in own or not (0 <= to[0] < self.rows and 0 <= to[1] < self.columns):
            return False
        if source[1] == to[1]:
            return to not in other
        return to in other or not self.hexapawn

    def arrived(self) -> bool:
        goal = 0 if self.seat == 0 else self.rows - 1
        return any(row == goal for row, _ in self.pawns[1 - self.seat])

    def legal(self) -> list[int]:
        return [action for action in range(3 * self.rows * self.columns) if self.may(action)]

    def over(self) -> bool:
        return self.arrived() or not self.legal()

    def play(self, action: int) -> None:
        source, to = self.step(action)
        self.pawns[self.seat].remove(source)
        self.pawns[self.seat].add(to)
        self.pawns[1 - self.seat].discard(to)
        self.seat = 1 - self.seat


class SlowDotsAndBoxes(SlowGame):
    def __init__(self, rows: int = 3, columns: int = 3, players: int = 2, margin: bool = False) -> None:
        self.rows, self.columns, self.margin = rows, columns, margin
        self.lines = [("h", r, c) for r in range(rows + 1) for c in range(columns)]
        self.lines += [("v", r, c) for r in range(rows) for c in range(columns + 1)]
        self.drawn: set[tuple[str, int, int]] = set()
        self.boxes = [0] * players

    def complete(self) -> int:
        return sum(
            {("h", r, c), ("h", r + 1, c), ("v", r, c), ("v", r, c + 1)} <= self.drawn
            for r in range(self.rows)
            for c in range(self.columns)
        )

    def legal(self) -> list[int]:
        return [number for number, line in enumerate(self.lines) if line not in self.drawn]

    def play(self, action: int) -> None:
        before = self.complete()
        self.drawn.add(self.lines[action])
        gained = self.complete() - before
        self.boxes[self.seat] += gained
        if not gained:
            self.seat = (self.seat + 1) % len(self.boxes)

    def utilities(self) -> list[int]:
        return ahead(self.boxes, self.margin)


class SlowDomineering(LastToMove):
    def __init__(self, rows: int = 8, columns: int = 8) -> None:
        self.free = {(row, column) for row in range(rows) for column in range(columns)}
        self.dominoes = [((r, c), (r + 1, c)) for r in range(rows - 1) for c in range(columns)]
        self.upright = len(self.dominoes)
        self.dominoes += [((r, c), (r, c + 1)) for r in range(rows) for c in range(columns - 1)]

    def legal(self) -> list[int]:
        own = range(self.upright) if self.seat == 0 else range(self.upright, len(self.dominoes))
        return [action for action in own if set(self.dominoes[action]) <= self.free]

    def play(self, action: int) -> None:
        self.free -= set(self.dominoes[action])
        self.seat = 1 - self.seat


class SlowNim(SlowGame):
    def __init__(self, heaps: Sequence[int] = (1, 3, 5, 7), misere: bool = False, players: int = 2) -> None:
        self.heaps, self.misere, self.players, self.largest = list(heaps), misere, players, max(heaps)

    def legal(self) -> list[int]:
        return [heap * self.largest + n for heap, size in enumerate(self.heaps) for n in range(size)]

    def play(self, action: int) -> None:
        self.heaps[action // self.largest] -= action % self.largest + 1
        self.seat = (self.seat + 1) % self.players

    def utilities(self) -> list[int]:
        last = (self.seat - 1) % self.players
        sign = -1 if self.misere else 1
        return [sign * (self.players - 1 if seat == last else -1) for seat in range(self.players)]


class SlowChomp(SlowGame):
    def __init__(self, rows: int = 4, columns: int = 7) -> None:
        self.columns = columns
        self.left = {(row, column) for row in range(rows) for column in range(columns)}

    def legal(self) -> list[int]:
        return sorted(row * self.columns + column for row, column in self.left)

    def play(self, action: int) -> None:
        row, column = divmod(action, self.columns)
        self.left = {(r, c) for r, c in self.left if r < row or c < column}
        self.seat = 1 - self.seat

    def utilities(self) -> list[int]:
        return [1, -1] if self.seat == 0 else [-1, 1]


class SlowMNK(SlowGame):
    def __init__(self, m: int = 3, n: int = 3, k: int = 3, players: int = 2) -> None:
        self.m, self.n, self.k, self.players = m, n, k, players
        self.stones: dict[tuple[int, int], int] = {}

    def won(self) -> bool:
        """Whether any player has a line."""
        return any(
            all(self.stones.get((row + i * down, column + i * right)) == owner for i in range(self.k))
            for (row, column), owner in self.stones.items()
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
        )

    def legal(self) -> list[int]:
        return [a for a in range(self.m * self.n) if divmod(a, self.m) not in self.stones]

    def over(self) -> bool:
        return self.won() or not self.legal()

    def play(self, action: int) -> None:
        self.stones[divmod(action, self.m)] = self.seat
        self.seat = (self.seat + 1) % self.players

    def utilities(self) -> list[int]:
        if not self.won():
            return [0] * self.players
        last = (self.seat - 1) % self.players
        return [self.players - 1 if seat == last else -1 for seat in range(self.players)]


class SlowOrderAndChaos(SlowGame):
    def __init__(self, rows: int = 6, columns: int = 6, length: int = 5) -> None:
        self.rows, self.columns, self.length = rows, columns, length
        self.marks: dict[tuple[int, int], int] = {}

    def ordered(self) -> bool:
        """Whether equal marks stand in a row."""
        return any(
            all(self.marks.get((row + i * down, column + i * right)) == mark for i in range(self.length))
            for (row, column), mark in self.marks.items()
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
        )

    def legal(self) -> list[int]:
        squares = self.rows * self.columns
        return [a for a in range(2 * squares) if divmod(a % squares, self.columns) not in self.marks]

    def over(self) -> bool:
        return self.ordered() or not self.legal()

    def play(self, action: int) -> None:
        mark, square = divmod(action, self.rows * self.columns)
        self.marks[divmod(square, self.columns)] = mark
        self.seat = 1 - self.seat

    def utilities(self) -> list[int]:
        return [1, -1] if self.ordered() else [-1, 1]


def ahead(points: Sequence[int], margin: bool) -> list[int]:
    """Differences to all others together, or the number of players behind less that of players ahead."""
    differences = [[mine - theirs for theirs in points] for mine in points]
    if margin:
        return [sum(row) for row in differences]
    return [sum((d > 0) - (d < 0) for d in row) for row in differences]


class SlowIsolation(LastToMove):
    def __init__(self, rows: int = 6, columns: int = 8) -> None:
        self.columns = columns
        self.squares = {(row, column) for row in range(rows) for column in range(columns)}
        self.pawns = [(0, columns // 2), (rows - 1, columns - 1 - columns // 2)]
        self.stepped = False

    def legal(self) -> list[int]:
        empty = self.squares - set(self.pawns)
        if not self.stepped:
            row, column = self.pawns[self.seat]
            empty = {(r, c) for r, c in empty if max(abs(r - row), abs(c - column)) == 1}
        return sorted(r * self.columns + c for r, c in empty)

    def play(self, action: int) -> None:
        square = divmod(action, self.columns)
        if self.stepped:
            self.squares.discard(square)
            self.seat = 1 - self.seat
        else:
            self.pawns[self.seat] = square
        self.stepped = not self.stepped


class SlowPentago(SlowGame):
    def __init__(self) -> None:
        self.board = np.zeros((6, 6), int)
        self.placed = False

    def legal(self) -> list[int]:
        if self.placed:
            return list(range(36, 44))
        free: list[int] = np.flatnonzero(self.board.ravel() == 0).tolist()
        return free

    def play(self, action: int) -> None:
        if not self.placed:
            self.board[divmod(action, 6)] = self.seat + 1
        else:
            row, column = divmod((action - 36) // 2, 2)
            quadrant = self.board[3 * row : 3 * row + 3, 3 * column : 3 * column + 3]
            quadrant[:] = np.rot90(quadrant, 1 if action % 2 else -1)
            self.seat = 1 - self.seat
        self.placed = not self.placed

    def five(self, player: int) -> bool:
        for row, column in itertools.product(range(6), repeat=2):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                line = [(row + n * down, column + n * right) for n in range(5)]
                inside = all(0 <= r < 6 and 0 <= c < 6 for r, c in line)
                if inside and all(self.board[square] == player for square in line):
                    return True
        return False

    def over(self) -> bool:
        return self.five(1) or self.five(2) or (not self.placed and bool(self.board.all()))

    def utilities(self) -> list[int]:
        lead = self.five(1) - self.five(2)
        return [lead, -lead]
