"""The judge's findings in a shown game: marks, values of all actions, best lines."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

from zermelo.agents import solve
from zermelo.agents.compiled.proof.prover import can_prove
from zermelo.envs import ZermeloError
from zermelo.evaluation.analysis.judgement import Mark
from zermelo.evaluation.analysis.verdicts import GameVerdict
from zermelo.evaluation.output.positions.moves import move_text

LINES: Final = 60
"""Best lines of a page; each takes a search of its own."""
LINE_MOVES: Final = 12
"""Moves of a line that are shown."""
LINE_NODES: Final = 5_000
"""States that the search for a line may visit; a hundred times as many where it is compiled."""
_BLUNDERS: Final = (Mark.WIN_THROWN_AWAY, Mark.DRAW_THROWN_AWAY)


class Marker:
    """Says of judged moves what the page shows of them.

    Attributes:
        written: How people write actions, by the environment's number, where that does not depend on the position.
    """

    def __init__(self) -> None:
        self.written: dict[int, str] = {}
        self._changing: set[int] = set()
        self._lines: dict[Hashable, list[str]] = {}
        self._left = LINES

    def marks(self, verdict: GameVerdict, plies: int) -> str:
        """A letter for each of the first moves: a ``Mark``, or a dot where nothing is known."""
        letters = ["."] * plies
        for move in verdict.moves:
            if 0 <= move.ply < plies:
                letters[move.ply] = str(move.mark)
        return "".join(letters)

    def at(self, verdict: GameVerdict, ply: int, game: Any, state: Any) -> tuple[Any, list[str]] | None:
        """The values of all actions before a judged move, and after a blunder what should have been played.

        Returns:
            Values for the mover, the best first, each with the environment's numbers of its actions; and the
            best line as people write it, empty where none is shown. None where the move was not judged.
        """
        move = next((move for move in verdict.moves if move.ply == ply), None)
        if move is None or set(move.values) != set(game.legal_actions(state)):
            return None
        groups = []
        for value, actions in move.groups:
            for action in actions:
                self._write(action, move_text(game, state, action))
            groups.append([float(f"{value:.5g}"), list(actions)])
        return groups, self._line(game, state) if move.mark in _BLUNDERS else []

    def _write(self, number: int, text: str) -> None:
        if self.written.setdefault(number, text) != text:
            self._changing.add(number)

    def known(self) -> dict[int, str]:
        """``written``, without actions that are written in several ways."""
        return {number: text for number, text in self.written.items() if text and number not in self._changing}

    def _line(self, game: Any, state: Any) -> list[str]:
        """Best play from there, as far as it can be proven."""
        key = game.key(state)
        if key not in self._lines:
            if not self._left:
                return []
            self._left -= 1
            self._lines[key] = _best_line(game, state)
        return self._lines[key]


def _best_line(game: Any, state: Any) -> list[str]:
    try:
        found = solve(game, state, nodes=LINE_NODES * (100 if can_prove(game) else 1), memory_mb=1)
    except ZermeloError:  # chance, or a game without an end: no single line is best
        return []
    line = []
    for action in found.principal_variation[:LINE_MOVES] if found.proven else ():
        line.append(move_text(game, state, action) or str(action))
        state = game.result(state, action)
    return line
