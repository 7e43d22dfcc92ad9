"""The game that best-reply search sees: between two moves of one seat, only one opponent chooses."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from zermelo.agents.base.branches import child_of, choices_in
from zermelo.agents.base.recursion import MAX_PLIES
from zermelo.envs.capabilities import GameView, SupportsNullMove, SupportsOrdering, offers
from zermelo.envs.game import CHANCE, Game


class Round:
    """A state, and which opponent chooses its moves until the seat moves again (None if nobody does so far).

    ``lines`` has each choice of the opponents as the moves played, and where they lead, once that is known.
    """

    __slots__ = ("chooser", "lines", "state")

    def __init__(self, state: Any, chooser: int | None) -> None:
        self.state, self.chooser = state, chooser
        self.lines: list[tuple[tuple[int, ...], Round]] | None = None


class RepliesGame(GameView):
    """A game as best-reply search of a ``seat`` sees it: opponents answer once together, not each in turn.

    The opponents choose who of them plays what it likes until the seat moves again, and what. All others skip
    their turn if the game has ``pass_turn(state)``; in other games they make the move that the game's
    ``ordering_hint`` puts first, else the one with the smallest number.
    """

    def __init__(self, game: Game[Any], seat: int) -> None:
        super().__init__(game)
        self._seat = seat
        self._hint = game.ordering_hint if offers(game, SupportsOrdering) else None
        self._pass = game.pass_turn if offers(game, SupportsNullMove) else None

    def root(self, state: Any) -> Round:
        return Round(state, None)

    def inner(self, state: Round) -> Any:
        return state.state

    def legal_actions(self, state: Round) -> Sequence[int]:
        if self.to_move(state) == self._seat:
            return super().legal_actions(state)
        return range(len(self.replies(state)))

    def result(self, state: Round, action: int) -> Round:
        mover = self.inside.to_move(state.state)
        if mover == self._seat:
            return Round(self.inside.result(state.state, action), None)
        if mover == CHANCE:
            return self._played_out(self.inside.result(state.state, action), state.chooser, ())[1]
        return self.replies(state)[action][1]

    def replies(self, state: Round) -> list[tuple[tuple[int, ...], Round]]:
        if state.lines is None:
            state.lines = self._lines(state)
        return state.lines

    def _lines(self, state: Round) -> list[tuple[tuple[int, ...], Round]]:
        """Each opponent in turn plays each of its actions, and the others do not choose."""
        game = self.inside
        here = state.state
        played: tuple[int, ...] = ()
        lines: list[tuple[tuple[int, ...], Round]] = []
        passed: set[int] = set()
        as_usual = False
        while not self._is_settled(here):
            mover = game.to_move(here)
            if mover in passed:
                if self._pass is not None:
                    break  # everybody has skipped a turn
                here, played = self._step(here, played)
                continue
            actions = choices_in(game, here)
            usual = None if self._pass is not None or not actions else self._usual(here, actions)
            for action in actions:
                child = child_of(game, here, action)
                if child is None:
                    continue
                line, after = self._played_out(child, mover, (*played, action))
                # Once all of them could have played as usual, that of the next ones is the same choice.
                is_usual = action == usual and after.chooser is None
                if not (is_usual and as_usual):
                    lines.append((line, after))
                as_usual = as_usual or is_usual
            if not actions or state.chooser is not None:
                return lines
            passed.add(mover)
            here, played = self._step(here, played)
        if game.traits.seats > 2 and not game.is_terminal(here) and game.to_move(here) == CHANCE:
            lines.append((played, Round(here, None)))
        return lines

    def _is_settled(self, state: Any) -> bool:
        return bool(self.inside.is_terminal(state)) or self.inside.to_move(state) in (self._seat, CHANCE)

    def _played_out(
        self, state: Any, chooser: int | None, played: tuple[int, ...]
    ) -> tuple[tuple[int, ...], Round]:
        steps = 0
        while not self._is_settled(state):
            mover = self.inside.to_move(state)
            if chooser is None or mover == chooser:
                return played, Round(state, chooser)
            if self._pass is not None and steps == self.traits.seats:  # everybody has: somebody must move
                return played, Round(state, mover)
            state, played = self._step(state, played)
            steps += 1
        if self.inside.is_terminal(state) or self.inside.to_move(state) == self._seat:
            chooser = None
        return played, Round(state, chooser)

    def _step(self, state: Any, played: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
        if len(played) > MAX_PLIES:
            raise RecursionError  # as a search that goes on for so long; what is told is the same
        if self._pass is not None:
            return self._pass(state), played
        action = self._usual(state, self.inside.legal_actions(state))
        return self.inside.result(state, action), (*played, action)

    def _usual(self, state: Any, actions: Sequence[int]) -> int:
        if self._hint is None or len(actions) == 1:
            return actions[0]
        hint = self._hint
        return max(actions, key=lambda action: hint(state, action))

    def key(self, state: Round) -> Hashable:
        return super().key(state), state.chooser

    def actions_in_reply(self, state: Round, action: int) -> tuple[int, ...]:
        """The moves of the game that one action of this game stands for."""
        if self.to_move(state) in (self._seat, CHANCE):
            return (action,)
        return self.replies(state)[action][0]
