"""``solve(method="proof_number")``: depth-first proof-number search over rules that compile."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.agents.compiled import layout
from zermelo.agents.compiled.front_end import spread
from zermelo.agents.compiled.layout import Search
from zermelo.agents.compiled.program import Program, fits
from zermelo.agents.compiled.threads import race
from zermelo.agents.core.budget import SearchStopped
from zermelo.agents.core.limits import StoppedBy
from zermelo.agents.core.options import Compile
from zermelo.agents.core.recursion import GameTooLongError
from zermelo.agents.solving.solvers import Found, Solver, utility_range
from zermelo.envs import UnsupportedGameError
from zermelo.envs.jit.history import starter
from zermelo.envs.rules.contract import method_or_default
from zermelo.envs.rules.history import has_history, keys_of, without_past

PROOF_NUMBERS: Final = Program("proof numbers", "proof.numbers", "numbers", ("int64",) * 3)
_INFINITE: Final = 1 << 30
_MOST_PLIES: Final = 1000
_INSTEAD: Final = "use method='alpha_beta'"


class Answer(NamedTuple):
    """True if an attacker reaches its goal; an action that does, or prevents, it; true if ends were drawn."""

    reaches: bool
    action: int
    saw_draws: bool


class ProofNumberSolver(Solver):
    """Solves by asking who can force a win; where values are margins, how large a one, by halves."""

    def _search(self, state: Any, *, outcome_only: bool) -> Found:
        game, traits = self.game, self.game.traits
        self._prepare(state)
        seat = game.to_move(state)
        lower, upper = (int(bound) for bound in utility_range(game, state, seat))
        chosen = -1
        try:
            while lower < upper:
                if has_history(game.rules) or (lower, upper) in ((-1, 1), (-1, 0)):
                    lower, upper, action = self._by_wins(state, seat, upper)
                else:
                    goal = (lower + upper + 1) // 2
                    answer = self._ask(state, seat, goal)
                    lower, upper = (goal, upper) if answer.reaches else (lower, goal - 1)
                    action = answer.action if answer.reaches else -1
                chosen = action if action >= 0 else chosen
        except SearchStopped as stopped:
            return Found((float(lower), float(upper)), stopped.reason)
        finally:
            self.budget.nodes = self._nodes
        if chosen < 0:
            chosen = int(game.legal_actions(state)[0])
        values = {chosen: float(lower)} if not traits.constant else {}
        return Found((float(lower), float(upper)), action_values=values)

    def _by_wins(self, state: Any, seat: int, upper: int) -> tuple[int, int, int]:
        """Bounds after asking whether the mover wins, or the other; and an action that keeps the lower one."""
        if upper == 1:
            answer = self._ask(state, seat, 1)
            if answer.reaches:
                return 1, 1, answer.action
            return (-1, 0, -1) if answer.saw_draws else (-1, -1, -1)
        answer = self._ask(state, 1 - seat, 1)
        return (-1, -1, -1) if answer.reaches else (0, 0, answer.action)

    def _prepare(self, state: Any) -> None:
        """Gets the kernel and its memory ready; refuses games that do not fit."""
        game = self.game
        if self.budget.compile is Compile.NEVER or not fits(game):
            raise UnsupportedGameError(
                f"proof numbers are only searched compiled, and {game.traits.name} is not: {_INSTEAD}, or rules "
                "with compile='wait'"
            )
        require_order_free(game, state)
        with self.budget.off_the_clock():
            history = {"zermelo.agents.compiled.proof.numbers.HISTORY": has_history(game.rules)}
            self._kernel = PROOF_NUMBERS.load(game.rules, **history)
        bits = max(int(self._memory_mb * (1 << 20)) // 64, 2).bit_length() - 1
        search = self._one = Search()
        search.width = game.max_legal_actions
        search.max_ply = _MOST_PLIES
        search.row = spread(1 + 4 * search.width)
        search.hold("rows", np.zeros((_MOST_PLIES + 2) * search.row, np.int64))
        search.hold("table", np.zeros(8 << bits, np.int64))
        search.table_bits = bits
        search.total = int(game.traits.constant)
        self._start = starter(game.rules, 2)
        self._nodes = 0

    def _ask(self, state: Any, attacker: int, goal: int) -> Answer:
        """Asks if a seat can reach a utility; raises ``SearchStopped``."""
        game, search, limit = self.game, self._one, self.budget.limits.nodes
        search.own, search.lower_utility, search.draws = attacker, goal, 0
        search.held["table"][:] = 0
        search.nodes, search.stop, search.deepest = 0, layout.GOING, -1
        search.node_limit = layout.NO_LIMIT if limit is None else max(limit - self._nodes, 0)
        rules, begun = self._start(without_past(state))
        if has_history(game.rules):
            begun = begun._replace(length=1, occurrences=1, signature=0, since=0)

        def call(one: Search) -> int:
            return int(self._kernel(rules, begun, _INFINITE, _INFINITE, 0, one))

        try:
            reason, _ = race(call, [search], self._check)
        finally:
            self._nodes += search.nodes
            search.nodes = 0
        if reason == layout.OUT_OF_NODES:
            raise SearchStopped(StoppedBy.NODES)
        if reason in (layout.TOO_DEEP, layout.OUT_OF_STACK):
            raise GameTooLongError(game, search.deepest, _INSTEAD)
        row, size = search.held["rows"], search.width
        count = len(game.legal_actions(state))
        actions, proofs, disproofs = (row[1 + k * size :][:count] for k in range(3))
        is_attacker = game.to_move(state) == attacker
        reaches = bool((proofs == 0).any() if is_attacker else (proofs == 0).all())
        keeps = proofs == 0 if is_attacker else disproofs == 0
        action = int(actions[np.argmax(keeps)]) if keeps.any() else -1
        return Answer(reaches, action, search.draws > 0)

    def _check(self) -> None:
        self.budget.nodes = self._nodes + self._one.nodes
        self.budget.check_clock()


def require_order_free(game: Any, state: Any) -> None:
    """Refuses games in which a repeated position is worth more, or less, than a draw."""
    rules = game.rules
    if not has_history(rules):
        return
    keys, limit = keys_of(state), int(method_or_default(rules, "repetition_limit")())
    if hasattr(rules, "repetition_utility") or hasattr(rules, "repetition_is_illegal"):
        why = "repeated positions do not draw in it"
    elif game.traits.utility_bounds != (-1.0, 1.0):
        why = "it has repetition, and values besides won, drawn and lost"
    elif any(key and keys.count(key) >= limit - 1 for key in keys):
        why = "a position of its past may end it by repetition"
    else:
        return
    raise UnsupportedGameError(f"proof numbers do not fit {game.traits.name}: {why}; {_INSTEAD}")
