"""Checks of rules with ``repetition_key``: states that know their past, compiled and plain."""

from __future__ import annotations

from typing import Any

from zermelo.envs.checks.calls import Calls, compiled_or_none
from zermelo.envs.jit.history import on_path, starter
from zermelo.envs.rules.history import keys_of, without_past

_ON_PATH = ("legal_actions", "result", "is_terminal", "utility")


class HistoryCheck:
    """One game in the making."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._compiled = compiled_or_none(on_path(calls.rules), _ON_PATH)
        self._start = starter(calls.rules, 1)
        self._keys: list[int] = []

    def position(self, state: Any) -> bool:
        """Checks a state with its past, the next one of the game; whether the game has ended by repetition."""
        calls, game, rules = self._calls, self._calls.game, self._calls.rules
        position, past = without_past(state), keys_of(state)
        if len(past) == 1:
            self._keys = []
        for method in ("repetition_limit", "repetition_is_illegal", "repetition_is_claimed"):
            if calls.has(method):
                calls.call(method)
        self._reach(position, calls.call("repetition_key", position))
        ended = game.is_terminal(state)
        by_repetition = ended and not rules.is_terminal(position)
        if by_repetition and calls.has("repetition_utility"):
            for seat in range(game.traits.seats):
                calls.call("repetition_utility", position, seat)
        if by_repetition and sum(game.utility(state)) != game.traits.constant:
            calls.fail("repetition_utility", position, f"it gives {game.utility(state)}, which do not add up")
        if self._compiled:
            self._compare(state, ended)
        return by_repetition

    def _reach(self, position: Any, key: int) -> None:
        """No key comes again from further back than ``reversible_plies`` says."""
        back = len(self._keys)
        if self._calls.has("reversible_plies"):
            back = self._calls.call("reversible_plies", position)
        if key and key in self._keys[: max(len(self._keys) - back, 0)]:
            self._calls.fail(
                "reversible_plies", position, f"it gave {back}, but the position was there before that"
            )
        self._keys.append(key)

    def _compare(self, state: Any, ended: bool) -> None:
        """The compiled state on its path says what the plain one does, and so do those after it."""
        game, compiled = self._calls.game, self._compiled
        rules, here = self._start(state)
        found: dict[str, tuple[Any, Any]] = {"is_terminal": (compiled["is_terminal"](rules, here), ended)}
        if ended:
            seats = range(game.traits.seats)
            paid = tuple(float(compiled["utility"](rules, here, seat)) for seat in seats)
            found["utility"] = paid, game.utility(state)
        elif game.to_move(state) >= 0:
            actions = list(game.legal_actions(state))
            buffer = [0] * game.max_legal_actions
            count = compiled["legal_actions"](rules, here, buffer)
            found["legal_actions"] = buffer[:count], actions
            after = [compiled["result"](rules, here, action) for action in actions]
            plain = [self._start(game.result(state, action))[1] for action in actions]
            found["result"] = [each[:1] + each[2:] for each in after], [each[:1] + each[2:] for each in plain]
        for method, (by_kernels, expected) in found.items():
            if by_kernels != expected:
                what = f"with its past, compiled it gives {by_kernels}, uncompiled {expected}"
                self._calls.fail(method, state, what)
