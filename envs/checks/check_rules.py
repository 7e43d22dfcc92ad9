"""``check_rules``: plays rules at random, compiled beside uncompiled, and holds them to their contract."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn

from zermelo.envs.checks.check_history import HistoryCheck
from zermelo.envs.errors import RulesError
from zermelo.envs.game import CHANCE
from zermelo.envs.jit.compiling import why_not_compiled
from zermelo.envs.rules.bits import mix
from zermelo.envs.rules.contract import COMPILED, METHODS, REQUIRED, method_or_default
from zermelo.envs.rules.history import has_history, without_past
from zermelo.envs.rules.protocol import GENERAL_SUM
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.scores import LOSS, WIN

_INTEGERS: Final = range(-(1 << 63), 1 << 63)
_DRAWS: Final = 4
"""Random numbers that ``playout_action`` is tried with at each position."""
_ELSEWHERE: Final = {
    *("key", "symmetric_state", "chance_outcomes", "planes", "layout", "write_observation"),
    *("action_priors", "noisy_actions", "safe_actions"),
}
"""Optional methods that are not just called with all their arguments where a player is to move."""


def check_rules(rules: Any, *, games: int = 20, seed: int = 0, longest: int = 2000) -> None:
    """Checks that rules keep the contract of ``zermelo.envs.rules``, and mean the same compiled and uncompiled.

    Every method is called at every position of some random games. What is checked: types and ranges; that legal
    actions are ascending and end only with the game; that utilities lie in their bounds and add up; that
    probabilities sum to one; that equal keys are equal positions; that symmetries commute with playing; that
    ``bounds`` and ``safe_actions`` do not contradict the positions one move on; that repetitions are found.

    Args:
        rules: The rules, with parameters.
        games: How many random games to play.
        seed: Where the random numbers start.
        longest: After how many moves a game is abandoned.

    Raises:
        RulesError: The contract is broken; the message names the method, the state and the difference.
    """
    game = RulesGame(rules)
    generator = random.Random(seed)
    check = _Check(game)
    for _ in range(games):
        check.initial_state()
        state = game.initial_state()
        for _ in range(longest):
            ended = check.position(without_past(state))
            if (check.history is not None and check.history.position(state)) or ended:
                break
            if game.to_move(state) == CHANCE:
                outcomes = game.chance_outcomes(state)
                action = generator.choices([o for o, _ in outcomes], [p for _, p in outcomes])[0]
            else:
                action = generator.choice(game.legal_actions(state))
            state = game.result(state, action)


class _Check:
    def __init__(self, game: RulesGame) -> None:
        self.game = game
        self.rules = game.rules
        self.size = game.num_moves
        self.keys: dict[int, Any] = {}
        self.compiled: dict[str, Callable[..., Any]] = {}
        if not why_not_compiled():
            from zermelo.envs.jit.method_calls import compiled_methods

            self.compiled = compiled_methods(self.rules)
        self.history: HistoryCheck | None = None
        if has_history(self.rules):
            self.history = HistoryCheck(game, self.call, self.fail, compiled=bool(self.compiled))
        self.optional = [
            name
            for name in COMPILED
            if self.has(name)
            and name not in {*REQUIRED, *_ELSEWHERE}
            and not name.startswith(("repetition_", "table_"))
        ]

    def has(self, method: str) -> bool:
        """Whether the rules write an optional method."""
        return hasattr(self.rules, method)

    def ask(self, method: str, *args: Any) -> Any:
        """An optional method, or its default."""
        return method_or_default(self.rules, method)(*args)

    def fail(self, method: str, state: Any, what: str) -> NoReturn:
        where = "" if state is None else f" at {state}"
        raise RulesError(f"{type(self.rules).__name__}.{method}{where}: {what}")

    # -- calling -------------------------------------------------------------------------------------------------

    def call(self, method: str, *args: Any) -> Any:
        """Calls a method as it is and compiled: both give the same, of the right type, and write the same."""
        state = args[0] if args else None
        both: list[tuple[Any, tuple[Any, ...]]] = []
        for function in (getattr(self.rules, method), self.compiled.get(method)):
            if function is not None:
                given = [list(value) if isinstance(value, list) else value for value in args]
                rules = (self.rules,) if both else ()
                both.append((self._run(function, method, (*rules, *given), state), tuple(given[1:])))
        plain, written = both[0]
        self._type(method, state, plain)
        if both[-1][1] != written or both[-1][0] != plain or type(both[-1][0]) is not type(plain):
            shown = "" if len(args) < 2 else f" for {', '.join(map(str, args[1:]))}"
            self.fail(method, state, f"compiled it gives {both[-1]!r}, uncompiled {both[0]!r}{shown}")
        for value, now in zip(args[1:], written, strict=True):
            if isinstance(value, list):
                if len(now) != len(value):
                    self.fail(method, state, f"it changed the length of a buffer from {len(value)} to {len(now)}")
                value[:] = now
        return plain

    def fill(self, method: str, state: Any) -> list[int]:
        """Calls a method that writes actions into a buffer, as it is and compiled."""
        buffer = [0] * self.size
        count = self._run(getattr(self.rules, method), method, (state, buffer), state)
        self._type(method, state, count)
        most = self.game.max_legal_actions
        if not 0 <= count <= most or len(buffer) != self.size:
            self.fail(method, state, f"it returned {count} for the number of actions, of at most {most} at once")
        actions = buffer[:count]
        if method in self.compiled:
            other = [0] * self.size
            number = self.compiled[method](self.rules, state, other)
            if number != count or other[:count] != actions:
                self.fail(method, state, f"compiled it gives {other[:number]}, uncompiled {actions}")
        for action in actions:
            self._integer(method, state, action)
            if not 0 <= action < (known := self.rules.num_actions()):
                self.fail(method, state, f"{action} is no action: they are 0 to {known - 1}")
        if len(set(actions)) != count:
            self.fail(method, state, f"an action is listed twice in {actions}")
        return actions

    def _run(self, function: Callable[..., Any], method: str, args: tuple[Any, ...], state: Any) -> Any:
        try:
            return function(*args)
        except Exception as error:
            self.fail(method, state, f"it raised {type(error).__name__}: {error}")

    def _type(self, method: str, state: Any, value: Any) -> None:
        returns = METHODS[method].returns
        if returns == "bool" and not isinstance(value, bool):
            self.fail(method, state, f"it gave {value!r}, which is neither True nor False")
        if returns == "int":
            self._integer(method, state, value)
        if returns.startswith("tuple"):
            for number in value:
                self._integer(method, state, number)
        if returns == "Any":
            if not (isinstance(value, tuple) and hasattr(value, "_fields")):
                self.fail(method, state, f"a state is a named tuple of integers, not {value!r}")
            if state is not None and type(value) is not type(state):
                self.fail(method, state, f"it gave {value!r}, which is no {type(state).__name__}")
            for name, part in zip(value._fields, value, strict=True):
                if not all(map(_is_integer, part if isinstance(part, tuple) else (part,))):
                    self.fail(method, state, f"in the state it made, {name} is {part!r}: no integer of 64 bits")

    def _integer(self, method: str, state: Any, value: Any) -> None:
        if not _is_integer(value):
            self.fail(method, state, f"it gave {value!r}, which is not an integer of 64 bits")

    # -- positions -----------------------------------------------------------------------------------------------

    def initial_state(self) -> None:
        self.call("initial_state")

    def position(self, state: Any) -> bool:
        """Checks everything at one position; whether the game has ended there."""
        terminal: bool = self.call("is_terminal", state)
        self._key(state)
        self._symmetric_states(state)
        mover = self.call("to_move", state)
        if mover == CHANCE and not terminal:
            self._chance(state)
            return False
        seats = self.game.traits.seats
        if not 0 <= mover < seats:
            self.fail("to_move", state, f"{mover} is neither a seat (0 to {seats - 1}) nor CHANCE")
        if terminal:
            self._utility(state)
            return True
        actions = self.fill("legal_actions", state)
        if not actions:
            self.fail("legal_actions", state, "there is no legal action, yet is_terminal says the game goes on")
        if actions != sorted(actions):
            self.fail("legal_actions", state, f"{actions} are not in ascending order")
        for action in actions:
            self._result(state, action)
        special: dict[str, Callable[[Any, Any, list[int]], None]] = {
            "bounds": self._bounds,
            "count_legal": self._count_legal,
            "pass_turn": self._pass_turn,
            "playout_action": self._playout_action,
        }
        for method in self.optional:
            for arguments in self._arguments(method, state, actions):
                value = self.call(method, *arguments)
                if method in special:
                    special[method](value, state, actions)
        if self.has("noisy_actions") and (noisy := self.fill("noisy_actions", state)) != (
            expected := [action for action in actions if self.rules.is_noisy(state, action)]
        ):
            self.fail("noisy_actions", state, f"it writes {noisy}, but is_noisy says {expected}")
        if self.has("action_priors"):
            self._priors(state, actions)
        if self.has("table_index") and (part := self.call("table_part", state)) >= 0:
            index, size = self.call("table_index", state), self.ask("table_size", part)
            if not 0 <= index < size:
                self.fail("table_index", state, f"it gave {index}, but table_size({part}) is {size}")
        if self.has("symmetric_state"):
            self._symmetries(state, actions)
        if self.has("future"):
            for action in actions:
                self._future(state, action)
        return False

    def _arguments(self, method: str, state: Any, actions: list[int]) -> Iterator[tuple[Any, ...]]:
        values = {
            "state": [state],
            "action": actions,
            "actions": [[0] * self.game.max_legal_actions],
            "seat": range(self.game.traits.seats),
            "symmetry": range(self.ask("symmetries")),
            "random": list(map(mix, range(_DRAWS))),
        }
        ways: list[tuple[Any, ...]] = [()]
        for name in METHODS[method].arguments:
            ways = [(*way, value) for way in ways for value in values[name]]
        yield from ways

    def _count_legal(self, count: int, state: Any, actions: list[int]) -> None:
        if count != len(actions):
            self.fail("count_legal", state, f"it gave {count}, but legal_actions writes {len(actions)}")

    def _playout_action(self, action: int, state: Any, actions: list[int]) -> None:
        if action != -1 and action not in actions:
            self.fail("playout_action", state, f"it gave {action}, which is not legal")

    def _pass_turn(self, passed: Any, state: Any, actions: list[int]) -> None:
        mover = self.game.to_move(state)
        if passed != state and not self.game.is_terminal(passed) and self.game.to_move(passed) == mover:
            self.fail("pass_turn", state, f"seat {mover} is to move again, which is no skipped turn")

    def _priors(self, state: Any, actions: list[int]) -> None:
        priors = [math.nan] * len(actions)
        arguments = (state, [*actions], len(actions), priors)
        count = self._run(self.rules.action_priors, "action_priors", arguments, state)
        if count != len(actions) or not all(type(prior) is float and math.isfinite(prior) for prior in priors):
            self.fail(
                "action_priors", state, f"it returned {count!r} for {len(actions)} actions and wrote {priors}"
            )
        self.call("action_priors", state, actions, len(actions), priors)

    def _key(self, state: Any) -> None:
        if not self.has("key"):
            return
        key = self.call("key", state)
        bits = self.ask("key_bits")
        if bits < 64 and not 0 <= key < 1 << bits:
            self.fail("key", state, f"{key} does not fit the {bits} bits that key_bits() says")
        other = self.keys.setdefault(key, state)
        if other != state and self._seen(other) != self._seen(state):
            self.fail(
                "key", state, f"it is {key}, which is also the key of {other}, where the game goes on differently"
            )

    def _seen(self, state: Any) -> Any:
        if self.game.is_terminal(state):
            return self.game.utility(state)
        mover = self.game.to_move(state)
        return mover, self.game.chance_outcomes(state) if mover == CHANCE else self.game.legal_actions(state)

    def _utility(self, state: Any) -> None:
        lower, upper = self.game.traits.utility_bounds
        total = 0
        for seat in range(self.game.traits.seats):
            value = self.call("utility", state, seat)
            if not lower <= value <= upper:
                self.fail(
                    "utility", state, f"seat {seat} got {value}, outside utility_bounds() {lower} to {upper}"
                )
            total += value
        expected = self.ask("utility_sum")
        if expected != GENERAL_SUM and total != expected:
            self.fail("utility", state, f"all seats together got {total}, but utility_sum() is {expected}")

    def _chance(self, state: Any) -> None:
        if not self.has("chance_outcomes"):
            self.fail("to_move", state, "chance is to move, but there is no method chance_outcomes")
        self.call("chance_outcomes", state, [0] * self.size, [0.0] * self.size)
        outcomes = self.game.chance_outcomes(state)
        total = math.fsum(probability for _, probability in outcomes)
        if not outcomes or abs(total - 1) > 1e-9 or min(p for _, p in outcomes) <= 0:
            self.fail(
                "chance_outcomes", state, f"probabilities are positive and sum to one, but these are {outcomes}"
            )
        for outcome, _ in outcomes:
            if not 0 <= outcome < self.ask("num_outcomes"):
                self.fail(
                    "chance_outcomes",
                    state,
                    f"{outcome} is no outcome: num_outcomes() is {self.ask('num_outcomes')}",
                )
            self._result(state, outcome)

    def _result(self, state: Any, action: int) -> None:
        before = tuple(state)
        self.call("result", state, action)
        if tuple(state) != before:
            self.fail("result", state, f"action {action} changed the state it was given")

    def _symmetries(self, state: Any, actions: list[int]) -> None:
        """Symmetries commute with playing."""
        for symmetry in range(self.ask("symmetries")):
            seen = self.rules.symmetric_state(state, symmetry)
            legal = self.game.legal_actions(seen)
            for action in actions:
                moved = self.ask("symmetric_action", action, symmetry)
                if moved not in legal:
                    self.fail(
                        "symmetric_action", state, f"symmetry {symmetry} makes {action} into {moved}: not legal"
                    )
                after = self.rules.symmetric_state(self.rules.result(state, action), symmetry)
                if self.rules.result(seen, moved) != after:
                    self.fail(
                        "symmetric_state",
                        state,
                        f"playing {action} and then seeing it through symmetry {symmetry} is not the same as "
                        f"playing {moved} in the position seen through it",
                    )

    def _symmetric_states(self, state: Any) -> None:
        if not self.has("symmetric_state"):
            return
        for symmetry in range(self.ask("symmetries")):
            seen = self.call("symmetric_state", state, symmetry)
            if symmetry == 0 and seen != state:
                self.fail("symmetric_state", state, "symmetry 0 must change nothing")
            same = self.rules.is_terminal(seen) == self.rules.is_terminal(state)
            if not same or self.game.utility(seen) != self.game.utility(state):
                self.fail("symmetric_state", state, f"symmetry {symmetry} gives {seen}, which ends differently")

    def _future(self, state: Any, action: int) -> None:
        """Checks that rewards and the future after an action follow from the future before it."""
        start = self._run(self.rules.future, "future", (state,), state)
        if action not in self.game.legal_actions(start):
            self.fail("future", state, f"it gave {start}, where {action} is not legal")
        split = self.game.with_rewards_on_the_way()
        found = []
        for before in (state, start):
            after = self.rules.result(before, action)
            gained = [now - then for now, then in zip(split.utility(after), split.utility(before), strict=True)]
            found.append((gained, self.rules.future(after)))
        if found[0] != found[1]:
            self.fail(
                "future", state, f"it gave {start}, where action {action} brings {found[1]}, instead of {found[0]}"
            )

    # -- what proofs rely on -------------------------------------------------------------------------------------

    def _bounds(self, bounds: tuple[int, int], state: Any, actions: list[int]) -> None:
        lower, upper = bounds
        if lower > upper:
            self.fail("bounds", state, f"the lower score {lower} is above the upper {upper}")
        mover = self.game.to_move(state)
        known = {action: self._after(state, mover, action) for action in actions}
        low, high = (max(pair[side] for pair in known.values()) for side in (0, 1))
        if lower > high or upper < low:
            self.fail(
                "bounds",
                state,
                f"it says {lower} to {upper}, but the positions one move on allow only {low} to {high}",
            )
        if lower == upper:
            return
        if self.ask("bounds_see_ends"):
            for action in actions:
                if self.rules.is_terminal(self.rules.result(state, action)):
                    self.fail(
                        "bounds_see_ends", state, f"bounds does not settle it, yet action {action} ends the game"
                    )
        if self.has("safe_actions"):
            safe = self.fill("safe_actions", state)
            if not safe or not set(safe) <= set(actions):
                self.fail("safe_actions", state, f"it lists {safe} of the legal actions {actions}")
            best = max(known[action][1] for action in safe)
            for action in set(actions) - set(safe):
                if known[action][0] > best:
                    self.fail("safe_actions", state, f"it leaves out {action}, which is better than all it lists")

    def _after(self, state: Any, mover: int, action: int) -> tuple[int, int]:
        """The lower and upper score for the mover after an action, as counted before it."""
        after = self.rules.result(state, action)
        total = int(self.game.traits.constant)
        distances = self.game.traits.utility_bounds == (-1.0, 1.0) and not total
        if self.rules.is_terminal(after):
            value = self.rules.utility(after, mover)
            score = value * (WIN - 1) if distances else 2 * value - total
            return score, score
        if self.rules.to_move(after) == CHANCE:
            return LOSS, WIN
        low, high = self.rules.bounds(after)
        if self.rules.to_move(after) != mover:
            low, high = -high, -low
        return (_later(low), _later(high)) if distances else (low, high)


def _is_integer(value: Any) -> bool:
    return type(value) is int and value in _INTEGERS


def _later(score: int) -> int:
    """A score as it counts one move earlier; what ``WIN`` and ``LOSS`` stand for stays."""
    if score in (WIN, LOSS):
        return score
    return score - 1 if score > 0 else score + 1 if score < 0 else 0
