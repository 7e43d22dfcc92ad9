"""``check_rules``: plays rules at random, compiled beside uncompiled, and holds them to their contract."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any, NoReturn

from zermelo.envs.errors import RulesError
from zermelo.envs.game import CHANCE
from zermelo.envs.jit.check_history import HistoryCheck
from zermelo.envs.jit.compiling import why_not_compiled
from zermelo.envs.rules.bits import mix
from zermelo.envs.rules.defaults import GENERAL_SUM
from zermelo.envs.rules.history import has_history, without_past
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.scores import LOSS, WIN

_INTEGERS = range(-(1 << 63), 1 << 63)
_DRAWS = 4
"""Random numbers that ``playout_action`` is tried with at each position."""


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
            check.call("result", without_past(state), action)
            state = game.result(state, action)


class _Check:
    """One run of checks over one game."""

    def __init__(self, game: RulesGame) -> None:
        self.game = game
        self.rules = game.rules
        self.name = type(game.rules).__name__
        self.size = game.rules.num_actions()
        self.keys: dict[int, Any] = {}
        self.compiled: dict[str, Callable[..., Any]] = {}
        if not why_not_compiled():
            from zermelo.envs.jit.method_calls import compiled_methods

            self.compiled = compiled_methods(self.rules)
        self.history: HistoryCheck | None = None
        if has_history(self.rules):
            self.history = HistoryCheck(game, self.call, self.fail, compiled=bool(self.compiled))

    def has(self, method: str) -> bool:
        """Whether the rules write an optional method."""
        return hasattr(self.rules, method)

    def fail(self, method: str, state: Any, what: str) -> NoReturn:
        where = "" if state is None else f" at {state}"
        raise RulesError(f"{self.name}.{method}{where}: {what}")

    # -- calling -------------------------------------------------------------------------------------------------

    def call(self, method: str, *args: Any) -> Any:
        """Calls a method as it is and compiled; both must say the same."""
        plain = self._run(getattr(self.rules, method), method, args)
        state = args[0] if args else None
        if isinstance(plain, tuple) and hasattr(plain, "_fields"):
            self._state(method, state, plain)
        elif isinstance(plain, tuple):
            for value in plain:
                self._integer(method, state, value)
        elif not isinstance(plain, bool):
            self._integer(method, state, plain)
        compiled = self.compiled.get(method)
        if compiled is not None:
            other = compiled(self.rules, *args)
            if other != plain or type(other) is not type(plain):
                shown = "" if len(args) < 2 else f" for {', '.join(map(str, args[1:]))}"
                self.fail(method, state, f"compiled it gives {other!r}, uncompiled {plain!r}{shown}")
        return plain

    def fill(self, method: str, state: Any) -> list[int]:
        """Calls a method that writes actions into a buffer, as it is and compiled."""
        buffer = [0] * self.size
        count = self._run(getattr(self.rules, method), method, (state, buffer))
        self._integer(method, state, count)
        if not 0 <= count <= self.size or len(buffer) != self.size:
            self.fail(method, state, f"it returned {count} for the number of actions, of {self.size} there are")
        if count > (most := self.game.max_legal_actions):
            self.fail(method, state, f"it returned {count} for the number of actions, of at most {most} at once")
        actions = buffer[:count]
        compiled = self.compiled.get(method)
        if compiled is not None and (other := compiled(self.rules, state, self.size)) != actions:
            self.fail(method, state, f"compiled it gives {other}, uncompiled {actions}")
        for action in actions:
            self._integer(method, state, action)
            if not 0 <= action < self.size:
                self.fail(method, state, f"{action} is no action: they are 0 to {self.size - 1}")
        if len(set(actions)) != count:
            self.fail(method, state, f"an action is listed twice in {actions}")
        return actions

    def _run(self, function: Callable[..., Any], method: str, args: tuple[Any, ...]) -> Any:
        try:
            return function(*args)
        except Exception as error:
            state = args[0] if args else None
            self.fail(method, state, f"it raised {type(error).__name__}: {error}")

    def _integer(self, method: str, state: Any, value: Any) -> None:
        if type(value) is not int or value not in _INTEGERS:
            self.fail(method, state, f"it gave {value!r}, which is not an integer of 64 bits")

    def _state(self, method: str, before: Any, state: Any) -> None:
        for name, value in zip(state._fields, state, strict=True):
            for part in value if isinstance(value, tuple) else (value,):
                if type(part) is not int or part not in _INTEGERS:
                    self.fail(
                        method, before, f"in the state it made, {name} is {value!r}: not an integer of 64 bits"
                    )

    # -- positions -----------------------------------------------------------------------------------------------

    def initial_state(self) -> Any:
        state = self.call("initial_state")
        if not (isinstance(state, tuple) and hasattr(state, "_fields")):
            self.fail("initial_state", None, f"a state is a named tuple of integers, not {state!r}")
        return state

    def position(self, state: Any) -> bool:
        """Checks everything at one position; whether the game has ended there."""
        terminal = self._run(self.rules.is_terminal, "is_terminal", (state,))
        if not isinstance(terminal, bool):
            self.fail("is_terminal", state, f"it gave {terminal!r}, which is neither True nor False")
        self.call("is_terminal", state)
        self._key(state)
        self._symmetric_states(state)
        mover = self.call("to_move", state)
        if mover == CHANCE and not terminal:
            self._chance(state)
            return False
        if not 0 <= mover < self.game.traits.seats:
            self.fail(
                "to_move", state, f"{mover} is neither a seat (0 to {self.game.traits.seats - 1}) nor CHANCE"
            )
        if terminal:
            self._utility(state)
            return True
        actions = self.fill("legal_actions", state)
        if not actions:
            self.fail("legal_actions", state, "there is no legal action, yet is_terminal says the game goes on")
        if actions != sorted(actions):
            self.fail("legal_actions", state, f"{actions} are not in ascending order")
        if self.has("count_legal"):
            self._count(state, len(actions))
        players = self.call("player_actions") if self.has("player_actions") else self.size
        if not actions[-1] < players <= self.size:
            self.fail(
                "player_actions",
                state,
                f"it gave {players}, but {actions[-1]} is legal and num_actions() is {self.size}",
            )
        for action in actions:
            self._action(state, action)
            if self.has("future"):
                self._future(state, action)
        if self.has("noisy_actions") and (noisy := self.fill("noisy_actions", state)) != (
            expected := [action for action in actions if self.rules.is_noisy(state, action)]
        ):
            self.fail("noisy_actions", state, f"it writes {noisy}, but is_noisy says {expected}")
        if self.has("is_urgent"):
            self.call("is_urgent", state)
        if self.has("evaluation"):
            for seat in range(self.game.traits.seats):
                self.call("evaluation", state, seat)
        if self.has("playout_action"):
            self._playout(state, actions)
        if self.has("action_priors"):
            self._priors(state, actions)
        if self.has("pass_turn"):
            self._pass(state, mover)
        if self.has("bounds"):
            self._bounds(state, mover, actions)
        return False

    def _playout(self, state: Any, actions: list[int]) -> None:
        for random_bits in map(mix, range(_DRAWS)):
            action = self.call("playout_action", state, random_bits)
            if action != -1 and action not in actions:
                self.fail("playout_action", state, f"it gave {action}, which is not legal")

    def _priors(self, state: Any, actions: list[int]) -> None:
        priors = [math.nan] * len(actions)
        count = self._run(self.rules.action_priors, "action_priors", (state, [*actions], len(actions), priors))
        if count != len(actions) or not all(type(prior) is float and math.isfinite(prior) for prior in priors):
            self.fail(
                "action_priors", state, f"it returned {count!r} for {len(actions)} actions and wrote {priors}"
            )
        compiled = self.compiled.get("action_priors")
        if compiled is not None and (other := compiled(self.rules, state, actions)) != priors:
            self.fail("action_priors", state, f"compiled it gives {other}, uncompiled {priors}")

    def _count(self, state: Any, expected: int) -> None:
        counts = [self._run(self.rules.count_legal, "count_legal", (state, [0] * self.game.max_legal_actions))]
        if "count_legal" in self.compiled:
            counts.append(self.compiled["count_legal"](self.rules, state, self.game.max_legal_actions))
        if counts != [expected] * len(counts):
            self.fail("count_legal", state, f"it gave {counts[-1]}, but legal_actions writes {expected}")

    def _pass(self, state: Any, mover: int) -> None:
        passed = self.call("pass_turn", state)
        if type(passed) is not type(state):
            self.fail("pass_turn", state, f"it gave {passed!r}, which is no {type(state).__name__}")
        if passed != state and not self.game.is_terminal(passed) and self.game.to_move(passed) == mover:
            self.fail("pass_turn", state, f"seat {mover} is to move again, which is no skipped turn")

    def _key(self, state: Any) -> None:
        if not self.has("key"):
            return
        key = self.call("key", state)
        bits = self.rules.key_bits() if self.has("key_bits") else 64
        if bits < 64 and not 0 <= key < 1 << bits:
            self.fail("key", state, f"{key} does not fit the {bits} bits that key_bits() says")
        other = self.keys.setdefault(key, state)
        if other != state and self._seen(other) != self._seen(state):
            self.fail(
                "key", state, f"it is {key}, which is also the key of {other}, where the game goes on differently"
            )

    def _seen(self, state: Any) -> Any:
        """What of a state's future shows at once."""
        if self.game.is_terminal(state):
            return self.game.utility(state)
        mover = self.game.to_move(state)
        return mover, self.game.chance_outcomes(state) if mover == CHANCE else self.game.legal_actions(state)

    def _utility(self, state: Any) -> None:
        least, greatest = self.game.traits.utility_bounds
        total = 0
        for seat in range(self.game.traits.seats):
            value = self.call("utility", state, seat)
            if not least <= value <= greatest:
                self.fail(
                    "utility", state, f"seat {seat} got {value}, outside utility_bounds() {least} to {greatest}"
                )
            total += value
        expected = self.rules.utility_sum() if self.has("utility_sum") else 0
        if expected != GENERAL_SUM and total != expected:
            self.fail("utility", state, f"all seats together got {total}, but utility_sum() is {expected}")

    def _chance(self, state: Any) -> None:
        if not self.has("chance_outcomes"):
            self.fail("to_move", state, "chance is to move, but there is no method chance_outcomes")
        outcomes = self._run(self.game.chance_outcomes, "chance_outcomes", (state,))
        total = math.fsum(probability for _, probability in outcomes)
        if not outcomes or abs(total - 1) > 1e-9 or min(p for _, p in outcomes) <= 0:
            self.fail(
                "chance_outcomes", state, f"probabilities are positive and sum to one, but these are {outcomes}"
            )
        compiled = self.compiled.get("chance_outcomes")
        if compiled is not None and (other := compiled(self.rules, state, self.size)) != outcomes:
            self.fail("chance_outcomes", state, f"compiled it gives {other}, uncompiled {outcomes}")
        for outcome, _ in outcomes:
            self._result(state, outcome)

    def _result(self, state: Any, action: int) -> Any:
        before = tuple(state)
        after = self.call("result", state, action)
        if type(after) is not type(state):
            self.fail("result", state, f"action {action} gave {after!r}, which is no {type(state).__name__}")
        if tuple(state) != before:
            self.fail("result", state, f"action {action} changed the state it was given")
        return after

    def _action(self, state: Any, action: int) -> None:
        after = self._result(state, action)
        for method, kind in (("ordering_hint", int), ("is_noisy", bool)):
            if self.has(method):
                value = self._run(getattr(self.rules, method), method, (state, action))
                if type(value) is not kind:
                    self.fail(method, state, f"action {action} gave {value!r}, which is no {kind.__name__}")
                self.call(method, state, action)
        for symmetry in range(self.rules.symmetries() if self.has("symmetries") else 1):
            if not self.has("symmetric_state"):
                break
            seen = self._run(self.rules.symmetric_state, "symmetric_state", (state, symmetry))
            moved = self.call("symmetric_action", action, symmetry)
            if moved not in self.game.legal_actions(seen):
                self.fail("symmetric_action", state, f"symmetry {symmetry} makes {action} into {moved}: not legal")
            if self.rules.result(seen, moved) != self.rules.symmetric_state(after, symmetry):
                self.fail(
                    "symmetric_state",
                    state,
                    f"playing {action} and then seeing it through symmetry {symmetry} is not the same as playing "
                    f"{moved} in the position seen through it",
                )

    def _future(self, state: Any, action: int) -> None:
        """What is received by an action, and the future behind it, follow from the future before it."""
        start = self._run(self.rules.future, "future", (state,))
        if action not in self.game.legal_actions(start):
            self.fail("future", state, f"it gave {start}, where {action} is not legal")
        after, other = self.rules.result(state, action), self.rules.result(start, action)
        split = self.game.with_rewards_on_the_way()
        gained = [now - then for now, then in zip(split.utility(after), split.utility(state), strict=True)]
        told = [now - then for now, then in zip(split.utility(other), split.utility(start), strict=True)]
        if gained != told or self.rules.future(after) != self.rules.future(other):
            self.fail(
                "future",
                state,
                f"it gave {start}, where action {action} brings {told} and {self.rules.future(other)}, instead of "
                f"{gained} and {self.rules.future(after)}",
            )

    def _symmetric_states(self, state: Any) -> None:
        if not self.has("symmetric_state"):
            return
        if self.call("symmetric_state", state, 0) != state:
            self.fail("symmetric_state", state, "symmetry 0 must change nothing")
        for symmetry in range(1, self.rules.symmetries()):
            seen = self.call("symmetric_state", state, symmetry)
            same = self.rules.is_terminal(seen) == self.rules.is_terminal(state)
            if not same or self.game.utility(seen) != self.game.utility(state):
                self.fail("symmetric_state", state, f"symmetry {symmetry} gives {seen}, which ends differently")

    # -- what proofs rely on -------------------------------------------------------------------------------------

    def _bounds(self, state: Any, mover: int, actions: list[int]) -> None:
        least, greatest = self.call("bounds", state)
        if least > greatest:
            self.fail("bounds", state, f"the least score {least} is above the greatest {greatest}")
        known = {action: self._after(state, mover, action) for action in actions}
        low, high = (max(pair[side] for pair in known.values()) for side in (0, 1))
        if least > high or greatest < low:
            self.fail(
                "bounds",
                state,
                f"it says {least} to {greatest}, but the positions one move on allow only {low} to {high}",
            )
        if least < greatest and self.has("bounds_see_ends") and self.call("bounds_see_ends"):
            for action in actions:
                if self.rules.is_terminal(self.rules.result(state, action)):
                    self.fail(
                        "bounds_see_ends", state, f"bounds does not settle it, yet action {action} ends the game"
                    )
        if least < greatest and self.has("safe_actions"):
            safe = self.fill("safe_actions", state)
            if not safe or not set(safe) <= set(actions):
                self.fail("safe_actions", state, f"it lists {safe} of the legal actions {actions}")
            best = max(known[action][1] for action in safe)
            for action in set(actions) - set(safe):
                if known[action][0] > best:
                    self.fail("safe_actions", state, f"it leaves out {action}, which is better than all it lists")

    def _after(self, state: Any, mover: int, action: int) -> tuple[int, int]:
        """The least and greatest score for the mover after an action, as counted before it."""
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


def _later(score: int) -> int:
    """A score as it counts one move earlier; what ``WIN`` and ``LOSS`` stand for stays."""
    if score in (WIN, LOSS):
        return score
    return score - 1 if score > 0 else score + 1 if score < 0 else 0
