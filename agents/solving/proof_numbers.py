"""``solve(method="proof_number")``: depth-first proof-number search, compiled or plain."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.agents.base.budget import SearchStopped
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.base.recursion import UNSOLVED, GameTooLongError, deep_recursion
from zermelo.agents.kernels import layout
from zermelo.agents.kernels.layout import Search
from zermelo.agents.kernels.program import Program, fits
from zermelo.agents.kernels.threads import race, spread
from zermelo.agents.solving.solvers import Found, Solver, utility_range
from zermelo.envs import UnsupportedGameError
from zermelo.envs.jit.history import starter
from zermelo.envs.rules.contract import method_or_default
from zermelo.envs.rules.history import has_history, keys_of, without_past
from zermelo.envs.rules.rules_game import RulesGame

PROOF_NUMBERS: Final = Program("proof numbers", "solving.proof_numbers_kernel", "numbers", ("int64",) * 3)
_INFINITE: Final = 1 << 30
_MOST: Final = 1 << 24
_NEVER: Final = 1 << 20
_MOST_PLIES: Final = 1000


class Answer(NamedTuple):
    """True if an attacker reaches its goal; an action that does, or prevents, it; true if ends were drawn."""

    reaches: bool
    action: int
    saw_draws: bool


class ProofNumberSolver(Solver):
    """Solves by asking who can force a win; where values are margins, how large a one, by halves."""

    def _search(self, state: Any, *, outcome_only: bool) -> Found:
        game, traits = self.game, self.game.traits
        require_order_free(game, state)
        seat = game.to_move(state)
        lower, upper = (int(bound) for bound in utility_range(game, state, seat))
        chosen = -1
        prover = self._prover()
        try:
            with deep_recursion(game, UNSOLVED):
                while lower < upper:
                    if has_history(getattr(game, "rules", None)) or (lower, upper) in ((-1, 1), (-1, 0)):
                        lower, upper, action = self._by_wins(prover, state, seat, lower, upper)
                    else:
                        goal = (lower + upper + 1) // 2
                        answer = prover.ask(state, seat, goal)
                        lower, upper = (goal, upper) if answer.reaches else (lower, goal - 1)
                        action = answer.action if answer.reaches else -1
                    chosen = action if action >= 0 else chosen
        except SearchStopped as stopped:
            return Found((float(lower), float(upper)), stopped.reason)
        finally:
            self.budget.nodes = prover.nodes
        if chosen < 0:
            chosen = int(game.legal_actions(state)[0])
        return Found(
            (float(lower), float(upper)), action_values={chosen: float(lower)} if not traits.constant else {}
        )

    def _by_wins(self, prover: Any, state: Any, seat: int, lower: int, upper: int) -> tuple[int, int, int]:
        """Bounds after asking whether the mover wins, or the other; and an action that keeps the lower one."""
        if upper == 1:
            answer = prover.ask(state, seat, 1)
            if answer.reaches:
                return 1, 1, answer.action
            return (-1, 0, -1) if answer.saw_draws else (-1, -1, -1)
        answer = prover.ask(state, 1 - seat, 1)
        return (-1, -1, -1) if answer.reaches else (0, 0, answer.action)

    def _prover(self) -> Any:
        game, budget = self.game, self.budget
        if isinstance(game, RulesGame) and fits(game):
            constants = {"zermelo.agents.solving.proof_numbers_kernel.HISTORY": has_history(game.rules)}
            if PROOF_NUMBERS.is_ready(game.rules, budget, constants):
                return CompiledNumbers(game, budget, self._memory_mb, PROOF_NUMBERS.load(game.rules, **constants))
        return PlainNumbers(game, budget)


def require_order_free(game: Any, state: Any) -> None:
    """Refuses games in which a repeated position is worth more, or less, than a draw."""
    rules = getattr(game, "rules", None)
    if not isinstance(game, RulesGame) or not has_history(rules):
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
    raise UnsupportedGameError(f"proof numbers do not fit {game.traits.name}: {why}; use method='alpha_beta'")


class CompiledNumbers:
    """Questions to the compiled search."""

    def __init__(self, game: RulesGame, budget: Any, memory_mb: float, kernel: Any) -> None:
        self._game, self._budget, self._kernel = game, budget, kernel
        bits = max(int(memory_mb * (1 << 20)) // 64, 2).bit_length() - 1
        search = self._search = Search()
        search.width = game.max_legal_actions
        search.max_ply = _MOST_PLIES
        search.row = spread(1 + 4 * search.width)
        search.hold("rows", np.zeros((_MOST_PLIES + 2) * search.row, np.int64))
        search.hold("table", np.zeros(8 << bits, np.int64))
        search.table_bits = bits
        search.total = int(game.traits.constant)
        self._start = starter(game.rules, 2)
        self.nodes = 0

    def ask(self, state: Any, attacker: int, goal: int) -> Answer:
        """Asks if a seat can reach a utility; raises ``SearchStopped``."""
        search = self._search
        search.own, search.lower_utility, search.draws = attacker, goal, 0
        search.held["table"][:] = 0
        search.nodes, search.stop, search.deepest = 0, layout.GOING, -1
        limit = self._budget.limits.nodes
        search.node_limit = layout.NO_LIMIT if limit is None else max(limit - self.nodes, 0)
        rules, begun = self._start(without_past(state))
        if has_history(self._game.rules):
            begun = begun._replace(length=1, occurrences=1, signature=0, since=0)

        def call(one: Search) -> int:
            return int(self._kernel(rules, begun, _INFINITE, _INFINITE, 0, one))

        try:
            reason, _ = race(call, [search], self._check)
        finally:
            self.nodes += search.nodes
            search.nodes = 0
        if reason == layout.OUT_OF_NODES:
            raise SearchStopped(StoppedBy.NODES)
        if reason in (layout.TOO_DEEP, layout.OUT_OF_STACK):
            raise GameTooLongError(self._game, search.deepest, "use method='alpha_beta'")
        row, size = search.held["rows"], search.width
        count = len(self._game.legal_actions(state))
        actions, proofs, disproofs = (row[1 + k * size :][:count] for k in range(3))
        is_attacker = self._game.to_move(state) == attacker
        reaches = bool((proofs == 0).any() if is_attacker else (proofs == 0).all())
        keeps = proofs == 0 if is_attacker else disproofs == 0
        action = int(actions[np.argmax(keeps)]) if keeps.any() else -1
        return Answer(reaches, action, search.draws > 0)

    def _check(self) -> None:
        self._budget.nodes = self.nodes + self._search.nodes
        self._budget.check_clock()


class PlainNumbers:
    """Proof numbers in plain Python, for any game; ``compiled.proof.numbers`` says how they work."""

    def __init__(self, game: Any, budget: Any) -> None:
        self._game, self._budget = game, budget
        rules = getattr(game, "rules", None)
        self._rules = rules if isinstance(game, RulesGame) and has_history(rules) else None
        self._table: dict[Any, tuple[int, int]] = {}
        self._path: list[Any] = []
        self.nodes = 0

    def ask(self, state: Any, attacker: int, goal: int) -> Answer:
        """Asks if a seat can reach a utility; raises ``SearchStopped``."""
        self._attacker, self._goal, self._saw_draws = attacker, goal, False
        self._table.clear()
        self._path.clear()
        self._root: tuple[list[int], list[int]] = [], []
        state = without_past(state) if self._rules is not None else state
        proof, _, _ = self._numbers(state, _INFINITE, _INFINITE)
        proofs, disproofs = self._root
        actions = list(self._game.legal_actions(state))
        is_attacker = self._game.to_move(state) == attacker
        keeps = [
            action
            for action, one, other in zip(actions, proofs, disproofs, strict=True)
            if (one if is_attacker else other) == 0
        ]
        return Answer(proof == 0, int(keeps[0]) if keeps else -1, self._saw_draws)

    def stores(self, rest: int, ply: int) -> bool:
        """True if numbers hold on every path: a disproof does that rests on no state above."""
        return rest >= ply

    def _numbers(self, state: Any, most_proof: int, most_disproof: int) -> tuple[int, int, int]:
        """Both numbers of a state, and the ply that a disproof rests on."""
        game, ply = self._game, len(self._path)
        self.nodes += 1
        self._budget.visit(ply)
        attacks = game.to_move(state) == self._attacker
        self._path.append(self._position(state))
        children = [self._after(state, action) for action in game.legal_actions(state)]
        found = [self._known(child) for child in children]
        proofs, disproofs, rests = (list(each) for each in zip(*found, strict=True))
        while True:
            minimized, added = (proofs, disproofs) if attacks else (disproofs, proofs)
            total = max(min(sum(added), _MOST), *added)
            best = min(range(len(children)), key=minimized.__getitem__)
            first = minimized[best]
            second = min((number for place, number in enumerate(minimized) if place != best), default=_INFINITE)
            proof, disproof = (first, total) if attacks else (total, first)
            proof, disproof = (proof, disproof if proof else _INFINITE)
            proof = proof if disproof else _INFINITE
            if proof >= most_proof or disproof >= most_disproof:
                break
            limit = min(most_proof if attacks else most_disproof, second + (second >> 2) + 1)
            other = (most_disproof if attacks else most_proof) - total + added[best]
            limits = (limit, other) if attacks else (other, limit)
            proofs[best], disproofs[best], rests[best] = self._numbers(children[best], *limits)
        here = self._path.pop()
        if ply == 0:
            self._root = proofs, disproofs
        rest = _NEVER
        if disproof == 0:
            chosen = [rest for rest, number in zip(rests, disproofs, strict=True) if number == 0]
            rest = min(chosen) if attacks else max(chosen)
        if self.stores(rest, ply):
            rest = _NEVER
            self._table[here] = proof, disproof
        return proof, disproof, rest

    def _after(self, state: Any, action: int) -> Any:
        return self._game.result(state, action) if self._rules is None else self._rules.result(state, action)

    def _position(self, state: Any) -> Any:
        return self._game.key(state) if self._rules is None else self._game.position_key(state)

    def _known(self, child: Any) -> tuple[int, int, int]:
        """The numbers of a state before it is searched."""
        ends = self._game.is_terminal if self._rules is None else self._rules.is_terminal
        if ends(child):
            utility = self._game.utility(child)[self._attacker]
            self._saw_draws = self._saw_draws or utility == self._game.traits.constant / 2
            return (0, _INFINITE, _NEVER) if utility >= self._goal else (_INFINITE, 0, _NEVER)
        here = self._position(child)
        if self._rules is not None and here in self._path:
            self._saw_draws = True
            return _INFINITE, 0, self._path.index(here)
        return (*self._table.get(here, (1, 1)), _NEVER)
