"""``check_rules``: plays rules at random, compiled beside uncompiled, and holds them to their contract."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any, Final

from zermelo.envs.checks.calls import Calls, compiled_or_none
from zermelo.envs.game import CHANCE
from zermelo.envs.jit.history import argument_maker, path_rules_of
from zermelo.envs.rules.bits import mix
from zermelo.envs.rules.contract import COMPILED, METHODS, REQUIRED
from zermelo.envs.rules.history import has_history, keys_of, without_past
from zermelo.envs.rules.protocol import GENERAL_SUM
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.rules.scores import LOSS, WIN
from zermelo.envs.support.calls import checked_call

_DRAWS: Final = 4  # random numbers that ``playout_action`` is tried with at each position
_ELSEWHERE: Final = ("key", "chance_outcomes", "safe_actions", "planes", "layout", "write_observation")
"""Methods that are not just called with all their arguments where a player is to move."""


@checked_call
def check_rules(rules: Any, *, games: int = 20, seed: int = 0, longest: int = 2000) -> None:
    """Checks that rules keep the contract of ``zermelo.envs.rules``, and mean the same compiled and uncompiled.

    Every method is called at every position of some random games: types and ranges; that legal actions are
    ascending and end only with the game; that utilities lie in their bounds and add up, and probabilities sum to
    one; that equal keys are equal positions; that symmetries commute with playing; that ``bounds`` and
    ``safe_actions`` do not contradict the positions one move on; that repetitions are found.

    Args:
        rules: The rules, as an object.
        games: Random games to play.
        seed: Seed of the random games.
        longest: Moves of a game, at most.

    Raises:
        RulesError: The contract is broken; the message names the method, the state and the difference.
    """
    game = RulesGame(rules)
    generator = random.Random(seed)
    check = _PositionChecks(game)
    history = HistoryCheck(check) if has_history(rules) else None
    for _ in range(games):
        check.call("initial_state")
        state = game.initial_state()
        for _ in range(longest):
            ended = check.position(without_past(state))
            if (history is not None and history.position(state)) or ended:
                break
            if game.to_move(state) == CHANCE:
                outcomes = game.chance_outcomes(state)
                action = generator.choices([o for o, _ in outcomes], [p for _, p in outcomes])[0]
            else:
                action = generator.choice(game.legal_actions(state))
            state = game.result(state, action)


class _PositionChecks(Calls):
    """The checks of positions.

    A method of the contract that has one of its own here, ``_<method>``, is checked by it where a player is to
    move; any other that compiled code calls is called with all arguments that there are.
    """

    def __init__(self, game: RulesGame) -> None:
        super().__init__(game)
        self.keys: dict[int, Any] = {}
        written = [name for name in METHODS if self.has(name) and name not in REQUIRED]
        self.checks = [getattr(self, f"_{name}") for name in written if hasattr(self, f"_{name}")]
        elsewhere = {*_ELSEWHERE, *(check.__name__[1:] for check in self.checks)}
        others = [name for name in written if name in COMPILED and name not in elsewhere]
        self.others = [name for name in others if not name.startswith(("repetition_", "table_"))]

    def position(self, state: Any) -> bool:
        """Checks everything at one position; whether the game has ended there."""
        terminal: bool = self.call("is_terminal", state)
        if self.has("key"):
            self.check_key(state)
        if self.has("symmetric_state"):
            self.check_symmetric(state)
        mover = self.call("to_move", state)
        if mover == CHANCE and not terminal:
            self.check_chance(state)
            return False
        seats = self.game.traits.seats
        if not 0 <= mover < seats:
            self.fail("to_move", state, f"{mover} is neither a seat (0 to {seats - 1}) nor CHANCE")
        if terminal:
            self.check_utility(state)
            return True
        actions = self.actions("legal_actions", state)
        if not actions:
            self.fail("legal_actions", state, "there is no legal action, yet is_terminal says the game goes on")
        if actions != sorted(actions):
            self.fail("legal_actions", state, f"{actions} are not in ascending order")
        for action in actions:
            self.check_result(state, action)
        values: dict[str, Any] = {"state": [state], "action": actions, "seat": range(seats)}
        values |= {"actions": [[0] * self.game.max_legal_actions], "symmetry": range(self.ask("symmetries"))}
        for method in self.others:
            for arguments in itertools.product(*(values[name] for name in METHODS[method].arguments)):
                self.call(method, *arguments)
        for check in self.checks:
            check(state, actions)
        return False

    def check_key(self, state: Any) -> None:
        key, bits = self.call("key", state), self.ask("key_bits")
        if bits < 64 and not 0 <= key < 1 << bits:
            self.fail("key", state, f"{key} does not fit the {bits} bits that key_bits() says")
        other = self.keys.setdefault(key, state)
        if other != state and self._goes_on(other) != self._goes_on(state):
            self.fail("key", state, f"it is {key}, also the key of {other}, where the game goes on differently")

    def _goes_on(self, state: Any) -> Any:
        game = self.game
        if game.is_terminal(state):
            return game.utility(state)
        mover = game.to_move(state)
        return mover, game.chance_outcomes(state) if mover == CHANCE else game.legal_actions(state)

    def check_symmetric(self, state: Any) -> None:
        for symmetry in range(self.ask("symmetries")):
            seen = self.call("symmetric_state", state, symmetry)
            if symmetry == 0 and seen != state:
                self.fail("symmetric_state", state, "symmetry 0 must change nothing")
            same = self.rules.is_terminal(seen) == self.rules.is_terminal(state)
            if not same or self.game.utility(seen) != self.game.utility(state):
                self.fail("symmetric_state", state, f"symmetry {symmetry} gives {seen}, which ends differently")

    def check_utility(self, state: Any) -> None:
        low, high = self.game.traits.utility_bounds
        values = [self.call("utility", state, seat) for seat in range(self.game.traits.seats)]
        for seat, value in enumerate(values):
            if not low <= value <= high:
                self.fail("utility", state, f"seat {seat} got {value}, outside utility_bounds() {low} to {high}")
        total, expected = sum(values), self.ask("utility_sum")
        if expected != GENERAL_SUM and total != expected:
            self.fail("utility", state, f"all seats together got {total}, but utility_sum() is {expected}")

    def check_chance(self, state: Any) -> None:
        if not self.has("chance_outcomes"):
            self.fail("to_move", state, "chance is to move, but there is no method chance_outcomes")
        size = self.game.num_moves
        self.call("chance_outcomes", state, [0] * size, [0.0] * size)
        outcomes, known = self.game.chance_outcomes(state), self.ask("num_outcomes")
        total = math.fsum(probability for _, probability in outcomes)
        if not outcomes or abs(total - 1) > 1e-9 or min(p for _, p in outcomes) <= 0:
            what = f"probabilities are positive and sum to one, but these are {outcomes}"
            self.fail("chance_outcomes", state, what)
        for outcome, _ in outcomes:
            if not 0 <= outcome < known:
                self.fail("chance_outcomes", state, f"{outcome} is no outcome: num_outcomes() is {known}")
            self.check_result(state, outcome)

    def check_result(self, state: Any, action: int) -> None:
        before = tuple(state)
        self.call("result", state, action)
        if tuple(state) != before:
            self.fail("result", state, f"action {action} changed the state it was given")

    def _count_legal(self, state: Any, actions: list[int]) -> None:
        count = self.call("count_legal", state, [0] * self.game.max_legal_actions)
        if count != len(actions):
            self.fail("count_legal", state, f"it gave {count}, but legal_actions writes {len(actions)}")

    def _noisy_actions(self, state: Any, actions: list[int]) -> None:
        noisy = self.actions("noisy_actions", state)
        expected = [action for action in actions if self.rules.is_noisy(state, action)]
        if noisy != expected:
            self.fail("noisy_actions", state, f"it writes {noisy}, but is_noisy says {expected}")

    def _playout_action(self, state: Any, actions: list[int]) -> None:
        for draw in map(mix, range(_DRAWS)):
            action = self.call("playout_action", state, draw)
            if action != -1 and action not in actions:
                self.fail("playout_action", state, f"it gave {action}, which is not legal")

    def _mirror_image(self, state: Any, actions: list[int]) -> None:
        image = self.call("mirror_image", state)
        if self.rules.mirror_image(image) != state:
            self.fail("mirror_image", state, f"it gave {image}, whose image is another position")
        legal = self.game.legal_actions(image)
        if self.game.to_move(image) != self.game.to_move(state) or len(legal) != len(actions):
            self.fail("mirror_image", state, f"it gave {image}, in which play is not the same")

    def _continues_move(self, state: Any, actions: list[int]) -> None:
        if self.call("continues_move", state) and state == self.game.initial_state():
            self.fail("continues_move", state, "it says so of the first state, to which no action leads")
        mover = self.game.to_move(state)
        for action in actions:
            child = self.game.result(state, action)
            if self.game.is_terminal(child) or not self.rules.continues_move(child):
                continue
            if self.game.to_move(child) != mover:
                self.fail("continues_move", child, f"it says so where seat {mover} is no longer to move")

    def _pass_turn(self, state: Any, actions: list[int]) -> None:
        passed, mover = self.call("pass_turn", state), self.game.to_move(state)
        if passed != state and not self.game.is_terminal(passed) and self.game.to_move(passed) == mover:
            self.fail("pass_turn", state, f"seat {mover} is to move again, which is no skipped turn")

    def _action_priors(self, state: Any, actions: list[int]) -> None:
        priors, total = [math.nan] * len(actions), len(actions)
        count, (*_, priors) = self.run(self.rules.action_priors, "action_priors", (state, actions, total, priors))
        if count != total or not all(type(prior) is float and math.isfinite(prior) for prior in priors):
            self.fail("action_priors", state, f"it returned {count!r} for {total} actions and wrote {priors}")
        self.call("action_priors", state, actions, total, priors)

    def _table_index(self, state: Any, actions: list[int]) -> None:
        part = self.call("table_part", state)
        if part >= 0:
            index, size = self.call("table_index", state), self.ask("table_size", part)
            if not 0 <= index < size:
                self.fail("table_index", state, f"it gave {index}, but table_size({part}) is {size}")

    def _symmetric_state(self, state: Any, actions: list[int]) -> None:
        rules = self.rules
        for symmetry in range(self.ask("symmetries")):
            seen = rules.symmetric_state(state, symmetry)
            legal = self.game.legal_actions(seen)
            for action in actions:
                moved = self.ask("symmetric_action", action, symmetry)
                if moved not in legal:
                    what = f"symmetry {symmetry} makes {action} into {moved}: not legal"
                    self.fail("symmetric_action", state, what)
                if rules.result(seen, moved) != rules.symmetric_state(rules.result(state, action), symmetry):
                    what = f"playing {action} and then seeing it through symmetry {symmetry} is not the same as "
                    self.fail("symmetric_state", state, f"{what}playing {moved} in the position seen through it")

    def _future(self, state: Any, actions: list[int]) -> None:
        split = self.game.with_rewards_on_the_way()
        start, _ = self.run(self.rules.future, "future", (state,))
        legal = self.game.legal_actions(start)
        for action in actions:
            if action not in legal:
                self.fail("future", state, f"it gave {start}, where {action} is not legal")
            found = []
            for before in (state, start):
                after = self.rules.result(before, action)
                pairs = zip(split.utility(after), split.utility(before), strict=True)
                found.append(([now - then for now, then in pairs], self.rules.future(after)))
            if found[0] != found[1]:
                what = f"it gave {start}, where action {action} brings {found[1]}, instead of {found[0]}"
                self.fail("future", state, what)

    def _bounds(self, state: Any, actions: list[int]) -> None:
        lower, upper = self.call("bounds", state)
        if lower > upper:
            self.fail("bounds", state, f"the lower score {lower} is above the upper {upper}")
        mover = self.game.to_move(state)
        known = {action: self._after(state, mover, action) for action in actions}
        low, high = (max(pair[side] for pair in known.values()) for side in (0, 1))
        if lower > high or upper < low:
            what = f"it says {lower} to {upper}, but the positions one move on allow only {low} to {high}"
            self.fail("bounds", state, what)
        if lower == upper:
            return
        if self.has("safe_actions"):
            safe = self.actions("safe_actions", state)
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


def _later(score: int) -> int:
    """A score as it counts one move earlier; what ``WIN`` and ``LOSS`` stand for stays."""
    if score in (WIN, LOSS):
        return score
    return score - 1 if score > 0 else score + 1 if score < 0 else 0


_ON_PATH = ("legal_actions", "result", "is_terminal", "utility")


class HistoryCheck:
    """One game in the making."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._compiled = compiled_or_none(path_rules_of(calls.rules), _ON_PATH)
        self._start = argument_maker(calls.rules, 1)
        self._keys: list[int] = []

    def position(self, state: Any) -> bool:
        """Checks a state with its past, the next one of the game; whether the game has ended by repetition."""
        calls, game, rules = self._calls, self._calls.game, self._calls.rules
        position, past = without_past(state), keys_of(state)
        if len(past) == 1:
            self._keys = []
        for method in filter(calls.has, ("repetition_limit", "repetition_is_illegal", "repetition_is_claimed")):
            calls.call(method)
        key = calls.call("repetition_key", position)
        is_written = calls.has("reversible_plies")
        back = calls.call("reversible_plies", position) if is_written else len(self._keys)
        if key and key in self._keys[: max(len(self._keys) - back, 0)]:
            what = f"it gave {back}, but the position was there before that"
            calls.fail("reversible_plies", position, what)
        self._keys.append(key)
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
