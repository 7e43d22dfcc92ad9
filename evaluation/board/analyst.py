"""The analysis beside the board: of a position, a hint, and a review of the game."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from zermelo.evaluation.board.thinker import Thinker


class Analyst:
    """Thinks about one game, beside whoever plays it.

    Answers come in other threads; what came of a position that is no longer looked at is left out.

    Attributes:
        follows: Whether the last position is analysed, and the next one after a move.
        ply: The position that is analysed; None where none is.
        hint: The number of the move that was found good; None without one.
        problem: A sentence on what went wrong last.
    """

    def __init__(self, lock: threading.RLock, on_change: Callable[[], None]) -> None:
        self._lock, self._on_change = lock, on_change
        self._thinker = Thinker()
        self._round = 0
        self._found: dict[str, Any] | None = None
        self._review: dict[str, Any] | None = None
        self.follows = False
        self.ply: int | None = None
        self.hint: int | None = None
        self.problem = ""

    def stop(self) -> None:
        """Ends what is going on; reviews that are finished stay."""
        self._thinker.stop()
        self._round += 1
        self._found = self.ply = None

    def forget(self) -> None:
        """Stops, and drops everything, as the game is another one."""
        self.stop()
        self._review = self.hint = None
        self.follows, self.problem = False, ""

    def moved(self) -> None:
        """The position on the board has changed."""
        self.stop()
        self._review = self.hint = None
        self.problem = ""

    def analyse(self, job: dict[str, Any], ply: int) -> None:
        """Begins the analysis of a position."""
        self.stop()
        self.ply = ply
        self._ask(job, "_found")

    def look_for_hint(self, job: dict[str, Any], ply: int) -> None:
        """Looks for a good move; an analysis of the same position has one already."""
        if self._found is not None and self.ply == ply:
            self.hint = self._found["best"]
            return
        self.stop()
        self._ask(job, "hint")

    def review(self, job: dict[str, Any]) -> None:
        """Begins a review."""
        self.stop()
        self._review = None
        self._ask(job, "_review")

    def _ask(self, job: dict[str, Any], wanted: str) -> None:
        """Begins a job whose answers become an attribute."""
        asked = self._round

        def answered(answer: dict[str, Any]) -> None:
            with self._lock:
                if asked != self._round:
                    return
                if "failed" in answer:
                    self.problem, self.ply, self.follows = answer["failed"], None, False
                elif wanted != "hint":
                    setattr(self, wanted, answer)
                elif "done" in answer:
                    self.hint = answer["best"]
                self._on_change()

        self._thinker.ask(job, answered)

    def view(self) -> dict[str, Any]:
        """Plain values for the page."""
        return {
            "analysis": self._found,
            "analysed": self.ply,
            "analyses": self._thinker.is_busy,
            "hint": self.hint,
            "review": self._review,
        }

    def close(self) -> None:
        """Ends the process that thinks."""
        self._thinker.close()
