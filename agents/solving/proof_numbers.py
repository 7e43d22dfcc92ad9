"""``solve(method="proof_number")``: depth-first proof-number search, compiled or plain."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.agents.base.budget import SearchStopped
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.base.recursion import UNSOLVED, GameTooLongError, deep_recursion
from zermelo.agents.kernels import layout
from zermelo.agents.kernels.layout import KernelRecord, laid_out
from zermelo.agents.kernels.program import Program, fits
from zermelo.agents.kernels.threads import pad_row, run_first_done
from zermelo.agents.solutions.solution import outcome_of, utility_range
from zermelo.agents.solving.solvers import Found, Solver
from zermelo.envs.capabilities import rules_of
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.jit.history import argument_maker
from zermelo.envs.rules.contract import method_or_default
from zermelo.envs.rules.history import has_history, keys_of, without_past
from zermelo.envs.rules.rules_game import RulesGame


class NumbersVariant(NamedTuple):
    """The record of the proof-number search kernel."""

    history: bool = True  # repeated positions count


@laid_out
class NumbersRecord(KernelRecord):
    """The numbers of a search by proof numbers."""

    __slots__ = ()

    table: int
    table_bits: int  # the logarithm of the number of its pairs of entries
    total: int  # what the players' utilities add up to
    own: int  # the seat that is to reach the goal
    lower_utility: int  # the least that reaches it
    draws: int  # ends that were drawn, and positions that came again
    repetition_ply: int


PROOF_NUMBERS: Final = Program(
    "proof numbers", "solving.proof_numbers_kernel", "numbers", NumbersRecord, ("int64",) * 3
)
_INFINITE: Final = 1 << 30
_MOST: Final = 1 << 24
_NEVER: Final = 1 << 20
_MOST_PLIES: Final = 1000


class Question(NamedTuple):
    """Does a seat's utility reach a goal?

    The attacker is the seat if it wants more than half, else its opponent. So play that goes round for ever, which
    is drawn, is never what the attacker wants.
    """

    seat: int
    goal: float
    attacker: int


class Answer(NamedTuple):
    """True if the utility reaches the goal; a bound on it, lower or upper; an action that keeps a lower bound."""

    reaches: bool
    bound: float
    action: int


class ProofNumberSolver(Solver):
    """Solves by asking who can force a win; where values are margins, how large a one, by halves."""

    def _search(self, state: Any, *, outcome_only: bool) -> Found:
        game, traits = self.game, self.game.traits
        require_order_free(game, state)
        seat = game.to_move(state)
        lower, upper = utility_range(game, state, seat)
        chosen = int(game.legal_actions(state)[0])
        prover = self._prover()
        try:
            with deep_recursion(game, UNSOLVED):
                while lower < upper and not (outcome_only and outcome_of(traits, seat, lower, upper)):
                    goal = next_goal(lower, upper, traits.constant / 2)
                    attacker = seat if goal > traits.constant / 2 else 1 - seat
                    answer = prover.ask(state, Question(seat, goal, attacker))
                    if answer.reaches:
                        lower, chosen = answer.bound, answer.action
                    else:
                        upper = answer.bound
        except SearchStopped as stopped:
            return Found((lower, upper), stopped.reason)
        finally:
            self.budget.nodes = prover.nodes
        return Found((lower, upper), action_values={} if outcome_only else {chosen: lower})

    def _prover(self) -> Any:
        game, budget = self.game, self.budget
        if isinstance(game, RulesGame) and fits(game):
            variant = NumbersVariant(history=has_history(game.rules))
            if PROOF_NUMBERS.is_ready(game.rules, budget, variant):
                return CompiledNumbers(game, budget, self.memory_mb, PROOF_NUMBERS.load(game.rules, variant))
        return PlainNumbers(game, budget)


def next_goal(lower: float, upper: float, half: float) -> float:
    """A goal above ``lower``, at most ``upper``: more than half, then half, then the middle of what is left."""
    for goal in (math.nextafter(half, math.inf), half):
        if lower < goal <= upper:
            return goal
    if math.isinf(upper):
        return lower + max(abs(lower), 1.0)
    if math.isinf(lower):
        return upper - max(abs(upper), 1.0)
    middle = lower + (upper - lower) / 2
    return middle if lower < middle else upper


def require_order_free(game: Any, state: Any) -> None:
    """Refuses games in which a repeated position is worth more, or less, than a draw."""
    rules = rules_of(game)
    if not isinstance(game, RulesGame) or not has_history(rules):
        return
    keys, limit = keys_of(state), int(method_or_default(rules, "repetition_limit")())
    if hasattr(rules, "repetition_utility") or hasattr(rules, "repetition_is_illegal"):
        why = "repeated positions do not draw in it"
    elif game.traits.utility_bounds != (-1.0, 1.0) or game.traits.constant:
        why = "it has repetition, and values besides won, drawn and lost"
    elif any(key and keys.count(key) >= limit - 1 for key in keys):
        why = "a position of its past may end it by repetition"
    else:
        return
    raise UnsupportedGameError(f"proof numbers do not fit {game.traits.name}: {why}; use method='alpha_beta'")


class CompiledNumbers:
    """Questions to the compiled search, of utilities that are whole numbers."""

    def __init__(self, game: RulesGame, budget: Any, memory_mb: float, kernel: Any) -> None:
        self._game, self._budget, self._kernel = game, budget, kernel
        bits = max(int(memory_mb * (1 << 20)) // 64, 2).bit_length() - 1
        search = self._search = NumbersRecord()
        search.width = game.max_legal_actions
        search.max_ply = _MOST_PLIES
        search.row = pad_row(1 + 4 * search.width)
        search.attach("rows", np.zeros((_MOST_PLIES + 2) * search.row, np.int64))
        search.attach("table", np.zeros(8 << bits, np.int64))
        search.table_bits = bits
        search.total = int(game.traits.constant)
        self._start = argument_maker(game.rules, 2)
        self.nodes = 0

    def ask(self, state: Any, question: Question) -> Answer:
        search, goal, constant = self._search, math.ceil(question.goal), int(self._game.traits.constant)
        attacks = question.attacker == question.seat
        search.own, search.draws = question.attacker, 0
        search.lower_utility = goal if attacks else constant - goal + 1
        search.arrays["table"][:] = 0
        search.nodes, search.stop, search.deepest = 0, layout.GOING, -1
        limit = self._budget.limits.nodes
        search.node_limit = layout.NO_LIMIT if limit is None else max(limit - self.nodes, 0)
        rules, begun = self._start(without_past(state))
        if has_history(self._game.rules):
            begun = begun._replace(length=1, occurrences=1, signature=0, since=0)

        def call(one: NumbersRecord) -> int:
            return int(self._kernel(rules, begun, _INFINITE, _INFINITE, 0, one))

        try:
            reason, _ = run_first_done(call, [search], self._check)
        finally:
            self.nodes += search.nodes
            search.nodes = 0
        if reason == layout.OUT_OF_NODES:
            raise SearchStopped(StoppedBy.NODES)
        if reason in (layout.TOO_DEEP, layout.OUT_OF_STACK):
            raise GameTooLongError(self._game, search.deepest, "use method='alpha_beta'")
        row, size = search.arrays["rows"], search.width
        count = len(self._game.legal_actions(state))
        actions, proofs, disproofs = (row[1 + k * size :][:count] for k in range(3))
        is_decided = (proofs == 0).any() if attacks else (proofs == 0).all()
        reaches = bool(is_decided) == attacks
        bound = goal if reaches else goal - 1
        if 2 * bound == constant and not is_decided and not search.draws:  # nothing drawn was seen
            bound += 1 if reaches else -1
        keeps = proofs == 0 if attacks else disproofs == 0
        return Answer(reaches, float(bound), int(actions[np.argmax(keeps)]))

    def _check(self) -> None:
        self._budget.nodes = self.nodes + self._search.nodes
        self._budget.check_clock()


class PlainNumbers:
    """Proof numbers in plain Python, for any game; ``proof_numbers_kernel`` says how they work."""

    def __init__(self, game: Any, budget: Any) -> None:
        self._game, self._budget = game, budget
        rules = rules_of(game)
        self._rules = rules if isinstance(game, RulesGame) and has_history(rules) else None
        self._table: dict[Any, tuple[int, int]] = {}
        self._path: list[Any] = []
        self.nodes = 0

    def ask(self, state: Any, question: Question) -> Answer:
        self._question = question
        self._seen_below, self._seen_reached = -math.inf, math.inf
        self._table.clear()
        self._path.clear()
        self._root: tuple[list[int], list[int]] = [], []
        state = without_past(state) if self._rules is not None else state
        proof, _, _ = self._numbers(state, _INFINITE, _INFINITE)
        attacks = question.attacker == question.seat
        reaches = (proof == 0) == attacks
        numbers = self._root[0] if attacks else self._root[1]
        action = self._game.legal_actions(state)[numbers.index(0) if reaches else 0]
        return Answer(reaches, self._seen_reached if reaches else self._seen_below, int(action))

    def stores(self, rest: int, ply: int) -> bool:
        return rest >= ply

    def _numbers(self, state: Any, most_proof: int, most_disproof: int) -> tuple[int, int, int]:
        game, ply = self._game, len(self._path)
        self.nodes += 1
        self._budget.visit(ply)
        attacks = game.to_move(state) == self._question.attacker
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
            proof, disproof = (limit, other) if attacks else (other, limit)
            proofs[best], disproofs[best], rests[best] = self._numbers(children[best], proof, disproof)
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
        """The key of a state; where rewards come on the way, which keys may leave out, with those so far."""
        if self._rules is not None:
            return self._game.position_key(state)
        key = self._game.key(state)
        if self._game.traits.terminal_rewards_only:
            return key
        return key, self._game.utility(state)[self._question.seat]

    def _known(self, child: Any) -> tuple[int, int, int]:
        ends = self._game.is_terminal if self._rules is None else self._rules.is_terminal
        if ends(child):
            return (*self._decided(self._game.utility(child)[self._question.seat]), _NEVER)
        here = self._position(child)
        if self._rules is not None and here in self._path:
            return (*self._decided(self._game.traits.constant / 2), self._path.index(here))
        return (*self._table.get(here, (1, 1)), _NEVER)

    def _decided(self, utility: float) -> tuple[int, int]:
        seat, goal, attacker = self._question
        if utility >= goal:
            self._seen_reached = min(self._seen_reached, utility)
        else:
            self._seen_below = max(self._seen_below, utility)
        return (0, _INFINITE) if (utility >= goal) == (attacker == seat) else (_INFINITE, 0)
