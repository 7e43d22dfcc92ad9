"""Checks of rules with ``repetition_key``: states that know their past, compiled and plain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zermelo.envs.jit.history import on_path, starter
from zermelo.envs.rules.history import keys_of, without_past
from zermelo.envs.rules.rules_game import RulesGame

_ON_PATH = ("legal_actions", "result", "is_terminal", "utility")


class HistoryCheck:
    """One game in the making."""

    def __init__(
        self, game: RulesGame, call: Callable[..., Any], fail: Callable[..., Any], *, compiled: bool
    ) -> None:
        self.game, self.rules = game, game.rules
        self._call, self._fail = call, fail
        self._compiled: dict[str, Callable[..., Any]] = {}
        if compiled:
            from zermelo.envs.jit.method_calls import compiled_methods

            self._compiled = compiled_methods(on_path(self.rules), _ON_PATH)
        self._start = starter(self.rules, 1)
        self._keys: list[int] = []

    def position(self, state: Any) -> bool:
        """Checks a state with its past, the next one of the game; whether the game has ended by repetition."""
        position, past = without_past(state), keys_of(state)
        if len(past) == 1:
            self._keys = []
        for method in ("repetition_limit", "repetition_is_illegal", "repetition_is_claimed"):
            if hasattr(self.rules, method):
                self._call(method)
        self._reach(position, self._call("repetition_key", position))
        ended = self.game.is_terminal(state)
        by_repetition = ended and not self.rules.is_terminal(position)
        if by_repetition and hasattr(self.rules, "repetition_utility"):
            for seat in range(self.game.traits.seats):
                self._call("repetition_utility", position, seat)
        if by_repetition and sum(self.game.utility(state)) != self.game.traits.constant:
            self._fail("repetition_utility", position, f"it gives {self.game.utility(state)}, which do not add up")
        if self._compiled:
            self._compare(state, ended)
        return by_repetition

    def _reach(self, position: Any, key: int) -> None:
        """No key comes again from further back than ``reversible_plies`` says."""
        back = len(self._keys)
        if hasattr(self.rules, "reversible_plies"):
            back = self._call("reversible_plies", position)
        if key and key in self._keys[: max(len(self._keys) - back, 0)]:
            self._fail("reversible_plies", position, f"it gave {back}, but the position was there before that")
        self._keys.append(key)

    def _compare(self, state: Any, ended: bool) -> None:
        """The compiled state on its path says what the plain one does, and so do those after it."""
        game, compiled = self.game, self._compiled
        rules, here = self._start(state)
        chance = not ended and game.to_move(state) < 0
        found: dict[str, tuple[Any, Any]] = {"is_terminal": (compiled["is_terminal"](rules, here), ended)}
        if ended:
            seats = range(game.traits.seats)
            paid = tuple(float(compiled["utility"](rules, here, seat)) for seat in seats)
            found["utility"] = paid, game.utility(state)
        elif not chance:
            actions = list(game.legal_actions(state))
            buffer = [0] * game.max_legal_actions
            count = compiled["legal_actions"](rules, here, buffer)
            found["legal_actions"] = buffer[:count], actions
            after = [compiled["result"](rules, here, action) for action in actions]
            plain = [self._start(game.result(state, action))[1] for action in actions]
            found["result"] = [each[:1] + each[2:] for each in after], [each[:1] + each[2:] for each in plain]
        for method, (by_kernels, expected) in found.items():
            if by_kernels != expected:
                self._fail(method, state, f"with its past, compiled it gives {by_kernels}, uncompiled {expected}")
